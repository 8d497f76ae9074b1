/**
 * The parts of live output: the minion's sender, the master's store, the terminal's display.
 * @module
 */

import { asyncJobStore } from "#lib/jobs/async_store.ts";
import { jobStore } from "#tests/support/fleet/job_store.ts";
import type { OutputStore, SyncJobStore } from "#lib/jobs/store.ts";
import { batchFromMap, batchToMap, type LiveBatch, type LivePart } from "#lib/protocol/live_batch.ts";
import { LiveLines } from "#lib/output/live_lines.ts";
import { LiveOutput, type WrittenOutput } from "#lib/minion/worker/live_output.ts";
import { OutputFollower } from "#lib/client/output_follower.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { finish } from "#tests/support/finish.ts";

const JID = "20260101000000000001";
const utf8 = new TextEncoder();
const FREE = { rateBytes: 2 ** 30, maxBytes: 2 ** 30 };

function written(text: string | Uint8Array, over: Partial<WrittenOutput> = {}): WrittenOutput {
  const bytes = typeof text === "string" ? utf8.encode(text) : text;
  return { command: 1, stream: "stdout", bytes, encoding: null, ...over };
}

/** A master that accepts or does not accept batches. */
class Taker {
  readonly batches: LiveBatch[] = [];
  takes = true;
  readonly send = (batch: LiveBatch): Promise<boolean> => {
    if (this.takes) this.batches.push(batch);
    return Promise.resolve(this.takes);
  };
  get text(): string {
    return this.batches.flatMap(({ parts }) => parts).map(describe).join("");
  }
}

function describe(part: LivePart): string {
  return "leftOut" in part ? `<${part.leftOut}>` : part.text;
}

Deno.test("the first line is sent at once, and the batch numbers start with 1", async () => {
  const master = new Taker();
  const output = new LiveOutput({ send: master.send, limits: FREE });
  output.write(written("one\n"));
  assertEquals(master.text, "one\n");
  output.write(written("two\n"));
  output.write(written("err\n", { stream: "stderr" }));
  output.write(written("three\n"));
  assertEquals(await output.end(1_000), [{
    seq: 2,
    parts: [
      { command: 1, stream: "stdout", text: "two\n" },
      { command: 1, stream: "stderr", text: "err\n" },
      { command: 1, stream: "stdout", text: "three\n" },
    ],
  }]);
  assertEquals(master.text, "one\n");
});

Deno.test("a character that is split over chunks is joined, separately in each stream", async () => {
  const bytes = utf8.encode("→€\n");
  const output = new LiveOutput({ send: () => Promise.resolve(true), limits: FREE });
  const got: LiveBatch[] = [];
  for (const byte of bytes) output.write(written(Uint8Array.of(byte)));
  output.write(written(Uint8Array.of(0xe2, 0x82)));
  output.write(written(Uint8Array.of(0xe2), { stream: "stderr" }));
  output.write(written("\x86\x92ascii", { stream: "stderr", encoding: "latin-1" }));
  got.push(...await output.end(1_000));
  const text = (stream: string) =>
    got.flatMap(({ parts }) => parts).map((part) => "text" in part && part.stream === stream ? part.text : "").join("");
  assertEquals(text("stdout"), "→€\n\ufffd"); // an incomplete character at the end
});

Deno.test("output in another encoding is decoded", async () => {
  const output = new LiveOutput({ send: () => Promise.resolve(false), limits: FREE });
  output.write(written(Uint8Array.of(0xe4, 0x0a), { encoding: "latin-1" }));
  assertEquals((await output.end(0)).flatMap(({ parts }) => parts).map(describe), ["ä\n"]);
});

