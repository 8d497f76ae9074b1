import { StoreError } from "#lib/errors.ts";
import { ageOf, Mine } from "#lib/fleet/mine.ts";
import { removeIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { withFileLock } from "#lib/os/file_lock.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { map, repr, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes, assertThrows } from "#tests/support/assert.ts";

/** A mine in a directory of its own. */
class TestMine implements Disposable {
  readonly root = Deno.makeTempDirSync({ prefix: "mine_" });
  readonly logged: string[] = [];
  readonly mine = new Mine(this.root, { maxBytes: 10_000, log: (text) => void this.logged.push(text) });

  path(id: string): string {
    return `${this.root}/mine/${id}.p`;
  }

  /** What Python Salt would read. */
  file(id: string): string {
    return repr(decode(Deno.readFileSync(this.path(id)), "disk"));
  }

  /** As a master of Salt 3006 or 3007 writes it. */
  writeOld(id: string, values: Record<string, unknown>): void {
    writeFileAtomic(`${this.root}/minions/${id}/mine.p`, encode(map(values), "disk"), { makeDirectory: true });
  }

  /** What is read of many minions, by id. */
  readAll(ids: readonly string[]): Record<string, string> {
    const found = new Map<string, string>();
    // More than are read one by one.
    const many = new Set([...ids, ...Array.from({ length: 60 }, (_, i) => `none${i}`)]);
    this.mine.read(many, (id, bytes) => {
      if (bytes === undefined) found.delete(id);
      else found.set(id, repr(decode(bytes, "disk")));
    });
    return Object.fromEntries([...found].sort());
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.root, { recursive: true });
  }
}

Deno.test("values are merged by name, or replace all with clear, in a file that only its owner reads", () => {
  using test = new TestMine();
  test.mine.store("web1", map({ a: 1, b: [1, null, "ü"] }));
  test.mine.store("web1", map({ b: 2 }));
  assertEquals(test.file("web1"), "{'a': 1, 'b': 2}");
  test.mine.store("web1", map({ c: 3 }), { clear: true });
  assertEquals(test.file("web1"), "{'c': 3}");
  assertEquals((Deno.statSync(test.path("web1")).mode ?? 0) & 0o777, 0o600);
  assertEquals(test.mine.get("web2"), undefined);
});

Deno.test("a mine that the system does not let read counts as none, and is told", () => {
  using test = new TestMine();
  Deno.mkdirSync(test.path("web1"), { recursive: true });
  assertEquals(test.mine.get("web1"), undefined);
  assertEquals(test.logged.length, 1);
  assertStringIncludes(test.logged[0], `Cannot read ${test.path("web1")}: `);
});

Deno.test("of several mines one that the system does not let read is told, and the others are read", () => {
  using test = new TestMine();
  assertEquals(test.readAll(["web1"]), {});
  test.mine.store("web1", map({ a: 1 }));
  const old = `${test.root}/minions/web2/mine.p`;
  Deno.mkdirSync(old, { recursive: true });
  const found = new Map<string, string>();
  test.mine.read(new Set(["web1", "web2"]), (id, bytes) => {
    if (bytes !== undefined) found.set(id, repr(decode(bytes, "disk")));
  });
  assertEquals([...found], [["web1", "{'a': 1}"]]);
  assertEquals(test.logged.length, 1);
  assertStringIncludes(test.logged[0], `Cannot read ${old}: `);
});

Deno.test("a value, and all values, are removed, and their times too", () => {
  using test = new TestMine();
  test.mine.store("web1", map({ a: 1, b: 2 }));
  assertEquals([test.mine.delete("web1", "a"), test.mine.delete("web1", "a")], [true, true]);
  assertEquals(test.file("web1"), "{'b': 2}");
  assertEquals([...test.mine.times("web1")?.stored.keys() ?? []], ["b"]);
  assertEquals([test.mine.flush("web1"), test.mine.flush("web1")], [true, false]);
  assertEquals([test.mine.get("web1"), test.mine.times("web1"), test.mine.delete("web1", "b")], [
    undefined,
    undefined,
    false,
  ]);
  assertEquals([...Deno.readDirSync(`${test.root}/mine_times`)], []);
});

