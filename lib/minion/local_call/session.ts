/**
 * The connection of `salt-call` to its master: a signed-in link, and the pillar.
 * @module
 */

import type { Logger } from "#lib/runtime/log.ts";
import { MasterLink } from "#lib/minion/agent/link.ts";
import { applicantOf, linkSettings } from "#lib/minion/agent/link_settings.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import type { PillarQuery } from "#lib/plugins/job_context.ts";
import { pillarRequest } from "#lib/minion/agent/pillar_request.ts";
import type { CallMaster } from "./call_master.ts";
import type { ValueMap } from "#lib/values/value.ts";

/**
 * Signs in and fetches the pillar. Waits once for a pending key, and one round of `auth_tries` for a missing master.
 * @throws {SignInError} If that does not help.
 * @throws {Error} The reason of `signal`.
 */
export async function openMasterSession(
  opts: MinionOpts,
  { grains, log, signal }: { grains: ValueMap; log: Logger; signal: AbortSignal },
): Promise<CallMaster> {
  const applicant = await applicantOf(opts, grains);
  const link = new MasterLink(
    linkSettings(opts, { applicant, log, timeouts: { masterTries: 1, failOnPending: true } }),
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
