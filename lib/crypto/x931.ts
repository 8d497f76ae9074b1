/**
 * The block of an ANSI X9.31 signature, as OpenSSL makes and checks it: Salt's "private encrypt" of `tok` and `sig`.
 * Only the padding, without RSA and hash: Salt puts the raw data into the block, without the standard's hash
 * identifier.
 * Source: OpenSSL's RSA_padding_add_X931 and RSA_padding_check_X931.
 * @module
 */

const FULL = 0x6a; // the data fills the block
const PADDED = 0x6b;
const FILL = 0xbb;
const START = 0xba;
const TRAILER = 0xcc;

/**
 * Makes the block of `size` bytes with `data`; `undefined` if it does not fit (the padding needs two bytes at least).
 */
export function padX931(data: Uint8Array, size: number): Uint8Array<ArrayBuffer> | undefined {
  const filled = size - data.length - 2;
  if (filled < 0) return undefined;
  const block = new Uint8Array(size).fill(FILL, 1, 1 + filled);
  block[0] = filled === 0 ? FULL : PADDED;
  if (filled > 0) block[filled] = START;
  block.set(data, 1 + filled);
  block[size - 1] = TRAILER;
  return block;
}

/** Extracts the data of a block; `undefined` unless the padding is exactly that of {@linkcode padX931}. */
export function unpadX931(block: Uint8Array): Uint8Array | undefined {
  const last = block.length - 1;
  if (block[last] !== TRAILER) return undefined;
  if (block[0] === FULL) return block.subarray(1, last);
  if (block[0] !== PADDED) return undefined;
  let at = 1;
  while (block[at] === FILL) at++;
  // OpenSSL can write a block with START and no FILL before it, but refuses to read it.
  return block[at] === START && at > 1 ? block.subarray(at + 1, last) : undefined;
}
