/**
 * Keys in tests: what a key store holds, and key pairs that are made once in a tree of sources, as making one takes
 * half a second of a processor.
 * @module
 */

import { PrivateKey } from "#lib/crypto/rsa.ts";
import type { KeyState, KeyStore } from "#lib/keys/store.ts";
import { readTextFileIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { lexistsOrThrow } from "#lib/os/file_kind.ts";
import { TREE_CONFIG } from "#tests/support/tree_config.ts";

/** The bits of the keys that are made once: the default of `keysize`. */
export const MADE_BITS = 2048;
/** Where they are: it goes with what `deno install` has made. */
const MADE = TREE_CONFIG.replace(/\/[^/]*$/, "/node_modules/.test_keys");

/** The minion ids of each key state. */
export function allKeys(store: KeyStore): Record<KeyState, readonly string[]> {
  return {
    accepted: store.list("accepted"),
    pending: store.list("pending"),
    rejected: store.list("rejected"),
    denied: store.list("denied"),
  };
}

/** The key pair of a name, the same in every test of this tree. */
export async function madeKey(name: string): Promise<PrivateKey> {
  if (!/^\w[\w.-]{0,63}$/.test(name)) return await PrivateKey.generate(MADE_BITS);
  const path = `${MADE}/${name}.pem`, pem = readTextFileIfExists(path);
  if (pem !== undefined) return PrivateKey.fromPem(pem);
  const key = await PrivateKey.generate(MADE_BITS);
  writeFileAtomic(path, key.pem, { mode: 0o600, makeDirectory: true });
  return key;
}

/**
 * Whether a daemon may be given a key that is made once. Not a master of a cluster, which gets that of the others, nor
 * a daemon of another user, who makes the directories, nor a minion without a master, which has none.
 * @param options The options that a test sets.
 */
export function takesMadeKey(options: Readonly<Record<string, unknown>> = {}): boolean {
  const { keysize = MADE_BITS, user, master_type } = options;
  const isOfCluster = Object.keys(options).some((name) => name.startsWith("cluster"));
  return keysize === MADE_BITS && !isOfCluster && user === undefined && master_type !== "disable";
}

/** Gives a master or a minion that has no key yet the one of a name. */
export async function placeKey(pkiDir: string, role: "master" | "minion", name: string): Promise<void> {
  const path = `${pkiDir}/${role}.pem`;
  if (lexistsOrThrow(path)) return;
  writeFileAtomic(path, (await madeKey(name)).pem, { mode: 0o400, makeDirectory: true });
}
