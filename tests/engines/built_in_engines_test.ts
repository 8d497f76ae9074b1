/**
 * The engines `script` and `webhook` in this process: lines and requests that become no events.
 * @module
 */

import type { EngineContext } from "#lib/plugins/engine.ts";
import { bind } from "#lib/plugins/call.ts";
import { isMap, map, toValue, type ValueMap } from "#lib/values/value.ts";
import { start as script } from "#modules/engines/script.ts";
import { start as webhook } from "#modules/engines/webhook.ts";
import { freePort } from "#scripts/fleet/free_port.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { SkippedTime } from "#tests/support/skipped_time.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

/** A running engine, its events and its log. */
function startEngine(engine: typeof script, options: Readonly<Record<string, unknown>>, isTaken = () => true) {
  const fired: [tag: string, data: ValueMap][] = [], ending = new AbortController(), { log, lines } = memoryLog();
  const context: EngineContext = {
    name: "e",
    id: "m1",
    role: "master",
    log,
    signal: ending.signal,
    fire(tag, data) {
      const value = toValue(data);
      assert(isMap(value));
      fired.push([tag, value]);
      return Promise.resolve(isTaken());
    },
    events: () => ({
      [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ value: undefined, done: true }) }),
    }),
  };
  const { bound, rest } = bind(engine, [], map(options), "start");
  const end = Promise.resolve(engine.run(bound, context, rest));
  return {
    fired,
    lines,
    end,
    async close() {
      ending.abort();
      await end;
    },
  };
}

Deno.test("script: options that cannot work are refused", async () => {
  const refused: readonly (readonly [Readonly<Record<string, unknown>>, string])[] = [
    [{ cmd: "" }, "cmd is empty"],
    [{ cmd: [] }, "cmd is empty"],
    [{ cmd: "true", output: "morse" }, "Unknown serializer `morse` found for output option"],
    [{ cmd: "true", output: "toString" }, "Unknown serializer `toString` found for output option"],
  ];
  for (const [options, text] of refused) {
    const failed = await assertRejects(async () => await startEngine(script, options).end, TypeError);
    assertEquals(failed.message, text);
  }
});

Deno.test("script: lines that are no events are named, and the others count", () =>
  withTemporaryDirectory(async (root) => {
    const text = [
      '{"tag": "a", "data": {"x": 1}}',
      "",
      "no JSON",
      "[1]",
      '{"data": {"x": 1}}',
      '{"tag": ""}',
      '{"tag": 5}',
      '{"tag": "b", "data": [1]}',
      '{"tag": "a", "data": {"x": 1}}',
      '{"tag": "a", "data": {"x": 2, "id": "own"}}',
      '{"tag": "last"}',
    ].join("\n");
    Deno.writeTextFileSync(`${root}/lines`, text);
    const options = { cmd: ["sh", "-c", `cat ${root}/lines; exit 3`], interval: 60, onchange: true };
    const engine = startEngine(script, options, () => engine.fired.length < 3);
    await eventually(() => engine.lines.some((line) => line.includes("ended with")), {
      what: "the end of the command",
    });
    await engine.close();
    assertEquals(engine.fired, [
      ["a", map({ x: 1, id: "m1" })],
      ["a", map({ x: 2, id: "own" })],
      ["last", map({})],
    ]);
    const named = [
      "no JSON",
      "it is no map",
      "its tag is no text",
      "its data are no map",
      "The event last",
      "ended with 3",
    ];
    for (const [i, reason] of named.entries()) assertStringIncludes(engine.lines[i], reason);
    assertEquals(engine.lines.length, named.length, engine.lines.join("\n"));
  }));

Deno.test("script: with onchange, the data of ten thousand tags are remembered, and then forgotten at once", async () => {
  const lines = `seq 10001 | sed 's/.*/{"tag": "&"}/'`, again = `echo '{"tag": "1"}'; echo '{"tag": "10001"}'`;
  const cmd = ["sh", "-c", `echo '{"tag": "1"}'; ${lines}; ${again}; echo '{"tag": "last"}'`];
  const engine = startEngine(script, { cmd, interval: 60, onchange: true });
  await eventually(() => engine.fired.at(-1)?.[0] === "last", { what: "the last event" });
  await engine.close();
  assertEquals(engine.fired.slice(9_999).map(([tag]) => tag), ["10000", "10001", "1", "last"]);
});

Deno.test("script: a line that does not end stops the command, and so does a signal", async () => {
  const long = startEngine(script, { cmd: ["sh", "-c", "head -c 17000000 /dev/zero; exec sleep 60"], interval: 60 });
  await eventually(() => long.lines.length > 0, { what: "the refusal" });
  assertEquals(long.lines, ["ERROR a line is longer than 16777216 characters"]);
  await long.close();
  const killed = startEngine(script, { cmd: ["sh", "-c", "kill -9 $$"], interval: 60 });
  await eventually(() => killed.lines.length > 0, { what: "the end by a signal" });
  assertEquals(killed.lines, ["ERROR sh ended by SIGKILL"]);
  await killed.close();
});

Deno.test("webhook: options that are not safe are refused", async () => {
  const refused: readonly (readonly [Readonly<Record<string, unknown>>, string])[] = [
    [{}, "secret is not set"],
    [{ secret: "short" }, "secret is shorter than 16 characters"],
    [{ open: true, ssl_crt: "/x" }, "ssl_crt and ssl_key need each other"],
    [{ open: true, ssl_crt: "/none.crt", ssl_key: "/none.key" }, "No such file"],
  ];
  for (const [options, text] of refused) {
    const failed = await assertRejects(async () => await startEngine(webhook, { port: 0, ...options }).end, Error);
    assertStringIncludes(failed.message, text);
  }
});

Deno.test("webhook: requests that the bus does not take, that are too many, or whose body does not end, are no events", async () => {
  using time = new SkippedTime();
  const port = freePort(), url = `http://127.0.0.1:${port}/x`;
  let answer: () => boolean = () => true;
  const engine = startEngine(webhook, { address: "127.0.0.1", port, open: true }, () => answer());
  await eventually(() => engine.lines.some((line) => line.includes("Listening")), { what: "the webhook" });
  const post = async (body?: BodyInit) => {
    const response = await fetch(url, { method: "POST", body });
    return [response.status, await response.text()];
  };
  assertEquals(await post(), [200, ""]);
  assertEquals(engine.fired.splice(0).map(([, data]) => data.get("body")), [""]);
  answer = () => false;
  assertEquals(await post("x"), [503, "the event bus did not take it\n"]);
  answer = () => {
    throw new Error("it broke");
  };
  assertEquals(await post("x"), [500, "it could not be taken\n"]);
  assertEquals(engine.fired.splice(0).length, 2);
  const connections = await Promise.all(
    Array.from({ length: 64 }, () => Deno.connect({ hostname: "127.0.0.1", port })),
  );
  const head = `POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab`;
  for (const connection of connections) await connection.write(new TextEncoder().encode(head));
  await eventually(async () => (await post("x"))[0] === 503 && engine.fired.length < 5, { what: "too many" });
  engine.fired.splice(0);
  await time.to(10_500);
  for (const connection of connections) {
    const answered = new Uint8Array(1_000), length = await connection.read(answered) ?? 0;
    assertStringIncludes(new TextDecoder().decode(answered.subarray(0, length)), "408");
    connection.close();
  }
  assertEquals(engine.fired, []);
  await engine.close();
});
