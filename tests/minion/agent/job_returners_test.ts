/**
 * Returners of minions on a whole fleet, with a web service that goes away: nothing is lost, and jobs do not wait.
 * @module
 */

import { RETURNERS_PREFIX } from "#lib/minion/catalogue/catalogue.ts";
import { JobReturners } from "#lib/minion/agent/job_returners.ts";
import { type JobPool, LEFT_TO_NEXT_MINION } from "#lib/minion/worker/job_pool.ts";
import { NO_JID } from "#lib/protocol/own_job.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { freePort } from "#scripts/fleet/free_port.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { testOpts } from "#tests/support/calls/job_context.ts";
import { eventually, startFleet } from "#tests/support/fleet/fleet.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

/** A web service that keeps the returns that it is sent. */
function webService(port: number): { readonly returns: ValueMap[] } & AsyncDisposable {
  const returns: ValueMap[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port, onListen() {} }, async (request) => {
    const value = parseJson(await request.text());
    if (isMap(value)) returns.push(value);
    return new Response("");
  });
  return { returns, [Symbol.asyncDispose]: () => server.shutdown() };
}

const argsOf = (returns: readonly ValueMap[]): Value[] => returns.map((ret) => (ret.get("fun_args") as Value[])[0]);

Deno.test("a returner's server that is away gets every return when it is back, also after a restart of the minion", async () => {
  const port = freePort();
  const options = { "webhook.url": `http://127.0.0.1:${port}/`, "return": ["webhook"] };
  await using fleet = await startFleet({ minions: ["web1"], minion: options });
  const echo = (text: string, ...words: string[]) => fleet.saltJson("web1", "test.echo", text, ...words);
  // The operator has the result although the server is away.
  for (const text of ["one", "two"]) assertEquals(await echo(text), map({ web1: text }));
  await eventually(() => fleet.logs.some((line) => line.includes("waits for the returner webhook")), {
    what: "a line of the log",
  });
  await fleet.stopMinion("web1");
  await fleet.untilServing(["web1"], () => fleet.startMinion("web1"));
  assertEquals(await echo("three"), map({ web1: "three" }));
  await using service = webService(port);
  await eventually(() => new Set(argsOf(service.returns)).size === 3, { what: "three returns" });
  assertEquals(argsOf(service.returns).map(str).sort(), ["one", "three", "two"]);
  const [first] = service.returns;
  assertEquals([first.get("id"), first.get("fun"), first.get("success"), first.get("retcode")], [
    "web1",
    "test.echo",
    true,
    0,
  ]);
  assertEquals(["cmd", "error_details"].filter((key) => first.has(key)), []);

  // Each returner is called once, wherever it is named; the options of the job replace those of the minion.
  const other = freePort();
  await using second = webService(other);
  const kwargs = `--return_kwargs={url: "http://127.0.0.1:${other}/"}`;
  assertEquals(await echo("four", "--return=webhook,nosuch", kwargs), map({ web1: "four" }));
  await eventually(() => second.returns.length > 0, { what: "the return of the fourth job" });
  assertEquals(argsOf(second.returns), ["four"]);
  await eventually(() => fleet.logs.some((line) => line.includes("'nosuch.returner' is not available")), {
    what: "the name of the returner that is not there",
  });
  assertEquals(service.returns.length, 3);
  const left = [...Deno.readDirSync(`${fleet.minionConfigDir("web1")}/var/cache/salt/minion/returners/webhook`)];
  assertEquals(left.map(({ name }) => name), []);
});

