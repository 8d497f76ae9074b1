/**
 * Decodes bytes that a program wrote, with Python's names of encodings and Python's handling of invalid bytes.
 * Source: docs.python.org, "Standard Encodings"; WHATWG Encoding Standard, which `TextDecoder` implements.
 * @module
 */

import { InvocationError } from "#lib/errors.ts";
import { byteText } from "#lib/values/code_points.ts";
import { decodeUtf32, encodeUtf32, utf32Mark } from "./utf32.ts";

/** Decoded text. Invalid bytes have become U+FFFD. */
export interface Decoded {
  readonly text: string;
  /** Whether every byte was valid. */
  readonly exact: boolean;
}

/** WHATWG decodes these two as windows-1252, which differs for 0x80 to 0x9f. */
const OWN_ENCODINGS: readonly (readonly [name: RegExp, decode: (bytes: Uint8Array) => string])[] = [
  [/^(latin-?1|iso-?8859-1|l1)$/, byteText],
  [/^(us-)?ascii$/, (bytes) => byteText(bytes).replaceAll(/[\x80-\xff]/g, "\ufffd")],
];

/** UTF-16 and UTF-32. Without a byte order in the name, a mark tells it and is not a part of the text. */
const WIDE = /^utf-?(16|32)(?:-?(le|be))?$/;

function plainName(name: string | null): string {
  return (name ?? "utf-8").toLowerCase().replaceAll(/[_ ]/g, "-");
}

function ownDecoder(name: string | null): ((bytes: Uint8Array) => string) | undefined {
  return OWN_ENCODINGS.find(([names]) => names.test(plainName(name)))?.[1];
}

function platformDecoder(name: string | null, fatal: boolean): TextDecoder {
  const plain = plainName(name);
  // Python keeps a byte order mark, except in the encoding `utf-8-sig`.
  const ignoreBOM = plain !== "utf-8-sig";
  const label = plain === "utf-8-sig" ? "utf-8" : plain.replace(/^cp-?(125\d)$/, "windows-$1");
  try {
    return new TextDecoder(label, { fatal, ignoreBOM });
  } catch {
    throw new InvocationError(`unknown encoding: ${name}`);
  }
}

/**
 * Makes a decoder for Python's encoding `name`; `null` is UTF-8.
 * @throws {InvocationError} If the encoding is not supported.
 */
export function textDecoder(name: string | null): (bytes: Uint8Array) => Decoded {
  const own = ownDecoder(name);
  if (own !== undefined) {
    return (bytes) => {
      const text = own(bytes);
      return { text, exact: !text.includes("\ufffd") };
    };
  }
  const wide = WIDE.exec(plainName(name));
  if (wide !== null) return (bytes) => decodeWide(bytes, wide);
  const strict = platformDecoder(name, true), lenient = platformDecoder(name, false);
  return (bytes) => {
    try {
      return { text: strict.decode(bytes), exact: true };
    } catch {
      return { text: lenient.decode(bytes), exact: false };
    }
  };
}

/** @param wide What {@linkcode WIDE} found: the width and the byte order. */
function decodeWide(bytes: Uint8Array, [, width, encoding]: RegExpExecArray): Decoded {
  const marked = encoding !== undefined ? undefined : width === "32" ? utf32Mark(bytes) : utf16Mark(bytes);
  const own = marked === undefined ? bytes : bytes.subarray(Number(width) / 8);
  const order = (encoding ?? marked) === "be" ? "be" : "le";
  if (width === "32") {
    const text = decodeUtf32(own, order);
    return { text, exact: !text.includes("\ufffd") };
  }
  const text = new TextDecoder(`utf-16${order}`, { ignoreBOM: true }).decode(own);
  return { text, exact: own.length % 2 === 0 && !text.includes("\ufffd") };
}

function utf16Mark(bytes: Uint8Array): "le" | "be" | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "le";
  return bytes[0] === 0xfe && bytes[1] === 0xff ? "be" : undefined;
}

/**
 * Like {@linkcode textDecoder}, for text that comes in pieces: an incomplete character waits for the next piece.
 * @throws {InvocationError} If the encoding is not supported.
 */
export function streamDecoder(name: string | null): (bytes: Uint8Array, last: boolean) => string {
  const own = ownDecoder(name);
  if (own !== undefined) return own;
  if (/^utf-?32/.test(plainName(name))) throw new InvocationError(`${name} cannot be read while it is written`);
  const decoder = platformDecoder(name, false);
  return (bytes, last) => decoder.decode(bytes, { stream: !last });
}

/** The bytes of the characters of a single-byte encoding, found by decoding all bytes. */
function byteTable(name: string | null): Map<string, number> {
  const decode = textDecoder(name);
  const table = new Map<string, number>();
  for (let byte = 0; byte < 256; byte++) {
    const { text, exact } = decode(Uint8Array.of(byte));
    if (exact && text.length === 1) table.set(text, byte);
  }
  return table;
}

/**
 * Encodes `text` as Python does, in UTF-8, UTF-16, UTF-32 or an encoding of single bytes.
 * @param name Python's name of the encoding; `null` is UTF-8.
 * @param errors Python's handling of characters that the encoding does not have: `strict`, `ignore` or `replace`.
 * @throws {InvocationError} If the encoding is not supported, or with `strict` lacks a character.
 */
export function encodeText(text: string, name: string | null, errors = "strict"): Uint8Array {
  const plain = plainName(name);
  if (/^utf-?8(-sig)?$/.test(plain)) return new TextEncoder().encode((plain.endsWith("sig") ? "\ufeff" : "") + text);
  const wide = WIDE.exec(plain);
  if (wide !== null) {
    const [, width, order] = wide;
    const all = order === undefined ? `\ufeff${text}` : text;
    return width === "32" ? encodeUtf32(all, order === "be" ? "be" : "le") : encodeUtf16(all, order !== "be");
  }
  const table = byteTable(name);
  if (table.size < 128) throw new InvocationError(`unknown encoding: ${name}`);
  const bytes: number[] = [];
  for (const char of text) {
    const byte = table.get(char);
    if (byte !== undefined) bytes.push(byte);
    else if (errors === "replace") bytes.push(0x3f);
    else if (errors !== "ignore") {
      throw new InvocationError(`'${name}' codec can't encode character ${JSON.stringify(char)}`);
    }
  }
  return Uint8Array.from(bytes);
}

function encodeUtf16(text: string, little: boolean): Uint8Array {
  const view = new DataView(new ArrayBuffer(2 * text.length));
  for (let i = 0; i < text.length; i++) view.setUint16(2 * i, text.charCodeAt(i), little);
  return new Uint8Array(view.buffer);
}
