/**
 * The output of a session until its first line with the mark. What a host writes before it, banners and what its
 * shell's files print, is kept for messages and otherwise dropped.
 * @module
 */

import { KeptText } from "./kept_text.ts";
import { SshError } from "#lib/errors.ts";
import { joinBytes } from "#lib/values/join_bytes.ts";

/** Maximum bytes before the mark: a host that writes more never begins. */
const MAX_NOISE = 4 * 2 ** 20;
/** Maximum bytes of a line with the mark. */
const MAX_LINE = 4_096;

/** A line with the mark: `MARK WORD REST`. */
export interface MarkedLine {
  readonly word: string;
  readonly rest: string;
}

/** Reads a session's standard output: lines with the mark, and then what follows them. */
export class MarkedOutput {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;
  readonly #start: Uint8Array;
  readonly #noise = new KeptText();
  #noiseBytes = 0;
  /** Bytes that were read and not given yet. */
  #held: Uint8Array<ArrayBuffer> = new Uint8Array();
  readonly #onPiece: (piece: Uint8Array) => void;

  /** @param onPiece Called with each piece that is read while a line is looked for. */
  constructor(
    reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>,
    { mark, onPiece }: { readonly mark: string; readonly onPiece: (piece: Uint8Array) => void },
  ) {
    this.#reader = reader;
    this.#onPiece = onPiece;
    this.#start = new TextEncoder().encode(`\n${mark} `);
  }

  /** The end of what the host wrote before the mark. */
  get noise(): string {
    return this.#noise.text;
  }

  /**
   * The next line with the mark, of a program that has to write one.
   * @param failure Makes the error for an end without one.
   * @throws {SshError} If the host writes without an end.
   */
  async line(failure: (when: string) => Promise<Error>): Promise<MarkedLine> {
    const line = await this.nextLine();
    if (line === undefined) throw await failure("before it began");
    return line;
  }

  /**
   * The next line with the mark; `undefined` at the end of the output.
   * @throws {SshError} If the host writes without an end.
   */
  async nextLine(): Promise<MarkedLine | undefined> {
    for (;;) {
      const at = indexOf(this.#held, this.#start);
      if (at >= 0) {
        const from = at + this.#start.length;
        const end = this.#held.indexOf(0x0a, from);
        if (end >= 0) {
          const line = new TextDecoder().decode(this.#held.subarray(from, end)).trimEnd();
          this.#drop(at);
          this.#held = this.#held.slice(end - at + 1);
          const blank = line.indexOf(" ");
          return blank < 0 ? { word: line, rest: "" } : { word: line.slice(0, blank), rest: line.slice(blank + 1) };
        }
        if (this.#held.length - from > MAX_LINE) throw new SshError("protocol", "The host sent a line without an end");
      } else this.#drop(Math.max(0, this.#held.length - this.#start.length));
      const { value, done } = await this.#reader.read();
      if (done) {
        this.#drop(this.#held.length);
        return undefined;
      }
      this.#onPiece(value);
      this.#held = joinBytes([this.#held, value]);
    }
  }

  /** The next bytes behind the last line; `undefined` at the end. */
  async next(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    if (this.#held.length > 0) {
      const held = this.#held;
      this.#held = new Uint8Array();
      return held;
    }
    const { value, done } = await this.#reader.read();
    return done ? undefined : value;
  }

  #drop(bytes: number): void {
    this.#noiseBytes += bytes;
    if (this.#noiseBytes > MAX_NOISE) {
      throw new SshError("protocol", `The host wrote ${MAX_NOISE} bytes before it began`);
    }
    this.#noise.add(this.#held.subarray(0, bytes));
    this.#held = this.#held.slice(bytes);
  }
}

/** The offset of `wanted` in `bytes`; -1 if it is not there. */
function indexOf(bytes: Uint8Array, wanted: Uint8Array): number {
  for (let at = bytes.indexOf(wanted[0]); at >= 0; at = bytes.indexOf(wanted[0], at + 1)) {
    if (wanted.every((byte, i) => bytes[at + i] === byte)) return at;
  }
  return -1;
}
