/**
 * RSA keys for simulated minions: made once (130 ms each), and stored in the user's cache directory.
 *
 * Simulated minions with different ids share a few keys; for the master this makes no difference.
 * @module
 */

import { readTextFileIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { opensslOperations } from "#lib/crypto/openssl_rsa.ts";
import { PrivateKey } from "#lib/crypto/rsa.ts";

/** `count` keys of `bits` bits; missing ones are made. */
export async function keyPool(count: number, bits: number): Promise<PrivateKey[]> {
  const directory = `${cacheDirectory()}/keys-${bits}`;
  Deno.mkdirSync(directory, { recursive: true, mode: 0o700 });
  const keys: PrivateKey[] = [];
  for (let i = 0; i < count; i++) {
    const path = `${directory}/${i}.pem`;
    const pem = readTextFileIfExists(path);
    const key = pem === undefined ? await PrivateKey.generate(bits) : PrivateKey.fromPem(pem, opensslOperations(pem));
    if (pem === undefined) writeFileAtomic(path, key.pem, { mode: 0o600 });
    keys.push(key);
  }
  return keys;
}

/** The key of the simulated minion with this number, from 1, whichever process it is in. */
export function keyOf(number: number, keys: readonly PrivateKey[]): PrivateKey {
  return keys[(number - 1) % keys.length];
}

function cacheDirectory(): string {
  const cache = Deno.env.get("XDG_CACHE_HOME") || `${Deno.env.get("HOME") ?? ""}/.cache`;
  return `${cache}/salt-bench`;
}
