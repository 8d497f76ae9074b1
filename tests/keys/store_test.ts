/** @module */
import { KeyError } from "#lib/errors.ts";
import { isTruncatedKey, KEY_DIRECTORIES, type KeyState, KeyStore } from "#lib/keys/store.ts";
import { isValidId } from "#lib/protocol/minion_id.ts";
import { assert, assertEquals, assertThrows } from "#tests/support/assert.ts";
import corpus from "#tests/corpus/crypto.json" with { type: "json" };
import { eventually } from "#tests/support/eventually.ts";
import { allKeys } from "#tests/support/fleet/keys.ts";

const PEM = corpus.keys.rsa2048.public.trim();
const OTHER = corpus.keys.other2048.public.trim();
const STATES: KeyState[] = ["accepted", "pending", "rejected", "denied"];

function withStore(run: (store: KeyStore, pkiDir: string) => void | Promise<void>): () => Promise<void> {
  return async () => {
    const dir = Deno.makeTempDirSync({ prefix: "key_store_" });
    try {
      await run(new KeyStore(`${dir}/pki/master`), `${dir}/pki/master`);
    } finally {
      Deno.removeSync(dir, { recursive: true });
    }
  };
}

const mode = (path: string) => (Deno.statSync(path).mode ?? 0) & 0o777;

const IDS: [string, boolean][] = [
  ["web1", true],
  ["web1.example.com", true],
  ["müller ü", true],
  ["a..b", true],
  ["minions", true],
  ["x".repeat(255), true],
  ["x".repeat(256), false],
  ["ü".repeat(128), false],
  ["x".repeat(10_240), false],
  ["", false],
  [".", false],
  ["..", false],
  [".key_cache", false],
  ["../master.pem", false],
  ["/etc/passwd", false],
  ["a/b", false],
  ["a\\b", false],
  ["a\0b", false],
  ["a\nb", false],
  ["a\x1b[2Jb", false],
  ["a\x9bb", false],
];
for (const [id, expected] of IDS) {
  Deno.test(`isValidId() returns ${expected} for ${JSON.stringify(id.slice(0, 20))} (${id.length} characters)`, () => {
    assertEquals(isValidId(id), expected);
  });
}

Deno.test(
  "a store without directories is empty",
  withStore((store) => {
    assertEquals(allKeys(store), { accepted: [], pending: [], rejected: [], denied: [] });
    assertEquals(store.state("web1"), undefined);
    assertEquals(store.get("web1", "accepted"), undefined);
    assertEquals(store.delete("web1", "accepted"), false);
    assertEquals(store.remove("web1"), []);
    assertEquals(store.move("web1", "pending", "accepted"), false);
  }),
);

Deno.test(
  "put() writes Salt's files, readable only for the owner, also when repeated",
  withStore((store, pkiDir) => {
    for (const state of STATES) {
      for (let i = 0; i < 2; i++) store.put(state, state, PEM);
      const path = `${pkiDir}/${KEY_DIRECTORIES[state]}/${state}`;
      assertEquals(Deno.readTextFileSync(path), PEM);
      assertEquals(mode(path), 0o600);
      assertEquals(mode(`${pkiDir}/${KEY_DIRECTORIES[state]}`), 0o700);
      assertEquals(store.list(state), [state]);
      assertEquals(store.get(state, state), PEM);
    }
  }),
);

Deno.test(
  "a minion has a key in one state, and possibly a denied key",
  withStore((store) => {
    store.put("web1", "denied", OTHER);
    for (const state of ["pending", "rejected", "accepted", "pending"] as const) {
      store.put("web1", state, PEM);
      assertEquals(store.state("web1"), state);
      for (const other of STATES) {
        assertEquals(store.list(other), other === state || other === "denied" ? ["web1"] : [], other);
      }
      assertEquals(store.get("web1", "denied"), OTHER);
    }
    store.put("web1", "denied", PEM);
    assertEquals(store.state("web1"), "pending");
    assertEquals(store.remove("web1"), ["pending", "denied"]);
    assertEquals(store.remove("web1"), []);
  }),
);