Deno.test("a batch that the master did not accept is sent again under its number, at the end by the caller", async () => {
  const master = new Taker();
  master.takes = false;
  const output = new LiveOutput({ send: master.send, limits: FREE });
  output.write(written("one\n"));
  output.write(written("two\n"));
  const left = await output.end(1_000);
  assertEquals(left.map(({ seq }) => seq), left.map((_, i) => i + 1));
  assertEquals(left.flatMap(({ parts }) => parts).map(describe).join(""), "one\ntwo\n");

  const patient = new LiveOutput({ send: master.send, limits: FREE });
  patient.write(written("again\n"));
  await new Promise((resolve) => setTimeout(resolve, 0));
  master.takes = true;
  await eventually(() => master.text === "again\n", { what: "the second try" });
  assertEquals(await patient.end(1_000), []);
  assertEquals(master.batches[0].seq, 1);
});

Deno.test("output that is written faster than it is sent is dropped by whole lines, oldest first, and counted", async () => {
  const output = new LiveOutput({ send: () => Promise.resolve(false), limits: FREE });
  let lines = 0;
  // The chunks do not end at line ends.
  let rest = "";
  while (lines < 60_000) {
    for (; rest.length < 997; lines++) rest += `line ${lines}\n`;
    output.write(written(rest.slice(0, 997)));
    rest = rest.slice(997);
  }
  output.write(written(rest));
  const parts = (await output.end(0)).flatMap((batch) => batch.parts);
  const gaps = parts.filter((part) => "leftOut" in part);
  assertEquals(gaps.length, 1);
  const text = parts.map((part) => "text" in part ? part.text : "|").join("");
  const [before, after] = text.split("|");
  const numbers = (some: string) => some.split("\n").filter((line) => line !== "");
  const kept = numbers(after);
  assertEquals(kept[0], `line ${lines - kept.length}`);
  assertEquals(kept.at(-1), `line ${lines - 1}`);
  // A line whose beginning was already sent counts as dropped.
  const whole = before === "" ? 0 : before.split("\n").length - 1;
  assertEquals(gaps[0].leftOut, lines - kept.length - whole);
});

Deno.test("the rate is not exceeded, and nothing is lost while it fits the buffer", async () => {
  const master = new Taker();
  const output = new LiveOutput({ send: master.send, limits: { rateBytes: 1_000, maxBytes: 2 ** 20 } });
  const startMs = performance.now();
  for (let i = 0; i < 20; i++) output.write(written(`${"x".repeat(99)}\n`));
  output.write(written("y\n".repeat(500)));
  await eventually(() => master.text.length >= 2_000, { what: "two thousand bytes" });
  const tookMs = performance.now() - startMs;
  assert(tookMs > 900, `2,000 bytes at 1,000 a second took ${tookMs} ms`);
  const rest = await output.end(1_000);
  assertEquals(
    master.text + rest.flatMap(({ parts }) => parts).map(describe).join(""),
    `${"x".repeat(99)}\n`.repeat(20) + "y\n".repeat(500),
  );
});

Deno.test("the total maximum is not exceeded; the missing amount is reported at the end", async () => {
  const master = new Taker();
  const output = new LiveOutput({ send: master.send, limits: { rateBytes: 2 ** 30, maxBytes: 10 } });
  for (let i = 0; i < 100; i++) output.write(written(`line ${i}\n`));
  output.write(written("unfinished"));
  const rest = await output.end(1_000);
  assertEquals(master.text + rest.flatMap(({ parts }) => parts).map(describe).join(""), "line 0\n<100>");
});

Deno.test("a batch is encoded and decoded unchanged, and invalid ones are refused", () => {
  const batch: LiveBatch = { seq: 3, parts: [{ leftOut: 4 }, { command: 2, stream: "stderr", text: "x" }] };
  assertEquals(batchFromMap(batchToMap(batch)), batch);
  const bad: Value[] = [
    null,
    map({}),
    map({ seq: 0, out: [] }),
    map({ seq: 1.5, out: [] }),
    map({ seq: "1", out: [] }),
    map({ seq: 1, out: ["x"] }),
    map({ seq: 1, out: [{ left_out: 0 }] }),
    map({ seq: 1, out: [{ command: 0, stream: "stdout", text: "" }] }),
    map({ seq: 1, out: [{ command: 1, stream: "stdin", text: "" }] }),
    map({ seq: 1, out: [{ command: 1, stream: "stdout", text: Uint8Array.of(255) }] }),
  ];
  for (const value of bad) assertEquals(batchFromMap(value), undefined);
});

