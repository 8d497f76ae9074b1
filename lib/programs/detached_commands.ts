/**
 * The files `<cachedir>/commands/<jid>.<number>`: commands that continued when their minion ended, written by the
 * keeper (command_keeper.ts) and read by the next minion. A keeper has a file as well, `<pid>.keeper`, which is renamed
 * to `<pid>.alone` when its minion has ended and all its commands are recorded.
 * @module
 */

import type { ChildOutcome } from "./child_process.ts";
import { isDirectory } from "#lib/os/file_kind.ts";
import { readFileIfExists, removeIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { MsgpackError, WireError } from "#lib/errors.ts";
import {
  type Fields,
  fieldsOf,
  has,
  readBlob,
  readBool,
  readInteger,
  readNumber,
  readPart,
  readText,
} from "#lib/runtime/message_fields.ts";
import { isJid } from "#lib/protocol/jid.ts";
import { type Started, startedProcess } from "#lib/procfs/process_facts.ts";
import { sleep } from "#lib/os/sleep.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { map } from "#lib/values/value.ts";

/** A process, with the time of its start to distinguish it from a later one with the same id. */
export type ProcessMark = Pick<Started, "at"> & {
  /** Its id. */
  readonly pid: number;
};

/** A command that continued without its minion. */
export interface DetachedCommand {
  /** The job that started it. */
  readonly jid: string;
  /** Which command of the job it is, from 1. */
  readonly number: number;
  /** The command, for messages. */
  readonly words: readonly string[];
  /** The command. Its start is empty if it had ended by then. */
  readonly process: ProcessMark;
  /** The keeper that reads its output. */
  readonly keeper: ProcessMark;
  /** How it ended; `undefined` while it runs. */
  readonly outcome?: ChildOutcome;
}

/**
 * The first line of a keeper on its standard output: it listens. Each later line is a problem, for the minion's log.
 */
export const READY = "ready";
/** Interval of the checks whether a command has ended, in milliseconds. */
const LOOK_MS = 100;
/** Maximum time for a keeper to record its commands, in milliseconds. */
const HANDOVER_MS = 10_000;

/** The directory of the files. */
export function detachedDirectory(cachedir: string): string {
  return `${cachedir}/commands`;
}

/** The mark of process `pid`. */
export function markOf(pid: number): ProcessMark {
  return { pid, at: startedProcess(pid)?.at ?? "" };
}

/** Whether the process runs. */
export function runs({ pid, at }: ProcessMark): boolean {
  return startedProcess(pid)?.at === at;
}

/** A `ChildOutcome` as a map of values. */
export function packCommandOutcome(outcome: ChildOutcome): Record<string, unknown> {
  return { ...outcome, dropped: map({ ...outcome.dropped }) };
}

/**
 * The reverse of {@linkcode packCommandOutcome}.
 * @throws {WireError} If a field is missing or wrong.
 */
export function unpackCommandOutcome(fields: Fields): ChildOutcome {
  const dropped = readPart(fields, "dropped");
  return {
    pid: readInteger(fields, "pid", Number.MAX_SAFE_INTEGER),
    retcode: readNumber(fields, "retcode"),
    stdout: readBlob(fields, "stdout"),
    stderr: readBlob(fields, "stderr"),
    timedOut: readBool(fields, "timedOut"),
    dropped: { stdout: readNumber(dropped, "stdout"), stderr: readNumber(dropped, "stderr") },
  };
}

function pathOf(cachedir: string, { jid, number }: Pick<DetachedCommand, "jid" | "number">): string {
  return `${detachedDirectory(cachedir)}/${jid}.${number}`;
}

/**
 * Writes the file of a command, in place of an older one.
 * @throws What writing throws.
 */
export function writeDetached(cachedir: string, detached: DetachedCommand): void {
  const { process, keeper, outcome, words, ...same } = detached;
  const fields = map({
    ...same,
    words: [...words],
    process: map({ ...process }),
    keeper: map({ ...keeper }),
    outcome: outcome === undefined ? null : map(packCommandOutcome(outcome)),
  });
  writeFileAtomic(pathOf(cachedir, detached), encode(fields, "disk"), { mode: 0o600 });
}

/** Reads the file of a command; `undefined` if it is missing or broken. */
function readDetached(path: string): DetachedCommand | undefined {
  try {
    const bytes = readFileIfExists(path);
    if (bytes === undefined) return undefined;
    const fields = fieldsOf(decode(bytes, "disk"));
    const mark = (name: string): ProcessMark => {
      const part = readPart(fields, name);
      return { pid: readInteger(part, "pid", 2 ** 31), at: readText(part, "at") };
    };
    const words = fields.get("words");
    return {
      jid: readText(fields, "jid"),
      number: readInteger(fields, "number", Number.MAX_SAFE_INTEGER),
      words: Array.isArray(words) ? words.map(String) : [],
      process: mark("process"),
      keeper: mark("keeper"),
      ...has(fields, "outcome") && { outcome: unpackCommandOutcome(readPart(fields, "outcome")) },
    };
  } catch (error) {
    if (error instanceof MsgpackError || error instanceof WireError) return undefined;
    throw error;
  }
}

function namesIn(directory: string): string[] {
  return isDirectory(directory) ? [...Deno.readDirSync(directory)].map(({ name }) => name) : [];
}

/** The commands of job `jid` that continued without their minion, in the order of their start. */
export function detachedCommands(cachedir: string, jid: string): DetachedCommand[] {
  const directory = detachedDirectory(cachedir);
  return namesIn(directory).filter((name) => name.startsWith(`${jid}.`))
    .flatMap((name) => readDetached(`${directory}/${name}`) ?? []).sort((a, b) => a.number - b.number);
}

/** Removes the files of job `jid`. */
export function removeDetached(cachedir: string, jid: string): void {
  const directory = detachedDirectory(cachedir);
  for (const name of namesIn(directory)) if (name.startsWith(`${jid}.`)) removeIfExists(`${directory}/${name}`);
}

/**
 * Waits until the keepers of a minion that has ended have recorded their commands, and removes files that are not
 * needed any more. A job with a file that cannot be read, as a power failure leaves it, is not among those that
 * continue: which commands it has begun is not known, and it would begin them again.
 * @param jids The jobs that had no return when that minion ended.
 * @returns Those of them that have commands.
 */
export async function takeOverDetached(cachedir: string, jids: ReadonlySet<string>): Promise<Set<string>> {
  const directory = detachedDirectory(cachedir);
  const end = performance.now() + HANDOVER_MS;
  for (const name of namesIn(directory).filter((name) => name.endsWith(".keeper"))) {
    const path = `${directory}/${name}`;
    const at = new TextDecoder().decode(readFileIfExists(path));
    const keeper = { pid: Number.parseInt(name), at };
    while (runs(keeper) && readFileIfExists(path) !== undefined && performance.now() < end) await sleep(LOOK_MS / 5);
    removeIfExists(path);
  }
  const takenOver = new Set<string>(), broken = new Set<string>();
  for (const name of namesIn(directory)) {
    const jid = name.slice(0, name.lastIndexOf("."));
    if (isJid(jid) && jids.has(jid)) (readDetached(`${directory}/${name}`) === undefined ? broken : takenOver).add(jid);
    else if (!name.endsWith(".keeper") && !isAlone(directory, name)) removeIfExists(`${directory}/${name}`);
  }
  for (const jid of broken) {
    takenOver.delete(jid);
    removeDetached(cachedir, jid);
  }
  return takenOver;
}

/** Whether this is the file of a keeper that still has commands. */
function isAlone(directory: string, name: string): boolean {
  if (!name.endsWith(".alone")) return false;
  const at = new TextDecoder().decode(readFileIfExists(`${directory}/${name}`));
  return runs({ pid: Number.parseInt(name), at });
}

/**
 * Waits for the end of a command.
 * @returns How it ended; `undefined` if it is not known, because its keeper has ended.
 * @throws The reason of `signal`, if that aborts.
 */
export async function detachedOutcome(
  cachedir: string,
  detached: DetachedCommand,
  signal: AbortSignal,
): Promise<ChildOutcome | undefined> {
  const path = pathOf(cachedir, detached);
  for (;;) {
    // In this order: a keeper writes first, and then ends.
    const keeps = runs(detached.keeper);
    const outcome = readDetached(path)?.outcome;
    if (outcome !== undefined || !keeps) return outcome;
    await sleep(LOOK_MS, signal);
  }
}