Deno.test("a returner gets no result of a job with no_log", async () => {
  await using fleet = await startFleet({ minions: ["web1"], minion: { "return": "rawfile_json" } });
  await fleet.stopMinion("web1");
  const path = `${fleet.root}/returns`;
  await fleet.untilServing(["web1"], () => fleet.startMinion("web1", { "rawfile_json.filename": path }));
  await fleet.salt("--no-log", "web1", "test.echo", "secret word");
  assertEquals(await fleet.saltJson("web1", "test.echo", "plain"), map({ web1: "plain" }));
  const text = await eventually(() => {
    const text = Deno.readTextFileSync(path);
    return text.split("\n").length > 2 && text;
  }, { what: "two returns" });
  assertStringIncludes(text, `"return": "plain"`);
  assert(!text.includes("secret word"), text);
});

Deno.test("salt-call gives its result to returners once, with a jid of its own", async () => {
  await using fleet = await startFleet({});
  const path = `${fleet.root}/returns`;
  fleet.minionOpts("web1", { "rawfile_json.filename": path, "return": "rawfile_json" });
  const { code, out, err } = await fleet.saltCall("web1", "--local", "--return=rawfile_json", "test.echo", "ä");
  assertEquals({ code, out, err }, { code: 0, out: "local:\n    ä\n", err: "" });
  const [line, rest] = Deno.readTextFileSync(path).split("\n");
  const ret = parseJson(line);
  assert(isMap(ret) && rest === "");
  assertEquals(["id", "fun", "fun_args", "return", "retcode", "success"].map((key) => ret.get(key) ?? null), [
    "web1",
    "test.echo",
    ["ä"],
    "ä",
    0,
    true,
  ]);
});

/** Returners whose calls end as `outcomes` say, one after the other. */
async function withReturners(
  outcomes: readonly ValueMap[],
  run: (site: {
    readonly returners: JobReturners;
    readonly lines: readonly string[];
    readonly calls: readonly ValueMap[];
  }) => Promise<void>,
): Promise<void> {
  await withTemporaryDirectory(async (cachedir) => {
    const { log, lines } = memoryLog(), calls: ValueMap[] = [];
    const pool = {
      run: (call: ValueMap) => Promise.resolve(outcomes[calls.push(call) - 1]),
      signal: () => Promise.resolve(true),
    } as unknown as JobPool;
    const opts = { ...testOpts({ cachedir }), return_retry_timer: 0.05, return_retry_timer_max: 0.05 };
    const returners = new JobReturners({ opts, pool, log });
    try {
      await run({ returners, lines, calls });
    } finally {
      await returners.close();
    }
  });
}

Deno.test("names that can be no returner's are named, the others get the return, with the job's own id", () =>
  withReturners([map({ success: true })], async ({ returners, lines, calls }) => {
    const load = map({ jid: "20261128000000000001", ret: "../../own,good", ret_config: "other" });
    returners.give(load, map({ cmd: "_return", jid: NO_JID, fun: "test.ping", return: true }));
    await eventually(() => calls.length === 1, { what: "the call" });
    assertEquals(lines.filter((line) => line.startsWith("ERROR")), [
      "ERROR There is no returner of the name ../../own",
    ]);
    assertEquals([calls[0].get("fun"), calls[0].get("jid")], [
      `${RETURNERS_PREFIX}good.returner`,
      "20261128000000000001_good",
    ]);
    const wanted = { jid: "20261128000000000001", fun: "test.ping", return: true, ret_config: "other" };
    assertEquals(calls[0].get("arg"), [map(wanted)]);
  }));

Deno.test("a return whose call the next minion takes over, or that fails, is given again", () =>
  withReturners(
    [LEFT_TO_NEXT_MINION, map({ success: false, return: "no server" }), map({ success: true })],
    async (site) => {
      const { returners, calls, lines } = site;
      returners.give(
        map({ jid: "20261128000000000001", ret: "good" }),
        map({ jid: "20261128000000000001", return: 1 }),
      );
      await eventually(() => calls.length === 3, { what: "the third call" });
      assertEquals(new Set(calls.map((call) => call.get("jid"))), new Set(["20261128000000000001_good"]));
      assertEquals(lines.some((line) => line.includes("The minion ends") || line.includes("no server")), true);
    },
  ));
