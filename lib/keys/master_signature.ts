/**
 * Signs the master's public key in advance, for minions with `verify_master_pubkey_sign`. Prints nothing.
 * Source: docs/protocol.md "A signed master key"; docs.saltproject.io, "salt-key".
 * @module
 */

import { isFile } from "#lib/os/file_kind.ts";
import { readTextFileIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { KeyError } from "#lib/errors.ts";
import { loadOrCreateKeyPair, loadPrivateKeyFile, masterPublicKey } from "./pair.ts";
import { PublicKey, type SigningAlgorithm } from "#lib/crypto/rsa.ts";

/** Name of the signature's file if `master_pubkey_signature` is unset. */
export const SIGNATURE_NAME = "master_pubkey_signature";

/** Options of {@linkcode signMasterKey}. */
export interface MasterSignatureOptions {
  /** The pki directory: the master's public key if `pub` is unset, and the signing key if `priv` is unset. */
  readonly pkiDir: string;
  /** The master's id, which tells where its key may have been moved to. */
  readonly id: string;
  /** Name of the signing key (`master_sign_key_name`). */
  readonly signKeyName: string;
  /** Name of the signature's file (`master_pubkey_signature`); null: {@linkcode SIGNATURE_NAME}. */
  readonly signatureName: string | null;
  /** The algorithm; minions verify with the one that they asked for, by default SHA1. */
  readonly algorithm: SigningAlgorithm;
  /** Bits of a new signing key. */
  readonly keysize: number;
  /** `--priv`: file of the private key to sign with. */
  readonly priv?: string;
  /** `--pub`: file of the public key to sign. */
  readonly pub?: string;
  /** `--signature-path`: directory of the signature; unset: the pki directory. */
  readonly signaturePath?: string;
  /** `--auto-create`: make the signing key if there is none. */
  readonly autoCreate?: boolean;
}

/**
 * Signs the master's public key and writes the signature: base64 and a newline.
 * @returns `false` if there is a signature already; it is left as it is.
 * @throws {KeyError} With Salt's text, if a key is missing or cannot be used.
 */
export async function signMasterKey(options: MasterSignatureOptions): Promise<boolean> {
  const { pkiDir, signKeyName } = options;
  if (options.pub && !isFile(options.pub)) throw new KeyError(`Public-key ${options.pub} does not exist`);
  if (options.priv && !isFile(options.priv)) throw new KeyError(`Private-key ${options.priv} does not exist`);
  let priv = loadPrivateKeyFile(options.priv || `${pkiDir}/${signKeyName}.pem`);
  if (priv === undefined) {
    if (!options.autoCreate) throw new KeyError("No usable private-key found");
    priv = await loadOrCreateKeyPair(pkiDir, signKeyName, options.keysize);
  }
  const pub = options.pub ? readTextFileIfExists(options.pub) : masterPublicKey(pkiDir, options.id);
  if (pub === undefined) throw new KeyError("No usable public-key found");
  // Signs exactly the `pub_key` that the master sends: without the file's last newline.
  const signed = new TextEncoder().encode(PublicKey.fromPem(pub).pem);
  const signaturePath = `${options.signaturePath || pkiDir}/${options.signatureName ?? SIGNATURE_NAME}`;
  if (isFile(signaturePath)) return false;
  const signature = priv.sign(options.algorithm, signed);
  writeFileAtomic(signaturePath, signature.toBase64() + "\n", { mode: 0o644, sync: true });
  return true;
}
