/**
 * Signatures of jobs: Ed25519 in the form SSHSIG of OpenSSH, with a namespace of their own, so that neither a signature
 * of a commit nor a login can be taken for one.
 * Source: OpenSSH, PROTOCOL.sshsig; RFC 8709 for the key and the signature.
 * @module
 */

import { base64Bytes } from "#lib/crypto/base64.ts";
import { hashBytes } from "#lib/crypto/hash.ts";
import { WireError } from "#lib/errors.ts";
import { nodeBuiltin } from "#lib/os/node_builtin.ts";
import { str, type ValueMap } from "#lib/values/value.ts";
import { joinBytes } from "#lib/values/join_bytes.ts";
import { sshNumber, SshReader, sshString } from "./ssh_wire.ts";

/** What such a signature is for. */
export const NAMESPACE = "salt-job@1";
/** The kind of the keys. */
export const KEY_TYPE = "ssh-ed25519";

const MAGIC = new TextEncoder().encode("SSHSIG");
const HASH = "sha512";
const SSHSIG_VERSION = 1;
const KEY_BYTES = 32, SIGNATURE_BYTES = 64;
/** What is before the 32 bytes of an Ed25519 key in DER (RFC 8410). */
const SPKI_HEAD = Uint8Array.fromHex("302a300506032b6570032100");
const ARMOR = /-----BEGIN SSH SIGNATURE-----\s([\sA-Za-z0-9+/=]+)-----END SSH SIGNATURE-----/;

/** A key's public part as ssh writes it. */
export interface OperatorKey {
  /** `string "ssh-ed25519", string key`. */
  readonly blob: Uint8Array;
  /** `SHA256:…`, as `ssh-add -l` shows it. */
  readonly fingerprint: string;
}

/**
 * The public key of a blob; `undefined` for another kind of key.
 * @throws {WireError} If it is cut.
 */
export function operatorKey(blob: Uint8Array): OperatorKey | undefined {
  const reader = new SshReader(blob);
  if (reader.text() !== KEY_TYPE) return undefined;
  if (reader.string().length !== KEY_BYTES || !reader.isAtEnd) throw new WireError("an Ed25519 key of another length");
  return { blob, fingerprint: fingerprintOf(blob) };
}

/** The fingerprint of a key as OpenSSH shows it. */
function fingerprintOf(blob: Uint8Array): string {
  return `SHA256:${hashBytes(blob, "sha256").toBase64({ omitPadding: true })}`;
}

/** What is signed for a message. */
export function signedData(message: Uint8Array): Uint8Array {
  return joinBytes([
    MAGIC,
    sshString(NAMESPACE),
    sshString(""),
    sshString(HASH),
    sshString(hashBytes(message, HASH)),
  ]);
}

/** Whether `signature`, of 64 bytes, is one of `message` by the owner of `key`. */
export function holdsFor(key: OperatorKey, message: Uint8Array, signature: Uint8Array): boolean {
  if (signature.length !== SIGNATURE_BYTES) return false;
  const { createPublicKey, verify } = nodeBuiltin("node:crypto");
  const { Buffer } = nodeBuiltin("node:buffer");
  const der = Buffer.from(joinBytes([SPKI_HEAD, key.blob.subarray(-KEY_BYTES)]));
  return verify(null, signedData(message), createPublicKey({ key: der, format: "der", type: "spki" }), signature);
}

/**
 * The 64 bytes of a signature as ssh writes it: `string "ssh-ed25519", string signature`.
 * @throws {WireError} If it is none.
 */
export function plainSignature(written: Uint8Array): Uint8Array {
  const reader = new SshReader(written), kind = reader.text(), signature = reader.string();
  if (kind !== KEY_TYPE || signature.length !== SIGNATURE_BYTES) {
    throw new WireError(`a signature of the kind ${kind}`);
  }
  return signature;
}

/** A signature that is `{key, sig}` of a load, in the form of a file that `ssh-keygen -Y verify` reads. */
export function armoredSignature(op: ValueMap): string {
  const part = (name: string) => Uint8Array.fromBase64(str(op.get(name) ?? ""));
  const blob = joinBytes([
    MAGIC,
    sshNumber(SSHSIG_VERSION),
    sshString(part("key")),
    sshString(NAMESPACE),
    sshString(""),
    sshString(HASH),
    sshString(joinBytes([sshString(KEY_TYPE), sshString(part("sig"))])),
  ]);
  const lines = blob.toBase64().replace(/.{70}/g, "$&\n");
  return `-----BEGIN SSH SIGNATURE-----\n${lines}\n-----END SSH SIGNATURE-----\n`;
}

/**
 * The key and the signature in the output of `ssh-keygen -Y sign`.
 * @throws {WireError} If it is another output, or of another kind of key.
 */
export function readSshsig(output: string): { readonly key: OperatorKey; readonly signature: Uint8Array } {
  const armored = base64Bytes(ARMOR.exec(output)?.[1]);
  if (armored === undefined) throw new WireError("there is no signature in the output of ssh-keygen");
  const reader = new SshReader(armored);
  reader.bytes(MAGIC.length);
  if (reader.number() !== SSHSIG_VERSION) throw new WireError("a signature of an unknown version");
  const key = operatorKey(reader.string());
  if (key === undefined) throw new WireError("the key is no Ed25519 key");
  if (reader.text() !== NAMESPACE) throw new WireError("a signature for another purpose");
  if (reader.text() !== "" || reader.text() !== HASH) throw new WireError("a signature over another digest");
  return { key, signature: plainSignature(reader.string()) };
}
