/**
 * CRC-32 as in gzip, PNG and Ethernet: detects bytes that were not written to the disk completely.
 * Source: RFC 1952, section 8.
 * @module
 */

const POLYNOMIAL = 0xedb88320;

/**
 * Table `n` has the remainders of a byte that `n` bytes follow: eight bytes are looked up at once. They are made when
 * they are needed: most commands start and end without a CRC.
 */
let made: readonly Uint32Array[] | undefined;

function tables(): Uint32Array[] {
  const all = Array.from({ length: 8 }, () => new Uint32Array(256));
  for (let byte = 0; byte < 256; byte++) {
    let rest = byte;
    for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ POLYNOMIAL : rest >>> 1;
    all[0][byte] = rest;
  }
  for (let n = 1; n < 8; n++) {
    for (let byte = 0; byte < 256; byte++) all[n][byte] = all[0][all[n - 1][byte] & 0xff] ^ (all[n - 1][byte] >>> 8);
  }
  return all;
}

/** The CRC-32 of `bytes`, an unsigned 32-bit number; with that of what came before, of all together. */
export function crc32(bytes: Uint8Array, before = 0): number {
  const [t0, t1, t2, t3, t4, t5, t6, t7] = made ??= tables();
  let crc = before ^ 0xffffffff, at = 0;
  for (const end = bytes.length - 7; at < end; at += 8) {
    crc ^= bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
    crc = t7[crc & 0xff] ^ t6[(crc >>> 8) & 0xff] ^ t5[(crc >>> 16) & 0xff] ^ t4[crc >>> 24] ^
      t3[bytes[at + 4]] ^ t2[bytes[at + 5]] ^ t1[bytes[at + 6]] ^ t0[bytes[at + 7]];
  }
  for (; at < bytes.length; at++) crc = t0[(crc ^ bytes[at]) & 0xff] ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}
