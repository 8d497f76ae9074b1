/**
 * Texts as C takes them.
 * @module
 */

/** `text` in UTF-8 with a zero byte behind it. A zero byte in `text` would end it for C. */
export function cString(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`${text}\0`);
}
