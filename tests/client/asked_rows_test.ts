/**
 * Commands that ask the running master for jobs in PostgreSQL: their own options lead to no database.
 * @module
 */

import { AskedRows } from "#lib/client/asked_rows.ts";
import { commandStore } from "#lib/client/command_store.ts";
import { masterAddress } from "#lib/client/master_address.ts";
import { StoreError } from "#lib/errors.ts";
import { accessKeyPath } from "#lib/config/master_paths.ts";
import { clearRequest } from "#lib/protocol/payload.ts";
import { RequestChannel } from "#lib/sockets/request_channel.ts";
import { packRows, readRowArgument } from "#lib/stores/row_messages.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { isMap, map, str, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects, assertThrows } from "#tests/support/assert.ts";
import { serverProgram, startPostgres } from "#tests/support/database_servers.ts";
import { eventually, type Fleet, startFleet } from "#tests/support/fleet/fleet.ts";
import { MasterHost } from "#tests/support/fleet/master_host.ts";

const JID = "20260101000000000001";
/** More than one answer has, and not a multiple of it. */
const RETURNS = 450;

const missing = serverProgram("postgres") === undefined;

Deno.test({
  name: `a command asks the running master for jobs in PostgreSQL, and has the database itself when no master runs${
    missing ? " (skipped: there is no postgres)" : ""
  }`,
  ignore: missing,
  async fn() {
    await using server = await startPostgres();
    const postgresql = { host: "127.0.0.1", port: server.port };
    await using fleet = await startFleet({
      minions: ["web1"],
      master: { master_job_cache: "postgresql", postgresql, job_store_wait: 0.5, publisher_acl: { alice: ["test.*"] } },
    });
    const { masterOpts } = fleet;
    const opts = { ...masterOpts, postgresql: map({ host: "127.0.0.1", port: 1 }) };
    const jobs = commandStore(opts, { log: fail });
    await jobs.prepare(JID);
    await jobs.saveLoad(JID, map({ jid: JID, fun: "test.arg", arg: [], tgt: "*", tgt_type: "glob" }), ["web1"]);
    const ids = Array.from({ length: RETURNS }, (_, i) => `m${String(i).padStart(3, "0")}`);
    for (const id of ids) {
      const value = new Uint8Array([0, 255, 10]);
      assertEquals(
        await jobs.saveReturn(new Map<Value, Value>([...map({ jid: JID, id }), ["return", value]])),
        "stored",
      );
    }
    assertEquals(await jobs.saveReturn(map({ jid: JID, id: "m000", return: 1 })), "duplicate");
    const returns = await jobs.getReturns(JID);
    assertEquals([...returns.keys()], ids);
    assertEquals(returns.get("m449")?.return, new Uint8Array([0, 255, 10]));
    assertEquals((await jobs.getLoad(JID))?.get("Minions"), ["web1"]);
    assertEquals(await jobs.getLoad("20260101000000000002"), undefined);
    assertEquals((await Array.fromAsync(jobs.list({ limit: 3, fun: "test.arg" }))).map(({ jid }) => jid), [JID]);
    assertEquals([...(await jobs.acks.all(JID)).keys()], []);
    await jobs.close();
    // What the master would not read is asked of the database itself.
    const large = commandStore({ ...opts, max_request_bytes: 10 }, { log: fail });
    await assertRejects(() => large.getLoad(JID), Error, "does not answer");
    await large.close();

    assertEquals(await fleet.saltJson("web1", "test.echo", "hello"), map({ web1: "hello" }));
    await refuses(fleet);

    await fleet.stopMaster();
    const alone = commandStore(opts, { log: fail });
    await assertRejects(() => alone.getLoad(JID), Error, "does not answer");
    await alone.close();
    const own = commandStore(masterOpts, { log: fail });
    assertEquals((await own.getReturns(JID)).size, RETURNS);
    await own.close();
  },
});

