/**
 * Signatures of certificates, requests and revocation lists: made and verified.
 * Source: RFC 5280 section 4.1.1, RFC 4055, RFC 5758, RFC 8410; Salt 3008.3 `salt/utils/x509.py` verify_signature.
 * @module
 */

import { der, encodeBitString, encodeOid, encodeSequence, TAG } from "./der.ts";
import type { SignedDocument } from "./documents.ts";
import { keyOfSpki, spkiOf } from "./loading.ts";
import { algorithmOid, ED25519, ED448, RSA_PSS } from "./oids.ts";
import { digestName } from "#lib/crypto/asymmetric_keys.ts";
import { signData, verifyData } from "#lib/crypto/asymmetric_signatures.ts";
import { CommandError } from "#lib/errors.ts";
import { nodeBuiltin } from "#lib/os/node_builtin.ts";
import type { KeyObject } from "node:crypto";

/** The digests that Salt's functions take. */
const DIGESTS: readonly string[] = [
  "sha1",
  "sha224",
  "sha256",
  "sha384",
  "sha512",
  "sha512_224",
  "sha512_256",
  "sha3_224",
  "sha3_256",
  "sha3_384",
  "sha3_512",
];

/** @throws {CommandError} If there is no such digest. */
export function checkDigest(digest: string): void {
  if (DIGESTS.includes(digest.toLowerCase())) return;
  throw new CommandError(`Invalid value '${digest}' for digest. Valid: ${DIGESTS.join(", ")}`);
}

/**
 * Node takes no digest of a curve whose numbers are more than twice as long; {@linkcode signData} has only these
 * others.
 * @throws {CommandError} If it does not have the digest either.
 */
function checkCurve(key: KeyObject, digest: string): void {
  if (key.asymmetricKeyDetails?.namedCurve !== "secp521r1" || ["sha1", "sha256"].includes(digest)) return;
  if (/(?:224|256)$/.test(digest)) throw new CommandError(`Keys of P-521 are not used with ${digest} here`);
}

/**
 * The signature algorithm of a key, as DER.
 * @throws {CommandError} If the key does not support it; SHA-1 is verified, but not created.
 */
export function signatureAlgorithm(key: KeyObject, digest: string): Uint8Array {
  const type = key.asymmetricKeyType;
  if (type === "ed25519") return encodeSequence(encodeOid(ED25519));
  if (type === "ed448") return encodeSequence(encodeOid(ED448));
  if (type !== "rsa" && type !== "ec") throw new CommandError(`Keys of ${type} do not sign certificates`);
  checkCurve(key, digestName(digest));
  const oid = digest.toLowerCase() === "sha1" ? undefined : algorithmOid(type, digestName(digest));
  if (oid === undefined) {
    throw new CommandError(`Hash algorithm "${digest.toLowerCase().replace("_", "-")}" not supported for signatures`);
  }
  return type === "rsa" ? encodeSequence(encodeOid(oid), der(TAG.null)) : encodeSequence(encodeOid(oid));
}

/**
 * A document with its signature.
 * @param part The part to sign; it names the same signature algorithm.
 */
export async function signPart(part: Uint8Array, key: KeyObject, digest: string): Promise<Uint8Array> {
  const signature = key.asymmetricKeyType === "rsa"
    ? new Uint8Array(nodeBuiltin("node:crypto").sign(digestName(digest), part, key))
    : await signData(key, part, digest);
  return encodeSequence(part, signatureAlgorithm(key, digest), encodeBitString(signature));
}

/**
 * Whether a document was signed by the owner of a public key.
 * @param spki The key.
 */
export async function isSignedBy(document: SignedDocument, spki: Uint8Array): Promise<boolean> {
  const key = keyOfSpki(spki);
  const { signature, signedPart, digest, algorithm } = document;
  if (key.asymmetricKeyType !== "rsa") {
    checkCurve(key, digest ?? "sha256");
    return await verifyData(key, signature, signedPart, (digest ?? "sha256").replace("-", "_"));
  }
  if (digest === undefined) return false;
  if (algorithm === RSA_PSS) return await verifyData(key, signature, signedPart, digest.replace("-", "_"));
  return nodeBuiltin("node:crypto").verify(digest, signedPart, key, signature);
}

/** Whether a private key is that of a public key. */
export function isPair(spki: Uint8Array, key: KeyObject): boolean {
  return spki.toHex() === spkiOf(key).toHex();
}