Deno.test(
  "an id in several states after a crash counts as rejected, else as accepted",
  withStore((store, pkiDir) => {
    store.put("web1", "pending", PEM);
    Deno.mkdirSync(`${pkiDir}/minions`);
    Deno.writeTextFileSync(`${pkiDir}/minions/web1`, PEM);
    assertEquals(store.state("web1"), "accepted");
    Deno.mkdirSync(`${pkiDir}/minions_rejected`);
    Deno.writeTextFileSync(`${pkiDir}/minions_rejected/web1`, PEM);
    assertEquals(store.state("web1"), "rejected");
    assertEquals(store.move("web1", "pending", "accepted"), true);
    assertEquals(allKeys(store), { accepted: ["web1"], pending: [], rejected: [], denied: [] });
  }),
);

Deno.test(
  "a denied key alone gives the id no state",
  withStore((store) => {
    store.put("web1", "denied", PEM);
    assertEquals(store.state("web1"), undefined);
  }),
);

Deno.test(
  "move() moves the key, and a second call changes nothing",
  withStore((store) => {
    store.put("web1", "pending", PEM);
    const accept = () => store.move("web1", "pending", "accepted");
    assertEquals([accept(), accept()], [true, false]);
    assertEquals([store.state("web1"), store.get("web1", "accepted")], ["accepted", PEM]);
    assertEquals(store.move("web1", "accepted", "rejected"), true);
    assertEquals([store.state("web1"), store.get("web1", "rejected")], ["rejected", PEM]);
    assertEquals(store.move("web1", "rejected", "accepted"), true);
    store.put("web1", "denied", OTHER);
    assertEquals(store.move("web1", "denied", "accepted"), true);
    assertEquals(allKeys(store), { accepted: ["web1"], pending: [], rejected: [], denied: [] });
    assertEquals(store.get("web1", "accepted"), OTHER);
    assertEquals(store.move("web1", "accepted", "accepted"), true);
    assertEquals(store.move("web1", "accepted", "pending"), true);
    assertEquals(store.state("web1"), "pending");
  }),
);

Deno.test(
  "invalid minion ids are never used as paths",
  withStore((store, pkiDir) => {
    store.put("web1", "pending", PEM);
    const before = Array.from(Deno.readDirSync(`${pkiDir}/..`), ({ name }) => name);
    for (const id of ["../x", "..", "", "a/b", "/x", "a\0b", "../minions_pre/web1", ".x"]) {
      assertThrows(() => store.put(id, "pending", PEM), KeyError);
      assertEquals(store.get(id, "accepted"), undefined);
      assertEquals(store.state(id), undefined);
      assertEquals(store.delete(id, "accepted"), false);
      assertEquals(store.move(id, "pending", "accepted"), false);
      assertEquals(store.remove(id), []);
    }
    assertEquals(Array.from(Deno.readDirSync(`${pkiDir}/..`), ({ name }) => name), before);
    assertEquals(allKeys(store), { accepted: [], pending: ["web1"], rejected: [], denied: [] });
  }),
);

Deno.test(
  "a key file that is no regular file counts as missing",
  withStore((store, pkiDir) => {
    store.put("b", "pending", PEM);
    store.put("B", "pending", PEM);
    store.put("a", "pending", PEM);
    const dir = `${pkiDir}/minions_pre`;
    Deno.writeTextFileSync(`${dir}/.key_cache`, "x");
    Deno.writeTextFileSync(`${dir}/back\\slash`, "x");
    Deno.mkdirSync(`${dir}/directory`);
    Deno.symlinkSync(`${dir}/a`, `${dir}/link`);
    assertEquals(store.list("pending"), ["B", "a", "b"]);
    for (const id of [".key_cache", "back\\slash", "directory", "link"]) {
      assertEquals(store.get(id, "pending"), undefined, id);
      assertEquals(store.state(id), undefined, id);
      assertEquals(store.delete(id, "pending"), false, id);
    }
    assert(Deno.statSync(`${dir}/directory`).isDirectory);
  }),
);

