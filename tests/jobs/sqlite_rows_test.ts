/**
 * SQLite files that cannot be used, and rows that cannot be read.
 * @module
 */

import { StoreError, WireError } from "#lib/errors.ts";
import { nodeBuiltin } from "#lib/os/node_builtin.ts";
import { performCall } from "#lib/stores/called_rows.ts";
import { globToLike } from "#lib/stores/like.ts";
import { RemoteRows, serveRows } from "#lib/stores/remote_rows.ts";
import { packRows, readRowValue } from "#lib/stores/row_messages.ts";
import { rowJobStore } from "#lib/stores/row_store.ts";
import { SqliteRows } from "#lib/stores/sqlite_rows.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals, assertRejects, assertThrows } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const JID = "20260101000000000001";

const rowsOf = (path: string, waitMs = 5_000) => new SqliteRows({ path, synced: false, waitMs });

Deno.test("a SQLite file of a newer version, or that is none, is refused and stays as it is", () =>
  withTemporaryDirectory(async (root) => {
    const { DatabaseSync } = nodeBuiltin("node:sqlite");
    const newer = `${root}/newer.sqlite`, none = `${root}/none.sqlite`;
    const rows = rowsOf(newer);
    rows.open();
    await rows.close();
    const database = new DatabaseSync(newer);
    database.exec("update meta set schema = 9, oldest_reader = 9");
    database.close();
    const refused = (path: string, why: string) => assertThrows(() => rowsOf(path).open(), StoreError, why);
    refused(newer, `${newer} has the schema 9 of a newer version; this version knows`);
    Deno.writeTextFileSync(none, "no database ".repeat(1_000));
    refused(none, `The job store ${none} cannot be used: file is not a database`);
    assertEquals(Deno.readTextFileSync(none), "no database ".repeat(1_000));
    // Two writes of one turn: each hears it.
    const later = rowsOf(none);
    const job = (jid: string) => later.saveJob({ jid, load: new Uint8Array([0xc0]) });
    const results = await Promise.allSettled([job(JID), job(`${JID}_2`)]);
    assertEquals(results.map((result) => result.status === "rejected" && result.reason instanceof StoreError), [
      true,
      true,
    ]);
    await later.close();
  }));

Deno.test("a write that SQLite refuses is refused alone; when the disk is full none of the turn is stored", () =>
  withTemporaryDirectory(async (root) => {
    const path = `${root}/jobs.sqlite`, rows = rowsOf(path, 50);
    rows.open();
    const { DatabaseSync } = nodeBuiltin("node:sqlite");
    const other = new DatabaseSync(path);
    other.exec(
      "create trigger refuses before insert on jobs when new.usr = 'bad' begin select raise(abort, 'no'); end",
    );
    const save = (jid: string, user: string) => rows.saveJob({ jid, load: new Uint8Array([0xc0]), user });
    const [good, bad] = await Promise.allSettled([save(JID, "root"), save(`${JID}_2`, "bad")]);
    assertEquals([good.status, bad.status === "rejected" && String(bad.reason.message)], [
      "fulfilled",
      `The job store ${path} cannot be used: no`,
    ]);
    // SQLite itself ends the transaction.
    other.exec(
      "create trigger ends before insert on jobs when new.usr = 'full' begin select raise(rollback, 'full'); end",
    );
    const ended = await Promise.allSettled([
      save(`${JID}_3`, "root"),
      save(`${JID}_4`, "full"),
      save(`${JID}_5`, "root"),
    ]);
    assertEquals(ended.map(({ status }) => status), ["rejected", "rejected", "rejected"]);
    // What is refused only when it is to be stored leaves nothing open.
    other.exec(
      "create table p (id integer primary key); create table c (x references p (id) deferrable initially deferred)",
    );
    other.exec("create trigger late before insert on jobs when new.usr = 'late' begin insert into c values (9); end");
    await assertRejects(() => save(`${JID}_6`, "late"), StoreError, "FOREIGN KEY constraint failed");
    // Another process writes.
    other.exec("begin immediate");
    await assertRejects(() => save(`${JID}_6`, "root"), StoreError, "database is locked");
    other.exec("rollback");
    assertEquals(await save(`${JID}_7`, "root"), true);
    const known = [1, 2, 3, 4, 5, 6, 7].map((n) => rows.job(n === 1 ? JID : `${JID}_${n}`));
    assertEquals((await Promise.all(known)).map((job) => job !== undefined), [
      true,
      false,
      false,
      false,
      false,
      false,
      true,
    ]);
    other.close();
    await rows.close();
  }));

