/**
 * A database that goes away: what was acknowledged is in the outbox or in the database, and in the end in the database,
 * once.
 * @module
 */

import { StoreError } from "#lib/errors.ts";
import type { JobStore } from "#lib/jobs/store.ts";
import { masterRecord } from "#lib/jobs/journal_record.ts";
import { OutboxRows } from "#lib/stores/outbox_rows.ts";
import { postgresOptions } from "#lib/stores/postgres_options.ts";
import { PostgresRows } from "#lib/stores/postgres_rows.ts";
import { SqliteRows } from "#lib/stores/sqlite_rows.ts";
import { RecordOutbox } from "#lib/stores/record_outbox.ts";
import { frameRecord } from "#lib/os/record_file.ts";
import { sleep } from "#lib/os/sleep.ts";
import { joinBytes } from "#lib/values/join_bytes.ts";
import { encode } from "#lib/values/msgpack.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { serverProgram, startPostgres } from "#tests/support/database_servers.ts";
import { eventually } from "#tests/support/eventually.ts";
import { withReplaced } from "#tests/support/replaced.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";
import { overRows } from "./store_conformance.ts";

const missing = serverProgram("postgres") === undefined;
const named = (what: string) => missing ? `${what} (skipped: there is no postgres)` : what;

const JID = "20240102030405000001", NEXT = "20240102030405000002";

interface Opened {
  readonly store: JobStore;
  readonly outbox: RecordOutbox;
  readonly changes: string[];
  readonly errors: string[];
}

function postgres(port: number, waitMs = 300): PostgresRows {
  const postgresql = map({ host: "127.0.0.1", port });
  return new PostgresRows({ connection: postgresOptions({ postgresql }), waitMs, keepSeconds: 0 });
}

/** The store of a master whose files are in `directory`. */
function openMaster(port: number, directory: string, maxBytes = 2 ** 30): Opened {
  const changes: string[] = [], errors: string[] = [];
  const outbox = new RecordOutbox({ directory, maxBytes, log: (text) => errors.push(text) });
  const rows = postgres(port);
  const withOutbox = new OutboxRows({
    rows,
    probe: () => rows.open(),
    outbox,
    log: { error: (text) => errors.push(text), warning: () => {} },
    onChange: (change) => changes.push(change),
  });
  withOutbox.start();
  return { store: overRows(withOutbox), outbox, changes, errors };
}

function returned(jid: string, id: string, value: Value = true) {
  return map({ jid, id, fun: "test.ping", return: value, retcode: 0, success: true });
}

function load(jid: string) {
  return map({ jid, fun: "test.ping", arg: [], tgt: "*", tgt_type: "glob", user: "root" });
}

Deno.test({
  name: named("a database that ends four times under load loses and doubles no acknowledged return"),
  ignore: missing,
  fn: () =>
    withTemporaryDirectory(async (root) => {
      await using server = await startPostgres();
      const { store, outbox, changes } = openMaster(server.port, `${root}/outbox`);
      await store.saveLoad(JID, load(JID), []);
      const acknowledged = new Map<string, number>();
      let sent = 0, working = true;
      /** Sends one return after the other, each until it is acknowledged, as a minion does. */
      const sender = async () => {
        while (working) {
          const id = `web${sent++}`;
          for (let answer = "";; await sleep(10)) {
            try {
              answer = await store.saveReturn(returned(JID, id, `of ${id}`));
            } catch (error) {
              if (!(error instanceof StoreError)) throw error;
              continue;
            }
            assert(answer === "stored" || answer === "duplicate", answer);
            acknowledged.set(id, (acknowledged.get(id) ?? 0) + 1);
            break;
          }
        }
      };
      const senders = Array.from({ length: 30 }, sender);
      const goesOn = async (what: string) => {
        const before = acknowledged.size;
        await eventually(() => acknowledged.size > before + 100, { what: `returns ${what}` });
      };
      await goesOn("with the database");
      for (let round = 1; round <= 4; round++) {
        await server.crash();
        await eventually(() => changes.length === 2 * round - 1, { what: "the notice that it is away" });
        await goesOn("without the database");
        await server.restart();
        await eventually(() => changes.length === 2 * round, { what: "the notice that it is back" });
        await goesOn("after its return");
      }
      working = false;
      await Promise.all(senders);
      assertEquals(changes.join(" "), "away back ".repeat(4).trim());
      assertEquals(outbox.count, 0);
      await store.close();
      const found = overRows(postgres(server.port));
      const stored = await found.getReturns(JID);
      const wrong = [...acknowledged.keys()].filter((id) => stored.get(id)?.return !== `of ${id}`);
      assertEquals([wrong, stored.size], [[], acknowledged.size]);
      await found.close();
    }),
});

