/** @module */
import { RequestTooLargeError } from "#lib/errors.ts";
import { keptReturn, KeptReturns, keptReturns } from "#lib/jobs/kept_returns.ts";
import { encode } from "#lib/values/msgpack.ts";
import { oversizedFailure, replacementFor } from "#lib/jobs/oversized_return.ts";
import { Float, map, type Value, type ValueMap } from "#lib/values/value.ts";
import { beginningOf } from "#lib/values/beginning.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";

const ERROR = new RequestTooLargeError(200_000_000, 104_857_600);
const jid = (i: number) => `202601010000000000${String(i).padStart(2, "0")}`;
const ret = (i: number, value: unknown, more: Record<string, unknown> = {}): ValueMap =>
  map({
    cmd: "_return",
    id: "web1",
    jid: jid(i),
    fun: "cmd.run",
    fun_args: [],
    return: value,
    retcode: 0,
    success: true,
    ...more,
  });

function withCache(test: (cachedir: string) => void): void {
  const cachedir = Deno.makeTempDirSync({ prefix: "kept_" });
  try {
    test(cachedir);
  } finally {
    Deno.removeSync(cachedir, { recursive: true });
  }
}

/** The beginnings of values, by the maximum number of bytes. */
const BEGINNINGS: readonly (readonly [value: Value, max: number, text: string])[] = [
  ["a text", 100, "a text"],
  ["a text", 3, "a t"],
  ["äöü", 4, "äö"],
  ["äöü", 3, "ä"],
  ["€", 2, ""],
  ["", 10, ""],
  [map({ a: 1, b: [true, null, "x\n"] }), 100, '{"a": 1, "b": [true, null, "x\\n"]}'],
  [map({ a: 1, b: [true, null, "x\n"] }), 12, '{"a": 1, "b"'],
  [new Uint8Array([97, 98, 99]), 100, '"abc"'],
  [[new Float(1), 2n ** 63n], 100, "[1.0, 9223372036854775808]"],
  [Array.from({ length: 1_000_000 }, () => "x".repeat(10)), 8, '["xxxxxx'],
];

for (const [value, max, text] of BEGINNINGS) {
  Deno.test(`of ${Deno.inspect(value, { iterableLimit: 2, compact: true }).slice(0, 60)} ${max} bytes are ${text}`, () =>
    assertEquals(beginningOf(value, max), text));
}

Deno.test("beginnings are stored up to the limits of count, bytes and age, also for the next process", () =>
  withCache((cachedir) => {
    const limits = { bytes: 10, count: 3, ageMs: 60_000 };
    const kept = new KeptReturns(cachedir, memoryLog().log, limits);
    for (const i of [1, 2, 3, 4]) assertEquals(kept.keep(ret(i, `${i}`.repeat(100)), ERROR), 10);
    assertEquals(keptReturns(cachedir, limits).map(({ jid }) => jid), [2, 3, 4].map(jid));
    const first = keptReturn(cachedir, jid(2), limits);
    assertEquals([first?.beginning, first?.fun, first?.bytes, first?.limit], [
      "2222222222",
      "cmd.run",
      200_000_000,
      104_857_600,
    ]);
    const old = new Date(Date.now() - 61_000);
    Deno.utimeSync(`${cachedir}/kept_returns/${jid(3)}.p`, old, old);
    assertEquals(keptReturns(cachedir, limits).length, 2);
    assertEquals(keptReturn(cachedir, jid(3), limits), undefined);
    kept.close();
    const next = new KeptReturns(cachedir, memoryLog().log, limits);
    assertEquals([...Deno.readDirSync(`${cachedir}/kept_returns`)].length, 2);
    next.close();
    assertEquals(keptReturn(cachedir, "../../etc/passwd", limits), undefined);
    for (const [i, bytes] of [encode([], "disk"), new Uint8Array([0x81])].entries()) {
      Deno.writeFileSync(`${cachedir}/kept_returns/${jid(5 + i)}.p`, bytes);
      assertEquals(keptReturn(cachedir, jid(5 + i), limits), undefined);
    }
    assertEquals(keptReturns(cachedir, limits).map(({ jid }) => jid), [2, 4].map(jid));
  }));

Deno.test("a no_log job stores nothing, and a failed write is logged", () =>
  withCache((cachedir) => {
    const { log, lines } = memoryLog();
    const kept = new KeptReturns(cachedir, log);
    assertEquals(kept.keep(ret(1, "secret", { no_log: true }), ERROR), undefined);
    assertEquals(kept.keep(ret(1, "x", { jid: "../x" }), ERROR), undefined);
    assertEquals([...Deno.readDirSync(cachedir)], []);
    Deno.writeTextFileSync(`${cachedir}/kept_returns`, "in the way");
    assertEquals(kept.keep(ret(1, "x"), ERROR), undefined);
    assertStringIncludes(lines.join(), `ERROR The beginning of the return of job ${jid(1)} is not kept`);
    kept.close();
    // The next minion begins all the same.
    new KeptReturns(cachedir, log).close();
    assertStringIncludes(lines.join(), "ERROR The beginnings of old returns are not removed: ");
  }));

Deno.test("a failure that replaces a return is small enough for every return", () => {
  const large = "x".repeat(60_000);
  const failure = oversizedFailure(
    ret(1, large, {
      fun: [large],
      fun_args: [large],
      metadata: large,
      sealed: large,
      out: large,
      user: large,
      retcode: 3,
    }),
    ERROR,
    "Nothing of it is kept.",
  );
  const bytes = encode(failure, "wire").length;
  assert(bytes < 10_000, `${bytes} bytes`);
  assertEquals([failure.get("retcode"), failure.get("success"), failure.get("jid"), failure.get("cmd")], [
    3,
    false,
    jid(1),
    "_return",
  ]);
});

Deno.test("a return that is too large is replaced by one without its arguments, then by a failure, then dropped; an event is dropped", () => {
  const { log } = memoryLog();
  const parts = { id: "web1", log, kept: { keep: () => 10 } };
  const large = "x".repeat(60_000);
  const first = replacementFor(ret(1, large, { fun_args: [large] }), ERROR, parts);
  assertEquals([first?.get("return"), first?.get("success")], [large, true]);
  assertStringIncludes(String(first?.get("fun_args")), "left out");
  const second = replacementFor(first ?? new Map(), ERROR, parts);
  assertEquals([second?.get("retcode"), second?.get("success")], [1, false]);
  assertEquals(replacementFor(second ?? new Map(), ERROR, parts), undefined);
  assertEquals(replacementFor(map({ cmd: "_minion_event", tag: "x" }), ERROR, parts), undefined);
});
