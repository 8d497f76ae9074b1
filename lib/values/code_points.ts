/**
 * Texts as code points, for comparing in matchers; and bytes as texts of the code points U+0000 to U+00FF, which is
 * Latin-1. `node:buffer` does the latter too, but takes 3 MB of every job worker.
 * @module
 */

/** The code points of `text`. */
export function codePoints(text: string): number[] {
  const codes: number[] = [];
  for (let i = 0; i < text.length; i++) {
    const code = text.codePointAt(i) ?? 0;
    if (code > 0xffff) i++;
    codes.push(code);
  }
  return codes;
}

/** Maximum number of arguments for one call. */
const CHUNK = 1 << 13;

/** `bytes` as a text with a character for each. */
export function byteText(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += CHUNK) text += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  return text;
}

/** The bytes of a {@linkcode byteText}. */
export function textBytes(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text, (char) => char.charCodeAt(0));
}
