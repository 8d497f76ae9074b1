import { STATE_DISPLAY } from "#lib/output/highstate.ts";
import { chooseOutputter, formatOutput, type OutputOptions, OUTPUTTERS, outputWriter } from "#lib/output/outputters.ts";
import { UsageError } from "#lib/errors.ts";
import { float, int, toValue, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertThrows } from "#tests/support/assert.ts";
import corpus from "#tests/corpus/output.json" with { type: "json" };
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

/** The options of each column of the corpus. */
const MODES: Record<string, OutputOptions> = {
  "nested": { out: "nested", color: false },
  "nested colour": { out: "nested", color: true },
  "nested colour retcode": { out: "nested", color: true, retcode: 1 },
  "nested indent": { out: "nested", color: false, nestedIndent: 4 },
  "json": { out: "json", color: false },
  "json indent": { out: "json", color: false, indent: 2 },
  "json line": { out: "json", color: false, indent: -1 },
  "yaml": { out: "yaml", color: false },
  "raw": { out: "raw", color: false },
  "pprint": { out: "pprint", color: false },
  "txt": { out: "txt", color: false },
  "no_return": { out: "no_return", color: false },
  "no_return colour": { out: "no_return", color: true },
  "key": { out: "key", color: false },
  "key colour": { out: "key", color: true },
  "newline_values_only": { out: "newline_values_only", color: false },
  "quiet": { out: "quiet", color: false },
};

/** A value of the corpus; the field `about` of the file describes the notation. */
function read(plain: unknown): Value {
  if (plain === null || typeof plain === "boolean") return plain;
  if (typeof plain === "string") {
    const text = plain.slice(2);
    if (plain.startsWith("s:")) return text;
    if (plain.startsWith("i:")) return int(BigInt(text));
    if (plain.startsWith("f:")) return float(Number(text.replace("inf", "Infinity")));
    return Uint8Array.from(text.match(/../g) ?? [], (hex) => parseInt(hex, 16));
  }
  assert(typeof plain === "object");
  if ("L" in plain && Array.isArray(plain.L)) return plain.L.map(read);
  assert("M" in plain && Array.isArray(plain.M));
  return new Map(plain.M.map(([key, item]) => [read(key), read(item)]));
}

for (const [mode, options] of Object.entries(MODES)) {
  Deno.test(`formatOutput() writes what Salt writes: ${mode}`, async (t) => {
    for (const [plain, texts] of corpus.cases) {
      const expected = new Map(Object.entries(texts ?? {})).get(mode);
      if (expected === null) continue;
      await t.step(JSON.stringify(plain).slice(0, 60), () => {
        assertEquals(formatOutput(read(plain), options), expected);
      });
    }
  });
}

/** The return of a hostile minion: every control character, in ids, keys, values and bytes. */
const EVIL = "\x1b[2J\x1b]52;c;eA==\x07\x9b31m\x7f\x08\x00\u202eevil\u2066";
const EVIL_RUN = new Map<Value, Value>([[
  [EVIL, EVIL, `${EVIL}name`, EVIL].join("_|-"),
  new Map<Value, Value>([
    ["result", true],
    ["__run_num__", 0],
    ["changes", new Map([[EVIL, EVIL]])],
    ...["comment", "start_time", "duration", "data"].map((field): [Value, Value] => [field, EVIL]),
    ["warnings", [EVIL]],
  ]),
]]);
const HOSTILE: readonly Value[] = [
  EVIL,
  [EVIL, [EVIL]],
  new Map<Value, Value>([["web1", EVIL], [EVIL, new Map([[EVIL, [EVIL]]])]]),
  new Map<Value, Value>([["minions", [EVIL]]]),
  new Map<Value, Value>([["minions", new Map([[EVIL, EVIL]])]]),
  new Map<Value, Value>([["web1", [[EVIL, EVIL], [EVIL, EVIL]]], [EVIL, [new Map([[EVIL, EVIL]])]]]),
  new Map<Value, Value>([[EVIL, [EVIL]], [`a${EVIL}`, EVIL]]),
  new Map<Value, Value>([[EVIL, EVIL_RUN]]),
  new TextEncoder().encode(EVIL),
  new Map<Value, Value>([[new TextEncoder().encode(EVIL), new TextEncoder().encode(EVIL)]]),
];
const RANGES = "\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069";
const OBEYED = new RegExp(`[${RANGES}]`);

for (const out of [...OUTPUTTERS.keys(), "no_such_outputter"]) {
  Deno.test(`${out} never prints a control character of a return`, () => {
    for (const value of HOSTILE) {
      const text = formatOutput(value, { out, color: false });
      assert(!OBEYED.test(text), JSON.stringify(text));
    }
  });
}