Deno.test({
  name: named("without the database jobs and returns are acknowledged, and the next master brings them to it"),
  ignore: missing,
  fn: () =>
    withTemporaryDirectory(async (root) => {
      await using server = await startPostgres();
      const first = openMaster(server.port, `${root}/outbox`);
      await first.store.saveLoad(JID, load(JID), ["web1"]);
      await first.store.noLog.save(JID, "key");
      assertEquals(await first.store.saveReturn(returned(JID, "web1", "before")), "stored");
      await server.crash();
      // Of a job before, of one since then, and of one that nobody knows.
      assertEquals(await first.store.saveReturn(returned(JID, "web1", "again")), "stored");
      assertEquals(await first.store.saveReturn(returned(JID, "web2", "a\0b")), "stored");
      assertEquals(await first.store.saveReturn(returned(JID, "web2", "later")), "duplicate");
      assertEquals((await first.store.getReturn(JID, "web2"))?.return, "a\0b");
      assertEquals(await first.store.noLog.reader(JID), "key");
      await first.store.prepare(NEXT);
      await first.store.noLog.save(NEXT, "other key");
      await first.store.saveLoad(NEXT, load(NEXT), ["web1"]);
      assertEquals(await first.store.saveReturn(returned(NEXT, "web1")), "stored");
      await first.store.acks.save(NEXT, "web1", { state: "running", sinceMs: 1 });
      await assertRejects(() => first.store.noLog.reader("20240102030405000003"), StoreError, "is away");
      await assertRejects(() => first.store.getReturns(JID), StoreError, "is away");
      await assertRejects(() => first.store.outputs.read(JID, "web1"), StoreError, "is away");
      // Live output is shown to whoever watches, and not kept.
      assertEquals(await first.store.outputs.append(JID, "web1", { seq: 1, parts: [{ leftOut: 1 }] }), "stored");
      await first.store.close();

      await server.restart();
      const second = openMaster(server.port, `${root}/outbox`);
      await eventually(() => second.changes.includes("back"), { what: "the replay" });
      assertEquals([...Deno.readDirSync(`${root}/outbox`)], []);
      const values = [...await second.store.getReturns(JID)].map(([id, stored]) => [id, stored.return]);
      assertEquals(values, [["web1", "before"], ["web2", "a\0b"]]);
      assertEquals([...(await second.store.getReturns(NEXT)).keys()], ["web1"]);
      assertEquals((await second.store.getLoad(NEXT))?.get("Minions"), ["web1"]);
      assertEquals(await second.store.noLog.reader(NEXT), "other key");
      await second.store.close();
    }),
});

Deno.test("what no outbox can hold is refused while the database is away, and each reason is told once", () =>
  withTemporaryDirectory(async (root) => {
    const errors: string[] = [], changes: string[] = [];
    const log = (text: string) => void errors.push(text);
    const outbox = new RecordOutbox({ directory: `${root}/outbox`, maxBytes: 2 ** 30, log });
    // A minion of no valid id, from an outbox of another version.
    await outbox.append([masterRecord("return", { load: returned(JID, "../web1") })]);
    const rows = new SqliteRows({ path: `${root}/jobs.sqlite`, synced: false, waitMs: 5_000 });
    let looks = 0;
    const withOutbox = new OutboxRows({
      rows,
      probe: () => ++looks < 3 ? Promise.reject(new StoreError("no schema", "")) : Promise.resolve(rows.open()),
      outbox,
      log: { error: log, warning: () => {} },
      onChange: (change) => void changes.push(change),
    });
    withOutbox.start("gone");
    const batch = { jid: JID, active: true, state: new Uint8Array([0xc0]) };
    const refused = [
      () => withOutbox.saveBatch(batch),
      () => withOutbox.outputIds(JID),
      () => withOutbox.batch(JID),
      () => withOutbox.activeBatches(),
      () => withOutbox.status(),
    ];
    for (const call of refused) await assertRejects(call, StoreError, "gone");
    await eventually(() => changes.length === 2, { what: "the database" });
    assertEquals(changes, ["away", "back"]);
    assertEquals(errors.filter((text) => text === "no schema").length, 1);
    assert(errors.some((text) => text.includes(`"../web1" for job ${JID} is not stored`)), errors.join("\n"));
    await withOutbox.saveBatch(batch);
    assertEquals(await withOutbox.activeBatches(), [{ jid: JID, state: batch.state }]);
    assertEquals([await withOutbox.batch(JID), await withOutbox.outputIds(JID)], [batch.state, []]);
    assertEquals((await withOutbox.status()).outbox, 0);
    await withOutbox.close();
  }));

