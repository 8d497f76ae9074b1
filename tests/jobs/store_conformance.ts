/**
 * What every job store does, whatever it keeps jobs in: the tests that run over each of them.
 * @module
 */

import type { JobQuery, JobStore } from "#lib/jobs/store.ts";
import { masterRecord } from "#lib/jobs/journal_record.ts";
import { StoreError } from "#lib/errors.ts";
import { rowJobStore } from "#lib/stores/row_store.ts";
import type { JobRows } from "#lib/stores/rows.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { float, map, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
import { batchState } from "#tests/support/fleet/batch_state.ts";

/** Bytes of live output that are kept in these tests. */
export const MAX_OUTPUT = 200;

/** A store over rows, whose log lines fail a test. */
export function overRows(rows: JobRows): JobStore {
  return rowJobStore(rows, {
    uniqueJid: false,
    maxOutputBytes: MAX_OUTPUT,
    log: (text) => {
      throw new Error(text);
    },
  });
}

/** The stores of one test. */
export interface StorePlace {
  readonly store: JobStore;
  /** Another store of the same jobs, as another process has it. */
  open(): JobStore;
}

/** A test of a store. */
export interface StoreTest {
  readonly what: string;
  run(place: StorePlace): Promise<void>;
}

/** All tests. */
export const STORE_TESTS: StoreTest[] = [];

function conforms(what: string, run: (place: StorePlace) => Promise<void>): void {
  STORE_TESTS.push({ what, run });
}

/**
 * Runs a test.
 * @param open Opens a store of the same jobs.
 */
export async function runStoreTest({ run }: StoreTest, open: () => JobStore): Promise<void> {
  const opened: JobStore[] = [];
  const next = () => {
    const store = open();
    opened.push(store);
    return store;
  };
  try {
    await run({ store: next(), open: next });
  } finally {
    for (const store of opened) await store.close();
  }
}

const JID = "20240102030405000001", NEXT = "20240102030405000002", LAST = "20240102030405000003";

function load(jid: string, more: Readonly<Record<string, Value>> = {}): ValueMap {
  return map({ jid, fun: "test.ping", arg: [], tgt: "*", tgt_type: "glob", user: "root", ret: "", ...more });
}

function returned(jid: string, id: string, value: Value = true): ValueMap {
  return map({ jid, id, fun: "test.ping", return: value, retcode: 0, success: true });
}

/** What JSON, and a text column of a database, cannot hold. */
const DIFFICULT: Value = map({
  nul: "a\0b",
  bytes: new Uint8Array([0, 255, 128]),
  whole: float(1),
  one: 1,
  large: 2n ** 60n,
  letters: "ä'\"\\ ✓ 💾",
  list: [null, true, [map({})]],
});

async function jids(store: JobStore, query: JobQuery = {}): Promise<string[]> {
  const found: string[] = [];
  for await (const { jid } of store.list(query)) found.push(jid);
  return found;
}

conforms("who has acknowledged jobs or returned is one question for many jobs", async ({ store, open }) => {
  const second = `${JID}_2`, none = `${JID}_3`, minions = ["web1", "web2", "web3"];
  for (const jid of [JID, second]) await store.saveLoad(jid, load(jid), minions);
  await store.acks.save(JID, "web1", { state: "running", sinceMs: 1 });
  await store.saveReturn(map({ jid: JID, id: "web2", fun: "test.ping", return: true }));
  await store.saveReturn(map({ jid: second, id: "web3", fun: "test.ping", return: true }));
  const answers = await open().answered([JID, second, none, "no jid"].map((jid) => ({ jid, minions })));
  const shown = [...answers].map(([jid, { acknowledged, returned }]) => [jid, [...acknowledged], [...returned]]);
  assertEquals(shown, [[JID, ["web1"], ["web2"]], [second, [], ["web3"]], [none, [], []], ["no jid", [], []]]);
  assertEquals(await store.answered([]), new Map());
});

conforms(
  "a job is there from its preparation, and has its load and minions when they are stored",
  async ({ store, open }) => {
    assertEquals([await store.exists(JID), await store.getLoad(JID)], [false, undefined]);
    assertEquals(await store.prepare(JID), JID);
    assertEquals([await store.exists(JID), await store.getLoad(JID)], [true, undefined]);
    await store.saveLoad(JID, load(JID, { key: "secret", arg: [DIFFICULT] }), ["web2", "web1"]);
    await store.saveMinionsBelow(JID, ["below"], "syndic1");
    await store.prepare(JID);
    const stored = load(JID, { arg: [DIFFICULT] }).set("Minions", ["below", "web1", "web2"]);
    assertEquals(await open().getLoad(JID), stored);
    await assertRejects(() => store.prepare("../../etc"), StoreError);
    assertEquals([await store.exists("../../etc"), await store.getLoad("../../etc")], [false, undefined]);
  },
);

