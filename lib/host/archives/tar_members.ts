/**
 * The members of a tar archive, from its headers: ustar, GNU's long names, and pax.
 * Source: POSIX.1-2024, "pax"; tar(5).
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { joinBytes } from "#lib/values/join_bytes.ts";

/** A member. */
export type TarKind = "directory" | "link" | "file";

export interface TarMember {
  /** Without a slash at its end. */
  readonly name: string;
  readonly kind: TarKind;
}

const BLOCK = 512;
/** Maximum size of a header with a name. */
const MAX_HEADER = 1 << 20;

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** The error for a stream that is not a tar archive. */
export class NoTarError extends Error {
  override name = "NoTarError";
}

/** Reads a stream by pieces of a wanted length. */
class Pieces {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #held: Uint8Array = new Uint8Array();

  constructor(stream: ReadableStream<Uint8Array>) {
    this.#reader = stream.getReader();
  }

  /** The next `length` bytes; fewer at the end. */
  async take(length: number): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    let got = 0;
    while (got < length && await this.#fill()) {
      const part = this.#held.subarray(0, length - got);
      parts.push(part);
      got += part.length;
      this.#held = this.#held.subarray(part.length);
    }
    return joinBytes(parts);
  }

  /** Passes over `length` bytes. */
  async skip(length: number): Promise<void> {
    for (let left = length; left > 0 && await this.#fill();) {
      const part = Math.min(left, this.#held.length);
      this.#held = this.#held.subarray(part);
      left -= part;
    }
  }

  async cancel(): Promise<void> {
    await this.#reader.cancel();
  }

  async #fill(): Promise<boolean> {
    while (this.#held.length === 0) {
      const { value, done } = await this.#reader.read();
      if (done) return false;
      this.#held = value;
    }
    return true;
  }
}

/**
 * The members of an archive that comes as a stream of bytes.
 * @throws {NoTarError} If it is none.
 */
export async function* readTar(stream: ReadableStream<Uint8Array>): AsyncGenerator<TarMember, void> {
  const pieces = new Pieces(stream);
  let longName: string | undefined, first = true;
  try {
    for (;;) {
      const header = await pieces.take(BLOCK);
      if (header.length < BLOCK || header.every((byte) => byte === 0)) {
        if (first && header.length === 0) throw new NoTarError("the archive is empty");
        if (first && header.length < BLOCK) throw new NoTarError("the archive is too short");
        return;
      }
      if (!hasChecksum(header)) {
        if (first) throw new NoTarError("the first header is no header");
        return;
      }
      first = false;
      const type = String.fromCharCode(header[156]);
      const size = numberAt(header, { at: 124, length: 12 });
      const padded = Math.ceil(size / BLOCK) * BLOCK;
      if (type === "L" || type === "x") {
        if (size > MAX_HEADER) throw new NoTarError("a name is too long");
        const data = (await pieces.take(padded)).subarray(0, size);
        longName = (type === "L" ? cString(data) : paxPath(data)) ?? longName;
        continue;
      }
      await pieces.skip(padded);
      if (type === "g" || type === "K") continue;
      const name = longName ?? shortName(header);
      longName = undefined;
      const directory = type === "5" || (type === "\0" && name.endsWith("/"));
      yield {
        name: directory ? rstripChars(name, "/") : name,
        kind: directory ? "directory" : type === "2" ? "link" : "file",
      };
    }
  } finally {
    await pieces.cancel();
  }
}

function cString(bytes: Uint8Array): string {
  const end = bytes.indexOf(0);
  return utf8.decode(end < 0 ? bytes : bytes.subarray(0, end));
}

function shortName(header: Uint8Array): string {
  const name = cString(header.subarray(0, 100));
  const ustar = cString(header.subarray(257, 263)) === "ustar";
  const prefix = ustar ? cString(header.subarray(345, 500)) : "";
  return prefix === "" ? name : `${prefix}/${name}`;
}

/** A number in octal digits, or in GNU's way in bytes. */
function numberAt(header: Uint8Array, { at, length }: { readonly at: number; readonly length: number }): number {
  const field = header.subarray(at, at + length);
  if ((field[0] & 0x80) !== 0) return field.subarray(1).reduce((sum, byte) => sum * 256 + byte, 0);
  return parseInt(cString(field).trim() || "0", 8) || 0;
}

function hasChecksum(header: Uint8Array): boolean {
  const stated = numberAt(header, { at: 148, length: 8 });
  return header.reduce((sum, byte, i) => sum + (i >= 148 && i < 156 ? 32 : byte), 0) === stated;
}

/** The path in a pax header, whose records say their own lengths. */
function paxPath(data: Uint8Array): string | undefined {
  for (let at = 0; at < data.length;) {
    const length = parseInt(utf8.decode(data.subarray(at, at + 20)), 10);
    if (!(length > 0)) return undefined;
    const record = utf8.decode(data.subarray(at, at + length - 1));
    const path = /^\d+ path=(.*)$/s.exec(record)?.[1];
    if (path !== undefined) return path;
    at += length;
  }
  return undefined;
}
