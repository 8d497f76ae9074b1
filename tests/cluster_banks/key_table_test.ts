/**
 * Changes of keys on rows in memory: they do what the same changes do to the files of a master that stands alone.
 * @module
 */

import { KEPT, type KeyRow } from "#lib/cluster_banks/key_rows.ts";
import { KeyTable } from "#lib/cluster_banks/key_table.ts";
import { fileKeyBank, type KeyStep } from "#lib/keys/key_bank.ts";
import { KEY_DIRECTORIES, type KeyState, KeyStore } from "#lib/keys/store.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const STATES: readonly KeyState[] = ["accepted", "pending", "rejected", "denied"];
const OPTIONS = { hashType: "sha256", keepsData: false };
const MARK = { generation: 7, atMs: 1_000, by: "root" };
/** Changes of a minion that has the key `one`, if it has one; another key is `two`. */
const STEPS: readonly KeyStep[] = [
  ...STATES.flatMap((put): KeyStep[] => [
    { id: "web1", put, pem: "two" },
    { id: "web1", put, pem: "two", over: "one" },
    { id: "web1", put, pem: "one", over: "two" },
    { id: "web1", put, pem: "two", expected: "none" },
  ]),
  ...STATES.flatMap((from) => STATES.map((to): KeyStep => ({ id: "web1", from, to, pem: "one" }))),
  { id: "web1", from: "accepted", to: "rejected" },
  { id: "web1", from: "accepted", to: "rejected", pem: "two" },
  { id: "web1", from: "denied", to: "accepted", expected: "rejected" },
  ...[...STATES, "all" as const].map((state): KeyStep => ({ id: "web1", delete: state })),
];

function row(state: KeyState, pem: string | null, minion = "web1"): KeyRow {
  return { minion, state, pem, fingerprint: "", generation: 1, atMs: 0, by: "" };
}

for (const there of [[], ["pending"], ["accepted", "denied"], ["rejected", "denied"]] satisfies KeyState[][]) {
  Deno.test(`each change of a key in ${there.join(" and ") || "no state"} makes of rows what it makes of files`, () =>
    withTemporaryDirectory(async (root) => {
      for (const [at, step] of STEPS.entries()) {
        const store = new KeyStore(`${root}/${at}`), bank = fileKeyBank(store);
        for (const state of there) {
          // Not by the store, which waits for the disk.
          Deno.mkdirSync(`${root}/${at}/${KEY_DIRECTORIES[state]}`, { recursive: true });
          Deno.writeTextFileSync(`${root}/${at}/${KEY_DIRECTORIES[state]}/web1`, "one");
        }
        const table = new KeyTable(there.map((state) => row(state, "one")), OPTIONS);
        const text = JSON.stringify(step);
        assertEquals([table.apply(step)], await bank.change([step]), text);
        const made = new Map<KeyState, string | null>(there.map((state) => [state, "one"]));
        for (const { state, pem } of table.changed(MARK)) made.set(state, pem);
        const files = STATES.map((state) => store.get("web1", state) ?? null);
        assertEquals(STATES.map((state) => made.get(state) ?? null), files, text);
      }
    }));
}

Deno.test("data of a minion go with its last key, unless the change or the master keeps them", () => {
  const keys = ["web1", "web2", "web3"].map((id) => row("accepted", "one", id));
  const table = new KeyTable([...keys, row("denied", "two", "web2")], OPTIONS);
  table.apply({ id: "web1", delete: "accepted" });
  table.apply({ id: "web2", delete: "accepted" });
  table.apply({ id: "web3", delete: "all", keepsData: true });
  assertEquals(table.forgotten(), ["web1"]);
  assertEquals(table.changed(MARK).map(({ minion, fingerprint, by }) => [minion, fingerprint, by]), [
    ["web1", null, "root"],
    ["web2", null, "root"],
    ["web3", KEPT, "root"],
  ]);
  assertEquals(table.refuses, true);
  const kept = new KeyTable(keys, { ...OPTIONS, keepsData: true });
  kept.apply({ id: "web1", delete: "all" });
  assertEquals(kept.forgotten(), []);
});