conforms("ids that it makes are of no other job", async ({ store, open }) => {
  const other = open();
  const made = await Promise.all([store.prepare(), other.prepare(), store.prepare(), other.prepare()]);
  assertEquals(new Set(made).size, 4);
  for (const jid of made) assert(await store.exists(jid));
});

conforms(
  "of a return the first stands, whoever stores it again; every value comes back as it was",
  async ({ store, open }) => {
    await store.prepare(JID);
    await store.saveLoad(JID, load(JID), ["web1"]);
    const first = returned(JID, "web1", DIFFICULT).set("out", "highstate").set("retcode", 3);
    assertEquals(await store.saveReturn(first), "stored");
    const other = open();
    const again = await Promise.all([store, other, store].map((one) => one.saveReturn(returned(JID, "web1", "other"))));
    assertEquals(again, ["duplicate", "duplicate", "duplicate"]);
    const expected = { return: DIFFICULT, retcode: 3, success: true, out: "highstate" };
    assertEquals(await other.getReturn(JID, "web1"), expected);
    assertEquals(await other.getReturns(JID), new Map([["web1", expected]]));
    assertEquals([await other.has(JID, "web1"), await other.has(JID, "web2")], [true, false]);
    const storedMs = await other.returnedMs(JID, "web1") ?? 0;
    assert(Math.abs(Date.now() - storedMs) < 600_000, String(storedMs));
    assertEquals(await other.returnedMs(JID, "web2"), undefined);
  },
);

conforms("returns that come at once are all stored, once, and sorted by id", async ({ store, open }) => {
  await store.saveLoad(JID, load(JID), []);
  const ids = Array.from({ length: 700 }, (_, i) => `web${String(i).padStart(3, "0")}`);
  const other = open();
  const results = await Promise.all(
    [...ids, ...ids].map((id, i) => (i % 2 === 0 ? store : other).saveReturn(returned(JID, id))),
  );
  assertEquals(results.filter((result) => result === "stored").length, 700);
  assertEquals([...(await store.getReturns(JID)).keys()], ids);
});

conforms("a return without a job makes it, and its load gives way to the job's own", async ({ store }) => {
  assertEquals(await store.saveReturn(returned(JID, "web1")), "stored");
  assertEquals((await store.getLoad(JID))?.get("id"), "web1");
  await store.saveLoad(JID, load(JID), ["web1"]);
  assertEquals((await store.getLoad(JID))?.has("id"), false);
  assertEquals(await store.saveReturn(returned(JID, "web2")), "stored");
  assertEquals((await store.getLoad(JID))?.has("id"), false);
});

conforms("what is no return is ignored, and so are returns of a job with nocache", async ({ store }) => {
  await store.prepare(JID, { nocache: true });
  assertEquals(await store.saveReturn(returned(JID, "web1")), "ignored");
  assertEquals(await store.saveReturn(returned("no jid", "web1")), "ignored");
  assertEquals(await store.saveReturn(map({ jid: NEXT, id: "web1" })), "ignored");
  assertEquals((await store.getReturns(JID)).size, 0);
});

conforms("a return of salt-call gets its own job", async ({ store }) => {
  const adopted = await store.adopt(map({ jid: "req", id: "web1", fun: "test.ping", fun_args: [1], return: true }));
  const jid = String(adopted.get("jid"));
  assertEquals(await store.saveReturn(adopted), "stored");
  const stored = await store.getLoad(jid);
  assertEquals([stored?.get("tgt"), stored?.get("arg"), stored?.get("Minions")], ["web1", [1], ["web1"]]);
});

conforms(
  "acknowledgements are kept, the last of each minion, and none of an unknown job",
  async ({ store, open }) => {
    await store.prepare(JID);
    await store.acks.save(JID, "web1", { state: "received", sinceMs: 1_000 });
    await store.acks.save(JID, "web1", { state: "running", sinceMs: 2_000 });
    await store.acks.save(NEXT, "web1", { state: "running", sinceMs: 2_000 });
    await store.acks.save(JID, "../x", { state: "running", sinceMs: 2_000 });
    const other = open();
    assertEquals(await other.acks.all(JID), new Map([["web1", { state: "running" as const, sinceMs: 2_000 }]]));
    assertEquals([(await other.acks.all(NEXT)).size, (await other.acks.all("x")).size], [0, 0]);
    assertEquals(await store.exists(NEXT), false);
  },
);

