/** @module */
import type { FileJobStoreOptions } from "#lib/jobs/file_store.ts";
import { masterRecord, type MasterRecords } from "#lib/jobs/journal_record.ts";
import { jobStore, type StoredJobs } from "#tests/support/fleet/job_store.ts";
import { StoreError } from "#lib/errors.ts";
import { isJid } from "#lib/protocol/jid.ts";
import { writeDirectoryOnce } from "#lib/os/store_files.ts";
import { decode, encode, type Packable } from "#lib/values/msgpack.ts";
import { map, repr, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes, assertThrows } from "#tests/support/assert.ts";
import { finish } from "#tests/support/finish.ts";
import corpus from "#tests/corpus/job_cache.json" with { type: "json" };

const JID = "20240102030405678901";

function withCache(
  run: (cache: StoredJobs, root: string, log: string[]) => void,
  options: Partial<FileJobStoreOptions> = {},
) {
  const root = Deno.makeTempDirSync({ prefix: "job_cache_" });
  const log: string[] = [];
  try {
    const cache = jobStore(root, { log: (text) => log.push(text), ...options });
    run(cache, root, log);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
}

/** A record as a journal returns it. */
function record<K extends keyof MasterRecords>(kind: K, fields: MasterRecords[K]): Value {
  return decode(encode(masterRecord(kind, fields), "disk"), "disk");
}

function load(jid = JID, more: Record<string, unknown> = {}): ValueMap {
  return map({
    cmd: "publish",
    tgt: "*",
    fun: "test.ping",
    arg: [],
    tgt_type: "glob",
    ret: "",
    jid,
    user: "root",
    ...more,
  });
}

function returned(id: string, more: Record<string, unknown> = {}): ValueMap {
  return map({ cmd: "_return", id, success: true, return: true, retcode: 0, jid: JID, fun: "test.ping", ...more });
}

function placeOf(root: string): string {
  const [top] = [...Deno.readDirSync(`${root}/jobs`)];
  const [rest] = [...Deno.readDirSync(`${root}/jobs/${top.name}`)];
  return `${root}/jobs/${top.name}/${rest.name}`;
}

Deno.test("a job is stored and read back: load without its key, minions, returns by id", () =>
  withCache((cache) => {
    assertEquals(cache.prepare(JID), JID);
    cache.saveLoad(JID, load(JID, { key: "secret" }), ["web1", "db1"]);
    assertEquals(cache.saveReturn(returned("web1")), "stored");
    assertEquals(
      cache.saveReturn(returned("db1", { out: "nested", return: { a: [1] }, retcode: 2, success: false })),
      "stored",
    );
    assertEquals(repr(cache.getLoad(JID) ?? null), repr(load(JID, { Minions: ["db1", "web1"] })));
    assertEquals([...cache.getReturns(JID)], [
      ["db1", { return: map({ a: [1] }), retcode: 2, success: false, out: "nested" }],
      ["web1", { return: true, retcode: 0, success: true }],
    ]);
    assert(cache.has(JID, "web1") && !cache.has(JID, "web2") && cache.exists(JID));
  }));

Deno.test("the first return of a minion is kept, later ones are ignored", () =>
  withCache((cache) => {
    cache.prepare(JID);
    assertEquals(cache.saveReturn(returned("web1")), "stored");
    assertEquals(cache.saveReturn(returned("web1", { return: "forged" })), "duplicate");
    assertEquals(cache.getReturn(JID, "web1")?.return, true);
  }));

Deno.test("a return whose storing was interrupted is stored when it is sent again", () =>
  withCache((cache, root) => {
    cache.prepare(JID);
    Deno.mkdirSync(`${placeOf(root)}/web1`);
    assertEquals(cache.saveReturn(returned("web1")), "stored");
    assertEquals(cache.getReturn(JID, "web1")?.return, true);
  }));

Deno.test("two caches with the same directory store a return once", () =>
  withCache((cache, root) => {
    const other = jobStore(root);
    cache.prepare(JID);
    assertEquals(cache.saveReturn(returned("web1")), "stored");
    assertEquals(other.saveReturn(returned("web1")), "duplicate");
    assertEquals(other.saveReturn(returned("web2")), "stored");
  }));

Deno.test("a job directory that another thread wrote first is not changed", () =>
  withCache((_, root) => {
    const write = (byte: number, temporary: string) =>
      writeDirectoryOnce(`${root}/web1`, new Map([["return.p", Uint8Array.of(byte)], ["out.p", Uint8Array.of(byte)]]), {
        essential: "return.p",
        temporary: `${root}/${temporary}`,
      });
    assertEquals(write(1, ".a"), true);
    assertEquals(write(2, ".b"), false);
    assertEquals(Deno.readFileSync(`${root}/web1/return.p`), Uint8Array.of(1));
    assertEquals(Deno.readFileSync(`${root}/web1/out.p`), Uint8Array.of(1));
    assertEquals([...Deno.readDirSync(root)].map(({ name }) => name), ["web1"]);
    // An interrupted write of a version that wrote the files one by one, and the rest of a failed write of ours.
    Deno.removeSync(`${root}/web1/return.p`);
    Deno.mkdirSync(`${root}/.b`);
    Deno.writeTextFileSync(`${root}/.b/stale`, "");
    assertEquals(write(3, ".b"), true);
    assertEquals(Deno.readFileSync(`${root}/web1/return.p`), Uint8Array.of(3));
    assertEquals([...Deno.readDirSync(`${root}/web1`)].map(({ name }) => name).sort(), ["out.p", "return.p"]);
    assertEquals([...Deno.readDirSync(root)].map(({ name }) => name), ["web1"]);
    assertEquals(write(4, "gone/.b"), undefined);
  }));

Deno.test("a new job is stored whole; what a killed writer has left is no job, and is removed later", () =>
  withCache((cache, root) => {
    cache.saveLoad(JID, load(), ["web2", "web1", "web2"]);
    assertEquals([...Deno.readDirSync(`${root}/jobs`)].length, 1);
    const place = placeOf(root);
    assertEquals([...Deno.readDirSync(place)].map(({ name }) => name).sort(), [".load.p", ".minions.p", "jid"]);
    assertEquals(Deno.readTextFileSync(`${place}/jid`), JID);
    assertEquals([place, `${place}/.load.p`].map((path) => (Deno.statSync(path).mode ?? 0) & 0o777), [0o700, 0o600]);
    assertEquals(repr(cache.getLoad(JID) ?? null), repr(load(JID, { Minions: ["web1", "web2"] })));
    assertEquals(decode(Deno.readFileSync(`${place}/.minions.p`), "disk"), ["web1", "web2"]);
    const left = `${root}/jobs/.left`;
    Deno.mkdirSync(`${left}/web1`, { recursive: true });
    for (const name of ["jid", ".load.p"]) Deno.copyFileSync(`${place}/${name}`, `${left}/${name}`);
    assertEquals(cache.list().map(({ jid }) => jid), [JID]);
    const nowMs = Date.now() + 120_000;
    finish(cache.clean({ nowMs, keepSeconds: 3600 }));
    assertEquals([...Deno.readDirSync(`${root}/jobs`)].map(({ name }) => name.startsWith(".")), [false]);
    assertEquals(cache.list().map(({ jid }) => jid), [JID]);
  }));

Deno.test("a job directory has only files that Salt knows", () =>
  withCache((cache, root) => {
    cache.prepare(JID);
    cache.saveLoad(JID, load(), ["web1"]);
    cache.saveReturn(returned("web1", { out: "nested" }));
    const place = placeOf(root);
    assertEquals([...Deno.readDirSync(place)].map((e) => e.name).sort(), [".load.p", ".minions.p", "jid", "web1"]);
    assertEquals([...Deno.readDirSync(`${place}/web1`)].map((e) => e.name).sort(), ["out.p", "return.p"]);
    assertEquals(Deno.readTextFileSync(`${place}/jid`), JID);
    assertEquals((Deno.statSync(`${place}/web1/return.p`).mode ?? 0) & 0o777, 0o600);
  }));

Deno.test("new jids are prepared in order, each with its own directory", () =>
  withCache((cache) => {
    const jids = [cache.prepare(), cache.prepare(), cache.prepare()];
    assertEquals(new Set(jids).size, 3);
    assert(jids.every(isJid) && jids.every((jid) => cache.exists(jid)));
  }));

Deno.test("jids end in the process id with unique_jid", () =>
  withCache((cache) => assertStringIncludes(cache.prepare(), `_${Deno.pid}`), { uniqueJid: true }));

Deno.test("preparing a given jid twice changes nothing", () =>
  withCache((cache) => {
    cache.prepare(JID);
    cache.saveLoad(JID, load(), ["web1"]);
    cache.saveReturn(returned("web1"));
    assertEquals(cache.prepare(JID), JID);
    assert(cache.has(JID, "web1"));
    assertEquals(cache.getLoad(JID)?.get("Minions"), ["web1"]);
  }));

Deno.test("returns of a job that is not to be cached are ignored", () =>
  withCache((cache) => {
    cache.prepare(JID, { nocache: true });
    assertEquals(cache.saveReturn(returned("web1")), "ignored");
    assertEquals(cache.saveReturn(returned("web1")), "ignored");
    assertEquals(cache.getReturns(JID).size, 0);
  }));

Deno.test("a return for an unknown job creates the job", () =>
  withCache((cache) => {
    assertEquals(cache.saveReturn(returned("web1")), "stored");
    assertEquals(cache.getLoad(JID)?.get("fun"), "test.ping");
    assert(cache.has(JID, "web1"));
  }));

Deno.test("a return may arrive before the job is stored: the job's own load is used", () =>
  withCache((cache) => {
    assertEquals(cache.saveReturn(returned("web1")), "stored");
    cache.prepare(JID);
    cache.saveLoad(JID, load(), ["web1"]);
    assertEquals(cache.getLoad(JID)?.get("tgt"), load().get("tgt"));
    assertEquals(cache.getLoad(JID)?.get("Minions"), ["web1"]);
    assert(cache.has(JID, "web1"));
  }));

Deno.test("a return for a job that was removed meanwhile creates it again", () =>
  withCache((cache, root) => {
    cache.prepare(JID);
    cache.saveReturn(returned("web1"));
    Deno.removeSync(`${root}/jobs`, { recursive: true });
    assertEquals(cache.saveReturn(returned("web2")), "stored");
    assert(cache.has(JID, "web2") && cache.exists(JID));
  }));

Deno.test("the return of a salt-call gets a jid and is listed as a job", () =>
  withCache((cache) => {
    const adopted = cache.adopt(returned("web1", { jid: "req", fun_args: ["x"] }));
    const jid = String(adopted.get("jid"));
    assert(isJid(jid));
    assertEquals(cache.saveReturn(adopted), "stored");
    const stored = cache.getLoad(jid);
    assertEquals(["arg", "tgt", "tgt_type", "Minions"].map((key) => stored?.get(key)), [["x"], "web1", "glob", [
      "web1",
    ]]);
  }));

const HOSTILE: readonly (readonly [what: string, load: ValueMap])[] = [
  ["a jid that climbs", returned("web1", { jid: "../../../../etc/passwd" })],
  ["a jid with a path behind its digits", returned("web1", { jid: `${JID}_/../../x` })],
  ["an empty jid", returned("web1", { jid: "" })],
  ["no jid", returned("web1", { jid: null })],
  ["a number for a jid", returned("web1", { jid: 5 })],
  ["an id that climbs", returned("../web1")],
  ["an id with a slash", returned("a/b")],
  ["an id with NUL", returned("a\0b")],
  ["the id ..", returned("..")],
  ["an empty id", returned("")],
  ["no id", returned("x", { id: null })],
  ["the id of the jid file", returned("jid")],
  ["the id of the nocache file", returned("nocache")],
  ["the id of the endtime file", returned("endtime")],
  ["the id of the load", returned(".load.p")],
];
for (const [what, hostile] of HOSTILE) {
  Deno.test(`a return with ${what} is ignored and touches no file`, () =>
    withCache((cache, root) => {
      assertEquals(cache.saveReturn(hostile), "ignored");
      assertEquals([...Deno.readDirSync(root)].length, 0);
    }));
}

Deno.test("a return load without the field `return` is ignored", () =>
  withCache((cache) => {
    const empty = returned("web1");
    empty.delete("return");
    assertEquals(cache.saveReturn(empty), "ignored");
  }));

Deno.test("hostile jids and minion ids are neither looked up nor prepared", () =>
  withCache((cache) => {
    assertEquals(cache.getLoad("../x"), undefined);
    assertEquals(cache.getReturns("../x").size, 0);
    assertEquals(cache.getReturn(JID, "../x"), undefined);
    assertEquals(cache.has(JID, ".."), false);
    assertThrows(() => cache.prepare("../x"), StoreError);
    assertThrows(() => cache.saveLoad("../x", load()), StoreError);
    for (const mark of [() => cache.noLog.save("../x", ""), () => cache.outputs.open("../x")]) {
      assertThrows(mark, StoreError);
    }
  }));

Deno.test("a cache that cannot be written is a StoreError with its cause, for every method", () =>
  withCache((_, root) => {
    Deno.writeTextFileSync(`${root}/file`, "");
    const log: string[] = [];
    const cache = jobStore(`${root}/file`, { log: (text) => log.push(text) });
    const error = assertThrows(() => cache.prepare(), StoreError, "Cannot prepare a job");
    assert(error.cause instanceof Error);
    assertThrows(() => cache.prepare(JID), StoreError);
    assertThrows(() => cache.saveLoad(JID, load()), StoreError);
    assertThrows(() => cache.saveReturn(returned("web1")), StoreError, "web1");
    assertThrows(() => cache.saveEndTime(JID, "x"), StoreError);
    assertEquals(cache.list(), []);
  }));

Deno.test("minions are merged and sorted, including those of syndics", () =>
  withCache((cache, root) => {
    cache.prepare(JID);
    cache.saveLoad(JID, load(), ["b", "a"]);
    cache.saveLoad(JID, load(), ["c", "a"]);
    Deno.writeFileSync(`${placeOf(root)}/.minions.syn.dic1.p`, encode(["z"], "disk"));
    assertEquals(cache.getLoad(JID)?.get("Minions"), ["a", "b", "c", "z"]);
  }));

Deno.test("files without valid msgpack are skipped, and the log names them", () =>
  withCache((cache, root, log) => {
    cache.prepare(JID);
    cache.saveLoad(JID, load(), ["web1"]);
    cache.saveReturn(returned("web1"));
    cache.saveReturn(returned("web2"));
    const place = placeOf(root);
    Deno.writeFileSync(`${place}/web1/return.p`, new Uint8Array([0x81]));
    Deno.writeFileSync(`${place}/.minions.p`, new Uint8Array([0xc1]));
    assertEquals([...cache.getReturns(JID).keys()], ["web2"]);
    assertEquals(cache.getLoad(JID)?.has("Minions"), false);
    assertEquals(log.length, 2);
    assertStringIncludes(log[0], "return.p");
    Deno.writeFileSync(`${place}/.load.p`, new Uint8Array());
    assertEquals(cache.list(), []);
  }));

Deno.test("a return in the oldest format, without its wrapping map, is read", () =>
  withCache((cache, root) => {
    cache.prepare(JID);
    Deno.mkdirSync(`${placeOf(root)}/web1`);
    Deno.writeFileSync(`${placeOf(root)}/web1/return.p`, new Uint8Array([0xc3]));
    assertEquals(cache.getReturn(JID, "web1"), { return: true });
  }));

Deno.test("jobs are listed oldest first", () =>
  withCache((cache) => {
    const jids = ["20240102030405000003", "20240102030405000001", "20240102030405000002"];
    for (const jid of jids) {
      cache.prepare(jid);
      cache.saveLoad(jid, load(jid));
    }
    cache.prepare("20240102030405000009"); // without a load the job cannot be shown
    assertEquals(cache.list().map(({ jid }) => jid), [...jids].sort());
  }));

Deno.test("the end time of a job is stored as text", () =>
  withCache((cache) => {
    cache.saveEndTime(JID, "2024, Jan 02 03:04:06.000000");
    assertEquals(cache.getEndTime(JID), "2024, Jan 02 03:04:06.000000");
    assertEquals(cache.getEndTime("20240102030405000009"), undefined);
  }));

// corpus/job_cache.json: the files of a cache that Salt's own local_cache wrote.
Deno.test("a cache that Salt wrote is read", () =>
  withCache((cache, root) => {
    for (const [path, base64] of Object.entries(corpus.files)) {
      Deno.mkdirSync(`${root}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
      Deno.writeFileSync(`${root}/${path}`, Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)));
    }
    const jid = (n: number) => `2024010203040500000${n}`;
    assertEquals(cache.list().map((job) => job.jid), [jid(1), jid(2), jid(3)]);
    assertEquals(
      repr(cache.getLoad(jid(2)) ?? null),
      "{'cmd': 'publish', 'tgt': ['web1'], 'fun': 'test.arg', 'arg': [1, 1.0, 2.5, None, 'é', b'\\xff\\x00', " +
        "9223372036854775808, -7, {'__kwarg__': True, 'a': {'b': [True]}, 'metadata': {'team': 'ops'}}], " +
        "'tgt_type': 'list', 'ret': '', 'jid': '20240102030405000002', 'kwargs': {}, 'user': 'sudo_ann', " +
        "'Minions': ['web1']}",
    );
    assertEquals(cache.getReturns(jid(1)).get("db1"), {
      return: "'test.pong' is not available.",
      retcode: 1,
      success: false,
      out: "nested",
    });
    assertEquals(
      repr(cache.getReturn(jid(2), "web1")?.return ?? null),
      "{'args': [1, 1.0, b'\\xff\\x00'], 'kwargs': {1: 2}}",
    );
    assertEquals(cache.getLoad(jid(3))?.get("Minions"), ["syn1", "web1", "web2"]);
    assertEquals(cache.getEndTime(jid(1)), "2024, Jan 02 03:04:06.000000");
    assertEquals(cache.saveReturn(returned("web1", { jid: jid(4) })), "ignored");
    assertEquals(cache.saveReturn(returned("web1", { jid: jid(1), return: "again" })), "duplicate");
  }));

// The same files byte for byte, except for parts that depend on the order of system calls and on the clock.
Deno.test("a cache written by this project equals one written by Salt", () =>
  withCache((cache, root) => {
    const saltLoad = map({
      cmd: "publish",
      tgt: "*",
      fun: "test.ping",
      arg: [],
      tgt_type: "glob",
      ret: "",
      jid: "20240102030405000001",
      kwargs: { show_timeout: true, show_jid: false, delimiter: ":" },
      user: "root",
    });
    const jid = cache.prepare("20240102030405000001");
    cache.saveLoad(jid, saltLoad, ["web1", "db1"]);
    cache.saveReturn(returned("web1", { jid }));
    cache.saveReturn(
      returned("db1", { jid, success: false, retcode: 1, return: "'test.pong' is not available.", out: "nested" }),
    );
    cache.saveEndTime(jid, "2024, Jan 02 03:04:06.000000");
    const place = placeOf(root).slice(root.length + 1);
    const theirs = Object.entries(corpus.files).filter(([path]) => path.startsWith(place));
    assertEquals(theirs.length, 7);
    for (const [path, base64] of theirs) {
      assertEquals(btoa(String.fromCharCode(...Deno.readFileSync(`${root}/${path}`))), base64, path);
    }
  }));

Deno.test("a return with an empty or truncated file counts as missing, and is replaced when it is sent again", () =>
  withCache((cache, root) => {
    cache.prepare(JID);
    for (const [i, left] of [[], [0x83], [0x83, 0xa6, 0x72, 0x65]].entries()) {
      const id = `web${i}`;
      assertEquals(cache.saveReturn(returned(id, { out: "nested" })), "stored");
      const path = `${placeOf(root)}/${id}/return.p`;
      Deno.writeFileSync(path, Uint8Array.from(left));
      assertEquals(cache.getReturn(JID, id), undefined);
      if (left.length === 0) assertEquals(cache.has(JID, id), false);
      assertEquals(cache.saveReturn(returned(id, { return: "again" })), "stored");
      assertEquals(cache.getReturn(JID, id)?.return, "again");
      assertEquals(cache.saveReturn(returned(id)), "duplicate");
    }
  }));

Deno.test("a job whose files were emptied by a power failure gets new files with its first return", () =>
  withCache((cache, root, log) => {
    cache.prepare(JID);
    cache.saveLoad(JID, load(), ["web1"]);
    cache.saveEndTime(JID, "late");
    const place = placeOf(root);
    for (const name of ["jid", ".load.p", ".minions.p", "endtime"]) Deno.writeTextFileSync(`${place}/${name}`, "");
    const next = jobStore(root, { log: (text) => log.push(text) });
    assertEquals([next.getLoad(JID), next.getEndTime(JID)], [undefined, undefined]);
    assertEquals(next.saveReturn(returned("web1")), "stored");
    assertEquals(Deno.readTextFileSync(`${place}/jid`), JID);
    assertEquals(next.getLoad(JID)?.get("fun"), "test.ping");
    assertStringIncludes(log.join("\n"), "Cannot read");
  }));

Deno.test("the journal has the stored data in order, and for a repeated return the data of the first one", () =>
  withCache((_, root) => {
    const records: Packable[] = [];
    const journal = { append: (record: Packable) => void records.push(record) };
    const cache = jobStore(root, { journal });
    cache.prepare(JID);
    cache.saveLoad(JID, load(JID, { key: "secret" }), ["web1"]);
    cache.saveReturn(returned("web1"));
    cache.saveReturn(returned("web1", { return: "forged" }));
    const texts = records.map((record) => repr(decode(encode(record, "disk"), "disk")));
    const kinds = texts.map((text) => /'kind': '(\w+)'/.exec(text)?.[1]);
    assertEquals(kinds, ["load", "minions", "return", "return"]);
    assert(!/secret|forged/.test(texts.join("\n")));
  }));

Deno.test("records of a journal are restored if their files are empty after a power failure, but not if the files are complete", () =>
  withCache((cache, root, log) => {
    const first = returned("web1", { out: "nested", return: "first" });
    cache.prepare(JID);
    cache.saveLoad(JID, load(), ["web1"]);
    cache.saveReturn(first);
    const place = placeOf(root);
    for (const name of [".load.p", "web1/out.p"]) Deno.writeTextFileSync(`${place}/${name}`, "");
    Deno.writeTextFileSync(`${place}/jid`, JID.slice(0, 7));
    const next = jobStore(root, { log: (text) => log.push(text) });
    for (let i = 0; i < 2; i++) {
      next.restore(record("load", { jid: JID, load: load() }));
      next.restore(record("return", { load: first }));
      next.restore(record("return", { load: returned("web1", { return: "other" }) }));
      next.restore(record("minions", { jid: JID, minions: ["web2", "web1"] }));
      next.restore(record("hidden", { jid: JID, reader: "ab" }));
      assertEquals([next.restore("odd"), next.restore(map({ kind: "load", jid: JID, load: 1 }))], [false, false]);
      assertEquals(Deno.readTextFileSync(`${place}/jid`), JID);
      assertEquals(next.getLoad(JID)?.get("fun"), "test.ping");
      assertEquals([next.getLoad(JID)?.get("Minions"), next.noLog.reader(JID)], [["web1", "web2"], "ab"]);
      assertEquals([next.getReturn(JID, "web1")?.return, next.getReturn(JID, "web1")?.out], ["first", "nested"]);
    }
    assertStringIncludes(log.join("\n"), ".load.p");
  }));
