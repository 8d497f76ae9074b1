/**
 * The states of batch jobs: a file `.batch.p` in the job's directory, and the list of those that are not over,
 * `<cachedir>/batch_active.p`. Their fields are Salt's.
 * Source: Salt 3008.3 `salt/utils/batch_state.py`.
 * @module
 */

import type { JobDirectories } from "./directory.ts";
import { writeFileAtomic } from "#lib/os/atomic_file.ts";
import { readValue, type StoreLog, storing } from "#lib/os/store_files.ts";
import type { BatchState, BatchStore } from "./store.ts";
import { encode } from "#lib/values/msgpack.ts";
import { listOrEmpty, mapOrEmpty, onlyStrings } from "#lib/values/shape.ts";
import { compareStrings, float, isMap, map, str, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";

const FILE = ".batch.p";
const INDEX = "batch_active.p";

/** The batch jobs of one master, in files. */
export class JobBatches implements BatchStore {
  readonly #directories: JobDirectories;
  readonly #index: string;
  readonly #log: StoreLog;

  constructor(directories: JobDirectories, options: { readonly cachedir: string; readonly log: StoreLog }) {
    this.#directories = directories;
    this.#index = `${options.cachedir}/${INDEX}`;
    this.#log = options.log;
  }

  /** As {@linkcode BatchStore} says. */
  save(state: BatchState): void {
    const directory = this.#directories.of(state.jid);
    storing(
      "store the state of a batch",
      directory.path,
      () => directory.write(FILE, encode(batchStateToMap(state), "disk")),
    );
    const active = this.#active();
    const isActive = !isBatchOver(state);
    if (active.has(state.jid) === isActive) return;
    if (isActive) active.add(state.jid);
    else active.delete(state.jid);
    const ids = [...active].sort(compareStrings);
    storing("list the batch jobs", this.#index, () => {
      writeFileAtomic(this.#index, encode(ids, "disk"), { mode: 0o600 });
    });
  }

  /** As {@linkcode BatchStore} says. */
  read(jid: string): BatchState | undefined {
    const stored = this.#directories.find(jid)?.read(FILE);
    return isMap(stored) ? batchStateFromMap(jid, stored) : undefined;
  }

  /** As {@linkcode BatchStore} says. */
  active(): BatchState[] {
    return [...this.#active()].sort(compareStrings).flatMap((jid) => this.read(jid) ?? []);
  }

  #active(): Set<string> {
    return new Set(onlyStrings(readValue(this.#index, this.#log)));
  }
}

/** Whether a batch has ended: halted, or no minion is left to run it. */
export function isBatchOver({ halted, pending, active }: BatchState): boolean {
  return halted !== undefined || pending.length === 0 && active.size === 0;
}

/** A state in Salt's fields. */
export function batchStateToMap(state: BatchState): ValueMap {
  return map({
    jid: state.jid,
    all_minions: state.minions,
    pending: state.pending,
    active: new Map([...state.active].map(([id, ms]) => [id, seconds(ms)])),
    done: new Map([...state.done].map(([id, retcode]) => [id, map({ retcode })])),
    failed: new Map(state.failed),
    wait: [],
    batch_size: state.size,
    fun: state.fun,
    arg: state.arg,
    kwargs: state.kwargs,
    tgt: state.tgt,
    tgt_type: state.tgtType,
    failhard: state.failhard,
    batch_wait: float(state.waitS),
    timeout: float(state.timeoutS),
    gather_job_timeout: float(state.gatherS),
    last_progress: seconds(state.progressMs),
    created: seconds(state.createdMs),
    halted: state.halted !== undefined,
    halted_reason: state.halted ?? null,
    driver: state.driver,
    pid: state.pid ?? null,
    ret: state.ret,
    user: state.user,
  });
}

/** The state of job `jid` from Salt's fields. */
export function batchStateFromMap(jid: string, stored: ValueMap): BatchState {
  const number = (name: string, otherwise = 0) => toNumber(stored.get(name)) ?? otherwise;
  const text = (name: string) => str(stored.get(name) ?? "");
  const entries = (name: string) => {
    const minions = stored.get(name);
    return isMap(minions) ? [...minions].map(([id, value]) => [str(id), value] as const) : [];
  };
  const arg = stored.get("arg"), kwargs = stored.get("kwargs"), pid = toNumber(stored.get("pid"));
  return {
    jid,
    minions: onlyStrings(stored.get("all_minions")),
    pending: onlyStrings(stored.get("pending")),
    active: new Map(entries("active").map(([id, since]) => [id, (toNumber(since) ?? 0) * 1000])),
    done: new Map(entries("done").map(([id, one]) => [id, isMap(one) ? toNumber(one.get("retcode")) ?? 0 : 0])),
    failed: new Map(entries("failed").map(([id, reason]) => [id, str(reason)])),
    size: number("batch_size", 1),
    fun: stored.get("fun") ?? "",
    arg: listOrEmpty(arg),
    kwargs: mapOrEmpty(kwargs),
    tgt: stored.get("tgt") ?? "",
    tgtType: text("tgt_type"),
    failhard: stored.get("failhard") === true,
    waitS: number("batch_wait"),
    timeoutS: number("timeout", 60),
    gatherS: number("gather_job_timeout", 10),
    progressMs: number("last_progress") * 1000,
    createdMs: number("created") * 1000,
    halted: stored.get("halted") === true ? text("halted_reason") || "stop" : undefined,
    driver: stored.get("driver") === "master" ? "master" : "cli",
    pid,
    ret: text("ret"),
    user: text("user"),
  };
}

function seconds(ms: number): Value {
  return float(ms / 1000);
}
