/**
 * Bytes in base64 that come from elsewhere.
 * @module
 */

/** The bytes of a text in base64; `undefined` for anything else. */
export function base64Bytes(text: unknown): Uint8Array | undefined {
  if (typeof text !== "string") return undefined;
  try {
    return Uint8Array.fromBase64(text);
  } catch {
    return undefined; // whoever asked says what was wanted
  }
}
