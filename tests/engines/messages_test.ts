import {
  type EngineInit,
  type FromEngine,
  packEngine,
  packEngineMap,
  parseFromEngine,
  parseToEngine,
  type ToEngine,
  unpackEngineInit,
  unpackEngineMap,
} from "#lib/engines/messages.ts";
import { packOpts } from "#lib/config/opts_transfer.ts";
import { WireError } from "#lib/errors.ts";
import { encode } from "#lib/values/msgpack.ts";
import { map, toValue } from "#lib/values/value.ts";
import { assertEquals, assertStringIncludes, assertThrows } from "#tests/support/assert.ts";
import { testOpts } from "#tests/support/calls/job_context.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const DATA = packEngineMap(map({ a: 1 }));
const INIT: EngineInit = { role: "minion", opts: DATA, name: "hook", module: "webhook", options: DATA };

const TO: readonly ToEngine[] = [
  { kind: "start", init: INIT, directories: ["/srv/engines"], logLevel: 20 },
  { kind: "fired", id: 1, isTaken: false },
  { kind: "event", stream: 2, tag: "a/b", data: DATA },
  { kind: "closed", stream: 2 },
  { kind: "stop" },
];

const FROM: readonly FromEngine[] = [
  { kind: "ready" },
  { kind: "log", level: 20, text: "a line" },
  { kind: "fire", id: 1, tag: "a/b", data: DATA },
  { kind: "next", stream: 2, prefixes: ["a/", ""] },
  { kind: "close", stream: 2 },
  { kind: "ended", reason: "" },
];

Deno.test("each message between an engine and its process arrives as it was sent", () => {
  assertEquals(TO.map((message) => parseToEngine(packEngine(message))), TO);
  assertEquals(FROM.map((message) => parseFromEngine(packEngine(message))), FROM);
  assertEquals([unpackEngineInit(packEngine(INIT)), unpackEngineMap(DATA)], [INIT, map({ a: 1 })]);
});

Deno.test("what is no message is refused with what is wrong", () => {
  const bytes = (fields: Readonly<Record<string, unknown>>) => encode(toValue(fields), "disk");
  const refused: readonly [parse: (bytes: Uint8Array) => unknown, given: unknown, text: string][] = [
    [parseToEngine, "stop", "a message is not bytes"],
    [parseToEngine, bytes({ kind: "halt" }), "a message of the unknown kind halt"],
    [parseToEngine, bytes({ kind: "closed", stream: -1 }), "stream"],
    [parseToEngine, bytes({ kind: "start", init: { ...INIT, role: "syndic" } }), "role"],
    [parseFromEngine, { kind: "ready" }, "a message is not bytes"],
    [parseFromEngine, bytes({ kind: "stop" }), "a message of the unknown kind stop"],
    [parseFromEngine, bytes({ kind: "fire", id: 1, tag: "a", data: "text" }), "data"],
    [parseFromEngine, bytes({ kind: "log", level: 20, text: "x".repeat(65_537) }), "text"],
    [parseFromEngine, bytes({ kind: "close" }), "stream"],
    [parseFromEngine, bytes({ kind: "next", stream: 1, prefixes: "a" }), "prefixes"],
    [unpackEngineMap, encode(["a"], "disk"), "a part of a message that is no map"],
  ];
  for (const [parse, given, text] of refused) {
    assertStringIncludes(assertThrows(() => parse(given as Uint8Array), WireError).message, text);
  }
});

/** An engine that leaves a loop over events, then `return`s an iterator that waits, and then ends. */
const LEAVER = `export const start = {
  async run(_, { events, fire }) {
    for await (const { tag } of events("a/")) {
      void fire("left", { tag });
      break;
    }
    const all = events("b/"), waiting = all.next();
    await all.return();
    void fire("returned", { isDone: (await waiting).done });
  },
};
`;

Deno.test("an engine that leaves a loop over events, or returns the iterator, closes the stream", () =>
  withTemporaryDirectory(async (root) => {
    Deno.writeTextFileSync(`${root}/leaver.ts`, LEAVER);
    const opts = packOpts("minion", testOpts({ id: "m1" }));
    const worker = new Worker(import.meta.resolve("#modules/engines/_worker.ts"), { type: "module" });
    const send = (message: ToEngine) => worker.postMessage(packEngine(message));
    const { promise: ended, resolve: end } = Promise.withResolvers<string>();
    const told: string[] = [];
    worker.onmessage = ({ data }) => {
      const message = parseFromEngine(data);
      if (message.kind === "ready") {
        const init = { ...INIT, opts, name: "leaver", module: "leaver", options: packEngineMap(new Map()) };
        send({ kind: "start", init, directories: [root], logLevel: 20 });
      } else if (message.kind === "ended") end(message.reason);
      else if (message.kind === "fire") told.push(`${message.tag} ${[...unpackEngineMap(message.data).values()]}`);
      else if (message.kind !== "log") told.push(`${message.kind} ${message.stream}`);
      if (message.kind === "next" && message.prefixes[0] === "a/") {
        send({ kind: "event", stream: message.stream, tag: "a/b", data: DATA });
      }
    };
    const reason = await ended;
    worker.terminate();
    assertEquals([reason, told], ["", ["next 1", "left a/b", "close 1", "next 3", "close 3", "returned true"]]);
  }));
