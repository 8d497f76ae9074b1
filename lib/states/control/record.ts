/**
 * The record of a run, written while it continues: `<cachedir>/state_runs/<jid>`. It shows what had been applied if the
 * minion or the host ends in the middle.
 * @module
 */

import { readFileIfExists, removeIfExists } from "#lib/os/atomic_file.ts";
import { appendFrame, frameRecord, readRecords } from "#lib/os/record_file.ts";
import { clearTimeout, setTimeout, type Timer } from "#lib/os/timers.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { compareStrings, isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** How a run ended. */
export type RunEnd =
  /** After its last state. */
  | "finished"
  /** After a failure, with `failhard`, or by `state.soft_kill`. */
  | "stopped"
  /** Its job was ended. */
  | "aborted";

/** A command of a state that did work, and ended. */
export interface Work {
  readonly words: readonly string[];
  readonly pid: number;
  /** The exit code, or the negative number of the signal that ended it. */
  readonly retcode: number;
}

/** The progress of a state without a result. */
export type StateProgress =
  /** Its function was called. */
  | { readonly at: "called" }
  /**
   * Its conditions were being checked (`unless`, `onlyif`), or it ran in test mode for `prereq`: nothing had been
   * changed.
   */
  | { readonly at: "asking" }
  /** Its function had returned, and its `check_cmd` ran. */
  | { readonly at: "checking"; readonly result: ValueMap };

/** The data of a state without a result. */
export interface Unfinished {
  readonly progress: StateProgress;
  /** The commands of its function that had ended, without read-only ones. */
  readonly work: readonly Work[];
  /** The number of attempts of the run that started it: more than one if the minion ended during it before. */
  readonly attempts: number;
}

/** The data of a run. */
export interface RunState {
  readonly jid: string;
  readonly fun: string;
  /** Milliseconds since the epoch. */
  readonly begun: number;
  /** How it ended; `undefined`: it runs, or its minion ended before it. */
  readonly end: RunEnd | undefined;
  /** The results by tag, in the order of running. */
  readonly results: ReadonlyMap<string, ValueMap>;
  /** The states that had started and had no result, by tag. */
  readonly unfinished: ReadonlyMap<string, Unfinished>;
}

/** Number of runs whose records are kept. */
const MAX_RUNS = 20;
/**
 * Time for which records are collected before a write, in milliseconds, while the run does not wait: a write takes
 * longer than many states.
 */
const BATCH_MS = 2;
/** Time after which the written records are synced, in milliseconds. */
const SYNC_MS = 1000;

const FORM = { checked: false };

function recordDirectory(cachedir: string): string {
  return `${cachedir}/state_runs`;
}

/** Writes the record of one run. */
export class RunRecord implements Disposable {
  readonly #file: Deno.FsFile;
  #waiting: ValueMap[] = [];
  #timer: Timer | undefined;
  #writtenAt = -Infinity;
  #syncedAt = performance.now();

  /**
   * Opens a record; a continued run keeps its record.
   * @throws What the system says.
   */
  constructor(cachedir: string, { jid, fun }: { readonly jid: string; readonly fun: string }) {
    const directory = recordDirectory(cachedir);
    Deno.mkdirSync(directory, { recursive: true, mode: 0o700 });
    dropOld(directory);
    this.#file = Deno.openSync(`${directory}/${jid}`, { append: true, create: true, mode: 0o600 });
    this.#add({ kind: "begin", jid, fun, begun: Date.now() });
  }

  /** A state starts. */
  started(tag: string): void {
    this.#add({ kind: "started", tag });
  }

  /** A started state makes progress. */
  progress(tag: string, progress: StateProgress): void {
    this.#add({ kind: "progress", tag, ...progress });
  }

  /** A command that did work for a state has ended. */
  worked(tag: string, { words, pid, retcode }: Work): void {
    this.#add({ kind: "worked", tag, words: [...words], pid, retcode });
  }

  /** A state has a result. */
  result(tag: string, result: ValueMap): void {
    this.#add({ kind: "result", tag, result });
  }

  /** The run is over. */
  ended(how: RunEnd): void {
    this.#add({ kind: "end", how });
    this.#write();
  }

