/**
 * Decodes bytes as UTF-8 if they are valid.
 * @module
 */

/** The text that `bytes` hold as UTF-8, its byte order mark included; `undefined` if they hold none. */
export function strictUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
