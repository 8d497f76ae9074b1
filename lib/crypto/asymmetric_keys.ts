/**
 * Private and public keys in the forms that Salt's functions accept: PEM, hexadecimal digits, base64, raw DER, or the
 * path of a file with one of these. RSA, elliptic curves, Ed25519 and Ed448. Containers of PKCS#12 are not read.
 * Source: Salt 3008.3 `salt/utils/x509.py` load_privkey, load_pubkey, load_file_or_bytes.
 * @module
 */

import { base64Bytes } from "#lib/crypto/base64.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { nodeBuiltin } from "#lib/os/node_builtin.ts";
import { isFile } from "#lib/os/file_kind.ts";
import type { KeyObject } from "node:crypto";

/** The beginning of every PEM block. */
const PEM_BEGIN = "-----BEGIN";

/**
 * The bytes of a key that is given as a text or a path.
 * @throws {InvocationError} If it is neither a file nor a text that could be decoded.
 */
export function referencedBytes(reference: string | Uint8Array): Uint8Array {
  if (reference instanceof Uint8Array) return reference;
  if (!reference.includes("\n") && isFile(reference)) return Deno.readFileSync(reference);
  if (reference.startsWith("b64:")) return decodeBase64(reference.slice(4));
  if (reference.includes(PEM_BEGIN)) return new TextEncoder().encode(reference);
  const digits = reference.replace(/\s/g, "");
  if (/^(?:[0-9a-fA-F]{2})+$/.test(digits)) return Uint8Array.fromHex(digits);
  return decodeBase64(reference);
}

function decodeBase64(base64: string): Uint8Array {
  // As Python does: what is not a letter of base64 is skipped, and the padding has to be there.
  const letters = base64.replace(/[^A-Za-z0-9+/=]/g, "");
  const bytes = letters.length % 4 === 0 ? base64Bytes(letters) : undefined;
  if (bytes !== undefined) return bytes;
  throw new InvocationError(
    "Could not load provided source. You need to pass an existing file, (PEM|hex|base64)-encoded string or raw bytes.",
  );
}

function pemOf(bytes: Uint8Array): string | undefined {
  const text = new TextDecoder("latin1").decode(bytes);
  return text.includes(PEM_BEGIN) ? text : undefined;
}

/** Whether a DER key is an EncryptedPrivateKeyInfo: its first part is a sequence, where a plain key has its version. */
function isEncryptedDer(der: Uint8Array): boolean {
  const first = der[1] < 0x80 ? 2 : 2 + (der[1] & 0x7f);
  return der[0] === 0x30 && der[first] === 0x30;
}

/**
 * A private key.
 * @throws {InvocationError} With Salt's sentence, if it cannot be read, needs a passphrase, has none, or another one.
 */
export function loadPrivateKey(reference: string | Uint8Array, passphrase: string | null): KeyObject {
  const bytes = referencedBytes(reference);
  const pem = pemOf(bytes);
  const encrypted = pem === undefined ? isEncryptedDer(bytes) : /ENCRYPTED/.test(pem);
  if (encrypted && passphrase === null) {
    throw new InvocationError("Private key is encrypted. Please provide a password.");
  }
  const key = pem === undefined ? derKey(bytes, passphrase) : pemKey(pem, passphrase);
  if (key === undefined && encrypted) throw new InvocationError("Bad decrypt - is the password correct?");
  if (key === undefined) {
    throw new InvocationError(
      pem === undefined
        ? "Could not deserialize binary data, neither as DER nor PKCS#12."
        : "Could not load PEM-encoded private key",
    );
  }
  if (!encrypted && passphrase !== null) {
    throw new InvocationError("Private key is unencrypted. Please remove the password.");
  }
  return key;
}

function pemKey(pem: string, passphrase: string | null): KeyObject | undefined {
  try {
    return nodeBuiltin("node:crypto").createPrivateKey({ key: pem, ...passphrase !== null && { passphrase } });
  } catch {
    return undefined;
  }
}

function derKey(der: Uint8Array, passphrase: string | null): KeyObject | undefined {
  const { createPrivateKey } = nodeBuiltin("node:crypto");
  const { Buffer } = nodeBuiltin("node:buffer");
  for (const type of ["pkcs8", "pkcs1", "sec1"] as const) {
    try {
      return createPrivateKey({ key: Buffer.from(der), format: "der", type, ...passphrase !== null && { passphrase } });
    } catch {
      // Another form of key.
    }
  }
  return undefined;
}

/**
 * A public key.
 * @throws {InvocationError} If it cannot be read.
 */
export function loadPublicKey(reference: string | Uint8Array): KeyObject {
  const bytes = referencedBytes(reference);
  const pem = pemOf(bytes);
  const { createPublicKey } = nodeBuiltin("node:crypto");
  try {
    if (pem === undefined) {
      const { Buffer } = nodeBuiltin("node:buffer");
      return createPublicKey({ key: Buffer.from(bytes), format: "der", type: "spki" });
    }
    // Of a certificate or a private key a public key could be had, too, which Salt does not do here.
    if (/-----BEGIN (?:RSA )?PUBLIC KEY-----/.test(pem)) return createPublicKey(pem);
  } catch {
    // The error below has the message.
  }
  throw new InvocationError(`Could not load ${pem === undefined ? "DER" : "PEM"}-encoded public key.`);
}

/** The SHA-256 digest of a public key, as hexadecimal digits. */
export function publicFingerprint(key: KeyObject): string {
  const der = key.export({ type: "spki", format: "der" });
  return nodeBuiltin("node:crypto").createHash("sha256").update(der).digest("hex");
}

/**
 * Node's name of a digest.
 * @throws {CommandError} If there is no such digest.
 */
export function digestName(name: string): string {
  const lower = name.toLowerCase();
  if (/^(?:md5|sha1|sha(?:224|256|384|512)|sha512_(?:224|256)|sha3_(?:224|256|384|512))$/.test(lower)) {
    return lower.replace("_", "-");
  }
  throw new CommandError("The selected hashing algorithm does not exist in the cryptography python library");
}