Deno.test(
  "a directory created by Python Salt keeps its mode, and its keys are read",
  withStore((store, pkiDir) => {
    Deno.mkdirSync(`${pkiDir}/minions`, { recursive: true });
    Deno.chmodSync(`${pkiDir}/minions`, 0o750);
    Deno.writeTextFileSync(`${pkiDir}/minions/old`, PEM + "\n");
    store.put("web1", "accepted", PEM);
    assertEquals(mode(`${pkiDir}/minions`), 0o750);
    assertEquals(store.get("old", "accepted"), PEM + "\n");
    assertEquals(store.list("accepted"), ["old", "web1"]);
  }),
);

Deno.test(
  "the version of a key changes when the key is replaced, and is undefined without a key",
  withStore((store) => {
    assertEquals(store.version("web1", "accepted"), undefined);
    store.put("web1", "accepted", PEM);
    const first = store.version("web1", "accepted");
    assertEquals(store.version("web1", "accepted"), first);
    assertEquals(store.version("web1", "pending"), undefined);
    // At the same clock tick, and with the same size.
    store.put("web1", "accepted", OTHER);
    const second = store.version("web1", "accepted");
    assert(second !== undefined && second !== first);
    store.move("web1", "accepted", "rejected");
    assertEquals(store.version("web1", "accepted"), undefined);
    assertEquals(store.version("../master.pem", "accepted"), undefined);
  }),
);

Deno.test(
  "a list of many ids is read once, and again after every change, whoever makes it",
  withStore((store, pkiDir) => {
    const other = new KeyStore(pkiDir);
    for (const id of ["b", "a"]) store.put(id, "accepted", PEM);
    const directory = `${pkiDir}/minions`;
    // A directory that changed long ago: what was read of it is kept.
    const old = new Date(Date.now() - 3_600_000);
    Deno.utimeSync(directory, old, old);
    assertEquals(store.list("accepted"), ["a", "b"]);
    other.put("c", "accepted", PEM);
    assertEquals(store.list("accepted"), ["a", "b", "c"]);
    other.delete("a", "accepted");
    assertEquals(store.list("accepted"), ["b", "c"]);
    for (let n = 0; n < 50; n++) {
      other.put(`n${n}`, "accepted", PEM);
      assert(store.list("accepted").includes(`n${n}`));
    }
    Deno.removeSync(directory, { recursive: true });
    assertEquals(store.list("accepted"), []);
  }),
);

Deno.test(
  "the list of a directory that rests is one array, which nobody can change",
  withStore(async (store) => {
    store.put("a", "accepted", PEM);
    await eventually(() => store.list("accepted") === store.list("accepted"), { what: "the kept list" });
    const kept = store.list("accepted");
    assert(Object.isFrozen(kept));
    store.put("b", "accepted", PEM);
    assertEquals([kept, store.list("accepted")], [["a"], ["a", "b"]]);
  }),
);

Deno.test(
  "a key that stays in its state is not moved: a leftover in a stricter one still counts",
  withStore((store, pkiDir) => {
    store.put("web1", "accepted", PEM);
    // As a crash between the two directories leaves it.
    const rejected = `${pkiDir}/${KEY_DIRECTORIES.rejected}`;
    Deno.mkdirSync(rejected, { recursive: true });
    Deno.writeTextFileSync(`${rejected}/web1`, PEM);
    assertEquals([store.move("web1", "accepted", "accepted"), store.state("web1")], [true, "rejected"]);
    assertEquals(store.list("accepted"), ["web1"]);
  }),
);

Deno.test("a key that a power failure has cut is told from a whole one, and from another text", () => {
  const lines = PEM.split("\n");
  const cut = [
    "",
    "\0".repeat(100),
    "-----BEGIN",
    "-----BEGIN PUBLIC KEY-----",
    `${lines[0]}\n`,
    `${lines[0]}\n${lines[1].slice(0, 20)}`,
    `${lines.slice(0, 4).join("\n")}\n`,
    `${PEM.slice(0, PEM.indexOf("-----END") + 4)}\0\0`,
    "-----BEGIN RSA PUBLIC KEY-----\nMIIB",
  ];
  assertEquals(cut.map(isTruncatedKey), cut.map(() => true));
  const others = [PEM, `${PEM}\n`, PEM.replace("-----END", "----- END"), "no key", "BEGIN", `x\n${PEM}`];
  assertEquals(others.map(isTruncatedKey), others.map(() => false));
});
