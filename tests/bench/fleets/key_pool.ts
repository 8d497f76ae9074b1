/**
 * RSA keys for simulated minions: made once, 130 ms each, and kept in the user's cache.
 *
 * Simulated minions share a few keys under ids of their own, which no master can tell from a key each.
 * @module
 */

import { readTextFileIfExists, writeFileAtomic } from "../../../lib/os/atomic_file.ts";
import { opensslOperations } from "../../../lib/crypto/openssl_rsa.ts";
import { PrivateKey } from "../../../lib/crypto/rsa.ts";

/** `count` keys of `bits` bits; those that are not in the cache yet are made. */
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

function cacheDirectory(): string {
  const cache = Deno.env.get("XDG_CACHE_HOME") || `${Deno.env.get("HOME") ?? ""}/.cache`;
  return `${cache}/salt-bench`;
}
