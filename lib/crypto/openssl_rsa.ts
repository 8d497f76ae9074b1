/**
 * RSA with the system's OpenSSL, if there is one. A master signs each publish, and decrypts and signs for each sign-in,
 * so this limits jobs and sign-ins per second.
 *
 * Measured with RSA-2048 on a busy machine, OpenSSL and the runtime in the same run: a signature takes 0.78 ms against
 * 5.5, a decryption 0.97 against 5.0, the three encryptions of a sign-in's answer 0.98 against 2.0. Both are tested
 * with the signatures and ciphertexts of Python's RSA (tests/crypto/openssl_rsa_test.ts).
 *
 * It is optional: without the library (macOS, a minimal container), or if a policy forbids an algorithm (SHA-1), the
 * caller uses the runtime's RSA. But if OpenSSL can decrypt in general and fails for a message, no other code tries
 * that message. OpenSSL's operations are blinded and take the same time for every message.
 * Source: EVP_DigestSign(3), EVP_PKEY_decrypt(3), EVP_PKEY_encrypt(3), EVP_PKEY_CTX_ctrl_str(3); measured.
 * @module
 */

import { MAX_KEY_BITS } from "./key_bits.ts";
import { cString } from "#lib/libc/c_string.ts";
import { openLibcrypto, ownBytes } from "./libcrypto.ts";

const SYMBOLS = {
  BIO_new_mem_buf: { parameters: ["buffer", "i32"], result: "pointer" },
  BIO_free: { parameters: ["pointer"], result: "i32" },
  d2i_PUBKEY: { parameters: ["pointer", "buffer", "i64"], result: "pointer" },
  EVP_PKEY_free: { parameters: ["pointer"], result: "void" },
  EVP_PKEY_encrypt_init: { parameters: ["pointer"], result: "i32" },
  EVP_PKEY_encrypt: { parameters: ["pointer", "buffer", "buffer", "buffer", "usize"], result: "i32" },
  PEM_read_bio_PrivateKey: { parameters: ["pointer", "pointer", "pointer", "pointer"], result: "pointer" },
  EVP_get_digestbyname: { parameters: ["buffer"], result: "pointer" },
  EVP_MD_CTX_new: { parameters: [], result: "pointer" },
  EVP_MD_CTX_free: { parameters: ["pointer"], result: "void" },
  EVP_DigestSignInit: { parameters: ["pointer", "pointer", "pointer", "pointer", "pointer"], result: "i32" },
  EVP_DigestSign: { parameters: ["pointer", "buffer", "buffer", "buffer", "usize"], result: "i32" },
  EVP_PKEY_CTX_new: { parameters: ["pointer", "pointer"], result: "pointer" },
  EVP_PKEY_CTX_free: { parameters: ["pointer"], result: "void" },
  EVP_PKEY_CTX_ctrl_str: { parameters: ["pointer", "buffer", "buffer"], result: "i32" },
  EVP_PKEY_decrypt_init: { parameters: ["pointer"], result: "i32" },
  EVP_PKEY_decrypt: { parameters: ["pointer", "buffer", "buffer", "buffer", "usize"], result: "i32" },
  ERR_clear_error: { parameters: [], result: "void" },
} as const;

type Library = Deno.DynamicLibrary<typeof SYMBOLS>["symbols"];
let library: Library | null | undefined;

/** The message was not encrypted for this key. Final: no other implementation may try it. */
export const REFUSED = Symbol("not encrypted for the key");

/** The private operations of one key. `undefined`: OpenSSL does not support the operation. */
export interface PrivateOperations {
  /** Signs `bytes` with PKCS#1 v1.5 and `hash` (`sha1`, `sha224`). */
  sign(hash: string, bytes: Uint8Array): Uint8Array | undefined;
  /** Decrypts a message that was encrypted for this key with OAEP and `hash`. */
  decrypt(hash: string, bytes: Uint8Array): Uint8Array | typeof REFUSED | undefined;
}

