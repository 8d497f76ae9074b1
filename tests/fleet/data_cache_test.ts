import { dataCache } from "#tests/support/fleet/job_store.ts";
import { DataCache } from "#lib/fleet/data_cache.ts";
import { StoreError } from "#lib/errors.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { map, repr, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertThrows } from "#tests/support/assert.ts";
import corpus from "#tests/corpus/job_cache.json" with { type: "json" };

function withCache(run: (cache: DataCache, root: string) => void): void {
  const root = Deno.makeTempDirSync({ prefix: "data_cache_" });
  try {
    run(dataCache(root), root);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
}

Deno.test("grains and pillar are stored separately and read together, and only their owner can read them", () =>
  withCache((cache, root) => {
    assertEquals(cache.get("web1"), undefined);
    cache.setGrains("web1", map({ os: "Debian" }));
    assertEquals(cache.get("web1"), { grains: map({ os: "Debian" }), pillar: new Map() });
    cache.setPillar("web1", map({ secret: 1 }));
    cache.setGrains("web1", map({ os: "Arch" }));
    assertEquals(cache.get("web1"), { grains: map({ os: "Arch" }), pillar: map({ secret: 1 }) });
    assertEquals((Deno.statSync(`${root}/pillar/web1.p`).mode ?? 0) & 0o777, 0o600);
    assertEquals([...Deno.readDirSync(`${root}/grains`)].map(({ name }) => name), ["web1.p"]);
  }));

Deno.test("minions with cached grains are listed until they are removed", () =>
  withCache((cache, root) => {
    assertEquals(cache.list(), []);
    for (const id of ["web1", "db1", "a.p"]) cache.setGrains(id, new Map());
    cache.setPillar("web1", new Map());
    assertEquals(cache.list(), ["a.p", "db1", "web1"]);
    assertEquals([cache.remove("web1"), cache.remove("web1")], [true, false]);
    assertEquals(cache.list(), ["a.p", "db1"]);
    assertEquals([...Deno.readDirSync(`${root}/pillar`)].length, 0);
  }));

for (const id of ["../web1", "a/b", "", "..", "a\0"]) {
  Deno.test(`the id ${JSON.stringify(id)} names no file`, () =>
    withCache((cache, root) => {
      assertThrows(() => cache.setGrains(id, new Map()), StoreError);
      assertThrows(() => cache.setPillar(id, new Map()), StoreError);
      assertEquals(cache.get(id), undefined);
      assertEquals(cache.remove(id), false);
      assertEquals([...Deno.readDirSync(root)].length, 0);
    }));
}

Deno.test("a cache that cannot be written is a StoreError with its cause", () =>
  withCache((_, root) => {
    Deno.writeTextFileSync(`${root}/file`, "");
    const error = assertThrows(() => dataCache(`${root}/file`).setGrains("web1", new Map()), StoreError, "web1");
    assert(error.cause instanceof Error);
  }));

// corpus/job_cache.json holds the data files of Salt's localfs cache too: those of 3008, and one as 3006 and 3007 name
// it.
Deno.test("data files of all Salt versions are read, and removed", () =>
  withCache((cache, root) => {
    for (const [path, base64] of Object.entries(corpus.files)) {
      Deno.mkdirSync(`${root}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
      Deno.writeFileSync(`${root}/${path}`, Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)));
    }
    assertEquals(cache.list(), ["old1", "web1"]);
    assertEquals(repr(cache.get("web1")?.grains ?? null), "{'os': 'Debian', 'id': 'web1', 'f': 1.0}");
    assertEquals(cache.get("old1"), { grains: map({ os: "Arch" }), pillar: map({ x: [1] }) });
    cache.setGrains("old1", map({ os: "Debian" }));
    assertEquals(cache.get("old1"), { grains: map({ os: "Debian" }), pillar: map({ x: [1] }) });
    assert(cache.remove("old1"));
    assertEquals(cache.list(), ["web1"]);
  }));

Deno.test("grains that are too large are not stored, and the old ones are removed", () =>
  withCache((cache) => {
    cache.setGrains("web1", map({ os: "Debian" }));
    const large = map({ roles: Array.from({ length: 2_000 }, () => "x".repeat(600)) });
    assertThrows(() => cache.setGrains("web1", large), StoreError, "1048576 are allowed");
    assertEquals(cache.get("web1"), undefined);
  }));

Deno.test("a scan finds what get() finds, for data of every Salt version", () =>
  withCache((cache, root) => {
    for (const [path, base64] of Object.entries(corpus.files)) {
      Deno.mkdirSync(`${root}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
      Deno.writeFileSync(`${root}/${path}`, Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)));
    }
    for (const bank of ["grains", "pillar"] as const) {
      let scanned = new Map<string, Value>();
      for (let i = 0; i < 2; i++) {
        cache.scan(bank, () => {
          scanned = new Map();
          return (id, bytes) =>
            void (bytes === undefined ? scanned.delete(id) : scanned.set(id, decode(bytes, "disk")));
        });
        assertEquals([...scanned.keys()].sort(), cache.list());
        for (const [id, value] of scanned) assertEquals(value, cache.get(id)?.[bank]);
      }
    }
  }));

Deno.test("what another master has of a minion is stored and removed as it is, for valid ids", () =>
  withCache((cache) => {
    const bytes = encode(map({ os: "Debian" }), "disk");
    cache.setPacked("grains", "web1", bytes);
    assertEquals(cache.packed("grains", "web1"), bytes);
    cache.setPacked("grains", "web1", undefined);
    assertEquals([cache.packed("grains", "web1"), cache.packed("grains", "../web1")], [undefined, undefined]);
    for (const value of [bytes, undefined]) {
      assertThrows(() => cache.setPacked("grains", "../web1", value), StoreError, "../web1");
    }
  }));
