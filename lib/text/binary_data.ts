/**
 * Distinguishes binary data from text by the first bytes.
 * Source: Salt 3008.3, `salt/utils/stringutils.py` is_binary; `salt/utils/files.py` is_text, is_binary.
 * @module
 */

/**
 * Whether data is binary: a zero byte in it, or more than 30 % of bytes that do not occur in text. The last character
 * may be cut off.
 */
export function isBinary(bytes: Uint8Array): boolean {
  if (bytes.length === 0) return false;
  if (bytes.includes(0)) return true;
  const utf8 = isUtf8(bytes);
  const others = bytes.reduce((count, byte) => count + (isTextByte(byte, utf8) ? 0 : 1), 0);
  return others / bytes.length > 0.3;
}

function isTextByte(byte: number, utf8: boolean): boolean {
  return (byte >= 0x20 && byte < 0x7f) || [0x08, 0x09, 0x0a, 0x0c, 0x0d].includes(byte) || (utf8 && byte >= 0x80);
}

/** Whether the bytes are UTF-8, whose last character may be cut off. */
function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}