conforms("a hidden job has its mark, in every process", async ({ store, open }) => {
  for (const jid of [JID, NEXT, LAST]) await store.prepare(jid);
  await store.noLog.save(JID, "public key");
  await store.noLog.save(NEXT, "");
  const other = open();
  const readers = await Promise.all([JID, NEXT, LAST, "x"].map((jid) => other.noLog.reader(jid)));
  assertEquals(readers, ["public key", "", undefined, undefined]);
  assertEquals(await store.noLog.reader(JID), "public key");
});

conforms("live output is kept once, in order, up to its bound, of jobs that are watched", async ({ store, open }) => {
  await store.prepare(JID);
  const batch = (seq: number, text = `line ${seq}\n`) => ({
    seq,
    parts: [{ command: 1, stream: "stdout" as const, text }],
  });
  assertEquals(await store.outputs.append(JID, "web1", batch(1)), "refused");
  await store.outputs.open(JID);
  assertEquals(await store.outputs.has(JID, "web1"), false);
  assertEquals(await store.outputs.append(JID, "web1", batch(1)), "stored");
  assertEquals(await store.outputs.append(JID, "web1", batch(3)), "stored");
  const other = open();
  assertEquals(await other.outputs.append(JID, "web1", batch(2)), "duplicate");
  assertEquals(await other.outputs.append(JID, "web2", batch(1, "x".repeat(MAX_OUTPUT))), "stored");
  assertEquals(await other.outputs.append(JID, "web2", batch(2)), "refused");
  assertEquals(await other.outputs.read(JID, "web1"), [batch(1), batch(3)]);
  assertEquals([(await other.outputs.ids(JID)).sort(), await other.outputs.has(JID, "web1")], [["web1", "web2"], true]);
  assertEquals([await other.outputs.ids("x"), await other.outputs.read(NEXT, "web1")], [[], []]);
});

conforms("a batch job's state is kept, and listed until it is over", async ({ store, open }) => {
  const state = batchState({ jid: JID, minions: ["a", "b"], pending: ["b"] });
  await store.prepare(JID);
  await store.batches.save(state);
  const other = open();
  assertEquals([await other.batches.read(JID), await other.batches.read(NEXT)], [state, undefined]);
  assertEquals((await other.batches.active()).map(({ jid }) => jid), [JID]);
  await store.batches.save({ ...state, halted: "stop" });
  assertEquals([await other.batches.active(), (await other.batches.read(JID))?.halted], [[], "stop"]);
});

conforms("the end of a job is the time that was stored last", async ({ store, open }) => {
  await store.prepare(JID);
  assertEquals(await store.getEndTime(JID), undefined);
  await store.saveEndTime(JID, "2025, Jan 02 03:04:05.000006");
  await store.saveEndTime(JID, "2025, Jan 02 03:04:06.000007");
  assertEquals(await open().getEndTime(JID), "2025, Jan 02 03:04:06.000007");
});

conforms("a list has what a query asks for, and of the newest so many", async ({ store }) => {
  const jobs: [string, Record<string, Value>][] = [
    ["20240102030405000001", {}],
    ["20240103030405000001", { fun: "state.apply", tgt: "web*" }],
    ["20240103030405000002", { fun: ["test.ping", "pkg.install"], tgt: ["web1", "db1"], tgt_type: "list" }],
    ["20240104030405000001", { fun: "saltutil.find_job" }],
    ["20240105030405000001", { fun: "state.sls", kwargs: map({ metadata: map({ team: "ops" }) }) }],
    ["20240106030405000001", { fun: "a_b%c\\d", tgt: "[ab]1" }],
  ];
  for (const [jid, more] of jobs) await store.saveLoad(jid, load(jid, more));
  await store.prepare("20240107030405000001");
  const [a, b, c, d, e, f] = jobs.map(([jid]) => jid);
  assertEquals((await jids(store)).sort(), [a, b, c, d, e, f]);
  assertEquals(await jids(store, { newestFirst: true }), [f, e, d, c, b, a]);
  assertEquals(await jids(store, { limit: 2 }), [f, e]);
  assertEquals(await jids(store, { limit: 2, before: e, hidesWatching: true }), [c, b]);
  assertEquals(await jids(store, { limit: 9, fun: "state.*" }), [e, b]);
  assertEquals(await jids(store, { limit: 1, fun: "state.*" }), [e]);
  assertEquals(await jids(store, { limit: 9, fun: "pkg.*,*find_job" }), [d, c]);
  assertEquals(await jids(store, { limit: 9, fun: "a_b%*" }), [f]);
  assertEquals(await jids(store, { limit: 9, fun: "a?b*", target: "*" }), [f]);
  assertEquals(await jids(store, { limit: 9, target: "web1" }), [c]);
  assertEquals(await jids(store, { limit: 9, target: "[[]ab]1" }), [f]);
  assertEquals(await jids(store, { limit: 9, metadata: map({ team: "ops" }) }), [e]);
  assertEquals(await jids(store, { limit: 9, startTime: "2024-01-03", endTime: "2024-01-04 03:04:05" }), [c, b]);
  assertEquals(await jids(store, { limit: 9, endTime: "20240103030405000001" }), [b, a]);
});

