/** @module */
import { PowerDisk } from "#tests/chaos/harness/power_disk.ts";
import { ALL_NAMES, ONLY_SYNCED } from "#tests/support/files/power_model.ts";
import { buildLibrary, missingCompiler } from "#tests/chaos/harness/compiler.ts";
import { loadPrivateKeyFile } from "#lib/keys/pair.ts";
import { KeyStore } from "#lib/keys/store.ts";
import { samePem } from "#lib/crypto/pem.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import corpus from "#tests/corpus/crypto.json" with { type: "json" };
import { run } from "#tests/support/processes.ts";

const PEM = corpus.keys.rsa2048.public;
const OTHER = corpus.keys.other2048.public;
const WRITER = new URL("../support/threads/power_writer.ts", import.meta.url).pathname;

function checkPair(pki: string): void {
  const key = loadPrivateKeyFile(`${pki}/minion.pem`);
  assert(key !== undefined && samePem(Deno.readTextFileSync(`${pki}/minion.pub`), key.publicKey.pem));
  assertEquals((Deno.statSync(`${pki}/minion.pem`).mode ?? 0) & 0o777, 0o400);
}

/** An operation, and a check of the pki directory after it. */
const CASES: readonly (readonly [what: string, title: string, check: (pki: string, store: KeyStore) => void])[] = [
  ["pair", "after a power failure a key pair that was made is there, and whole", checkPair],
  ["laterPair", "after a power failure a key pair in directories that were made before is there, and whole", checkPair],
  [
    "put",
    "after a power failure a key that was accepted by itself is accepted",
    (_, store) => assertEquals(store.get("new", "accepted"), PEM),
  ],
  ["replace", "after a power failure a key that was replaced is the new one", (_, store) => {
    assertEquals([store.state("old"), store.get("old", "accepted"), store.get("old", "pending")], [
      "accepted",
      PEM,
      undefined,
    ]);
  }],
  [
    "deny",
    "after a power failure a key that was denied is kept",
    (_, store) => assertEquals(store.get("old", "denied"), PEM),
  ],
  ["accept", "after a power failure a key that an operator accepted is accepted, and not pending", (_, store) => {
    assertEquals([store.get("old", "accepted"), store.get("old", "pending")], [OTHER, undefined]);
  }],
  ["reject", "after a power failure a key that an operator rejected is rejected, and not pending", (_, store) => {
    assertEquals([store.get("old", "rejected"), store.get("old", "pending")], [OTHER, undefined]);
  }],
  [
    "delete",
    "after a power failure a key that was deleted stays away",
    (_, store) => assertEquals(store.state("old"), undefined),
  ],
  [
    "remove",
    "after a power failure a minion that was deleted stays away",
    (_, store) => assertEquals(store.state("old"), undefined),
  ],
  [
    "stub",
    "after a power failure a stub that has let a minion in is used up",
    (pki) => assertEquals([...Deno.readDirSync(`${pki}/minions_autosign`)], []),
  ],
];

const missing = missingCompiler();

for (const [what, title, check] of CASES) {
  Deno.test({
    name: `${title}${missing === undefined ? "" : ` (left out: ${missing})`}`,
    ignore: missing !== undefined,
    async fn() {
      const directory = Deno.makeTempDirSync({ prefix: "power_" });
      try {
        const library = buildLibrary("power", directory);
        for (const choices of [ONLY_SYNCED, ALL_NAMES]) {
          const root = `${directory}/disk`;
          const disk = new PowerDisk(root, { library, shadow: `${directory}/shadow` });
          const pki = `${root}/etc/pki/master`;
          Deno.mkdirSync(root);
          if (!["pair", "laterPair", "put"].includes(what)) {
            new KeyStore(pki).put("old", "pending", OTHER);
            Deno.mkdirSync(`${pki}/minions_autosign`);
            Deno.writeTextFileSync(`${pki}/minions_autosign/stub`, "");
          }
          const { out, err } = await run([
            ...disk.words,
            Deno.execPath(),
            "run",
            "-A",
            "--no-check",
            WRITER,
            what,
            root,
          ]);
          assertEquals(out, "done\n", err);
          disk.fail(choices);
          check(pki, new KeyStore(pki));
          Deno.removeSync(root, { recursive: true });
        }
      } finally {
        Deno.removeSync(directory, { recursive: true });
      }
    },
  });
}