/** The operations of the key in `pem`, which is kept for the life of the thread. `undefined` without OpenSSL. */
export function opensslOperations(pem: string): PrivateOperations | undefined {
  library ??= openLibcrypto(SYMBOLS);
  if (library === null) return undefined;
  const ssl = library;
  const key = readKey(ssl, pem);
  if (key === null) return undefined;
  /** Whether OpenSSL supports decryption with this key, by hash: tested when a decryption fails for the first time. */
  const able = new Map<string, boolean>();
  return {
    sign: (hash, bytes) => sign(ssl, { key, hash, bytes }),
    decrypt(hash, bytes) {
      const opened = decrypt(ssl, { key, hash, bytes });
      if (opened !== undefined) return opened;
      if (!able.has(hash)) able.set(hash, opensItsOwn(ssl, key, hash));
      return able.get(hash) ? REFUSED : undefined;
    },
  };
}

/**
 * Whether OpenSSL decrypts a message that it encrypted itself: distinguishes a bad message from a library that does not
 * support the operation. Only in the second case may the runtime's RSA try: it is not known to be blinded, so it must
 * not decrypt messages that an attacker chose.
 */
function opensItsOwn(ssl: Library, key: Deno.PointerValue, hash: string): boolean {
  const [sealed] = encrypt(ssl, key, hash, [new Uint8Array(1)]);
  return sealed !== undefined && decrypt(ssl, { key, hash, bytes: sealed }) !== undefined;
}

/**
 * Encrypts each of `parts` with OAEP and `hash` for the public key in `pem` (SubjectPublicKeyInfo), which is not kept.
 * @returns `undefined` without OpenSSL, or if it fails.
 */
export function opensslEncrypt(pem: string, hash: string, parts: readonly Uint8Array[]): Uint8Array[] | undefined {
  library ??= openLibcrypto(SYMBOLS);
  if (library === null) return undefined;
  const ssl = library;
  const key = readPublicKey(ssl, pem);
  if (key === null) return undefined;
  const sealed = encrypt(ssl, key, hash, parts);
  ssl.EVP_PKEY_free(key);
  return sealed.length === parts.length ? sealed : undefined;
}

/** Encrypts the parts up to the first failure. */
function encrypt(
  ssl: Library,
  key: Deno.PointerValue,
  hash: string,
  parts: readonly Uint8Array[],
): Uint8Array[] {
  const context = ssl.EVP_PKEY_CTX_new(key, null);
  const sealed: Uint8Array[] = [];
  if (ssl.EVP_PKEY_encrypt_init(context) === 1 && setOaep(ssl, context, hash)) {
    for (const bytes of parts) {
      const out = new Uint8Array(MAX_BYTES);
      const length = BigUint64Array.of(BigInt(MAX_BYTES));
      if (ssl.EVP_PKEY_encrypt(context, out, length, ownBytes(bytes), BigInt(bytes.length)) !== 1) break;
      sealed.push(out.slice(0, Number(length[0])));
    }
  }
  ssl.EVP_PKEY_CTX_free(context);
  ssl.ERR_clear_error();
  return sealed;
}

/** Passes DER, not PEM: OpenSSL takes three times as long to detect what a PEM contains. */
function readPublicKey(ssl: Library, pem: string): Deno.PointerValue {
  const der = ownBytes(Uint8Array.fromBase64(pem.replace(/-----[^-]+-----/g, "")));
  const place = BigUint64Array.of(Deno.UnsafePointer.value(Deno.UnsafePointer.of(der)));
  const key = ssl.d2i_PUBKEY(null, place, BigInt(der.length));
  der.fill(0); // a use after the call, which keeps the array: OpenSSL got no more than its address
  ssl.ERR_clear_error();
  return key;
}

function readKey(ssl: Library, pem: string): Deno.PointerValue {
  const bytes = new TextEncoder().encode(pem);
  // The BIO reads from the bytes themselves. Arrays of more than 64 bytes do not move.
  const bio = ssl.BIO_new_mem_buf(bytes, bytes.length);
  if (bio === null) return null;
  const key = ssl.PEM_read_bio_PrivateKey(bio, null, null, null);
  ssl.BIO_free(bio);
  bytes.fill(0); // it is a private key, and is used until here: nothing collects it before the BIO is read
  ssl.ERR_clear_error();
  return key;
}