Deno.test("an outbox that cannot be written has what it had, and takes more when it can", () =>
  withTemporaryDirectory(async (root) => {
    const logged: string[] = [];
    const options = { directory: `${root}/outbox`, maxBytes: 260, log: (text: string) => void logged.push(text) };
    const outbox = new RecordOutbox(options), record = (n: number) => map({ n, filler: "x".repeat(40) });
    await outbox.append([record(1)]);
    const { prototype } = Deno.FsFile, { writeSync } = prototype;
    const half = function (this: Deno.FsFile, bytes: Uint8Array): number {
      if (bytes.length > 70) return writeSync.call(this, bytes.subarray(0, 70));
      throw new Error("No space left on device (os error 28)");
    };
    const syncData = () => Promise.reject(new Error("Input/output error (os error 5)"));
    const truncateSync = () => {
      throw new Error("Read-only file system (os error 30)");
    };
    const refused = (n: number, why: string) =>
      assertRejects(() => outbox.append([record(n), record(n + 1)]), StoreError, why);
    // Together more than maxBytes.
    await withReplaced(prototype, { name: "writeSync", by: half }, async () => {
      for (let n = 2; n < 10; n += 2) await refused(n, "cannot be written: No space left on device");
    });
    await withReplaced(prototype, { name: "syncData", by: syncData }, () => refused(10, "Input/output error"));
    assertEquals([...Deno.readDirSync(options.directory)].length, 1, "an attempt has left a file");
    await outbox.append([record(11)]);
    await withReplaced(
      prototype,
      { name: "truncateSync", by: truncateSync },
      () => withReplaced(prototype, { name: "syncData", by: syncData }, () => refused(12, "Input/output error")),
    );
    assertEquals([outbox.count, logged.map((text) => text.replace(/^.*log /, ""))], [
      2,
      ["cannot be made shorter: Read-only file system (os error 30)"],
    ]);
    await outbox.append([record(14)]);
    const given: Value[] = [];
    await outbox.empty((records) => Promise.resolve(void given.push(...records)));
    // Of those that could not be taken back, whoever sent them will hear that they are there.
    assertEquals([given, outbox.count], [[1, 11, 12, 13, 14].map(record), 0]);
    await outbox.append([record(16)]);
    assertEquals(outbox.count, 1);
    await outbox.close();
  }));

Deno.test("a record of an outbox that is none is left out, and the others are given", () =>
  withTemporaryDirectory(async (root) => {
    const logged: string[] = [];
    Deno.writeFileSync(
      `${root}/${"1".padStart(20, "0")}.log`,
      joinBytes([new Uint8Array([0xc1]), encode(1, "disk")].map((bytes) => frameRecord(bytes, { checked: true }))),
    );
    const outbox = new RecordOutbox({ directory: root, maxBytes: 200, log: (text) => void logged.push(text) });
    const given: Value[] = [];
    await outbox.empty((records) => Promise.resolve(void given.push(...records)));
    assertEquals([given, logged.length, outbox.count], [[1], 1, 0]);
    assertStringIncludes(logged[0], "A record of");
  }));

Deno.test("an outbox that is full refuses, and one that was cut off gives what is whole", () =>
  withTemporaryDirectory(async (root) => {
    const options = { directory: `${root}/outbox`, log: () => {} };
    const outbox = new RecordOutbox({ ...options, maxBytes: 200 });
    const record = (n: number) => map({ kind: "return", n, filler: "x".repeat(40) });
    await outbox.append([record(1)]);
    await outbox.append([record(2)]);
    await assertRejects(() => outbox.append([record(3), record(4)]), StoreError, "outbox_max_bytes");
    await outbox.close();
    const [{ name }] = [...Deno.readDirSync(options.directory)];
    const path = `${options.directory}/${name}`;
    Deno.truncateSync(path, Deno.statSync(path).size - 1);
    const next = new RecordOutbox({ ...options, maxBytes: 200 });
    assertEquals(next.count, 1);
    const given: Value[] = [];
    await next.empty((records) => Promise.resolve(void given.push(...records)));
    assertEquals([given, next.count, [...Deno.readDirSync(options.directory)]], [[record(1)], 0, []]);
    await next.close();
  }));
