/**
 * Functions that run on a running master: the event stream of `salt-run`, and runners and wheel functions that clients
 * ask for.
 * @module
 */

import { accessKeyPath } from "#lib/config/master_paths.ts";
import { clearRequest } from "#lib/protocol/payload.ts";
import { RequestChannel, tcpAddress } from "#lib/sockets/request_channel.ts";
import { isMap, map, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { startCli } from "#tests/support/fleet/cli_process.ts";
import { eventually, type Fleet, fleetTest } from "#tests/support/fleet/fleet.ts";
import { opened } from "#tests/support/fleet/scripted_minion.ts";

const TIMEOUTS = { timeoutMs: 60_000, tries: 1 };

/** Sends a request to the master as Salt's clients do. */
async function ask(fleet: Fleet, load: Record<string, unknown>): Promise<ValueMap> {
  const { cachedir, user, ret_port } = fleet.masterOpts;
  const key = Deno.readTextFileSync(accessKeyPath(cachedir, user));
  using channel = new RequestChannel(tcpAddress("127.0.0.1", ret_port));
  const answer = opened(await channel.request(clearRequest(map({ user, key, ...load })), TIMEOUTS));
  assert(isMap(answer));
  return answer;
}

fleetTest(
  "salt-run state.event prints matching events as they come, and ends by count, Ctrl-C and a closed pipe",
  {},
  async (fleet) => {
    const counted = startCli(fleet, "salt-run", "state.event", "my/tag/*", "count=2");
    const forProgram = startCli(fleet, "salt-run", "--out=json", "state.event", "my/tag/a", "count=1");
    const endless = startCli(fleet, "salt-run", "state.event", "my/(tag|other)/.*", "pretty=True");
    const fire = async () => {
      await fleet.fire("my/tag\x1b[2J", map({ never: true }));
      await fleet.fire("my/tag/a", map({ id: "\x1b]0;x\x07", n: 1 }));
    };
    await eventually(async () => {
      await fire();
      return counted.lines.length >= 2 && forProgram.lines.length >= 1 && endless.lines.length >= 4;
    }, { what: "the events in both streams" });
    const { code, out } = await counted.ended;
    assertEquals(code, 0);
    const lines = out.split("\n").filter((line) => line.startsWith("my/"));
    assertEquals(lines.length, 2);
    for (const line of lines) {
      const [tag, json] = line.split("\t");
      const { id, n, _stamp } = JSON.parse(json);
      assertEquals([tag, id, n, typeof _stamp], ["my/tag/a", "\x1b]0;x\x07", 1, "string"]);
    }
    // An outputter for programs does not move the lines to standard error: they are what is asked for.
    const [line, ...result] = (await forProgram.ended).out.split("\n");
    assert(line.startsWith("my/tag/a\t{"), line);
    assertEquals(result, ["null", ""]);
    endless.child.kill("SIGINT");
    const ended = await endless.ended;
    assertEquals(ended.code, 130);
    assert(!out.includes("\x1b") && !ended.out.includes("\x1b") && !ended.out.includes("never"));

    // The reader of the lines has ended: the stream ends with the next event.
    const closed = fleet.saltRunWith({ outputGone: () => true }, "state.event", "my/tag/a");
    const state = { ended: false };
    closed.finally(() => state.ended = true);
    await eventually(async () => {
      await fire();
      return state.ended;
    }, { what: "the end of the stream that nobody reads" });
    assertEquals((await closed).code, 0);

    const none = await fleet.saltRun("state.event", "sock_dir=/nowhere");
    assertEquals(none.code, 69);
  },
);

/** A wheel module that waits for a file. */
const SLOW = `export async function wait(path) {
  for (;;) {
    try { Deno.statSync(path); return "done"; } catch { await new Promise((resolve) => setTimeout(resolve, 20)); }
  }
}
`;

fleetTest("clients run runners and wheel functions on the master, which serves others meanwhile", {
  master: { worker_threads: 1 },
}, async (fleet) => {
  const { extension_modules } = fleet.masterOpts;
  Deno.mkdirSync(`${extension_modules}/wheel`, { recursive: true });
  Deno.writeTextFileSync(`${extension_modules}/wheel/slow.js`, SLOW);
  using events = await fleet.listen("salt/run/", "salt/wheel/");

  const started = await ask(fleet, { cmd: "runner", fun: "test.arg", kwarg: { arg: [1, "a"], kwarg: { b: 2 } } });
  const tag = String(started.get("tag"));
  const next = async (suffix: string) => {
    for (;;) {
      const event = await events.next(60_000);
      assert(event !== undefined, `no event ${suffix}`);
      if (event.tag.endsWith(suffix)) return event.data;
    }
  };
  const made = await next(`${tag}/new`);
  assertEquals([made.get("fun"), made.get("user")], ["runner.test.arg", fleet.masterOpts.user]);
  const ret = await next(`${tag}/ret`);
  assertEquals([ret.get("success"), ret.get("return")], [true, map({ args: [1, "a"], kwargs: { b: 2 } })]);
  const job = await fleet.saltRun("jobs.list_job", String(started.get("jid")), "--out=json");
  assertStringIncludes(job.out, '"Function": "runner.test.arg"');

  const listed = await ask(fleet, { cmd: "wheel", fun: "key.list_all" });
  const data = listed.get("data");
  assert(isMap(data));
  assertEquals([data.get("fun"), data.get("success")], ["wheel.key.list_all", true]);
  await next(`${listed.get("tag")}/ret`);

  // The only MWorker answers other requests while a function runs for a waiting client.
  const gate = `${fleet.root}/gate`;
  const waiting = ask(fleet, { cmd: "wheel", fun: "slow.wait", arg: [gate], kwarg: {} });
  await next("/new");
  assertEquals((await ask(fleet, { cmd: "ping", n: 1 })).get("n"), 1);
  Deno.writeTextFileSync(gate, "");
  const waited = (await waiting).get("data");
  assertEquals(isMap(waited) && waited.get("return"), "done");

  // Private keys are only in the reply.
  await next("/ret");
  const generated = await ask(fleet, { cmd: "wheel", fun: "key.gen_accept", arg: ["fresh"], kwarg: {} });
  const pair = (generated.get("data") as ValueMap).get("return");
  assertStringIncludes(String(isMap(pair) && pair.get("priv")), "PRIVATE KEY");
  assertEquals((await next(`${generated.get("tag")}/ret`)).get("return"), "**********");
  assertEquals(fleet.keys.list("accepted"), ["fresh"]);

  // A master that ends answers clients that still wait.
  const last = ask(fleet, { cmd: "wheel", fun: "slow.wait", arg: [`${fleet.root}/never`], kwarg: {} });
  await next("/new");
  await fleet.stopMaster();
  const error = (await last).get("error") ?? (await last).get("data");
  assert(isMap(error), "an answer");
});
