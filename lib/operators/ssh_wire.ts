/**
 * The data types of ssh in messages and key files: numbers of four bytes, and strings after their length.
 * Source: RFC 4251, section 5.
 * @module
 */

import { WireError } from "#lib/errors.ts";
import { joinBytes } from "#lib/values/join_bytes.ts";

const LENGTH_BYTES = 4;

/** A number of four bytes. */
export function sshNumber(n: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(LENGTH_BYTES);
  new DataView(bytes.buffer).setUint32(0, n);
  return bytes;
}

/** A string after its length; a text is written as UTF-8. */
export function sshString(text: Uint8Array | string): Uint8Array<ArrayBuffer> {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  return joinBytes([sshNumber(bytes.length), bytes]);
}

/** Reads such data from a peer's message, one after the other. */
export class SshReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** @throws {WireError} If so many are not left. */
  bytes(length: number): Uint8Array {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new WireError("the data of ssh end too early");
    const read = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return read;
  }

  /** @throws {WireError} If four bytes are not left. */
  number(): number {
    const read = this.bytes(LENGTH_BYTES);
    return new DataView(read.buffer, read.byteOffset, LENGTH_BYTES).getUint32(0);
  }

  /** @throws {WireError} If it is longer than the rest. */
  string(): Uint8Array {
    return this.bytes(this.number());
  }

  /** @throws {WireError} If it is longer than the rest. */
  text(): string {
    return new TextDecoder().decode(this.string());
  }

  /** Whether nothing is left. */
  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }
}
