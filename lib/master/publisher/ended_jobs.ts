/**
 * Jobs by which others are ended (`saltutil.kill_job` and the like): minions that wait for their turn have not been
 * sent the job that is to end, so the master ends it for them. It stores a return for each, which says so. Knows no
 * sockets.
 * @module
 */

import { publishCalls } from "#lib/auth/rules.ts";
import { stampNow } from "#lib/bus/event.ts";
import { StoreError } from "#lib/errors.ts";
import type { Delivery } from "#lib/jobs/redelivery.ts";
import type { JobStore } from "#lib/jobs/store.ts";
import { sleep } from "#lib/os/sleep.ts";
import { endingOf } from "#lib/protocol/about_jobs.ts";
import { hideReturn } from "#lib/protocol/hidden_return.ts";
import { CANCELLED_JOB } from "#lib/protocol/outcome.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { fromWireArgs } from "#lib/yaml/arguments.ts";
import { compareStrings, map, str, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";

/** Signals whose default is to end a process: HUP, INT, QUIT, ABRT, KILL, TERM. */
const ENDING_SIGNALS: readonly (number | undefined)[] = [1, 2, 3, 6, 9, 15];
/** Returns that are stored at once; then other work gets a turn. */
const AT_ONCE = 100;
/** What is returned, and shown. */
const TEXT = "Cancelled: the job was ended while this minion waited for its turn";

/** What one job ends. */
export interface Ending {
  /** The jobs; `all`: those that are older than it. */
  readonly jids: readonly string[] | "all";
  /** The job that ends them. */
  readonly by: string;
  /** The minions on which it ends them. */
  readonly ids: ReadonlySet<string>;
}

/** The jobs that a job ends; `undefined`: none. */
export function endingBy({ jid, load, minions }: Delivery): Ending | undefined {
  const arg = load.get("arg");
  const calls = publishCalls(load.get("fun") ?? null, Array.isArray(arg) ? arg : []);
  const ends = calls.filter(({ fun }) => endingOf(fun) !== undefined);
  if (ends.length === 0) return undefined;
  const isAll = ends.some(({ fun }) => endingOf(fun) === "all");
  const jids = ends.flatMap(({ fun, arg }) => endedBy(fun, arg) ?? []);
  return isAll || jids.length > 0 ? { jids: isAll ? "all" : jids, by: jid, ids: new Set(minions) } : undefined;
}

/** The job that such a function ends; `undefined`: its signal ends nothing. */
function endedBy(fun: string, arg: readonly Value[]): string | undefined {
  const { args: [jid, signal], kwargs } = fromWireArgs(arg);
  const isEnding = fun !== "saltutil.signal_job" ||
    ENDING_SIGNALS.includes(toNumber(signal ?? kwargs.get("sig") ?? null));
  return isEnding ? str(jid ?? kwargs.get("jid") ?? "") : undefined;
}

/** Whether a job is ended. */
export function isEnded(jid: string, { jids, by }: Ending): boolean {
  return jids === "all" ? compareStrings(jid, by) < 0 : jids.includes(jid);
}

/** What {@linkcode CancelledReturns} uses. */
export interface CancelledReturnsParts {
  readonly jobs: JobStore;
  readonly log: Logger;
  /** Resolves when what was stored is as durable as `durability` says. */
  commit(): Promise<void>;
  /** Fires the event of a return. */
  fire(load: ValueMap): Promise<unknown>;
}

/** Stores and publishes returns of minions that were not sent their job. */
export class CancelledReturns {
  readonly #parts: CancelledReturnsParts;

  constructor(parts: CancelledReturnsParts) {
    this.#parts = parts;
  }

  /**
   * Stores that minions do not get a job. One that has returned stays as it is.
   * @param isFirst Whether the clients are told too, also of what cannot be stored.
   * @returns Whether all is stored; if not, it is logged.
   */
  async keep(delivery: Delivery, ids: readonly string[], isFirst: boolean): Promise<boolean> {
    const { jid } = delivery;
    const { log } = this.#parts;
    let isKept = true;
    for (let at = 0; at < ids.length; at += AT_ONCE) {
      const some = ids.slice(at, at + AT_ONCE);
      try {
        await this.#keepSome(delivery, some, isFirst);
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        log.error(`That job ${jid} is cancelled on ${some.length} minions is not stored: ${error.message}`);
        isKept = false;
      }
      await sleep(0);
    }
    if (isFirst) log.info(`Job ${jid} is cancelled on ${ids.length} minions that waited for their turn`);
    return isKept;
  }

  async #keepSome({ jid, load }: Delivery, ids: readonly string[], tells: boolean): Promise<void> {
    const { jobs, commit, fire } = this.#parts;
    const reader = await jobs.noLog.reader(jid);
    const returns = await Promise.all(ids.map((id) => {
      const returned = cancelledReturn(jid, id, load);
      return reader === undefined ? returned : hideReturn(returned, reader);
    }));
    const results = await Promise.allSettled(returns.map((returned) => jobs.saveReturn(returned)));
    await commit();
    for (const [i, result] of results.entries()) {
      // Of two masters of a cluster one has stored it, and publishes it.
      if (tells && (result.status === "rejected" || result.value !== "duplicate")) await fire(returns[i]);
    }
    for (const result of results) if (result.status === "rejected") throw result.reason;
  }
}

/** A return as the minion would send it. */
function cancelledReturn(jid: string, id: string, load: ValueMap): ValueMap {
  return map({
    cmd: "_return",
    id,
    success: false,
    return: TEXT,
    retcode: 1,
    jid,
    fun: load.get("fun"),
    fun_args: load.get("arg"),
    user: load.get("user"),
    out: "nested",
    [CANCELLED_JOB]: true,
    _stamp: stampNow(),
  });
}
