/**
 * Reads and writes RSA public keys as PEM: SubjectPublicKeyInfo, and PKCS#1 from very old minions. Handles only the two
 * numbers; `rsa.ts` uses them. Own code, so that a thread which only verifies does not load node:crypto. Strict: each
 * key has one encoding, without additional bytes.
 * Source: RFC 8017, appendix A.1.1; RFC 5280, section 4.1; X.690 (DER).
 * @module
 */

import { KeyError } from "#lib/errors.ts";
import { cleanPem } from "./pem.ts";
import { joinBytes } from "#lib/values/join_bytes.ts";

/** The two numbers of a public key. */
export interface RsaNumbers {
  /** The product of the primes. */
  readonly modulus: bigint;
  /** The exponent of the public operation. */
  readonly exponent: bigint;
}

const SEQUENCE = 0x30;
const INTEGER = 0x02;
const BIT_STRING = 0x03;

/** rsaEncryption (1.2.840.113549.1.1.1) with its NULL parameters, as a SEQUENCE. */
const ALGORITHM = Uint8Array.fromHex("300d06092a864886f70d0101010500");

const FORMS = [
  ["-----BEGIN PUBLIC KEY-----\n", "\n-----END PUBLIC KEY-----"],
  ["-----BEGIN RSA PUBLIC KEY-----\n", "\n-----END RSA PUBLIC KEY-----"],
] as const;

/**
 * Parses a key with any line ends.
 * @throws {KeyError} If `pem` is not an RSA public key in DER.
 */
export function readPublicPem(pem: string): RsaNumbers {
  const text = cleanPem(pem);
  const form = FORMS.findIndex(([head]) => text.startsWith(head));
  if (form < 0) throw new KeyError("Not a public key in PEM form");
  const [head, foot] = FORMS[form];
  if (!text.endsWith(foot)) throw corrupt("cut off, or followed by something");
  let der: Uint8Array;
  try {
    der = Uint8Array.fromBase64(text.slice(head.length, -foot.length));
  } catch {
    throw corrupt("no base64");
  }
  const numbers = split(only(form === 0 ? unwrap(der) : der, SEQUENCE), INTEGER);
  const [modulus, exponent] = [positive(numbers.content), positive(only(numbers.rest, INTEGER))];
  // Even numbers cannot be a key; a huge exponent would only take our time.
  if (modulus % 2n === 0n || exponent % 2n === 0n || exponent < 3n || exponent >= 1n << 33n) {
    throw corrupt("its numbers are no key's");
  }
  return { modulus, exponent };
}

function corrupt(how: string): KeyError {
  return new KeyError(`Not a usable public key: corrupt (${how})`);
}

/** Formats a key as SubjectPublicKeyInfo: lines of 64 characters, no final newline. */
export function publicPem({ modulus, exponent }: RsaNumbers): string {
  const key = element(SEQUENCE, joinBytes([element(INTEGER, integer(modulus)), element(INTEGER, integer(exponent))]));
  const der = element(SEQUENCE, joinBytes([ALGORITHM, element(BIT_STRING, joinBytes([Uint8Array.of(0), key]))]));
  const [head, foot] = FORMS[0];
  return head + (der.toBase64().match(/.{1,64}/g) ?? []).join("\n") + foot;
}

/** The RSAPublicKey in a SubjectPublicKeyInfo. */
function unwrap(der: Uint8Array): Uint8Array {
  const body = only(der, SEQUENCE);
  if (!ALGORITHM.every((byte, i) => body[i] === byte)) throw new KeyError("Not an RSA key");
  const bits = only(body.subarray(ALGORITHM.length), BIT_STRING);
  if (bits[0] !== 0) throw corrupt("no whole number of bytes");
  return bits.subarray(1);
}

/** The content of the only element of `der`. */
function only(der: Uint8Array, tag: number): Uint8Array {
  const { content, rest } = split(der, tag);
  if (rest.length > 0) throw corrupt("bytes left over");
  return content;
}

/** The content of the first element, and the rest. */
function split(der: Uint8Array, tag: number): { content: Uint8Array; rest: Uint8Array } {
  if (der[0] !== tag) throw corrupt("another element");
  const first = der[1];
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
  // Two length bytes allow 64 KB, more than the largest key.
  if (first === undefined || lengthBytes > 2 || first === 0x80) throw corrupt("a length of no key");
  const start = 2 + lengthBytes;
  const length = lengthBytes === 0 ? first : der.subarray(2, start).reduce((sum, byte) => sum * 256 + byte, 0);
  if (lengthBytes > 0 && length < (lengthBytes === 1 ? 0x80 : 0x100)) throw corrupt("a length that is too long");
  const end = start + length;
  if (der.length < end) throw corrupt("cut off");
  return { content: der.subarray(start, end), rest: der.subarray(end) };
}

function positive(bytes: Uint8Array): bigint {
  const negative = bytes.length === 0 || bytes[0] >= 0x80;
  if (negative || (bytes.length > 1 && bytes[0] === 0 && bytes[1] < 0x80)) throw corrupt("no positive number");
  return BigInt(`0x${bytes.toHex()}`);
}

/** Encodes a positive integer: a zero byte in front if the first bit is set. */
function integer(value: bigint): Uint8Array {
  const hex = value.toString(16);
  const bytes = Uint8Array.fromHex(hex.length % 2 === 0 ? hex : `0${hex}`);
  return bytes[0] < 0x80 ? bytes : joinBytes([Uint8Array.of(0), bytes]);
}

function element(tag: number, content: Uint8Array): Uint8Array {
  const { length } = content;
  const head = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return joinBytes([Uint8Array.of(tag, ...head), content]);
}
