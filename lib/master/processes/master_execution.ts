/**
 * Runs functions of execution modules on the master's host, for the runners `salt.cmd` and `state`: as
 * `salt-call --local` does, with the master's options in place of a minion's.
 * @module
 */

import { makeJid } from "#lib/protocol/jid.ts";
import { masterAsMinion } from "#lib/config/load.ts";
import { loadGrains } from "#lib/minion/agent/grains.ts";
import { WITHOUT_MASTER } from "#lib/minion/local_call/call_master.ts";
import type { PillarQuery } from "#lib/plugins/job_context.ts";
import { UnavailableError } from "#lib/errors.ts";
import { CallModules } from "#lib/minion/local_call/modules.ts";
import { localPillar } from "#lib/minion/local_call/pillar.ts";
import { mineRequests } from "./mine_answers.ts";
import { hasPillarFiles } from "#lib/pillar/has_files.ts";
import { callDirectly } from "#lib/minion/local_call/job.ts";
import type { Logger } from "#lib/runtime/log.ts";
import type { ExecutionCall } from "#lib/client/runner_context.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { loadCoreGrains } from "#lib/minion/catalogue/catalogue.ts";
import type { Value } from "#lib/values/value.ts";

/** The context of a call. */
export interface MasterExecution {
  readonly opts: MasterOpts;
  readonly log: Logger;
  /** Aborted when the function is to end. */
  readonly signal: AbortSignal;
  /** The user that the function's job has: who started the runner. */
  readonly user: string;
}

/**
 * Runs it.
 * @returns Its result, or Salt's text if there is no such function.
 * @throws What the function throws.
 */
export async function executeOnMaster(
  { fun, args, kwargs, withPillar = false, jid = makeJid(), setErrorDetails }: ExecutionCall,
  { opts: master, log, signal, user }: MasterExecution,
): Promise<Value> {
  const opts = masterAsMinion(master);
  const grains = await loadGrains(opts, { core: await loadCoreGrains(), warn: (text) => log.warning(text) });
  await using modules = new CallModules({ opts, log });
  const request = mineRequests(master, log);
  const pillarParts = { grains, catalogue: modules.withoutPython, log, signal, request };
  // A pillar of the caller's own wins over one that may be empty.
  const hasPillar = kwargs.has("pillar") || hasPillarFiles(opts);
  const own = withPillar && hasPillar ? await localPillar(opts, pillarParts) : {
    ...WITHOUT_MASTER,
    freshPillar: async (query: PillarQuery) =>
      query.tops
        ? await (await localPillar(opts, pillarParts)).freshPillar(query)
        : await WITHOUT_MASTER.freshPillar(query),
  };
  const host = { opts, grains, modules, master: { ...own, request }, log, signal, setErrorDetails };
  try {
    return await callDirectly({ fun, args, kwargs, jid, user }, host);
  } catch (error) {
    if (error instanceof UnavailableError) return `'${fun}' is not available.`;
    throw error;
  }
}