function text(seq: number, what = `${seq}\n`): LiveBatch {
  return { seq, parts: [{ command: 1, stream: "stdout", text: what }] };
}

interface Kept extends Disposable {
  readonly cachedir: string;
  readonly jobs: SyncJobStore;
  readonly file: string;
  open(maxBytes?: number): OutputStore;
}

function kept(): Kept {
  const cachedir = Deno.makeTempDirSync({ prefix: "outputs_" });
  const jobs = jobStore(cachedir);
  jobs.prepare(JID);
  const open = (maxBytes = 2 ** 20) => jobStore(cachedir, { maxOutputBytes: maxBytes }).outputs;
  open().open(JID);
  const [top] = Deno.readDirSync(`${cachedir}/jobs`);
  const [rest] = Deno.readDirSync(`${cachedir}/jobs/${top.name}`);
  const file = `${cachedir}/jobs/${top.name}/${rest.name}/.live/web1`;
  return { cachedir, jobs, file, open, [Symbol.dispose]: () => Deno.removeSync(cachedir, { recursive: true }) };
}

Deno.test("output is stored in order, each batch once for all threads, readable only for its owner", () => {
  using place = kept();
  const [one, other] = [place.open(), place.open()];
  assertEquals(one.append(JID, "web1", text(1)), "stored");
  assertEquals(other.append(JID, "web1", text(1)), "duplicate");
  assertEquals(other.append(JID, "web1", text(2)), "stored");
  assertEquals(one.append(JID, "web1", text(2)), "duplicate");
  assertEquals(one.append(JID, "web1", text(4)), "stored");
  assertEquals(one.append(JID, "web1", text(3)), "duplicate");
  assertEquals(place.open().read(JID, "web1"), [text(1), text(2), text(4)]);
  assertEquals([one.ids(JID), one.has(JID, "web1"), one.has(JID, "db1")], [["web1"], true, false]);
  assertEquals((Deno.statSync(place.file).mode ?? 0) & 0o777, 0o600);
  assertEquals((Deno.statSync(place.file.replace("/web1", "")).mode ?? 0) & 0o777, 0o700);
});

Deno.test("output of an unwatched job, an unknown job or an invalid id is refused, and so is too much output", () => {
  using place = kept();
  const outputs = place.open(100);
  place.jobs.prepare("20260101000000000002");
  assertEquals(outputs.append("20260101000000000002", "web1", text(1)), "refused");
  assertEquals(outputs.append("20260101000000000003", "web1", text(1)), "refused");
  assertEquals(outputs.append(JID, "../web1", text(1)), "refused");
  assertEquals(outputs.append(JID, "web1", text(1, "x".repeat(100))), "stored");
  assertEquals(outputs.append(JID, "web1", text(2)), "refused");
  assertEquals(outputs.read(JID, "web1").length, 1);
  assertEquals(outputs.read("20260101000000000002", "web1"), []);
});

Deno.test("a truncated record is overwritten, and the records before it are kept", () => {
  using place = kept();
  place.open().append(JID, "web1", text(1));
  const { size } = Deno.statSync(place.file);
  place.open().append(JID, "web1", text(2));
  Deno.truncateSync(place.file, size + 7);
  assertEquals(place.open().read(JID, "web1"), [text(1)]);
  assertEquals(place.open().append(JID, "web1", text(2, "again\n")), "stored");
  assertEquals(place.open().read(JID, "web1"), [text(1), text(2, "again\n")]);
});

