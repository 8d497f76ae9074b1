/**
 * RSA as Salt uses it: OAEP for keys and tokens, PKCS#1 v1.5 for signatures, X9.31 for `tok` and `sig`. Does not know
 * where keys are stored or what is signed.
 *
 * Private operations and OAEP use node:crypto. For keys above 4096 bits, which Salt takes too, Deno has no encryption
 * and no decryption: they use the host's OpenSSL, and are refused without it. The public operation (verify, recover) is
 * a BigInt power, six times as fast as node:crypto in Deno; its data is not secret. Source: RFC 8017; Salt's
 * `salt.crypt` and `salt.utils.rsax931`.
 * @module
 */

import type { KeyObject } from "node:crypto";
import { AuthenticationError, KeyError } from "#lib/errors.ts";
import { hashHex } from "./hash.ts";
import { MAX_KEY_BITS, MAX_RUNTIME_BITS, MIN_KEY_BITS } from "./key_bits.ts";
import { nodeBuiltin } from "#lib/os/node_builtin.ts";
import { opensslEncrypt, opensslKey, opensslOperations, type PrivateOperations, REFUSED } from "./openssl_rsa.ts";
import { cleanPem } from "./pem.ts";
import { publicPem, readPublicPem, type RsaNumbers } from "./rsa_public_pem.ts";
import { padX931, unpadX931 } from "./x931.ts";

/** Values of a request's `enc_algo`. OAEP's mask uses the same hash. */
export type EncryptionAlgorithm = "OAEP-SHA1" | "OAEP-SHA224";
/** Values of a request's `sig_algo`. */
export type SigningAlgorithm = "PKCS1v15-SHA1" | "PKCS1v15-SHA224";

interface Hash {
  readonly name: string;
  readonly length: number;
  /** The DigestInfo prefix (DER) before the digest in PKCS#1 v1.5. */
  readonly prefix: Uint8Array;
}

const SHA1: Hash = { name: "sha1", length: 20, prefix: Uint8Array.fromHex("3021300906052b0e03021a05000414") };
const SHA224: Hash = {
  name: "sha224",
  length: 28,
  prefix: Uint8Array.fromHex("302d300d06096086480165030402040500041c"),
};

const ENCRYPTION: Readonly<Record<EncryptionAlgorithm, Hash>> = { "OAEP-SHA1": SHA1, "OAEP-SHA224": SHA224 };
const SIGNING: Readonly<Record<SigningAlgorithm, Hash>> = { "PKCS1v15-SHA1": SHA1, "PKCS1v15-SHA224": SHA224 };

/** Whether `name` (untrusted) is an {@linkcode EncryptionAlgorithm}. */
export function isEncryptionAlgorithm(name: unknown): name is EncryptionAlgorithm {
  return typeof name === "string" && Object.hasOwn(ENCRYPTION, name);
}

/** Whether `name` (untrusted) is a {@linkcode SigningAlgorithm}. */
export function isSigningAlgorithm(name: unknown): name is SigningAlgorithm {
  return typeof name === "string" && Object.hasOwn(SIGNING, name);
}

/** Encrypts with OAEP and `hash` for the key in `pem`; `undefined` if that is not supported. */
export type FastEncryption = (pem: string, hash: string, parts: readonly Uint8Array[]) => Uint8Array[] | undefined;

/** A public key. Making one is expensive: keep it. */
export class PublicKey {
  /** SubjectPublicKeyInfo without the final newline, as it is sent. */
  readonly pem: string;
  /** Bytes of the modulus, of a signature and of a ciphertext. */
  readonly size: number;
  readonly modulus: bigint;
  readonly #exponent: bigint;
  /** Made at the first encryption; the public operation does not need it. */
  #key: KeyObject | undefined;

  private constructor({ modulus, exponent }: RsaNumbers) {
    const bits = modulus.toString(2).length;
    checkBits(bits);
    // A peer's key is used before the peer is known: with another exponent a long one would take our time.
    if (bits > MAX_RUNTIME_BITS && exponent > 65537n) {
      throw new KeyError(
        `A key of ${bits} bits with the exponent ${exponent} is not accepted: it may be 65537 at most`,
      );
    }
    this.modulus = modulus;
    this.#exponent = exponent;
    this.size = Math.ceil(bits / 8);
    this.pem = publicPem({ modulus, exponent });
  }

  /**
   * Parses a public key with any line ends: SubjectPublicKeyInfo, or PKCS#1 from very old minions.
   * @throws {KeyError} If it is not an RSA public key, or its size is not supported.
   */
  static fromPem(pem: string): PublicKey {
    return new PublicKey(readPublicPem(pem));
  }

  /** Maximum bytes of one encryption. */
  room(algorithm: EncryptionAlgorithm): number {
    return this.size - 2 * ENCRYPTION[algorithm].length - 2;
  }

