import { MsgpackError, WireError } from "#lib/errors.ts";
import { parseFromJob, parseToJob } from "#lib/minion/worker/job_messages.ts";
import { packMessage, parseFromModule, parseToModule } from "#lib/minion/worker/module_messages.ts";
import type { FromJob, FromModule, ToJob, ToModule } from "#lib/minion/worker/job_protocol.ts";
import { fieldsOf } from "#lib/runtime/message_fields.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";

const bytes = Uint8Array.of(1, 2, 3);
const hostData = { grains: bytes, pillar: bytes };

const TO_JOB: readonly ToJob[] = [
  { kind: "run", load: bytes },
  { kind: "run", load: bytes, declared: { "own.f": "none" }, call: bytes },
  { kind: "abort", signal: 15 },
  { kind: "host_data", hostData },
  { kind: "answer", id: 0, value: bytes },
  { kind: "refused", id: 1, reason: "x".repeat(100_000), timeout: undefined },
  { kind: "refused", id: 2, reason: "late", timeout: { address: "tcp://m:4506", waitedMs: 5000 } },
  { kind: "refused", id: 2, reason: "late", timeout: { address: "tcp://m:4506", waitedMs: 0.5 } },
];
const TO_MODULE: readonly ToModule[] = [
  ...TO_JOB,
  {
    kind: "start",
    init: { opts: bytes, hostData, modules: ["own"], renamed: { file: "own" }, logLevel: 30, logFailures: false },
  },
  { kind: "describe" },
  { kind: "grains", path: "/x/own.ts", permissions: "none", declared: { f: "read" } },
];
const written = { command: 1, stream: "stdout", bytes, encoding: null } as const;
const FROM_BOTH: readonly (FromJob & FromModule)[] = [
  { kind: "begun" },
  { kind: "done", outcome: bytes },
  { kind: "output", written },
  { kind: "output", written: { ...written, stream: "stderr", encoding: "latin-1" } },
  { kind: "ask", id: 1, request: { what: "request", load: bytes } },
  { kind: "ask", id: 2, request: { what: "fire", data: bytes, tag: "a/tag" } },
  { kind: "ask", id: 9, request: { what: "ask", data: bytes, tag: "manage_x", answerTag: "/x/done", waitS: 30 } },
  { kind: "ask", id: 3, request: { what: "refresh", refresh: "grains" } },
  { kind: "ask", id: 4, request: { what: "running" } },
  { kind: "ask", id: 8, request: { what: "grains" } },
  { kind: "ask", id: 5, request: { what: "signal", jid: "20260101000000000000", signal: 15 } },
];
const FROM_JOB: readonly FromJob[] = [
  ...FROM_BOTH,
  { kind: "after_large_outcome" },
  { kind: "not_permitted", permissions: "all" },
  { kind: "not_permitted", permissions: { read: ["/x"], net: true } },
  { kind: "ask", id: 6, request: { what: "describe" } },
  { kind: "ask", id: 7, request: { what: "call", fun: "own.f", call: bytes } },
  // An operator may type any number; the system refuses invalid ones.
  { kind: "ask", id: 8, request: { what: "signal", jid: "1", signal: -100_000 } },
];
const FROM_MODULE: readonly FromModule[] = [
  ...FROM_BOTH,
  { kind: "ready" },
  { kind: "log", level: 30, message: "a line" },
  { kind: "child", pid: 4711, state: "started" },
];

Deno.test("every message of a job arrives unchanged, between threads and between processes", () => {
  for (const message of TO_JOB) assertEquals(parseToJob(fieldsOf(structuredClone(message))), message);
  for (const message of FROM_JOB) assertEquals(parseFromJob(structuredClone(message)), message);
  for (const message of TO_MODULE) assertEquals(parseToModule(packMessage(message)), message);
  for (const message of FROM_MODULE) assertEquals(parseFromModule(packMessage(message)), message);
});

/** Each message with one field removed or of another type, for each field at every depth. */
function* spoilt(message: object): Generator<Record<string, unknown>> {
  for (const [name, value] of Object.entries(message)) {
    for (const wrong of [undefined, [[]]]) yield { ...message, [name]: wrong };
    if (typeof value !== "object" || value === null || value instanceof Uint8Array || Array.isArray(value)) continue;
    for (const inner of spoilt(value)) yield { ...message, [name]: inner };
  }
}

/** Optional fields: a message without them is valid, with another meaning. */
const OPTIONAL = new Set(["declared", "call", "timeout", "encoding", "permissions.read", "permissions.net"]);

Deno.test("a message with a missing field or a wrong type is refused completely", () => {
  const parsers: readonly (readonly [readonly object[], (message: object) => unknown])[] = [
    [TO_JOB, (message) => parseToJob(fieldsOf(message))],
    [FROM_JOB, parseFromJob],
    [TO_MODULE, (message) => parseToModule(packMessage(message as ToModule))],
    [FROM_MODULE, (message) => parseFromModule(packMessage(message as FromModule))],
  ];
  let refused = 0;
  for (const [messages, parse] of parsers) {
    for (const message of messages) {
      for (const bad of spoilt(message)) {
        if (isLeftOut(message, bad)) continue;
        assertThrows(() => parse(bad), WireError, undefined, Deno.inspect(bad));
        refused++;
      }
    }
    for (const bad of [{}, { kind: "nonsense" }, { kind: "toString" }]) assertThrows(() => parse(bad), WireError);
  }
  assertEquals(refused > 120, true, String(refused));
});

/** Whether `bad` differs from `message` only by missing optional fields. */
function isLeftOut(message: object, bad: Record<string, unknown>, path = ""): boolean {
  return Object.entries(message).every(([name, value]) => {
    if (bad[name] === value) return true;
    if (bad[name] === undefined) return OPTIONAL.has(`${path}${name}`) || OPTIONAL.has(name);
    const inner = bad[name];
    return typeof inner === "object" && inner !== null && !Array.isArray(inner) &&
      typeof value === "object" && value !== null && isLeftOut(value, { ...inner }, `${name}.`);
  });
}

Deno.test("an invalid message is refused", () => {
  for (const nothing of [undefined, null, 1, "done", true]) {
    assertThrows(() => parseFromJob(nothing), WireError);
    assertThrows(() => parseToModule(nothing), WireError);
  }
  assertThrows(() => parseFromModule(Uint8Array.of(0xc1)), MsgpackError);
  assertThrows(() => parseToModule(Uint8Array.of(0xc1)), MsgpackError);
  // A process may not make requests that only our own workers may, and its strings are limited.
  for (const request of [{ what: "describe" }, { what: "call", fun: "x.y", call: bytes }]) {
    assertThrows(() => parseFromModule(packMessage({ kind: "ask", id: 1, request } as FromModule)), WireError);
  }
  const long = packMessage({ kind: "log", level: 30, message: "x".repeat(100_000) });
  assertThrows(() => parseFromModule(long), WireError, "message is no text");
  assertEquals(fieldsOf(map({ a: 1 })).get("a"), 1);
});
