/**
 * Live output of a job's commands (`salt --live`): numbered batches of text, each an event `salt/job/<jid>/out/<minion
 * id>`. A minion sends them only if the job's load has `live`. The numbers begin with 1 for each job and minion, so
 * that repeated and missing batches are detected. Knows the format, no sockets and no files.
 * @module
 */

import { isMap, map, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";

/** The output streams of a command. */
export type Stream = "stdout" | "stderr";

/** A piece of output; it may begin and end within a line. */
export interface LiveText {
  /** The number of the command within the job, from 1. */
  readonly command: number;
  readonly stream: Stream;
  readonly text: string;
}

/** A gap: lines that exceeded the rate or the total amount that is sent. */
export interface LiveGap {
  /** Number of lines left out here. */
  readonly leftOut: number;
}

/** A part of a batch. */
export type LivePart = LiveText | LiveGap;

/** The output of a short time. */
export interface LiveBatch {
  /** Its number, from 1. */
  readonly seq: number;
  /** In the order in which they were read. */
  readonly parts: readonly LivePart[];
}

/** Encodes a batch for the wire and the disk. */
export function batchToMap({ seq, parts }: LiveBatch): ValueMap {
  const out = parts.map((part) =>
    "leftOut" in part
      ? map({ left_out: part.leftOut })
      : map({ command: part.command, stream: part.stream, text: part.text })
  );
  return map({ seq, out });
}

/** Decodes a batch; `undefined` if `value` is none. */
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