  /** @throws {KeyError} If `bytes` are more than {@linkcode room}. */
  encrypt(algorithm: EncryptionAlgorithm, bytes: Uint8Array): Uint8Array {
    const hash = ENCRYPTION[algorithm];
    const room = this.room(algorithm);
    if (bytes.length > room) {
      throw new KeyError(`Cannot encrypt ${bytes.length} bytes with ${algorithm}: the key has room for ${room}`);
    }
    if (8 * this.size > MAX_RUNTIME_BITS) {
      const sealed = opensslEncrypt(this.pem, hash.name, [bytes]);
      if (sealed === undefined) throw needsOpenssl(8 * this.size);
      return sealed[0];
    }
    const { constants: { RSA_PKCS1_OAEP_PADDING }, createPublicKey, publicEncrypt } = nodeBuiltin("node:crypto");
    this.#key ??= createPublicKey(this.pem);
    return plain(publicEncrypt({ key: this.#key, padding: RSA_PKCS1_OAEP_PADDING, oaepHash: hash.name }, bytes));
  }

  /**
   * Encrypts each of `parts` as {@linkcode encrypt} does.
   * @param fast Encrypts all parts faster than the runtime, or returns `undefined`.
   * @throws {KeyError} If a part is too long.
   */
  encryptAll(algorithm: EncryptionAlgorithm, parts: readonly Uint8Array[], fast: FastEncryption): Uint8Array[] {
    return fast(this.pem, ENCRYPTION[algorithm].name, parts) ?? parts.map((part) => this.encrypt(algorithm, part));
  }

  /** Whether `signature` is a signature of `bytes` by this key. */
  verify(algorithm: SigningAlgorithm, bytes: Uint8Array, signature: Uint8Array): boolean {
    if (signature.length !== this.size) return false;
    const block = this.#power(signature);
    // Builds the one correct block and compares all of it, so no padding is parsed.
    const expected = signatureBlock(SIGNING[algorithm], bytes, this.size);
    return block !== undefined && expected.every((byte, i) => byte === block[i]);
  }

  /**
   * Recovers the data of an X9.31 signature.
   * @throws {AuthenticationError} If it is not a signature by this key.
   */
  recoverX931(signature: Uint8Array): Uint8Array {
    const block = signature.length > this.size ? undefined : this.#power(signature, true);
    const data = block && unpadX931(block);
    if (data === undefined) throw new AuthenticationError("Not a signature of this key");
    return data;
  }

  /**
   * The public operation on `bytes`; `undefined` if they are not below the modulus. `x931` chooses the root that ends
   * in 0xC.
   */
  #power(bytes: Uint8Array, x931 = false): Uint8Array | undefined {
    const base = toInt(bytes);
    const { modulus } = this;
    if (base >= modulus) return undefined;
    let result = 1n;
    for (const bit of this.#exponent.toString(2)) {
      result = result * result % modulus;
      if (bit === "1") result = result * base % modulus;
    }
    if (x931 && (result & 0xfn) !== 0xcn) result = modulus - result;
    return toBytes(result, this.size);
  }
}

/** An RSA private key, which signs and decrypts. */
export class PrivateKey {
  /** PKCS#1 with the final newline, as it is stored. */
  readonly pem: string;
  readonly publicKey: PublicKey;
  readonly #key: KeyObject;
  readonly #operations: PrivateOperations | undefined;

  private constructor(key: KeyObject, operations?: PrivateOperations) {
    this.#key = key;
    checkBits(key.asymmetricKeyDetails?.modulusLength ?? 0);
    this.publicKey = PublicKey.fromPem(
      String(nodeBuiltin("node:crypto").createPublicKey(key).export({ type: "spki", format: "pem" })),
    );
    this.pem = String(key.export({ type: "pkcs1", format: "pem" }));
    const isLong = 8 * this.publicKey.size > MAX_RUNTIME_BITS;
    this.#operations = operations ?? (isLong ? opensslOperations(this.pem) : undefined);
    if (isLong && this.#operations === undefined) throw needsOpenssl(8 * this.publicKey.size);
  }

  /**
   * Makes a key with the exponent 65537.
   * @throws {KeyError} If `bits` is not supported, on this host or at all.
   */
  static async generate(bits: number): Promise<PrivateKey> {
    checkBits(bits);
    if (bits <= MAX_RUNTIME_BITS) return await PrivateKey.#generateHere(bits);
    const der = await opensslKey(bits);
    if (der === undefined) throw needsOpenssl(bits);
    const lines = der.toBase64().match(/.{1,64}/g) ?? [];
    const [begin, end] = ["BEGIN", "END"].map((word) => `-----${word} RSA PRIVATE KEY-----\n`);
    return PrivateKey.fromPem(`${begin}${lines.join("\n")}\n${end}`);
  }

  static #generateHere(bits: number): Promise<PrivateKey> {
    return new Promise((resolve, reject) => {
      nodeBuiltin("node:crypto").generateKeyPair("rsa", { modulusLength: bits }, (error, _publicKey, privateKey) => {
        if (error) reject(error);
        else resolve(new PrivateKey(privateKey));
      });
    });
  }

  /**
   * Parses a private key: PKCS#1 or PKCS#8.
   * @param operations Faster implementations of signing and decrypting, as far as they are supported.
   * @throws {KeyError} If it is not an unencrypted RSA private key of a supported size.
   */
  static fromPem(pem: string, operations?: PrivateOperations): PrivateKey {
    const text = cleanPem(pem);
    if (/^-----BEGIN ENCRYPTED |^Proc-Type: 4,ENCRYPTED$/m.test(text)) {
      throw new KeyError("The private key is encrypted with a passphrase, which is not supported");
    }
    if (!/^-----BEGIN (RSA )?PRIVATE KEY-----\n/.test(text)) throw new KeyError("Not a private key in PEM form");
    return new PrivateKey(readPrivate(text), operations);
  }

  /**
   * Reverses {@linkcode PublicKey.encrypt}.
   * @throws {AuthenticationError} If `bytes` was not encrypted for this key in this way.
   */
  decrypt(algorithm: EncryptionAlgorithm, bytes: Uint8Array): Uint8Array {
    const oaepHash = ENCRYPTION[algorithm].name;
    const opened = this.#operations?.decrypt(oaepHash, bytes);
    if (opened === REFUSED) throw new AuthenticationError("Not encrypted for this key");
    if (opened !== undefined) return opened;
    const { constants: { RSA_PKCS1_OAEP_PADDING }, privateDecrypt } = nodeBuiltin("node:crypto");
    try {
      return plain(privateDecrypt({ key: this.#key, padding: RSA_PKCS1_OAEP_PADDING, oaepHash }, bytes));
    } catch {
      throw new AuthenticationError("Not encrypted for this key");
    }
  }

  /** The signature of `bytes`, PKCS#1 v1.5. */
  sign(algorithm: SigningAlgorithm, bytes: Uint8Array): Uint8Array {
    const { name } = SIGNING[algorithm];
    return this.#operations?.sign(name, bytes) ?? plain(nodeBuiltin("node:crypto").sign(name, bytes, this.#key));
  }

  /**
   * Signs `bytes` without a hash, so that the signature contains them.
   * @throws {KeyError} If they are too long.
   */
  signX931(bytes: Uint8Array): Uint8Array {
    const { modulus, size } = this.publicKey;
    const block = padX931(bytes, size);
    if (block === undefined) throw new KeyError(`Cannot sign ${bytes.length} bytes: the key has room for ${size - 2}`);
    if (toInt(block) >= modulus) throw new KeyError("A key of this odd size cannot make X9.31 signatures");
    const { constants: { RSA_NO_PADDING }, privateDecrypt } = nodeBuiltin("node:crypto");
    const power = toInt(privateDecrypt({ key: this.#key, padding: RSA_NO_PADDING }, block));
    const other = modulus - power;
    return toBytes(power < other ? power : other, size);
  }
}

function checkBits(bits: number): void {
  if (bits >= MIN_KEY_BITS && bits <= MAX_KEY_BITS) return;
  throw new KeyError(`A key of ${bits} bits is not accepted: it must have ${MIN_KEY_BITS} to ${MAX_KEY_BITS} bits`);
}

function needsOpenssl(bits: number): KeyError {
  return new KeyError(
    `A key of ${bits} bits needs OpenSSL (libcrypto) on this host: without it the most is ${MAX_RUNTIME_BITS}`,
  );
}

function readPrivate(pem: string): KeyObject {
  let key: KeyObject;
  try {
    key = nodeBuiltin("node:crypto").createPrivateKey(pem);
  } catch {
    // The cause would only give the parser's reason, and may quote the key.
    throw new KeyError(`Not a usable private key: corrupt, not RSA, or larger than ${MAX_KEY_BITS} bits`);
  }
  if (key.asymmetricKeyType !== "rsa") throw new KeyError(`Not an RSA key but ${key.asymmetricKeyType}`);
  return key;
}

function signatureBlock(hash: Hash, bytes: Uint8Array, size: number): Uint8Array {
  const block = new Uint8Array(size).fill(0xff);
  const digest = Uint8Array.fromHex(hashHex(bytes, hash.name));
  const prefixAt = size - digest.length - hash.prefix.length;
  block[0] = 0;
  block[1] = 1;
  block[prefixAt - 1] = 0;
  block.set(hash.prefix, prefixAt);
  block.set(digest, size - digest.length);
  return block;
}

function toInt(bytes: Uint8Array): bigint {
  return BigInt(`0x0${bytes.toHex()}`);
}

function toBytes(int: bigint, size: number): Uint8Array {
  return Uint8Array.fromHex(int.toString(16).padStart(2 * size, "0"));
}

/** Node's Buffer prints, compares and slices differently from the Uint8Array that other code expects. */
function plain(buffer: Uint8Array): Uint8Array {
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
}
