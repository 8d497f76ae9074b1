/**
 * Runs functions on minions for runners: each call is a separate job of the local client.
 * @module
 */

import { toWireArgs } from "#lib/yaml/arguments.ts";
import { DataCache } from "#lib/fleet/data_cache.ts";
import { TargetError } from "#lib/errors.ts";
import { type JobOutcome, jobOutcomes } from "#lib/jobs/outcomes.ts";
import { timeoutsOf } from "./job.ts";
import { LocalClient } from "./local.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { commandStore } from "./command_store.ts";
import { checkMasterRunning } from "./master_running.ts";
import { readPorts } from "#lib/config/master_paths.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { readPresence } from "#lib/fleet/presence_file.ts";
import { presentMinions } from "#lib/fleet/present_minions.ts";
import type { LocalCommands, LocalReturn } from "./runner_context.ts";
import type { Signs } from "./signed_request.ts";
import { isMap, toNumber } from "#lib/values/value.ts";

/** Time limits for `saltutil.find_job` on minions that do not acknowledge jobs. */
const FIND_JOB_WAITS = { timeoutS: 2, gatherJobTimeoutS: 0 };

/** Options of {@linkcode localCommands}. */
export interface LocalCommandsOptions {
  readonly user: string;
  /** Logs files of the master that cannot be read. */
  readonly log: Logger;
  /** Signs the jobs. Default: they are not signed. */
  readonly signer?: Signs;
  /** Aborts the wait for returns. */
  readonly signal?: AbortSignal;
}

/** The minions of the master with these options. The connection is opened when the first function runs. */
export function localCommands(opts: MasterOpts, options: LocalCommandsOptions): LocalCommands {
  const dataCache = () => new DataCache(opts.cachedir, { log: options.log.warning });
  const commands: LocalCommands = {
    ...options.signer !== undefined && { signer: options.signer },
    run: async (tgt, fun, options) => (await commands.job(tgt, fun, options)).returns,
    async job(tgt, fun, { arg = [], kwargs = new Map(), tgtType = "glob", timeoutS, gatherJobTimeoutS } = {}) {
      const returns = new Map<string, LocalReturn>();
      const silent: string[] = [];
      using client = await LocalClient.connect(opts, options);
      const timeouts = timeoutsOf(opts, { timeoutS, gatherJobTimeoutS });
      try {
        const job = await client.publish({ tgt, tgtType, fun, arg: toWireArgs(arg, kwargs) });
        for await (const event of client.collect(job, timeouts, { signal: options.signal })) {
          if (event.kind !== "returned") {
            silent.push(event.id);
            continue;
          }
          // A retcode that is not a number is a map by function: 0 only if it is empty.
          const retcode = toNumber(event.retcode) ?? 1;
          const { out } = event;
          returns.set(event.id, { return: event.return, retcode, ...out !== undefined && { out } });
        }
        return { jid: job.jid, returns, silent };
      } catch (error) {
        if (!(error instanceof TargetError)) throw error;
      }
      return { returns, silent };
    },
    async *attach(jid, onOutput) {
      using client = await LocalClient.connect(opts, options);
      for await (const event of client.attach(jid, timeoutsOf(opts), { signal: options.signal, onOutput })) {
        if (event.kind === "silent") {
          yield { id: event.id, returned: undefined, outcome: event.outcome };
        } else {
          yield { id: event.id, returned: event.return, outcome: event.outcome, out: event.out };
        }
      }
    },
    async present() {
      await checkMasterRunning(opts.sock_dir);
      return presentMinions(opts, { publishPort: publishPortOf(opts), data: dataCache() });
    },
    gone: () => new Set(readPresence(opts.cachedir).gone.keys()),
    async outcomes(jid, ids, returns) {
      const publishPort = publishPortOf(opts);
      const jobs = commandStore(opts, { log: options.log.warning });
      const outcomes = await jobOutcomes(jid, ids, { opts, publishPort, jobs, data: dataCache(), returns })
        .finally(() => jobs.close());
      for (const id of await runningAmong(unsureIn(outcomes), jid, commands)) {
        const known = outcomes.get(id);
        if (known !== undefined) outcomes.set(id, { ...known, outcome: "running" });
      }
      return outcomes;
    },
  };
  return commands;
}

/** The minions that may run a job without having said so: those that acknowledge no job. */
function unsureIn(outcomes: ReadonlyMap<string, JobOutcome>): string[] {
  return [...outcomes].flatMap(([id, { outcome, acknowledges }]) =>
    outcome === "not received" && !acknowledges ? [id] : []
  );
}

/** The minions of `ids` that answer that they run the job. */
async function runningAmong(ids: string[], jid: string, commands: LocalCommands): Promise<string[]> {
  if (ids.length === 0) return [];
  const answers = await commands.run(ids, "saltutil.find_job", { tgtType: "list", arg: [jid], ...FIND_JOB_WAITS });
  return [...answers].flatMap(([id, { return: job }]) => isMap(job) && job.size > 0 ? [id] : []);
}

function publishPortOf(opts: MasterOpts): number {
  return readPorts(opts.sock_dir)?.publishPort ?? opts.publish_port;
}
