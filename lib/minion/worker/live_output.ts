/**
 * The minion's side of `salt --live`: collects the output of a job's commands and sends it in batches, the first at
 * once, then one every 50 ms. Limits the memory, the bytes per second and the total; what exceeds them is left out in
 * whole lines, oldest first, and the batch gives their number. A batch that the master did not accept is sent again
 * with the same number. Knows nothing of the wire: the caller provides a function for sending.
 * @module
 */

import type { LiveBatch, LivePart, LiveText, Stream } from "#lib/protocol/live_batch.ts";
import { sleep } from "#lib/os/sleep.ts";
import { streamDecoder } from "#lib/text/encoding.ts";

/** Output of a command. */
export interface WrittenOutput {
  /** The number of the command in the job, from 1. */
  readonly command: number;
  readonly stream: Stream;
  readonly bytes: Uint8Array;
  /** Python's name of its encoding; `null` is UTF-8. */
  readonly encoding: string | null;
}

/** Limits, in bytes as the command wrote them. */
export interface LiveLimits {
  /** Per second. */
  readonly rateBytes: number;
  /** In total. */
  readonly maxBytes: number;
  /** Per request, its envelope included. Default: no limit. */
  readonly requestBytes?: number;
}

/** Options of a {@linkcode LiveOutput}. */
export interface LiveOutputOptions {
  /**
   * Sends a batch to the master.
   * @returns Whether the master accepted it. Never rejects.
   */
  send(batch: LiveBatch): Promise<boolean>;
  readonly limits: LiveLimits;
}

/** Time between two batches, in milliseconds. */
const BATCH_MS = 50;
/** Wait before a batch is sent again, in milliseconds. */
const RETRY_MS = 1_000;
/** Maximum bytes of a batch, and of a piece. */
const BATCH_BYTES = 65_536;
/** Bytes of a part on the wire besides its text. */
const PART_BYTES = 48;
/**
 * A batch may be this fraction of a request: an invalid byte takes three as text, a batch may be one piece too large,
 * and there is an envelope.
 */
const BATCH_SHARE = 8;
/** Maximum bytes that wait to be sent. */
const HELD_BYTES = 262_144;

const NEWLINE = 0x0a;

/** Decodes one stream; characters may be split over pieces. */
interface StreamDecoder {
  readonly command: number;
  readonly stream: Stream;
  decode(bytes: Uint8Array, last: boolean): string;
}

/** The output of one job. */
export class LiveOutput {
  readonly #options: LiveOutputOptions;
  readonly #ending = new AbortController();
  readonly #pieces: WrittenOutput[] = [];
  #held = 0;
  #accepted = 0;
  #full = false;
  /** Number of lines left out before the first piece. */
  #leftOut = 0;
  /** Streams whose rest of a line is left out too, because its beginning was. */
  readonly #cut = new Set<string>();
  /**
   * Number of lines left out after the last piece, because the total limit is reached; and whether one is unfinished.
   */
  #beyond = 0;
  #beyondCut = false;
  readonly #decoders = new Map<string, StreamDecoder>();
  #seq = 0;
  #unsent: LiveBatch | undefined;
  /** Maximum bytes of a batch in a request. */
  readonly #roomBytes: number;
  #allowance: number;
  #allowedAt = performance.now();
  #sending: Promise<void> | undefined;

  constructor(options: LiveOutputOptions) {
    this.#options = options;
    this.#allowance = options.limits.rateBytes;
    this.#roomBytes = Math.floor((options.limits.requestBytes ?? Infinity) / BATCH_SHARE);
  }

