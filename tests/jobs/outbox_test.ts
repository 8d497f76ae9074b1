/**
 * A database that goes away: what was acknowledged is in the outbox or in the database, and in the end in the database,
 * once.
 * @module
 */

import { StoreError } from "#lib/errors.ts";
import type { JobStore } from "#lib/jobs/store.ts";
import { OutboxRows } from "#lib/stores/outbox_rows.ts";
import { postgresOptions } from "#lib/stores/postgres_options.ts";
import { PostgresRows } from "#lib/stores/postgres_rows.ts";
import { RecordOutbox } from "#lib/stores/record_outbox.ts";
import { sleep } from "#lib/os/sleep.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
import { serverProgram, startPostgres } from "#tests/support/database_servers.ts";
import { eventually } from "#tests/support/eventually.ts";
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
