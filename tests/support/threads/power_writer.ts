/**
 * A process that does one durable operation on the keys of a directory. tests/system/power_test.ts simulates a power
 * failure right after it.
 * @module
 */

import { Autosign } from "#lib/keys/autosign.ts";
import { loadOrCreateKeyPair } from "#lib/keys/pair.ts";
import { KeyStore } from "#lib/keys/store.ts";
import { loadMasterConfig } from "#lib/config/load.ts";
import corpus from "#tests/corpus/crypto.json" with { type: "json" };

const [what, root] = Deno.args;
const pki = `${root}/etc/pki/master`;
const store = new KeyStore(pki);
const pem = corpus.keys.rsa2048.public;

const ACTS: Readonly<Record<string, () => unknown>> = {
  pair: () => loadOrCreateKeyPair(pki, "minion", 1024),
  // The directories were created without a sync, as a service does before it changes its user.
  laterPair: () => {
    Deno.mkdirSync(pki, { recursive: true });
    return loadOrCreateKeyPair(pki, "minion", 1024);
  },
  put: () => store.put("new", "accepted", pem),
  replace: () => store.put("old", "accepted", pem),
  deny: () => store.put("old", "denied", pem),
  accept: () => store.move("old", "pending", "accepted"),
  reject: () => store.move("old", "pending", "rejected"),
  delete: () => store.delete("old", "pending"),
  remove: () => store.remove("old"),
  stub: () =>
    new Autosign({ ...loadMasterConfig({ configDir: root }).opts, pki_dir: pki }, { warn: () => {} }).accepts("stub"),
};

await ACTS[what]();
Deno.stdout.writeSync(new TextEncoder().encode("done\n"));
// The end of the process must not sync anything.
Deno.kill(Deno.pid, "SIGKILL");