/** The master answers nobody but operators, and only what it knows. */
async function refuses({ masterOpts }: Fleet): Promise<void> {
  const channel = new RequestChannel(masterAddress(masterOpts).requests);
  const ask = async (fields: Record<string, Value>): Promise<Value> => {
    const frame = clearRequest(map({ cmd: "_store", method: "job", argument: packRows(JID), ...fields }));
    return decode(await channel.request(frame, { timeoutMs: 30_000, tries: 1 }), "wire");
  };
  const errorOf = (answer: Value) => {
    const error = isMap(answer) ? answer.get("error") : undefined;
    return isMap(error) ? str(error.get("name") ?? "") : answer;
  };
  try {
    const { user, cachedir } = masterOpts;
    const keyOf = (name: string) => Deno.readTextFileSync(accessKeyPath(cachedir, name)).trim();
    const key = keyOf(user);
    const answer = await ask({ user, key });
    assert(isMap(answer) && answer.has("value"));
    assertEquals(errorOf(await ask({ user, key: "wrong" })), "AuthenticationError");
    assertEquals(errorOf(await ask({})), "AuthorizationError");
    assertEquals(errorOf(await ask({ user: "alice", key: keyOf("alice") })), "AuthorizationError");
    assertEquals(errorOf(await ask({ user, key: keyOf("alice") })), "AuthenticationError");
    const wrong: Record<string, Value>[] = [{ method: "clean" }, { method: "toString" }, {
      argument: packRows("../x"),
    }];
    for (const fields of wrong) {
      const other = await ask({ user, key, ...fields });
      assert(!isMap(other) || !other.has("value"), str(other));
    }
  } finally {
    channel.close();
  }
}

function fail(text: string): void {
  throw new Error(text);
}

Deno.test("calls of the job store are read only as what they are", () => {
  const returned = { jid: JID, id: "web1", retcode: 0, success: true, body: new Uint8Array([1]) };
  assertEquals<unknown>(readRowArgument("saveReturn", packRows(returned)), returned);
  assertEquals<unknown>(readRowArgument("saveJob", packRows({ jid: JID, load: undefined })), { jid: JID });
  const page = { before: null, from: null, to: null, fun: ["a%"], target: [], count: 5 };
  assertEquals<unknown>(readRowArgument("page", packRows(page)), page);
  const bad: [method: string, argument: unknown][] = [
    ["saveReturn", { ...returned, id: "../web1" }],
    ["saveReturn", { ...returned, jid: "x" }],
    ["saveReturn", { ...returned, body: "text" }],
    ["saveJob", { jid: JID, minions: [1] }],
    ["saveJob", null],
    ["page", { ...page, count: "5" }],
    ["returns", [JID, 5, null]],
    ["returns", [JID, null, { after: 1, count: 2 }]],
    ["outputs", [JID]],
    ["close", null],
    ["constructor", null],
  ];
  for (const [method, argument] of bad) assertThrows(() => readRowArgument(method, packRows(argument)), Error);
});

Deno.test("a master that answers something else, or nothing, is named; after its end the database itself is asked", async () => {
  await using host = await MasterHost.start();
  const postgresql = map({ host: "127.0.0.1", port: 1 });
  const rows = new AskedRows({ ...host.opts, master_job_cache: "postgresql", postgresql }, {
    timeoutMs: 300,
    tries: 1,
  });
  try {
    host.master.script = () => encode("bad load", "wire");
    await assertRejects(() => rows.job(JID), StoreError, "The master answered bad load to job");
    host.master.script = () => undefined;
    await assertRejects(() => rows.job(JID), StoreError, "The master does not answer what it is asked of its jobs");
    const ended = eventually(() => host.master.requests.length === 3, { what: "the third question" })
      .then(() => Promise.all([host.die(), host.bus.close()]));
    const { message } = await assertRejects(() => rows.job(JID), Error, "does not answer");
    await ended;
    assert(!message.includes("master"), message);
  } finally {
    await rows.close();
  }
});
