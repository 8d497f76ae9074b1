/**
 * Engines of a real master and a real minion: their events, restarts and mistakes.
 * @module
 */

import { hmacHex } from "#lib/crypto/hmac.ts";
import { EngineSupervisor } from "#lib/engines/supervisor.ts";
import { TimeBudget } from "#lib/os/time_budget.ts";
import { startedProcess } from "#lib/procfs/process_facts.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { readEngines } from "#lib/engines/engine_list.ts";
import { isMap, map, toValue, type Value, type ValueMap } from "#lib/values/value.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually, type Fleet, startFleet } from "#tests/support/fleet/fleet.ts";
import { freePort } from "#scripts/fleet/free_port.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const SECRET = "0123456789abcdef";
/** An engine that answers each event `ask/x` with `answer/x`. */
const ECHO = `export const start = {
  params: { word: { type: "str" } },
  async run({ word }, { events, fire, role }) {
    await fire("echo/ready", { role });
    for await (const { tag } of events("ask/")) await fire(tag.replace("ask", "answer"), { word, role });
  },
};
`;
const GREEDY = `export const start = { run: () => Deno.readTextFileSync("/etc/passwd") };\n`;
const BROKEN = `export const start = { run: () => { throw new Error("it is broken"); } };\n`;
/** Engines that end for a reason of their own, each with its text. */
const ENDING: Readonly<Record<string, readonly [text: string, reason: string]>> = {
  greedy: [GREEDY, 'Requires read access to "/etc/passwd"'],
  broken: [BROKEN, "it is broken"],
  hidden: ["const all = {};\nexport const start = { permissions: all, run() {} };\n", "hidden.ts: "],
  empty: ["export const begin = 1;\n", 'the engine empty has no export start with "run"'],
  torn: ['throw new Error("it cannot be loaded");\nexport const start = { run() {} };\n', "it cannot be loaded"],
  forger: ["export const start = { run: () => self.postMessage({ kind: 1 }) };\n", "it sent an invalid message"],
  later: [
    'export const start = { run: () => new Promise(() => queueMicrotask(() => { throw new Error("later"); })) };\n',
    "later",
  ],
  list: [
    "export const start = { run: (_, { fire }) => fire('a/list', []) };\n",
    "the data of the event a/list are no map",
  ],
  flood: [
    "export const start = { run: (_, { fire }) => Promise.all(Array.from({ length: 5_000 }, () => fire('flood/x', {}))) };\n",
    "more than 256 events at once",
  ],
  streams: [
    "export const start = { run: (_, { events }) => Promise.all(Array.from({ length: 17 }, () => events('no/').next())) };\n",
    "more than 16 streams of events",
  ],
  leaver: [
    `export const start = {
  async run(_, { events }) {
    for (let n = 0; n < 40; n++) {
      const all = events("no/"), first = all.next();
      await all.return();
      await first;
    }
    throw new Error("all streams are closed");
  },
};
`,
    "all streams are closed",
  ],
};

Deno.test("engines are names, maps of one name or a map; mistakes are named, and the others count", () => {
  const read = (option: unknown) => {
    const { entries, mistakes } = readEngines(toValue(option));
    return [entries.map(({ name, module, options }) => [name, module, ...options.keys()].join(" ")), mistakes];
  };
  assertEquals(read(["a", { b: null }, { c: { x: 1 } }, { d: { engine_module: "a", y: 2 } }, "reactor"]), [
    ["a a", "b b", "c c x", "d a y"],
    [],
  ]);
  assertEquals(read({ a: {}, b: { x: 1 } }), [["a a", "b b x"], []]);
  assertEquals(read(null), [[], []]);
  assertEquals(read("webhook"), [[], ["engines: it is neither a list nor a map: 'webhook'"]]);
  assertEquals(read([1, { a: 1 }, { a: {}, b: {} }, "../x", { e: { engine_module: "/x" } }, "good", "good"]), [[
    "good good",
  ], [
    "engines, entry 1: it is no name: 1",
    "engines, entry 2: the options of a are no map: 1",
    "engines, entry 3: it is no map of one name: {'a': {}, 'b': {}}",
    "engines, entry 4: it is no name: '../x'",
    "engines, entry 5: engine_module of e is no name: '/x'",
    "engines, entry 7: there are two engines with the name good",
  ]]);
  assertEquals(readEngines(["reactor"]), { entries: [], mistakes: [] });
  const [names, many] = read(Array.from({ length: 66 }, (_, i) => `e${i}`));
  assertEquals([names.length, many], [
    64,
    [65, 66].map((at) => `engines, entry ${at}: there are more than 64 engines`),
  ]);
});

/** What `engines.status` says of an engine. */
async function statusOf(fleet: Fleet, name: string): Promise<ValueMap> {
  const { out, code } = await fleet.saltRun("engines.status", "--out=json");
  assertEquals(code, 0, out);
  return engineOf(parseJson(out), name);
}