conforms("a job of a long function and target is stored, and found by them", async ({ store }) => {
  const [short, long] = ["20240102030405000001", "20240103030405000001"];
  // Nothing that an index of a database would shorten.
  const noise = Array.from({ length: 6_000 }, (_, i) => String.fromCharCode(97 + (i * i * 7 + i * 3) % 23)).join("");
  await store.saveLoad(short, load(short, { fun: "test.ping", tgt: "web1" }));
  await store.saveLoad(long, load(long, { fun: `x.${noise}`, tgt: `y${noise}` }));
  assertEquals(await jids(store, { limit: 9, fun: `x.${noise}` }), [long]);
  assertEquals(await jids(store, { limit: 9, target: "y*" }), [long]);
  assertEquals(await jids(store, { limit: 9, target: `*${noise.slice(-20)}` }), [long]);
  assertEquals(await jids(store, { limit: 9, fun: "test.ping", target: "web?" }), [short]);
  assertEquals(await jids(store, { limit: 9, fun: "nothing.*" }), []);
});

conforms("a list of more than a page is whole, and each job is in it once", async ({ store }) => {
  const all = Array.from({ length: 1_203 }, (_, i) => `202401020304${String(i).padStart(8, "0")}`);
  await Promise.all(all.map((jid) => store.saveLoad(jid, load(jid))));
  assertEquals(await jids(store, { newestFirst: true }), all.toReversed());
  assertEquals(await jids(store, { limit: 600 }), all.toReversed().slice(0, 600));
});

conforms("records of a journal are restored once, and nothing that is there is replaced", async ({ store, open }) => {
  const record = (...given: Parameters<typeof masterRecord>) => decode(encode(masterRecord(...given), "disk"), "disk");
  const records = [
    record("load", { jid: JID, load: load(JID) }),
    record("minions", { jid: JID, minions: ["web1"] }),
    record("hidden", { jid: JID, reader: "key" }),
    record("return", { load: returned(JID, "web1", DIFFICULT).set("out", "yaml") }),
  ];
  for (const one of [...records, ...records]) assertEquals(await store.restore(one), true);
  assertEquals(await store.restore(record("return", { load: returned(JID, "web1", "later") })), true);
  await store.restore(record("load", { jid: JID, load: load(JID, { fun: "test.later" }) }));
  assertEquals(await store.restore(map({ kind: "undelivered" })), false);
  const other = open();
  const stored = await other.getReturn(JID, "web1");
  assertEquals([stored?.return, stored?.out], [DIFFICULT, "yaml"]);
  assertEquals(await other.getLoad(JID), load(JID).set("Minions", ["web1"]));
  assertEquals(await other.noLog.reader(JID), "key");
});

conforms(
  "cleaning removes a job with everything when it is old, and none with 0 seconds",
  async ({ store, open }) => {
    await store.saveLoad(JID, load(JID), ["web1"]);
    await store.saveReturn(returned(JID, "web1"));
    await store.acks.save(JID, "web1", { state: "running", sinceMs: 1 });
    await store.outputs.open(JID);
    await store.outputs.append(JID, "web1", { seq: 1, parts: [{ leftOut: 1 }] });
    await store.batches.save(batchState({ jid: JID, minions: ["a"], pending: ["a"] }));
    const inTwoDays = Date.now() + 2 * 86_400_000;
    assertEquals(await store.clean({ nowMs: inTwoDays, keepSeconds: 0 }), 0);
    assertEquals(await store.exists(JID), true);
    assertEquals(await store.clean({ nowMs: inTwoDays, keepSeconds: 86_400 }), 1);
    const other = open();
    assertEquals([await other.exists(JID), await jids(other), (await other.getReturns(JID)).size], [false, [], 0]);
    assertEquals([(await other.acks.all(JID)).size, await other.outputs.ids(JID)], [0, []]);
    assertEquals(await other.batches.read(JID), undefined);
    // Whoever knew it stores another return of it.
    assertEquals(await store.saveReturn(returned(JID, "web2")), "stored");
    assertEquals((await other.getReturns(JID)).size, 1);
  },
);