/** Those of a new key. Separate, because few processes make one, and in the others they would take memory. */
const GENERATION = {
  EVP_PKEY_CTX_new_id: { parameters: ["i32", "pointer"], result: "pointer" },
  EVP_PKEY_CTX_free: { parameters: ["pointer"], result: "void" },
  EVP_PKEY_CTX_ctrl_str: { parameters: ["pointer", "buffer", "buffer"], result: "i32" },
  EVP_PKEY_keygen_init: { parameters: ["pointer"], result: "i32" },
  // It takes seconds to hours.
  EVP_PKEY_keygen: { parameters: ["pointer", "buffer"], result: "i32", nonblocking: true },
  EVP_PKEY_free: { parameters: ["pointer"], result: "void" },
  i2d_PrivateKey: { parameters: ["pointer", "pointer"], result: "i32" },
  ERR_clear_error: { parameters: [], result: "void" },
} as const;

/** OpenSSL's number of RSA keys (`EVP_PKEY_RSA`). */
const RSA = 6;

/**
 * Makes a private key with the exponent 65537.
 * @returns It as PKCS#1 in DER; `undefined` without OpenSSL, or if it fails.
 */
export async function opensslKey(bits: number): Promise<Uint8Array | undefined> {
  const ssl = openLibcrypto(GENERATION);
  if (ssl === null) return undefined;
  const context = ssl.EVP_PKEY_CTX_new_id(RSA, null);
  const place = new BigUint64Array(1);
  const ok = ssl.EVP_PKEY_keygen_init(context) === 1 &&
    ssl.EVP_PKEY_CTX_ctrl_str(context, cString("rsa_keygen_bits"), cString(String(bits))) === 1 &&
    await ssl.EVP_PKEY_keygen(context, place) === 1;
  ssl.EVP_PKEY_CTX_free(context);
  const key = Deno.UnsafePointer.create(place[0]);
  const size = ok ? ssl.i2d_PrivateKey(key, null) : -1;
  const der = new Uint8Array(Math.max(0, size));
  if (size > 0) {
    // It moves the pointer that it is given to the end of what it writes.
    const at = BigUint64Array.of(Deno.UnsafePointer.value(Deno.UnsafePointer.of(der)));
    ssl.i2d_PrivateKey(key, Deno.UnsafePointer.of(at));
  }
  if (key !== null) ssl.EVP_PKEY_free(key);
  ssl.ERR_clear_error();
  return size > 0 ? der : undefined;
}

interface Work {
  readonly key: Deno.PointerValue;
  readonly hash: string;
  readonly bytes: Uint8Array;
}

/** Bytes of the largest key: of a signature, and of an encrypted message. */
const MAX_BYTES = MAX_KEY_BITS / 8;

function sign(ssl: Library, { key, hash, bytes }: Work): Uint8Array | undefined {
  const digest = ssl.EVP_get_digestbyname(cString(hash));
  if (digest === null) return undefined; // otherwise it would sign with a hash of its own choice
  const context = ssl.EVP_MD_CTX_new();
  const signature = new Uint8Array(MAX_BYTES);
  const length = BigUint64Array.of(BigInt(MAX_BYTES));
  const ok = ssl.EVP_DigestSignInit(context, null, digest, null, key) === 1 &&
    ssl.EVP_DigestSign(context, signature, length, ownBytes(bytes), BigInt(bytes.length)) === 1;
  ssl.EVP_MD_CTX_free(context);
  ssl.ERR_clear_error();
  return ok ? signature.slice(0, Number(length[0])) : undefined;
}

function decrypt(ssl: Library, { key, hash, bytes }: Work): Uint8Array | undefined {
  const context = ssl.EVP_PKEY_CTX_new(key, null);
  const opened = new Uint8Array(MAX_BYTES);
  const length = BigUint64Array.of(BigInt(MAX_BYTES));
  const done = ssl.EVP_PKEY_decrypt_init(context) === 1 && setOaep(ssl, context, hash) &&
    ssl.EVP_PKEY_decrypt(context, opened, length, ownBytes(bytes), BigInt(bytes.length)) === 1;
  ssl.EVP_PKEY_CTX_free(context);
  ssl.ERR_clear_error();
  return done ? opened.slice(0, Number(length[0])) : undefined;
}

/** Sets OAEP with a mask of the same hash. */
function setOaep(ssl: Library, context: Deno.PointerValue, hash: string): boolean {
  const options = { rsa_padding_mode: "oaep", rsa_oaep_md: hash, rsa_mgf1_md: hash };
  return Object.entries(options).every(([name, value]) =>
    ssl.EVP_PKEY_CTX_ctrl_str(context, cString(name), cString(value)) === 1
  );
}
