/**
 * The connection of `salt-call` to its master: a signed-in link, and the pillar.
 * @module
 */

import { isOneOfMany, orderMasters } from "#lib/config/master_entries.ts";
import { SignInError } from "#lib/errors.ts";
import { findMasters } from "#lib/minion/masters/master_list.ts";
import type { Applicant } from "#lib/minion/masters/sign_in.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { MasterLink } from "#lib/minion/masters/link.ts";
import { applicantOf, linkSettings } from "#lib/minion/masters/link_settings.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import type { PillarQuery } from "#lib/plugins/job_context.ts";
import { pillarRequest } from "#lib/minion/agent/pillar_request.ts";
import type { CallMaster } from "./call_master.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";

/** What a session is opened with. */
export interface SessionParts {
  readonly grains: ValueMap;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Calls an execution function, for `master_type: func`. */
  call(fun: string): Promise<Value>;
}

/**
 * Signs in and fetches the pillar. Waits once for a pending key, and one round of `auth_tries` for a missing master. Of
 * several masters it takes the first that signs the minion in, and `opts` name that one afterwards.
 * @throws {SignInError} If that does not help, or no master can be found.
 * @throws {Error} The reason of `signal`.
 */
export async function openMasterSession(opts: MinionOpts, parts: SessionParts): Promise<CallMaster> {
  const { log, signal } = parts;
  const masters = await findMasters(opts, parts);
  const ordered = isOneOfMany(opts) ? masters : orderMasters(masters, opts);
  const applicant = await applicantOf(opts, parts.grains);
  // findMasters gives one at least, and the last one's error is thrown.
  for (let i = 0;; i++) {
    const { host, port } = ordered[i];
    Object.assign(opts, { master: host, master_port: port } satisfies Partial<MinionOpts>);
    try {
      return await openSession(opts, applicant, parts, ordered.length > 1);
    } catch (error) {
      if (!(error instanceof SignInError) || i === ordered.length - 1 || signal.aborted) throw error;
      log.error(`The master ${host} is not used, the next of the list is tried: ${error.message}`);
    }
  }
}

async function openSession(
  opts: MinionOpts,
  applicant: Applicant,
  { grains, log, signal }: SessionParts,
  isOneOfSeveral: boolean,
): Promise<CallMaster> {
  const link = new MasterLink(
    linkSettings(opts, {
      applicant,
      log,
      timeouts: { masterTries: 1, failOnPending: isOneOfSeveral ? "at once" : true },
    }),
  );
  const close = () => link.close();
  signal.addEventListener("abort", close);
  try {
    await link.signIn(signal);
    const freshPillar = (query: PillarQuery) => link.requestPillar(pillarRequest(opts, grains, query), signal);
    const pillar = await freshPillar({});
    return { pillar, freshPillar, request: (load) => link.request(load, signal), [Symbol.dispose]: close };
  } catch (error) {
    close();
    throw error;
  }
}
