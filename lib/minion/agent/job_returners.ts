/**
 * Gives returns to the returners of their jobs, besides the master: those that the job names (`--return`), and those of
 * the option `return`. A return that a returner does not take stays on the disk and is tried again, within the limits
 * of returns for the master. A returner is called as a job is run: with the permissions that it declares, or in a
 * process of its own if it is an operator's.
 * Source: Salt 3008.3 `Minion._return_pub`, `_thread_return` of `salt/minion.py`.
 * @module
 */

import { CommandError, UnavailableError } from "#lib/errors.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import { RETURNERS_PREFIX } from "#lib/minion/catalogue/catalogue.ts";
import { type JobPool, LEFT_TO_NEXT_MINION } from "#lib/minion/worker/job_pool.ts";
import { directoriesIn } from "#lib/os/directory_names.ts";
import { hideResult, isNoLog } from "#lib/protocol/no_log.ts";
import { CHAIN, REFUSED_JOB } from "#lib/protocol/operator_field.ts";
import { NO_JID, SCHEDULED } from "#lib/protocol/own_job.ts";
import { configuredReturners, returnerNames } from "#lib/returners/names.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { clearTimeout, setTimeout } from "#lib/os/timers.ts";
import { map, str, type ValueMap } from "#lib/values/value.ts";
import { ReturnSpool, spoolRules } from "#lib/minion/masters/return_spool.ts";

/** Fields of a return for the master that returners do not get. */
const MASTERS: readonly string[] = ["cmd", "error_details", "interrupted", REFUSED_JOB, CHAIN];
/** Fields of a job's load that its return has for returners. */
const PASSED_ON = ["ret_config", "ret_kwargs"];
/** Milliseconds of one call of a returner. */
const CALL_MS = 120_000;

/** The parts of the minion that returners use. */
export interface ReturnerParts {
  readonly opts: MinionOpts;
  readonly pool: JobPool;
  readonly log: Logger;
}

/** The returners of a minion's jobs. */
export class JobReturners {
  readonly #parts: ReturnerParts;
  readonly #spools = new Map<string, ReturnSpool>();

  constructor(parts: ReturnerParts) {
    this.#parts = parts;
  }

  /** Takes over what an earlier process of the minion left. */
  async flush(): Promise<void> {
    const left = await directoriesIn(this.#directory);
    for (const name of left) if (returnerNames(name).names.includes(name)) this.#spool(name).flush();
  }

  /** Gives the return of a job to its returners. */
  give(load: ValueMap, returned: ValueMap): void {
    const { names, refused } = configuredReturners(
      this.#parts.opts,
      load.get("ret"),
      // Jobs of the schedule have their own.
      load.has(SCHEDULED) ? undefined : this.#parts.opts.return,
    );
    for (const name of refused) this.#parts.log.error(`There is no returner of the name ${name}`);
    if (names.length === 0) return;
    const ret: ValueMap = new Map([...returned].filter(([key]) => !MASTERS.includes(str(key))));
    if (ret.get("jid") === NO_JID) ret.set("jid", load.get("jid") ?? "");
    for (const key of PASSED_ON) if (load.has(key)) ret.set(key, load.get(key) ?? null);
    for (const name of names) this.#spool(name).add(isNoLog(load) ? hideResult(ret) : ret);
  }

  /** Leaves what waits to the next process. */
  async close(): Promise<void> {
    await Promise.all([...this.#spools.values()].map((spool) => spool.close()));
  }

  get #directory(): string {
    return `${this.#parts.opts.cachedir}/returners`;
  }

  #spool(name: string): ReturnSpool {
    const known = this.#spools.get(name);
    if (known !== undefined) return known;
    const { opts, log } = this.#parts;
    const spool = new ReturnSpool({
      directory: `${this.#directory}/${name}`,
      send: (ret) => this.#call(name, ret),
      receiver: `the returner ${name}`,
      ...spoolRules(opts),
      log,
    });
    this.#spools.set(name, spool);
    return spool;
  }

  /**
   * Calls a returner. One that the minion does not have gets nothing, and nothing is kept for it.
   * @throws {CommandError} If it failed.
   */
  async #call(name: string, ret: ValueMap): Promise<void> {
    const { pool, log } = this.#parts;
    const fun = `${RETURNERS_PREFIX}${name}.returner`;
    const jid = str(ret.get("jid") ?? "");
    const call = map({ fun, arg: [ret], jid: `${jid}_${name}`, ret: "", tgt: "", tgt_type: "glob", user: "root" });
    const timer = setTimeout(() => void pool.signal(`${jid}_${name}`, 9), CALL_MS);
    try {
      const outcome = await pool.run(call, undefined, { resumed: false });
      if (outcome === LEFT_TO_NEXT_MINION) throw new CommandError("The minion ends");
      if (outcome.get("success") === true) return;
      const text = str(outcome.get("return") ?? null);
      if (!text.startsWith(new UnavailableError(fun).message)) throw new CommandError(text);
      log.error(`Returner ${name} could not be loaded: '${name}.returner' is not available.`);
    } finally {
      clearTimeout(timer);
    }
  }
}