Deno.test("output is removed with its job", () => {
  using place = kept();
  place.open().append(JID, "web1", text(1));
  assertEquals(finish(place.jobs.clean({ nowMs: Date.now() + 86_400_000, keepSeconds: 3_600 })), 1);
  assertEquals(place.open().read(JID, "web1"), []);
});

Deno.test("a follower of a job gets each batch once and in order, including those without an event", async () => {
  using place = kept();
  const outputs = asyncJobStore(place.jobs).outputs;
  for (const seq of [1, 2, 3, 4, 5]) await outputs.append(JID, "web1", text(seq));
  const seen: string[] = [];
  const listener = (id: string, parts: readonly LivePart[]) => void seen.push(`${id} ${parts.map(describe).join("")}`);
  const follower = new OutputFollower(JID, { outputs, listener });
  await follower.receive("web1", text(3));
  await follower.receive("web1", text(2));
  await follower.receive("web1", text(4));
  await follower.catchUp("web1");
  await follower.catchUpAll();
  await follower.receive("db1", text(2)); // the first batch is lost
  assertEquals(seen, ["web1 1\n", "web1 2\n", "web1 3\n", "web1 4\n", "web1 5\n", "db1 2\n"]);
});

Deno.test("after the end, and without bytes, nothing is taken", async () => {
  const master = new Taker();
  const output = new LiveOutput({ send: master.send, limits: FREE });
  output.write(written(""));
  assertEquals(await output.end(1_000), []);
  output.write(written("late\n"));
  assertEquals([await output.end(1_000), master.batches], [[], []]);
});

Deno.test("of a long line whose beginning is left out the rest is left out too, up to its end", async () => {
  const master = new Taker();
  master.takes = false;
  const output = new LiveOutput({ send: master.send, limits: { ...FREE, requestBytes: 8 * 1_000 } });
  output.write(written("first\n"));
  output.write(written("x".repeat(262_144)));
  output.write(written("y"));
  output.write(written("\nlast\n"));
  const parts = (await output.end(1_000)).flatMap((batch) => batch.parts).map(describe).join("");
  assertEquals(parts, "first\n<1>last\n");
});

/** The display of these parts of web1, and of the return. */
function shown(parts: readonly LivePart[], options: { color?: boolean; omitShown?: boolean; value?: Value } = {}) {
  let out = "";
  const { color = false, omitShown = true, value = null } = options;
  using lines = new LiveLines({ write: (some) => out += some, color, omitShown });
  for (const part of parts) lines.show("web1", [part]);
  return { out, end: lines.end("web1", value), after: () => out };
}

const part = (what: string, command = 1, stream: "stdout" | "stderr" = "stdout"): LivePart => ({
  command,
  stream,
  text: what,
});

/** The display of web1 if enough time passes after each of `texts`. */
async function shownSlowly(texts: readonly string[]): Promise<string[]> {
  const seen: string[] = [];
  using lines = new LiveLines({
    write: (some) => seen.push(some.trimEnd()),
    color: false,
    omitShown: true,
    unfinishedMs: 5,
  });
  for (const some of texts) {
    const before = seen.length;
    lines.show("web1", [part(some)]);
    if (some !== "\n") await eventually(() => seen.length > before, { what: `a line of ${some}` });
  }
  lines.end("web1", null);
  return seen;
}

Deno.test("the beginning of an incomplete line is shown, and not repeated with its end", async () => {
  const cases: [texts: string[], lines: string[]][] = [
    [["Continue? ", "\n", "yes\n"], ["web1: Continue?  …", "web1: yes"]],
    [["..", "..", " done\n"], ["web1: .. …", "web1: … .. …", "web1: …  done"]],
    [["10%\r", "20%\r", "\n", "done\n"], ["web1: 10%", "web1: 20%", "web1: done"]],
    [["no end"], ["web1: no end …"]],
  ];
  for (const [texts, lines] of cases) assertEquals(await shownSlowly(texts), lines);
});