Deno.test("files of Salt 3006 and 3007 are read where there is no new one, and are merged and removed", () => {
  using test = new TestMine();
  test.writeOld("old1", { a: 1 });
  test.writeOld("old2", { a: 2 });
  test.mine.store("web1", map({ a: 3 }));
  assertEquals(test.mine.get("old1"), map({ a: 1 }));
  assertEquals(test.readAll(["old1", "old2", "web1"]), { old1: "{'a': 1}", old2: "{'a': 2}", web1: "{'a': 3}" });
  test.mine.store("old1", map({ b: 1 }));
  assertEquals(test.file("old1"), "{'a': 1, 'b': 1}");
  assertEquals(test.mine.delete("old2", "a"), true);
  assertEquals(test.readAll(["old1", "old2", "web1"]), { old1: "{'a': 1, 'b': 1}", old2: "{}", web1: "{'a': 3}" });
  assertEquals([test.mine.flush("old1"), test.mine.get("old1")], [true, undefined]);
});

Deno.test("many minions are read without their files, and every change is seen at once", () => {
  using test = new TestMine();
  for (let i = 0; i < 5; i++) test.mine.store(`web${i}`, map({ a: i }));
  const ids = Array.from({ length: 7 }, (_, i) => `web${i}`);
  const expected: Record<string, string> = Object.fromEntries(ids.slice(0, 5).map((id, i) => [id, `{'a': ${i}}`]));
  assertEquals(test.readAll(ids), expected);
  // From here on no file of a minion can be read: what comes is from the pack.
  const hide = () => {
    for (const { name } of Deno.readDirSync(`${test.root}/mine`)) {
      Deno.writeTextFileSync(`${test.root}/mine/${name}`, "");
    }
  };
  test.mine.store("web5", map({ a: 5 }));
  test.mine.store("web1", map({ b: 1 }));
  test.mine.flush("web2");
  test.mine.delete("web3", "a");
  hide();
  delete expected.web2;
  Object.assign(expected, { web1: "{'a': 1, 'b': 1}", web3: "{}", web5: "{'a': 5}" });
  for (let i = 0; i < 2; i++) assertEquals(test.readAll(ids), expected);
  assertEquals(test.logged, []);
});

Deno.test("changes of other programs are seen too, and after them those of this one", async () => {
  using test = new TestMine();
  for (let i = 0; i < 3; i++) test.mine.store(`web${i}`, map({ a: i }));
  test.readAll([]);
  // Another moment of the file system's clock.
  await new Promise((resolve) => setTimeout(resolve, 30));
  removeIfExists(test.path("web0"));
  writeFileAtomic(test.path("web1"), encode(map({ a: "python" }), "disk"));
  test.mine.store("web2", map({ a: "ours" }));
  assertEquals(test.readAll(["web0", "web1", "web2"]), { web1: "{'a': 'python'}", web2: "{'a': 'ours'}" });
});

Deno.test("the pack of a mine that changes all the time does not grow without limit", () => {
  using test = new TestMine();
  let largest = 0;
  for (let i = 0; i < 1_200; i++) {
    test.mine.store("web1", map({ a: "x".repeat(9_000), i }));
    if (i % 5 === 0) test.readAll([]);
    largest = Math.max(largest, i === 0 ? 0 : Deno.statSync(`${test.root}/mine.pack`).size);
  }
  assert(largest < 2_000_000, `${largest} bytes`);
  assert(largest > 900_000, "the writers append");
});

