/**
 * A daemon's own key pair on disk: `<name>.pem` and `<name>.pub`, read or created. Knows nothing of the use of keys.
 * Source: Salt's `gen_keys` and `MasterKeys`.
 * @module
 */

import { dirName } from "#lib/os/paths.ts";
import { makeDirectorySynced, readTextFileIfExists, statIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { KeyError } from "#lib/errors.ts";
import { PrivateKey } from "#lib/crypto/rsa.ts";
import { samePem } from "#lib/crypto/pem.ts";

const PRIVATE_MODE = 0o400;
const PUBLIC_MODE = 0o644;

/** Who may read a private key besides its owner: no other user by default. */
export interface KeyAccess {
  /** The option `permissive_pki_access`: the group may read it. */
  readonly permissive?: boolean;
}

/**
 * Reads the private key `<name>.pem` in `dir`, or creates a pair of `keysize` bits; writes `<name>.pub` if it is
 * missing. If several processes start at once, one creates the key and all get it.
 * @throws {KeyError} If `<name>.pem` exists but is no usable private key, a link to a missing file, or readable by
 * others, or if `<name>.pub` is not its public key. Neither file is ever replaced, since peers may know the key.
 */
export async function loadOrCreateKeyPair(
  dir: string,
  name: string,
  keysize: number,
  access: KeyAccess = {},
): Promise<PrivateKey> {
  const path = `${dir}/${name}.pem`;
  const key = loadPrivateKeyFile(path, access) ?? await create(path, keysize);
  const publicPath = `${dir}/${name}.pub`;
  const { pem } = key.publicKey;
  const publicPem = readTextFileIfExists(publicPath);
  // A power failure may leave an empty file that was not synced; an empty file contradicts no key.
  if (publicPem === undefined || publicPem.trim() === "") {
    writeFileAtomic(publicPath, `${pem}\n`, { mode: PUBLIC_MODE, sync: true });
  } else if (!samePem(publicPem, pem)) throw new KeyError(`${publicPath}: not the public half of ${path}`);
  return key;
}

/** Options of {@linkcode loadOrCreateMasterKey}. */
export interface MasterKeyOptions extends KeyAccess {
  /** The master's id: Salt 3008 keeps the key under {@linkcode movedMasterKey} of it. */
  readonly id: string;
}

/**
 * The name under which Salt 3008 keeps the key of the master with this id: without `_master`, which it appends itself.
 */
export function movedMasterKey(id: string): string {
  return id.replace(/_master$/, "");
}

/**
 * The master's own key: `master.pem` in `pkiDir`. Salt 3008 moves it to `<id>.pem` and leaves a link; where there is
 * `<id>.pem`, that is used, as Salt 3008 does. Otherwise `<id>.pub` is written too, as a copy: there Python's programs
 * of 3008 look for the public key.
 * @throws {KeyError} As {@linkcode loadOrCreateKeyPair}.
 */
export async function loadOrCreateMasterKey(
  pkiDir: string,
  keysize: number,
  options: MasterKeyOptions,
): Promise<PrivateKey> {
  const moved = movedMasterKey(options.id);
  if (exists(`${pkiDir}/${moved}.pem`)) return await loadOrCreateKeyPair(pkiDir, moved, keysize, options);
  const key = await loadOrCreateKeyPair(pkiDir, "master", keysize, options);
  const copy = `${pkiDir}/${moved}.pub`, { pem } = key.publicKey;
  if (!samePem(readTextFileIfExists(copy) ?? "", pem)) {
    writeFileAtomic(copy, `${pem}\n`, { mode: PUBLIC_MODE, sync: true });
  }
  return key;
}

/** The file of the master's private key: where Salt 3008 has moved it, if it has. */
export function masterPrivatePath(pkiDir: string, id: string): string {
  const moved = `${pkiDir}/${movedMasterKey(id)}.pem`;
  return exists(moved) ? moved : `${pkiDir}/master.pem`;
}

/**
 * The master's own key if there is one; as {@linkcode loadOrCreateMasterKey}, but nothing is made.
 * @throws {KeyError} As {@linkcode loadPrivateKeyFile}.
 */
export function masterPrivateKey(pkiDir: string, id: string, access: KeyAccess = {}): PrivateKey | undefined {
  return loadPrivateKeyFile(masterPrivatePath(pkiDir, id), access);
}

/** The public half of {@linkcode loadOrCreateMasterKey}'s key, as its file has it; `undefined` if there is none. */
export function masterPublicKey(pkiDir: string, id: string): string | undefined {
  const moved = movedMasterKey(id);
  const first = exists(`${pkiDir}/${moved}.pem`) ? moved : "master";
  return readTextFileIfExists(`${pkiDir}/${first}.pub`) ?? readTextFileIfExists(`${pkiDir}/${moved}.pub`);
}

/**
 * Reads the private key in the file `path`; `undefined` if the file does not exist.
 * @throws {KeyError} If the file has no usable private key, or others may read it; the text names the file.
 */
export function loadPrivateKeyFile(path: string, access: KeyAccess = {}): PrivateKey | undefined {
  checkPrivateKey(path, access);
  const pem = readTextFileIfExists(path);
  if (pem === undefined) return undefined;
  try {
    return PrivateKey.fromPem(pem);
  } catch (error) {
    throw error instanceof KeyError ? new KeyError(`${path}: ${error.message}`) : error;
  }
}

/**
 * Checks that only its owner may read or write the private key file `path`; a missing file is accepted.
 * @throws {KeyError} If others may; the text names the file and the remedy.
 */
export function checkPrivateKey(path: string, { permissive = false }: KeyAccess = {}): void {
  const mode = modeOf(path);
  if (mode === undefined || (mode & (permissive ? 0o037 : 0o077)) === 0) return;
  throw new KeyError(
    `${path}: others may read or write this private key (mode 0${mode.toString(8)}); chmod 0400 ${path}`,
  );
}

async function create(path: string, keysize: number): Promise<PrivateKey> {
  const key = await PrivateKey.generate(keysize);
  makeDirectorySynced(dirName(path));
  try {
    writeFileAtomic(path, key.pem, { mode: PRIVATE_MODE, createNew: true, sync: true });
    return key;
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
  }
  const winner = loadPrivateKeyFile(path);
  if (winner === undefined) throw new KeyError(`${path}: a link to a key that does not exist`);
  return winner;
}

function exists(path: string): boolean {
  return modeOf(path) !== undefined;
}

/** The permission bits of a file; `undefined` if it does not exist. */
function modeOf(path: string): number | undefined {
  const file = statIfExists(path);
  return file === undefined ? undefined : (file.mode ?? 0) & 0o777;
}