Deno.test("a lone carriage return shows nothing until more follows", async () => {
  const seen: string[] = [];
  using lines = new LiveLines({ write: (some) => seen.push(some), color: false, omitShown: true, unfinishedMs: 1 });
  lines.show("web1", [part("\r"), part("half", 1, "stderr")]);
  await eventually(() => seen.length > 0, { what: "the beginning of the other stream" });
  assertEquals(seen, ["web1 (stderr): half …\n"]);
  lines.show("web1", [part("\nx\n")]);
  assertEquals(seen.slice(1), ["web1: \n", "web1: x\n"]);
});

Deno.test("a very long line is shown in parts, and output beyond the memory limit is only in the return", () => {
  const long = "x".repeat(65_536 + 3);
  assertEquals(shown([part(long)]).after(), `web1: ${"x".repeat(65_536)}\nweb1: xxx\n`);
  const text = `${"x".repeat(2 ** 20)}\nb`;
  assertEquals(shown([part(`${text}\n`)], { value: text }).end, "(the 2 lines above)");
  const much = `${"x".repeat(16 * 2 ** 20)}\nb`;
  assertEquals(shown([part(`${much}\n`)], { value: much }).end, much);
});

Deno.test("a line is shown when it ends, with its minion's name; the rest when the command ends", () => {
  const { out, after } = shown([part("one\ntw"), part("o\nthr"), part("ee")]);
  assertEquals([out, after()], ["web1: one\nweb1: two\n", "web1: one\nweb1: two\nweb1: three\n"]);
});

Deno.test("the rest of a line is shown before the next command's output, and stderr is marked", () => {
  const { out } = shown([part("half"), part("oops\n", 1, "stderr"), part("next\n", 2)]);
  assertEquals(out, "web1 (stderr): oops\nweb1: half\nweb1: next\n");
});

Deno.test("a carriage return ends a line, together with a newline only one", () => {
  assertEquals(shown([part("10%\r20%\r"), part("\n30%\r\n")]).after(), "web1: 10%\nweb1: 20%\nweb1: 30%\n");
});

Deno.test("dropped output is marked at its position, and no command can control the terminal", () => {
  const { after } = shown([part("ab"), { leftOut: 1 }, part("\x1b[2J\x9bx\u202e\n"), { leftOut: 2 }]);
  assertEquals(
    after(),
    "web1: ab\nweb1: … 1 line left out\nweb1: \\x1b[2J\\x9bx\\u202e\nweb1: … 2 lines left out\n",
  );
});

Deno.test("with colours, the minion's name is coloured, with another colour for stderr", () => {
  const { out } = shown([part("a\n"), part("b\n", 1, "stderr")], { color: true });
  assertEquals(out, "\x1b[0;36mweb1:\x1b[0;0m a\n\x1b[0;33mweb1 (stderr):\x1b[0;0m b\n");
});

const BRIEF: readonly (readonly [what: string, parts: readonly LivePart[], value: Value, end: Value])[] = [
  ["several lines", [part("a\nb\n\n")], "a\nb", "(the 2 lines above)"],
  ["several lines with their end", [part("a\nb\n")], "a\nb\n", "(the 2 lines above)"],
  ["one line", [part("a\n")], "a", "a"],
  ["another text", [part("a\nb\n")], "a\nc", "a\nc"],
  ["text with a gap", [part("a\n"), { leftOut: 1 }, part("b\n")], "a\nb", "a\nb"],
  [
    "a map",
    [part("a\nb\n"), part("c\nd\n", 1, "stderr")],
    map({ pid: 1, stdout: "a\nb", stderr: "c\nd" }),
    map({ pid: 1, stdout: "(the 2 lines above)", stderr: "(the 2 lines above)" }),
  ],
];
for (const [what, parts, value, end] of BRIEF) {
  Deno.test(`a return of ${what} is shown without the live output`, () => {
    assertEquals(shown(parts, { value }).end, end);
    assertEquals(shown(parts, { value, omitShown: false }).end, value);
  });
}
