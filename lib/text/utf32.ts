/**
 * UTF-32, which `TextDecoder` does not read.
 * Source: The Unicode Standard, section 3.10; docs.python.org, codecs `utf-32`, `utf-32-le`, `utf-32-be`.
 * @module
 */

/** Characters at once, as arguments of one call. */
const CHUNK = 1 << 12;

/** The byte order of `bytes`, by their mark; `undefined` if they have none. */
export function utf32Mark(bytes: Uint8Array): "le" | "be" | undefined {
  if (bytes.length < 4) return undefined;
  const first = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  return first === 0xfeff ? "le" : first === 0xfffe0000 ? "be" : undefined;
}

/** The text of `bytes`, a mark included. Invalid characters become U+FFFD. */
export function decodeUtf32(bytes: Uint8Array, order: "le" | "be"): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let text = "";
  for (let at = 0; at < bytes.length; at += 4 * CHUNK) {
    const codes: number[] = [];
    for (let next = at; next < Math.min(bytes.length, at + 4 * CHUNK); next += 4) {
      const code = next + 4 <= bytes.length ? view.getUint32(next, order === "le") : -1;
      codes.push(code < 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? 0xfffd : code);
    }
    text += String.fromCodePoint(...codes);
  }
  return text;
}

/** The bytes of `text`. */
export function encodeUtf32(text: string, order: "le" | "be"): Uint8Array {
  const characters = [...text];
  const view = new DataView(new ArrayBuffer(4 * characters.length));
  for (const [i, char] of characters.entries()) view.setUint32(4 * i, char.codePointAt(0) ?? 0, order === "le");
  return new Uint8Array(view.buffer);
}