Deno.test("each value has the time at which it was stored; after another master the time of the file", async () => {
  using test = new TestMine();
  const before = Date.now();
  test.mine.store("web1", map({ a: 1, b: 1 }));
  const first = test.mine.times("web1");
  await new Promise((resolve) => setTimeout(resolve, 20));
  test.mine.store("web1", map({ b: 2 }));
  const second = test.mine.times("web1");
  assert(first !== undefined && second !== undefined);
  assertEquals(second.stored.get("a"), first.stored.get("a"));
  assert(Number(second.stored.get("b")) >= Number(first.stored.get("b")) + 20);
  assert(Number(second.stored.get("a")) >= before);
  assertEquals(ageOf("a", second, Number(second.stored.get("a")) + 1_500), 1.5);
  // A master of Python Salt knows no times.
  writeFileAtomic(test.path("web1"), encode(map({ a: 1, b: 3 }), "disk"));
  Deno.utimeSync(test.path("web1"), 1e9, 1e9);
  const foreign = test.mine.times("web1");
  assertEquals([foreign?.stored.size, foreign?.changedMs], [0, 1e12]);
  // What it has stored keeps that time; what is stored here has its own.
  test.mine.store("web1", map({ c: 1 }));
  const third = test.mine.times("web1");
  assertEquals([third?.stored.get("a"), third?.stored.get("b")], [1e12, 1e12]);
  assert(Number(third?.stored.get("c")) >= before);
});

Deno.test("a mine that would be too large stays as it was", () => {
  using test = new TestMine();
  test.mine.store("web1", map({ a: "x".repeat(6_000) }));
  const error = assertThrows(() => test.mine.store("web1", map({ b: "x".repeat(6_000) })), StoreError, "web1");
  assert(/12\d\d\d bytes, mine_max_bytes allows 10000/.test(error.message), error.message);
  assertEquals([...test.mine.get("web1")?.keys() ?? []], ["a"]);
  test.mine.store("web1", map({ b: "x".repeat(6_000) }), { clear: true });
  assertEquals([...test.mine.get("web1")?.keys() ?? []], ["b"]);
});

for (const id of ["../web1", "a/b", "", "..", "a\0", ".hidden"]) {
  Deno.test(`the id ${JSON.stringify(id)} names no mine`, () => {
    using test = new TestMine();
    assertThrows(() => test.mine.store(id, map({ a: 1 })), StoreError);
    assertThrows(() => test.mine.delete(id, "a"), StoreError);
    assertThrows(() => test.mine.flush(id), StoreError);
    assertEquals(test.mine.get(id), undefined);
    assertEquals([...Deno.readDirSync(test.root)], []);
  });
}

Deno.test("a file that cannot be read is no mine, and the next values replace it", () => {
  using test = new TestMine();
  writeFileAtomic(test.path("web1"), "\xc1", { makeDirectory: true });
  assertEquals(test.mine.get("web1"), undefined);
  assert(test.logged[0].includes("web1.p"), test.logged[0]);
  test.mine.store("web1", map({ a: 1 }));
  assertEquals(test.file("web1"), "{'a': 1}");
});

Deno.test("who keeps the lock stops writers with a reason, and no reader", () => {
  using test = new TestMine();
  test.mine.store("web1", map({ a: 1 }));
  withFileLock(`${test.root}/mine.lock`, () => {
    assertThrows(() => test.mine.store("web1", map({ a: 2 })), StoreError, "locked");
    assertEquals(test.readAll(["web1"]), { web1: "{'a': 1}" });
  });
  test.mine.store("web1", map({ a: 2 }));
  assertEquals(test.readAll(["web1"]), { web1: "{'a': 2}" });
});

Deno.test("two threads that store values of one minion lose none", async () => {
  using test = new TestMine();
  const script = `
    import { Mine } from ${JSON.stringify(import.meta.resolve("#lib/fleet/mine.ts"))};
    const { root, name } = await new Promise((given) => self.onmessage = ({ data }) => given(data));
    const mine = new Mine(root, { maxBytes: 1_000_000, log: (text) => { throw new Error(text); } });
    for (let i = 0; i < 100; i++) mine.store("web1", new Map([[name + i, i]]));
    self.postMessage("done");`;
  const run = (name: string) =>
    new Promise<void>((resolve, reject) => {
      const worker = new Worker(URL.createObjectURL(new Blob([script], { type: "application/typescript" })), {
        type: "module",
      });
      worker.onmessage = () => (worker.terminate(), resolve());
      worker.onerror = (event) => (event.preventDefault(), reject(new Error(event.message)));
      worker.postMessage({ root: test.root, name });
    });
  await Promise.all([run("a"), run("b")]);
  const names: Value[] = [...test.mine.get("web1")?.keys() ?? []];
  assertEquals(names.length, 200);
});
