/**
 * What a command wrote, on its way to whoever watches it (`salt --live`): numbered batches of text, each an event
 * `salt/job/<jid>/out/<minion id>`.
 *
 * A minion sends them only for a job that asks (`live` in its load). The numbers begin with 1 for each job and minion, so
 * that a batch that comes twice, or is missed, shows. Knows the form, no sockets and no files.
 * @module
 */

import { isMap, map, toNumber, type Value, type ValueMap } from "../values/value.ts";

/** The streams of a command. */
export type Stream = "stdout" | "stderr";

/** A piece of what a command wrote; it may begin and end within a line. */
export interface LiveText {
  /** Which of the job's commands wrote it; the first is 1. */
  readonly command: number;
  /** Where it wrote it. */
  readonly stream: Stream;
  /** What it wrote. */
  readonly text: string;
}

/** A gap: lines that were written faster, or in all more, than is sent. */
export interface LiveGap {
  /** How many lines were left out here. */
  readonly leftOut: number;
}

/** What a batch holds. */
export type LivePart = LiveText | LiveGap;

/** What was written within a short time. */
export interface LiveBatch {
  /** Its number. */
  readonly seq: number;
  /** The parts in the order in which they were read. */
  readonly parts: readonly LivePart[];
}

/** A batch as a map for the wire and the disk. */
export function batchToMap({ seq, parts }: LiveBatch): ValueMap {
  const out = parts.map((part) =>
    "leftOut" in part
      ? map({ left_out: part.leftOut })
      : map({ command: part.command, stream: part.stream, text: part.text })
  );
  return map({ seq, out });
}

/** The batch in a map; `undefined` if that holds none. */
export function batchFromMap(value: Value | undefined): LiveBatch | undefined {
  if (!isMap(value)) return undefined;
  const seq = toNumber(value.get("seq"));
  const out = value.get("out");
  if (seq === undefined || !Number.isSafeInteger(seq) || seq < 1 || !Array.isArray(out)) return undefined;
  const parts: LivePart[] = [];
  for (const item of out) {
    const part = partFromMap(item);
    if (part === undefined) return undefined;
    parts.push(part);
  }
  return { seq, parts };
}

function partFromMap(item: Value): LivePart | undefined {
  if (!isMap(item)) return undefined;
  const leftOut = toNumber(item.get("left_out"));
  if (leftOut !== undefined) return Number.isSafeInteger(leftOut) && leftOut > 0 ? { leftOut } : undefined;
  const command = toNumber(item.get("command"));
  const stream = item.get("stream");
  const text = item.get("text");
  if (command === undefined || !Number.isSafeInteger(command) || command < 1 || typeof text !== "string") {
    return undefined;
  }
  return stream === "stdout" || stream === "stderr" ? { command, stream, text } : undefined;
}