function engineOf(report: Value, name: string): ValueMap {
  const engines = isMap(report) ? report.get("engines") : undefined;
  const engine = isMap(engines) ? engines.get(name) : undefined;
  assert(isMap(engine), `no engine ${name}`);
  return engine;
}

Deno.test("own engines run beside broken ones, each with its permissions; a killed one is started again; all end with the master", () =>
  withTemporaryDirectory(async (root) => {
    Deno.writeTextFileSync(`${root}/echo.ts`, ECHO);
    for (const [name, [text]] of Object.entries(ENDING)) Deno.writeTextFileSync(`${root}/${name}.ts`, text);
    const engines = [
      { echo: { word: "one" } },
      { second: { engine_module: "echo", word: "two" } },
      { wrong: { engine_module: "echo", wrod: "x", word: "x" } },
      ...Object.keys(ENDING),
      "webhok",
      "thorium",
      7,
    ];
    await using fleet = await startFleet({ master: { engines, engines_dirs: [root] } });
    using events = await fleet.listen("answer/");
    const words = async () => {
      await fleet.fire("ask/x", map({}));
      const answers = [await events.next(2_000), await events.next(2_000)];
      return answers.map((event) => event?.data.get("word")).sort().join(" ");
    };
    await eventually(async () => await words() === "one two", { what: "both answers" });
    const reasons: Readonly<Record<string, string>> = {
      ...Object.fromEntries(Object.entries(ENDING).map(([name, [, reason]]) => [name, reason])),
      thorium: "the engine thorium is not built",
      webhok: "there is no engine 'webhok'; there is webhook",
      wrong: "The following keyword arguments are not valid: wrod=x",
    };
    const report = await eventually(async () => {
      const answer = parseJson((await fleet.saltRun("engines.status", "--out=json")).out);
      return Object.keys(reasons).every((name) => engineOf(answer, name).get("error") !== null) && answer;
    }, { what: "the ends of the broken ones" });
    for (const [name, reason] of Object.entries(reasons)) {
      assertStringIncludes(String(engineOf(report, name).get("error")), reason);
    }
    assertEquals(isMap(report) && report.get("mistakes"), [`engines, entry ${engines.length}: it is no name: 7`]);
    const { pid } = Object.fromEntries(await statusOf(fleet, "echo"));
    assert(typeof pid === "number");
    Deno.kill(pid, "SIGKILL");
    await eventually(async () => (await statusOf(fleet, "echo")).get("starts") === 2, { what: "the second start" });
    assertMatch(String((await statusOf(fleet, "echo")).get("error")), /ended by SIGKILL/);
    await eventually(async () => await words() === "one two", { what: "both answers again" });
    const last = Object.fromEntries(await statusOf(fleet, "second")).pid;
    await fleet.stopMaster();
    assert(typeof last === "number");
    assertEquals(exists(`/proc/${last}`), false);
    assertStringIncludes((await fleet.saltRun("engines.status")).out, "The master runs no engines");
  }));

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

Deno.test("a command that an engine runs in a session of its own ends with an engine that does not end in time", () =>
  withTemporaryDirectory(async (directory) => {
    const file = `${directory}/pid`;
    const supervisor = new EngineSupervisor({
      role: "master",
      opts: new Uint8Array(),
      command: ["sh", "-c", `setsid sleep 600 >/dev/null 2>&1 & echo $! > ${file}; wait`],
      log: SILENT_LOGGER,
      engines: readEngines(["any"]),
      directory,
    });
    const pid = await eventually(() => Number(Deno.readTextFileSync(file)) || undefined, { what: "the command" });
    await supervisor.close(new TimeBudget(50));
    await eventually(() => startedProcess(pid) === undefined, { what: "the end of the command" });
  }));

Deno.test("an engine whose process cannot be started is tried again, also if no report can be written", () =>
  withTemporaryDirectory(async (root) => {
    const { log, lines } = memoryLog();
    Deno.writeTextFileSync(`${root}/file`, "");
    const supervisor = new EngineSupervisor({
      role: "minion",
      opts: new Uint8Array(),
      command: [`${root}/nothing`],
      log,
      engines: readEngines(["any"]),
      directory: `${root}/file/engines`,
      pausesMs: [1, 50],
    });
    const count = (text: string) => lines.filter((line) => line.includes(text)).length;
    await eventually(() => count("The engine any has ended, and is started again") >= 3, { what: "three tries" });
    assertMatch(supervisor.describe().join(), /^Engine any: waiting, started \d+ times$/);
    await supervisor.close(new TimeBudget(5_000));
    assertStringIncludes(lines.join("\n"), "started again in 0.004 seconds: its process cannot be started: ");
    assert(count("The report of the engines cannot be written: Not a directory") > 0, lines.join("\n"));
  }));