  #add(record: Record<string, Value>): void {
    this.#waiting.push(new Map(Object.entries(record)));
    if (performance.now() - this.#writtenAt > BATCH_MS) this.#write();
    // Before the run waits for anything, the started states are on the disk.
    else this.#timer ??= setTimeout(() => this.#write(), 0);
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waiting.length === 0) return;
    appendFrame(this.#file, frameRecord(encode(this.#waiting, "disk"), FORM));
    this.#waiting = [];
    const now = this.#writtenAt = performance.now();
    if (now - this.#syncedAt < SYNC_MS) return;
    this.#syncedAt = now;
    this.#file.syncDataSync();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#file.close();
  }
}

/** The record of a run; without a job id, of the last one. `undefined` if there is none. */
export function readRun(cachedir: string, jid?: string): RunState | undefined {
  const directory = recordDirectory(cachedir);
  const name = jid ?? names(directory).at(-1);
  const bytes = name === undefined ? undefined : readFileIfExists(`${directory}/${name}`);
  if (bytes === undefined) return undefined;
  const { records } = readRecords(bytes, FORM, (record) => {
    const batch = decode(record, "disk");
    return Array.isArray(batch) ? batch.filter(isMap) : undefined;
  });
  return stateOf(records.flat());
}

function stateOf(records: readonly ValueMap[]): RunState | undefined {
  const begin = records.find((record) => record.get("kind") === "begin");
  if (begin === undefined) return undefined;
  const results = new Map<string, ValueMap>();
  const unfinished = new Map<string, Unfinished>();
  /** The states that the last attempt has started. */
  const begunNow = new Set<string>();
  let end: RunEnd | undefined;
  for (const record of records) {
    const tag = str(record.get("tag") ?? "");
    const result: Value = record.get("result") ?? null;
    const attempt = unfinished.get(tag);
    switch (record.get("kind")) {
      case "begin": // A run that continues after its minion ended.
        end = undefined;
        begunNow.clear();
        break;
      case "started": {
        const attempts = (attempt?.attempts ?? 0) + (begunNow.has(tag) ? 0 : 1);
        begunNow.add(tag);
        unfinished.set(tag, { work: attempt?.work ?? [], progress: { at: "called" }, attempts });
        break;
      }
      case "progress":
        if (attempt !== undefined) unfinished.set(tag, { ...attempt, progress: asProgress(record) });
        break;
      case "worked":
        if (attempt !== undefined) unfinished.set(tag, { ...attempt, work: [...attempt.work, ...asWork(record)] });
        break;
      case "result":
        unfinished.delete(tag);
        if (isMap(result)) results.set(tag, result);
        break;
      case "end":
        end = asEnd(record.get("how") ?? null);
    }
  }
  const begun = begin.get("begun");
  return {
    jid: str(begin.get("jid") ?? ""),
    fun: str(begin.get("fun") ?? ""),
    begun: typeof begun === "number" ? begun : 0,
    end,
    results,
    unfinished,
  };
}

function asProgress(record: ValueMap): StateProgress {
  const at = record.get("at");
  const result = record.get("result") ?? null;
  if (at === "checking" && isMap(result)) return { at, result };
  return { at: at === "asking" ? at : "called" };
}

function asWork(record: ValueMap): Work[] {
  const [words, pid, retcode] = [record.get("words"), record.get("pid"), record.get("retcode")];
  if (!Array.isArray(words) || typeof pid !== "number" || typeof retcode !== "number") return [];
  return [{ words: words.map(str), pid, retcode }];
}

function asEnd(how: Value): RunEnd | undefined {
  return how === "finished" || how === "stopped" || how === "aborted" ? how : undefined;
}

/** Job ids, the oldest first. */
function names(directory: string): string[] {
  try {
    return [...Deno.readDirSync(directory)].map(({ name }) => name).sort(compareStrings);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

function dropOld(directory: string): void {
  const all = names(directory);
  for (const name of all.slice(0, Math.max(0, all.length - MAX_RUNS + 1))) removeIfExists(`${directory}/${name}`);
}
