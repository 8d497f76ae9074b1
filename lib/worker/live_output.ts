/**
 * The minion's side of `salt --live`: takes what a job's commands write, and sends it in batches: the first at once, then
 * one every 50 ms, one after the other.
 *
 * It is bounded in what it holds, in what it sends in a second and in all; what does not fit is left out by whole lines,
 * the oldest first, and the batch says how many. A batch that the master did not take is sent again under its number.
 * Knows nothing of the wire: it is given a way to send.
 * @module
 */

import type { LiveBatch, LivePart, LiveText, Stream } from "../protocol/live_batch.ts";
import { sleep } from "../os/sleep.ts";
import { streamDecoder } from "../text/encoding.ts";

/** What a command has written, as it was read. */
export interface WrittenOutput {
  /** Which of the job's commands; the first is 1. */
  readonly command: number;
  /** Where. */
  readonly stream: Stream;
  /** What. */
  readonly bytes: Uint8Array;
  /** Python's name of its encoding; `null` is UTF-8. */
  readonly encoding: string | null;
}

/** How much is sent, in bytes as the command wrote them. */
export interface LiveLimits {
  /** In a second. */
  readonly rateBytes: number;
  /** In all. */
  readonly maxBytes: number;
  /** In a request, its envelope included. Default: no bound. */
  readonly requestBytes?: number;
}

/** What a {@linkcode LiveOutput} is made of. */
export interface LiveOutputOptions {
  /** Gives a batch to the master. @returns Whether it took it. Never rejects. */
  send(batch: LiveBatch): Promise<boolean>;
  /** How much. */
  readonly limits: LiveLimits;
}

/** The time between two batches, in milliseconds. */
const BATCH_MS = 50;
/** Before a batch is sent again, in milliseconds. */
const RETRY_MS = 1_000;
/** A batch holds no more bytes than this, and a piece. */
const BATCH_BYTES = 65_536;
/** What a part of a batch takes on the wire beside its text. */
const PART_BYTES = 48;
/**
 * A batch may be this part of a request: a byte that is no text takes three as text, a batch may be a piece too large, and there is
 * an envelope.
 */
const BATCH_SHARE = 8;
/** So many bytes wait to be sent at most. */
const HELD_BYTES = 262_144;

const NEWLINE = 0x0a;

/** The decoder of one stream: characters may be split over pieces. */
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
  /** Lines that were left out before the first of the pieces. */
  #leftOut = 0;
  /** Streams of which the rest of a line goes too, because its beginning was left out. */
  readonly #cut = new Set<string>();
  /** Lines that were left out after the last of the pieces, as all that may be sent was; and whether one is unfinished. */
  #beyond = 0;
  #beyondCut = false;
  readonly #decoders = new Map<string, StreamDecoder>();
  #seq = 0;
  #unsent: LiveBatch | undefined;
  /** What of a batch fits into a request. */
  readonly #roomBytes: number;
  #allowance: number;
  #allowedAt = performance.now();
  #sending: Promise<void> | undefined;

  /** Sends nothing before there is something. */
  constructor(options: LiveOutputOptions) {
    this.#options = options;
    this.#allowance = options.limits.rateBytes;
    this.#roomBytes = Math.floor((options.limits.requestBytes ?? Infinity) / BATCH_SHARE);
  }

  /** Takes what was written. */
  write(written: WrittenOutput): void {
    if (this.#ending.signal.aborted || written.bytes.length === 0) return;
    const room = this.#options.limits.maxBytes - this.#accepted;
    if (this.#full || written.bytes.length > room) {
      // What there is room for, to the end of a line; and nothing after that, were it ever so short.
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
   * There is no more. @param patienceMs How long the batch under way may take.
   * @returns What the master has not taken yet, for the caller to deliver.
   */
  async end(patienceMs: number): Promise<LiveBatch[]> {
    this.#ending.abort(new Error("the job has ended"));
    if (this.#sending !== undefined) {
      const patience = new AbortController();
      await Promise.race([this.#sending, sleep(patienceMs, patience.signal).catch(() => {})]);
      patience.abort();
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
        const taken = await this.#options.send(this.#unsent);
        if (taken) this.#unsent = undefined;
        await sleep(taken ? BATCH_MS : RETRY_MS, signal);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** How long it takes until the rate allows a piece: what is not used is saved up for a second at most. */
  #pauseMs(): number {
    const { rateBytes } = this.#options.limits;
    const now = performance.now();
    this.#allowance = Math.min(rateBytes, this.#allowance + rateBytes * (now - this.#allowedAt) / 1000);
    this.#allowedAt = now;
    return this.#allowance >= 1 ? 0 : Math.ceil(1000 * (1 - this.#allowance) / rateBytes);
  }

  /** The next batch, of `most` bytes or what fits into a request, and a piece; `undefined` if there is nothing. */
  #take(most: number, ended: boolean): LiveBatch | undefined {
    const parts: LivePart[] = [];
    if (this.#leftOut > 0) parts.push({ leftOut: this.#leftOut });
    this.#leftOut = 0;
    let taken = 0;
    for (let size = 0; taken < most && size < this.#roomBytes;) {
      const piece = this.#pieces.shift();
      if (piece === undefined) break;
      taken += piece.bytes.length;
      size += piece.bytes.length + PART_BYTES;
      add(parts, piece, this.#decode(piece));
    }
    this.#held -= taken;
    this.#allowance -= taken;
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

  #leaveOutOldest(): void {
    const piece = this.#pieces.shift();
    if (piece === undefined) return;
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

/** Adds text, to the last part if that is of the same stream. */
function add(parts: LivePart[], { command, stream }: Pick<LiveText, "command" | "stream">, text: string): void {
  if (text === "") return;
  const before = parts.at(-1);
  if (before !== undefined && "text" in before && before.command === command && before.stream === stream) {
    parts[parts.length - 1] = { command, stream, text: before.text + text };
  } else parts.push({ command, stream, text });
}

/**
 * The lines in `bytes`, an unfinished one at the end included.
 * @param counted Whether the first of them goes on from a line that has been counted.
 */
function countLines(bytes: Uint8Array, counted: boolean): { lines: number; unfinished: boolean } {
  let ends = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) ends++;
  const unfinished = bytes[bytes.length - 1] !== NEWLINE;
  return { lines: ends + (unfinished ? 1 : 0) - (counted ? 1 : 0), unfinished };
}
