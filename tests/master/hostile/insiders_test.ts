/**
 * What an accepted minion and a user with few rights try on a running master: to choose where returners write, and to
 * take over the job of another user.
 * @module
 */

import { clearRequest } from "#lib/protocol/payload.ts";
import { makeJid } from "#lib/protocol/jid.ts";
import { RequestChannel } from "#lib/sockets/request_channel.ts";
import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { API_PASSWORD, apiMasterOptions } from "#tests/support/fleet/api_site.ts";
import { eventually, WITHIN_MS } from "#tests/support/eventually.ts";
import { type Fleet, startFleet } from "#tests/support/fleet/fleet.ts";
import { opened, ScriptedMinion, testKey } from "#tests/support/fleet/scripted_minion.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";
import { filesBelow } from "#tests/support/tree.ts";

async function ask(fleet: Fleet, frame: Uint8Array): Promise<Uint8Array> {
  using channel = new RequestChannel(`tcp://127.0.0.1:${fleet.masterOpts.ret_port}`);
  return await channel.request(frame, { timeoutMs: WITHIN_MS, tries: 1 });
}

/** An accepted minion that sends what a test chooses. */
async function acceptedMinion(fleet: Fleet): Promise<ScriptedMinion> {
  const minion = new ScriptedMinion("liar", await testKey("liar"), (frame) => ask(fleet, frame));
  assert((await minion.signIn()).inner.has("aes"));
  return minion;
}

/** Publishes as the user `fred`. */
async function publishAsFred(
  fleet: Fleet,
  load: Record<string, unknown>,
  kwargs: Record<string, unknown> = {},
): Promise<ValueMap> {
  const proof = { username: "fred", password: API_PASSWORD, eauth: "file" };
  const whole = { cmd: "publish", user: "fred", tgt: "web1", tgt_type: "glob", arg: [], ret: "", jid: "", ...load };
  const reply = opened(await ask(fleet, clearRequest(map({ ...whole, kwargs: { ...kwargs, ...proof } }))));
  assert(isMap(reply), str(reply));
  return reply;
}

function errorName(reply: ValueMap): Value {
  const error = reply.get("error");
  return isMap(error) ? error.get("name") ?? null : null;
}

Deno.test("no field of a return chooses the options of the master's returners", () =>
  withTemporaryDirectory(async (directory) => {
    const returns = `${directory}/returns`;
    await using fleet = await startFleet({
      master: {
        master_return: ["rawfile_json", "sqlite3"],
        "rawfile_json.filename": returns,
        "sqlite3.database": `${returns}.db`,
        "evil.rawfile_json.filename": `${directory}/profile`,
      },
    });
    const minion = await acceptedMinion(fleet);
    const lie = { cmd: "_return", fun: "test.ping", fun_args: [], retcode: 0, success: true };
    const ret_kwargs = { filename: `${directory}/trap`, database: `${directory}/trap.db` };
    await minion.request({ ...lie, jid: makeJid(), return: "by kwargs", ret_kwargs });
    await minion.request({ ...lie, jid: makeJid(), return: "by config", ret_config: "evil" });
    await minion.request({ ...lie, jid: makeJid(), return: "last" });
    const stored = () => readTextFileIfExists(returns) ?? "";
    await eventually(() => stored().includes("last"), { what: "the last return" });
    assertEquals(stored().trimEnd().split("\n").length, 3);
    assertEquals([...filesBelow(directory)].filter((path) => /trap|profile/.test(path)), []);
  }));

Deno.test("an event with a tag that is too long is not fired: tags are remembered by the thousand", async () => {
  await using fleet = await startFleet();
  using events = await fleet.listen("own/");
  const minion = await acceptedMinion(fleet);
  const long = `own/${"x".repeat(10_000)}`;
  await minion.request({ cmd: "_minion_event", tag: long, data: {}, pretag: null });
  await minion.request({ cmd: "_minion_event", events: [{ tag: long.slice(4), data: {} }], pretag: "own" });
  await minion.request({ cmd: "_minion_event", tag: long.slice(0, 5_000), data: {}, pretag: null });
  assertEquals((await events.next(WITHIN_MS))?.tag.length, 5_000);
});

Deno.test("a user whose rules do not let them run commands gives a returner no options", () =>
  withTemporaryDirectory(async (directory) => {
    await using fleet = await startFleet({
      minions: ["web1"],
      master: apiMasterOptions(directory, { fred: ["test.*"] }),
    });
    const ret_kwargs = { filename: `${directory}/trap` };
    const wish = { fun: "test.echo", arg: ["x"], ret: "rawfile_json" };
    assertEquals(errorName(await publishAsFred(fleet, wish, { ret_kwargs })), "AuthorizationError");
    assertEquals(errorName(await publishAsFred(fleet, wish)), null);
    const operator = await fleet.salt(
      "web1",
      "test.ping",
      "--return=rawfile_json",
      `--return_kwargs=${JSON.stringify(ret_kwargs)}`,
    );
    assertEquals(operator.code, 0, operator.err);
    await eventually(() => readTextFileIfExists(ret_kwargs.filename)?.includes("test.ping") === true, {
      what: "the return for the operator's file",
    });
    assertEquals(Deno.readTextFileSync(ret_kwargs.filename).includes("test.echo"), false);
  }));

Deno.test("a user with rules publishes under no job id of another user", () =>
  withTemporaryDirectory(async (directory) => {
    await using fleet = await startFleet({
      minions: ["web1"],
      master: apiMasterOptions(directory, { fred: ["test.*"] }),
    });
    const { out } = await fleet.salt("--show-jid", "web1", "test.echo", "of root");
    const jid = /\d{20}/.exec(out)?.[0] ?? "";
    assertEquals(errorName(await publishAsFred(fleet, { fun: "test.ping", jid })), "AuthorizationError");
    assertStringIncludes((await fleet.saltRun("jobs.list_job", jid)).out, "of root");
    const own = makeJid();
    assertEquals(errorName(await publishAsFred(fleet, { fun: "test.ping", jid: own })), null);
    // As a batch does.
    assertEquals(errorName(await publishAsFred(fleet, { fun: "test.ping", jid: own })), null);
  }));