  /** Adds output. */
  write(written: WrittenOutput): void {
    if (this.#ending.signal.aborted || written.bytes.length === 0) return;
    const room = this.#options.limits.maxBytes - this.#accepted;
    if (this.#full || written.bytes.length > room) {
      // Takes what fits, up to the end of a line, and nothing afterwards, even if it is short.
      const end = this.#full ? 0 : written.bytes.subarray(0, room).lastIndexOf(NEWLINE) + 1;
      this.#full = true;
      const { lines, unfinished } = countLines(written.bytes.subarray(end), this.#beyondCut);
      this.#beyond += lines;
      this.#beyondCut = unfinished;
      if (end > 0) this.#accept({ ...written, bytes: written.bytes.subarray(0, end) });
    } else this.#accept(written);
  }

  #accept(written: WrittenOutput): void {
    const { bytes } = written;
    for (let at = 0; at < bytes.length; at += this.#roomBytes) {
      this.#pieces.push({ ...written, bytes: bytes.subarray(at, at + this.#roomBytes) });
    }
    this.#held += written.bytes.length;
    this.#accepted += written.bytes.length;
    while (this.#held > HELD_BYTES && this.#pieces.length > 1) this.#leaveOutOldest();
    this.#start();
  }

  /**
   * Ends the output.
   * @param graceMs How long the current batch may take.
   * @returns The batches that the master has not accepted yet; the caller must deliver them.
   */
  async end(graceMs: number): Promise<LiveBatch[]> {
    this.#ending.abort(new Error("the job has ended"));
    if (this.#sending !== undefined) {
      const overdue = new AbortController();
      await Promise.race([this.#sending, sleep(graceMs, overdue.signal).catch(() => {})]);
      overdue.abort();
    }
    const left = this.#unsent === undefined ? [] : [this.#unsent];
    do {
      const batch = this.#take(Infinity, true);
      if (batch !== undefined) left.push(batch);
    } while (this.#pieces.length > 0);
    return left;
  }

  #start(): void {
    this.#sending ??= this.#send().finally(() => {
      this.#sending = undefined;
      if (this.#pieces.length > 0 && !this.#ending.signal.aborted) this.#start();
    });
  }

  async #send(): Promise<void> {
    const { signal } = this.#ending;
    try {
      while (this.#unsent !== undefined || this.#pieces.length > 0) {
        for (let ms = this.#pauseMs(); ms > 0; ms = this.#pauseMs()) await sleep(ms, signal);
        this.#unsent ??= this.#take(Math.min(this.#allowance, BATCH_BYTES), false);
        if (this.#unsent === undefined) continue;
        const isTaken = await this.#options.send(this.#unsent);
        if (isTaken) this.#unsent = undefined;
        await sleep(isTaken ? BATCH_MS : RETRY_MS, signal);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** Time until the rate allows a piece. Unused rate is saved for a second at most. */
  #pauseMs(): number {
    const { rateBytes } = this.#options.limits;
    const now = performance.now();
    this.#allowance = Math.min(rateBytes, this.#allowance + rateBytes * (now - this.#allowedAt) / 1000);
    this.#allowedAt = now;
    return this.#allowance >= 1 ? 0 : Math.ceil(1000 * (1 - this.#allowance) / rateBytes);
  }

  /**
   * The next batch: at most `max` bytes, or what fits into a request, plus one piece; `undefined` if there is nothing.
   */
  #take(max: number, ended: boolean): LiveBatch | undefined {
    const parts: LivePart[] = [];
    if (this.#leftOut > 0) parts.push({ leftOut: this.#leftOut });
    this.#leftOut = 0;
    let count = 0;
    for (let size = 0; count < max && size < this.#roomBytes;) {
      const piece = this.#pieces.shift();
      if (piece === undefined) break;
      count += piece.bytes.length;
      size += piece.bytes.length + PART_BYTES;
      add(parts, piece, this.#decode(piece));
    }
    this.#held -= count;
    this.#allowance -= count;
    if (ended && this.#pieces.length === 0) {
      for (const decoder of this.#decoders.values()) add(parts, decoder, decoder.decode(new Uint8Array(), true));
      this.#decoders.clear();
      if (this.#beyond > 0) parts.push({ leftOut: this.#beyond });
    }
    return parts.length === 0 ? undefined : { seq: ++this.#seq, parts };
  }

  #decode(piece: WrittenOutput): string {
    const { command, stream, encoding } = piece;
    const name = `${command} ${stream}`;
    let { bytes } = piece;
    if (this.#cut.has(name)) {
      const end = bytes.indexOf(NEWLINE);
      if (end < 0) return "";
      this.#cut.delete(name);
      bytes = bytes.subarray(end + 1);
    }
    let decoder = this.#decoders.get(name);
    if (decoder === undefined) {
      decoder = { command, stream, decode: streamDecoder(encoding) };
      this.#decoders.set(name, decoder);
    }
    return decoder.decode(bytes, false);
  }

  /** Leaves out the oldest piece; there is one. */
  #leaveOutOldest(): void {
    const [piece] = this.#pieces.splice(0, 1);
    const name = `${piece.command} ${piece.stream}`;
    this.#held -= piece.bytes.length;
    this.#accepted -= piece.bytes.length;
    const { lines, unfinished } = countLines(piece.bytes, this.#cut.has(name));
    this.#leftOut += lines;
    if (unfinished) this.#cut.add(name);
    else this.#cut.delete(name);
    this.#decoders.delete(name);
  }
}

/** Adds text, to the last part if it has the same stream. */
function add(parts: LivePart[], { command, stream }: Pick<LiveText, "command" | "stream">, text: string): void {
  if (text === "") return;
  const before = parts.at(-1);
  if (before !== undefined && "text" in before && before.command === command && before.stream === stream) {
    parts[parts.length - 1] = { command, stream, text: before.text + text };
  } else parts.push({ command, stream, text });
}

/**
 * The number of lines in `bytes`, including an unfinished one at the end.
 * @param counted Whether the first line continues one that is counted already.
 */
function countLines(bytes: Uint8Array, counted: boolean): { lines: number; unfinished: boolean } {
  let ends = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) ends++;
  const unfinished = bytes[bytes.length - 1] !== NEWLINE;
  return { lines: ends + (unfinished ? 1 : 0) - (counted ? 1 : 0), unfinished };
}