Deno.test("of what an engine prints a thousand lines are logged, and the last one is why it has ended", () =>
  withTemporaryDirectory(async (directory) => {
    const { log, lines } = memoryLog();
    const supervisor = new EngineSupervisor({
      role: "minion",
      opts: new Uint8Array(),
      command: ["seq", "1003"],
      log,
      engines: readEngines(["any"]),
      directory,
      pausesMs: [60_000, 60_000],
    });
    await eventually(() => lines.some((line) => line.includes("has ended")), { what: "its end" });
    await supervisor.close(new TimeBudget(5_000));
    const printed = lines.filter((line) => line.includes("The engine any: "));
    assertEquals(printed.slice(-2), [
      "INFO The engine any: 1000",
      "WARNING The engine any: further lines are left out",
    ]);
    assertEquals([printed.length, lines.length], [1_001, 1_002]);
    assert(lines[1_001].endsWith("its process ended with 0: 1003"), lines[1_001]);
  }));

Deno.test("a webhook's requests become events if they prove the secret, which no event shows", async () => {
  const port = freePort();
  const engines = [{ webhook: { address: "127.0.0.1", port, secret: SECRET } }, { bare: { engine_module: "webhook" } }];
  await using fleet = await startFleet({ master: { engines } });
  using events = await fleet.listen("salt/engines/hook/");
  const post = async (path: string, headers: Record<string, string>, body: BodyInit = "{}", method = "POST") => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers,
      ...method === "POST" && { body },
    });
    await response.body?.cancel();
    return response.status;
  };
  const bearer = { authorization: `Bearer ${SECRET}` };
  await eventually(() => post("/start", bearer).then(() => true, () => false), { what: "the webhook" });
  assertEquals((await events.next(5_000))?.tag, "salt/engines/hook/start");
  const signed = `sha256=${
    hmacHex("sha256", { key: new TextEncoder().encode(SECRET), data: new TextEncoder().encode('{"a": 1}') })
  }`;
  const event = { "x-github-event": "push", "x-hub-signature-256": signed };
  assertEquals(await post("/deploy/a%20b", event, '{"a": 1}'), 200);
  const pushed = await events.next(5_000);
  assertEquals(pushed?.tag, "salt/engines/hook/deploy/a b");
  assertEquals(pushed?.data.get("body"), '{"a": 1}');
  const headers = pushed?.data.get("headers");
  assertEquals(isMap(headers) && headers.get("X-Github-Event"), "push");
  assertEquals(await post("/lab", { "x-gitlab-token": SECRET }), 200);
  const lab = await events.next(5_000);
  assertEquals(JSON.stringify([...lab?.data.get("headers") as ValueMap]).includes(SECRET), false);
  const refused: readonly [number, Promise<number>][] = [
    [401, post("/x", {})],
    [401, post("/x", { authorization: `Bearer ${SECRET}x` })],
    [401, post("/x", { ...event, "x-hub-signature-256": signed }, '{"a": 2}')],
    [401, post("/x", { ...bearer, "x-hub-signature-256": "sha256=" })],
    [405, post("/x", bearer, "", "GET")],
    [413, post("/x", bearer, "x".repeat(2 ** 20 + 1))],
    [400, post("/%0a", bearer)],
    [400, post(`/${"x".repeat(300)}`, bearer)],
    [400, post("/%ff", bearer)],
  ];
  for (const [wanted, status] of refused) assertEquals(await status, wanted);
  assertEquals(await post("/last", bearer, new Uint8Array([255, 0])), 200);
  const last = await events.next(5_000);
  assertEquals([last?.tag, last?.data.get("body")], ["salt/engines/hook/last", new Uint8Array([255, 0])]);
  const bare = async () => String((await statusOf(fleet, "bare")).get("error"));
  await eventually(async () => await bare() !== "null", { what: "the end of the engine without a secret" });
  assertStringIncludes(await bare(), "secret is not set");
});

Deno.test("an engine of a minion fires events to its master, and engines.status shows it", () =>
  withTemporaryDirectory(async (root) => {
    Deno.writeTextFileSync(`${root}/echo.ts`, ECHO);
    const minion = { engines: ["reactor", { echo: { word: "hello" } }], engines_dirs: [root] };
    await using fleet = await startFleet({ minions: ["m1"], minion });
    const report = async () => {
      const answer = parseJson((await fleet.salt("m1", "engines.status", "--out=json", "--static")).out);
      return isMap(answer) ? answer.get("m1") ?? null : null;
    };
    await eventually(async () => engineOf(await report(), "echo").get("state") === "running", { what: "the engine" });
    const answer = await report();
    assertEquals(isMap(answer) && answer.get("mistakes"), []);
    using events = await fleet.listen("answer/");
    await eventually(async () => {
      await fleet.salt("m1", "event.fire", "{}", "ask/y");
      const event = await events.next(1_000);
      const data = event?.data.get("data");
      return isMap(data) && data.get("word") === "hello" && data.get("role") === "minion" &&
        event?.data.get("id") === "m1";
    }, { what: "the minion's event" });
  }));