Deno.test("no layout of a state run prints a control character of a return", () => {
  const run = new Map<Value, Value>([[EVIL, EVIL_RUN]]);
  for (const output of ["full", "terse", "full_id"]) {
    for (const tabular of [false, true, "{1} {2} {3} {6[comment]} {6[changes]!s} {6[comment]!r}"]) {
      const text = formatOutput(run, { out: "highstate", color: false, states: { ...STATE_DISPLAY, output, tabular } });
      assert(text.includes("evil") && !OBEYED.test(text), JSON.stringify(text));
    }
  }
});

Deno.test("nested keeps its own colours around a return's escape sequences", () => {
  const text = formatOutput(new Map([["web1", "\x1b[31mred"]]), { out: "nested", color: true });
  assertEquals(text, "\x1b[0;36mweb1\x1b[0;0m:\n    \x1b[0;32m\\x1b[31mred\x1b[0;0m");
});

Deno.test("nested prints a key with a newline on one line, so that no minion can write another minion's heading", () => {
  assertEquals(formatOutput(new Map([["a\nweb2", 1]]), { out: "nested", color: false }), "a\\x0aweb2:\n    1");
});

Deno.test("txt accepts the line ends of other systems", () => {
  assertEquals(formatOutput("a\r\nb\rc\r\n", { out: "txt", color: false }), "a\nb\\x0dc");
  assertEquals(formatOutput(new Map([["web1", "a\r\nb"]]), { out: "text", color: false }), "web1: a\nweb1: b");
});

Deno.test("json escapes control characters, and the data stay the same", () => {
  const text = formatOutput(EVIL, { out: "json", color: false });
  assertEquals(JSON.parse(text), EVIL);
});

Deno.test("an unknown outputter is nested, with a warning; grains is nested in silence", () => {
  const warnings: string[] = [];
  const warn = (text: string) => warnings.push(text);
  for (const out of ["bo\x1bgus", "grains", "constructor", "__proto__"]) {
    assertEquals(formatOutput(new Map([["a", 1]]), { out, color: false, warn }), "a:\n    1");
  }
  assertEquals(
    warnings,
    ["bo\\x1bgus", "constructor", "__proto__"].map((name) =>
      `Invalid outputter ${name} specified, fall back to nested`
    ),
  );
});

Deno.test("chooseOutputter() uses the user's choice, then the return's, then nested", () => {
  assertEquals(chooseOutputter("json", "highstate"), "json");
  assertEquals(chooseOutputter(undefined, "txt"), "txt");
  assertEquals(chooseOutputter("", ""), "nested");
});

Deno.test("outputWriter() writes a newline after each text, and nothing for an empty text", () => {
  const written: string[] = [];
  const put = outputWriter({ write: (text) => written.push(text) });
  put("a");
  put("");
  put("b\nc");
  assertEquals(written, ["a\n", "b\nc\n"]);
});

Deno.test("outputWriter() truncates the file once, or appends, and keeps the file's mode", () =>
  withTemporaryDirectory((directory) => {
    const file = `${directory}/out`;
    const write = () => assert(false, "standard output must stay silent");
    for (let round = 0; round < 2; round++) {
      const put = outputWriter({ file, write });
      put("a");
      put("b");
      assertEquals(Deno.readTextFileSync(file), "a\nb\n");
      Deno.chmodSync(file, 0o600);
    }
    assertEquals((Deno.statSync(file).mode ?? 0) & 0o777, 0o600);
    outputWriter({ file, append: true, write })("c");
    assertEquals(Deno.readTextFileSync(file), "a\nb\nc\n");
    assertThrows(() => outputWriter({ file: `${directory}/none/out`, write }), UsageError, "Access denied");
  }));

Deno.test("overview has the columns in the order of the keys, and is no wider than the terminal", () => {
  const rows = toValue([
    { jid: "20260101000000000001", user: "ann", function: "test.ping", target: "*", failed: 10 },
    {
      jid: "20260101000000000002",
      user: "bob",
      function: "state.apply",
      target: `web\u001b${"1".repeat(100)}`,
      failed: 0,
    },
  ]);
  const lines = (columns?: number) => formatOutput(rows, { out: "overview", color: false, columns }).split("\n");
  const shown = lines(60);
  assertEquals(shown.slice(0, 3), [
    "Jid                   User  Function     Target       Failed",
    "--------------------  ----  -----------  -----------  ------",
    "20260101000000000001  ann   test.ping    *                10",
  ]);
  assertEquals(shown.length, 4);
  assertEquals(Math.max(...lines(60).map((line) => [...line].length)), 60);
  assertEquals(Math.max(...lines().map((line) => [...line].length)), 110);
  // Columns keep six characters, and the first one all of its own.
  assertEquals(lines(10).slice(0, 3), [
    "Jid                   User  Funct\u2026  Target  Failed",
    "--------------------  ----  ------  ------  ------",
    "20260101000000000001  ann   test.\u2026  *           10",
  ]);
  assertEquals(formatOutput([], { out: "overview", color: false }), "");
  assertEquals(formatOutput("text", { out: "overview", color: false }), "text");
});