Deno.test("a store over rows refuses ids that no minion has, and tells of what is damaged", () =>
  withTemporaryDirectory(async (root) => {
    const logged: string[] = [], path = `${root}/jobs.sqlite`, rows = rowsOf(path);
    const log = (text: string) => void logged.push(text);
    const jobs = rowJobStore(rows, { uniqueJid: false, maxOutputBytes: 100, log });
    await jobs.saveLoad(JID, map({ fun: "test.ping", tgt: "*" }), ["web1"]);
    for (const id of ["../web1", ".web1", "jid", "web1"]) {
      assertEquals(await jobs.saveReturn(map({ jid: JID, id, return: true })), id === "web1" ? "stored" : "ignored");
    }
    assertEquals(
      logged.splice(0),
      ["../web1", ".web1", "jid"].map((id) =>
        `The return of ${JSON.stringify(id)} for job ${JID} is not stored: no minion can have that id`
      ),
    );
    await jobs.outputs.open(JID);
    const batch = { seq: 1, parts: [{ leftOut: 1 }] };
    assertEquals(await jobs.outputs.append(JID, "../web1", batch), "refused");
    assertEquals(await jobs.outputs.append("x", "web1", batch), "refused");
    await rows.saveReturn({ jid: JID, id: "web2", retcode: 0, success: true, body: new Uint8Array([0xc1]) });
    assertEquals([...(await jobs.getReturns(JID)).keys()], ["web1"]);
    assertEquals(await jobs.getReturn(JID, "web2"), undefined);
    assertEquals(logged.map((text) => text.slice(0, 57)), [
      `What is stored of job ${JID} cannot be read`.slice(0, 57),
      `What is stored of job ${JID} cannot be read`.slice(0, 57),
    ]);
    await jobs.close();
  }));

Deno.test("rows behind a port answer from the thread that has them now, and end with the port", () =>
  withTemporaryDirectory(async (root) => {
    const rows = rowsOf(`${root}/jobs.sqlite`);
    // The first thread has ended: nobody answers.
    const [dead, next] = [new MessageChannel(), new MessageChannel()];
    const remote = new RemoteRows(dead.port2);
    const saved = remote.saveJob({ jid: JID, load: new Uint8Array([0xc0]) });
    await Promise.resolve();
    serveRows(rows, next.port1);
    remote.moveTo(next.port2);
    assertEquals([await saved, (await remote.status()).outbox], [true, 0]);
    next.port1.onmessage = () => {};
    const asked = remote.job(JID).then(() => "answered", (error: unknown) => String(error));
    await remote.close();
    assertEquals(await asked, "StoreError: The job store is closed");
    for (const port of [dead.port1, next.port1]) port.close();
    assertThrows(() => performCall(rows, "toString", undefined), StoreError, "The job store cannot do toString");
    await rows.close();
  }));

Deno.test("a glob is a pattern of SQL without what no database stores, and rows have only what they can", () => {
  assertEquals(globToLike("a\0b*?%_\\[ab]c"), "a\ufffdb%_\\%\\_\\\\%");
  assertThrows(() => packRows({ at: 1n }), TypeError, "rows have no bigint");
});

Deno.test("an acknowledgement in another state than those of a job is refused", () => {
  const answer = (state: string) => readRowValue("acks", packRows([{ id: "web1", state, atMs: 1 }]));
  assertEquals(answer("running"), [{ id: "web1", state: "running", atMs: 1 }]);
  assertThrows(() => answer("dancing"), WireError, "an acknowledgement with another ");
});
