/**
 * Signatures by private keys as Salt's module `asymmetric` makes them: RSA-PSS with the longest salt, ECDSA as DER,
 * Ed25519 and Ed448. A file is signed by its contents; with RSA and most curves it does not pass through memory.
 * Source: Salt 3008.3 `salt/utils/asymmetric.py`.
 * @module
 */

import { digestName } from "./asymmetric_keys.ts";
import { CommandError } from "#lib/errors.ts";
import { nodeBuiltin } from "#lib/os/node_builtin.ts";
import type { KeyObject } from "node:crypto";

/** The data to sign: bytes, or the contents of a file. */
export type SignedData = Uint8Array | { readonly path: string };

/** Bytes of a file that are read at once. */
const PIECE = 1 << 20;

/**
 * Signs.
 * @param digest Salt's name of one, for RSA and elliptic curves.
 */
export async function signData(key: KeyObject, data: SignedData, digest: string): Promise<Uint8Array> {
  const { createSign, sign } = nodeBuiltin("node:crypto");
  const kind = kindOf(key);
  if (kind === "edwards") return new Uint8Array(sign(null, await allOf(data), key));
  const name = digestName(digest);
  const web = kind === "ec" ? await webKey(key, name, "sign") : undefined;
  if (web !== undefined) {
    const bytes = await allOf(data);
    return derSignature(new Uint8Array(await crypto.subtle.sign({ name: "ECDSA", hash: web.hash }, web.key, bytes)));
  }
  const signing = createSign(name);
  await feed(data, (piece) => signing.update(piece));
  return new Uint8Array(signing.sign(kind === "rsa" ? pss(key, "sign") : key));
}

/** Whether a signature is one of `data` by the owner of a public key. */
export async function verifyData(
  key: KeyObject,
  signature: Uint8Array,
  data: SignedData,
  digest: string,
): Promise<boolean> {
  const { createVerify, verify } = nodeBuiltin("node:crypto");
  const kind = kindOf(key);
  if (kind === "edwards") return verify(null, await allOf(data), key, signature);
  const name = digestName(digest);
  const web = kind === "ec" ? await webKey(key, name, "verify") : undefined;
  if (web !== undefined) {
    const plain = plainSignature(signature, web.size);
    if (plain === undefined) return false;
    return await crypto.subtle.verify({ name: "ECDSA", hash: web.hash }, web.key, plain, await allOf(data));
  }
  const verifying = createVerify(name);
  await feed(data, (piece) => verifying.update(piece));
  return verifying.verify(kind === "rsa" ? pss(key, "verify") : key, signature);
}

function kindOf(key: KeyObject): "rsa" | "ec" | "edwards" {
  const type = key.asymmetricKeyType;
  if (type === "rsa" || type === "ec") return type;
  if (type === "ed25519" || type === "ed448") return "edwards";
  throw new CommandError(`Unknown ${key.type} key type: ${type}`);
}

function pss(key: KeyObject, purpose: "sign" | "verify") {
  const { constants } = nodeBuiltin("node:crypto");
  const saltLength = purpose === "sign" ? constants.RSA_PSS_SALTLEN_MAX_SIGN : constants.RSA_PSS_SALTLEN_AUTO;
  return { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength };
}

async function allOf(data: SignedData): Promise<Uint8Array<ArrayBuffer>> {
  return data instanceof Uint8Array ? new Uint8Array(data) : await Deno.readFile(data.path);
}

async function feed(data: SignedData, take: (piece: Uint8Array) => unknown): Promise<void> {
  if (data instanceof Uint8Array) return void take(data);
  using file = await Deno.open(data.path);
  const room = new Uint8Array(PIECE);
  for (let read = await file.read(room); read !== null; read = await file.read(room)) take(room.slice(0, read));
}

/** Curves and the bytes of their numbers. */
const CURVES: Readonly<Record<string, readonly [string, number]>> = {
  prime256v1: ["P-256", 32],
  secp384r1: ["P-384", 48],
  secp521r1: ["P-521", 66],
};
const WEB_DIGESTS: Readonly<Record<string, string>> = {
  sha1: "SHA-1",
  sha256: "SHA-256",
  sha384: "SHA-384",
  sha512: "SHA-512",
};

interface WebKey {
  readonly key: CryptoKey;
  readonly hash: string;
  /** Bytes of each of the two numbers. */
  readonly size: number;
}

/**
 * The key for Web Crypto, for cases that Node's functions refuse: they refuse a digest that is shorter than half of the
 * curve's numbers. `undefined`: Node accepts it, or Web Crypto does not have the digest.
 */
async function webKey(key: KeyObject, digest: string, use: "sign" | "verify"): Promise<WebKey | undefined> {
  const [namedCurve, size] = CURVES[key.asymmetricKeyDetails?.namedCurve ?? ""] ?? [];
  const hash = WEB_DIGESTS[digest];
  if (namedCurve === undefined || size === undefined || hash === undefined) return undefined;
  const bits = nodeBuiltin("node:crypto").createHash(digest).digest().length;
  if (bits >= size / 2) return undefined;
  const form = use === "sign" ? "pkcs8" : "spki";
  const der = key.export({ type: form, format: "der" } as { type: "spki"; format: "der" });
  const imported = await crypto.subtle.importKey(form, new Uint8Array(der), { name: "ECDSA", namedCurve }, false, [
    use,
  ]);
  return { key: imported, hash, size };
}

/** Two numbers of the same length as DER. */
function derSignature(plain: Uint8Array): Uint8Array {
  const half = plain.length / 2;
  const body = [plain.subarray(0, half), plain.subarray(half)].flatMap((number) => {
    const start = number.findIndex((byte) => byte !== 0);
    const digits = start < 0 ? [0] : [...number.subarray(start)];
    const signed = digits[0] >= 0x80 ? [0, ...digits] : digits;
    return [0x02, signed.length, ...signed];
  });
  return new Uint8Array([0x30, ...body.length < 0x80 ? [body.length] : [0x81, body.length], ...body]);
}

/** The two numbers of a DER signature; `undefined` if it is none. */
function plainSignature(der: Uint8Array, size: number): Uint8Array<ArrayBuffer> | undefined {
  const start = der[1] === 0x81 ? 3 : 2;
  if (der[0] !== 0x30 || der[start - 1] !== der.length - start) return undefined;
  const plain = new Uint8Array(size * 2);
  let at = start;
  for (const end of [size, size * 2]) {
    const length = der[at + 1];
    if (der[at] !== 0x02 || length === undefined || at + 2 + length > der.length) return undefined;
    const number = der.subarray(at + 2, at + 2 + length);
    const digits = number[0] === 0 ? number.subarray(1) : number;
    if (digits.length > size) return undefined;
    plain.set(digits, end - digits.length);
    at += 2 + length;
  }
  return at === der.length ? plain : undefined;
}
