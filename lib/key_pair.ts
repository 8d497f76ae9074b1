/**
 * A daemon's own key pair on the disk: `<name>.pem` and `<name>.pub`, read or made.
 *
 * Knows nothing of what the keys are for. Source: Salt's `gen_keys` and `MasterKeys`; 3008 keeps the master's pair under
 * the host's name and leaves `master.pem` as a link to it, which reads like any file.
 * @module
 */

import { readTextFileIfExists, writeFileAtomic } from "./atomic_file.ts";
import { KeyError } from "./errors.ts";
import { PrivateKey, samePem } from "./rsa.ts";

const PRIVATE_MODE = 0o400;
const PUBLIC_MODE = 0o644;

/**
 * Reads the private key `<name>.pem` in `dir`, or makes a pair of `keysize` bits. `<name>.pub` is written if it is missing or
 * belongs to another key, as `get_pub_str` of Salt would hand it out unseen.
 * @throws {KeyError} If the file is there and holds no usable private key: it is never replaced.
 */
export async function loadOrCreateKeyPair(dir: string, name: string, keysize: number): Promise<PrivateKey> {
  const path = `${dir}/${name}.pem`;
  const key = loadPrivateKey(path) ?? await create(dir, name, keysize);
  const publicPath = `${dir}/${name}.pub`;
  const written = readTextFileIfExists(publicPath);
  if (written === undefined || !samePem(written, key.publicKey.pem)) {
    writeFileAtomic(publicPath, `${key.publicKey.pem}\n`, { mode: PUBLIC_MODE });
  }
  return key;
}

/**
 * The master's own key: `master.pem` in `pkiDir`, of whichever Salt's making.
 * @throws {KeyError} As {@linkcode loadOrCreateKeyPair}; also if `master.pem` is a link to nothing.
 */
export function loadOrCreateMasterKey(pkiDir: string, keysize: number): Promise<PrivateKey> {
  return loadOrCreateKeyPair(pkiDir, "master", keysize);
}

/**
 * The private key in the file `path`; `undefined` if there is none.
 * @throws {KeyError} If the file holds no usable private key; its text names the file.
 */
export function loadPrivateKey(path: string): PrivateKey | undefined {
  const pem = readTextFileIfExists(path);
  if (pem === undefined) return undefined;
  try {
    return PrivateKey.fromPem(pem);
  } catch (error) {
    throw new KeyError(`${path}: ${error instanceof Error ? error.message : error}`);
  }
}

/** Whether others than the owner may read or write the private key in the file `path`; a missing file is not too open. */
export function privateKeyTooOpen(path: string): boolean {
  try {
    return ((Deno.statSync(path).mode ?? 0) & 0o077) !== 0;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

async function create(dir: string, name: string, keysize: number): Promise<PrivateKey> {
  const path = `${dir}/${name}.pem`;
  if (isLink(path)) throw new KeyError(`${path}: a link to a key that is not there`);
  const key = await PrivateKey.generate(keysize);
  Deno.mkdirSync(dir, { recursive: true, mode: 0o700 });
  // Another process may have been faster; its key, which peers may have seen, stays.
  const winner = loadPrivateKey(path);
  if (winner !== undefined) return winner;
  writeFileAtomic(path, key.pem, { mode: PRIVATE_MODE, sync: true });
  return key;
}

function isLink(path: string): boolean {
  try {
    return Deno.lstatSync(path).isSymlink;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
