/**
 * Bytes that FFI calls can take: those in memory of this thread alone.
 * @module
 */

/** Whether `bytes` are in memory of this thread alone, as FFI calls require. */
export function isOwned(bytes: Uint8Array): bytes is Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer;
}

/** The same bytes in memory of this thread alone. */
export function ownBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return isOwned(bytes) ? bytes : new Uint8Array(bytes);
}
