/** @module */
import { JidMemory, type JidMemoryOptions } from "#lib/minion/masters/jid_memory.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";

const DAY_MS = 24 * 3_600_000;
const jid = (n: number) => `2026010100${String(n).padStart(10, "0")}`;
const KEY = "0123456789abcdef";

interface MemoryFixture extends Disposable {
  readonly path: string;
  readonly lines: string[];
  nowMs: number;
  open(options?: Partial<JidMemoryOptions>): JidMemory;
}

function memoryFixture(): MemoryFixture {
  const directory = Deno.makeTempDirSync({ prefix: "jids_" });
  const { log, lines } = memoryLog();
  const made: MemoryFixture = {
    path: `${directory}/jids`,
    lines,
    nowMs: 1_000_000,
    open: (options = {}) => new JidMemory({ min: 3, path: made.path, log, now: () => made.nowMs, ...options }),
    [Symbol.dispose]: () => Deno.removeSync(directory, { recursive: true }),
  };
  return made;
}

/** The remembered ones of the first `count` job ids. */
function known(memory: JidMemory, count: number): number[] {
  return Array.from({ length: count }, (_, i) => i).filter((i) => memory.has(jid(i)));
}

Deno.test("all ids of a day are remembered, also by the next process", () => {
  using it = memoryFixture();
  const memory = it.open();
  for (let i = 0; i < 5_000; i++) memory.add(jid(i));
  it.nowMs += DAY_MS - 1;
  memory.add(jid(5_000));
  assertEquals([known(memory, 5_001).length, known(it.open(), 5_001).length], [5_001, 5_001]);
});

Deno.test("ids older than a day are forgotten when enough others were added", () => {
  using it = memoryFixture();
  const memory = it.open();
  for (const i of [0, 1]) memory.add(jid(i));
  it.nowMs += DAY_MS;
  memory.add(jid(2)); // the third id: the first ones are too few for a generation
  memory.add(jid(3));
  assertEquals(known(memory, 4), [0, 1, 2, 3]);
  it.nowMs += DAY_MS;
  for (const i of [4, 5]) memory.add(jid(i));
  assertEquals(known(memory, 6), [0, 1, 2, 3, 4, 5]);
  memory.add(jid(6));
  assertEquals(known(memory, 7), [3, 4, 5, 6]);
  assertEquals(known(it.open(), 7), [3, 4, 5, 6]);
});

Deno.test("a minion that runs 100,000 jobs in less than a day forgets the earlier ones", () => {
  using it = memoryFixture();
  const memory = it.open({ path: undefined });
  for (let i = 0; i <= 200_000; i++) memory.add(jid(i));
  assertEquals([memory.has(jid(99_999)), memory.has(jid(100_000))], [false, true]);
});

Deno.test("the next process has the serial of the last publish with a job", () => {
  using it = memoryFixture();
  const memory = it.open();
  assertEquals(memory.lastSerial(KEY), 0);
  memory.add(jid(0), { key: KEY, serial: 7 });
  memory.add(jid(1), { key: KEY, serial: 9 });
  memory.add(jid(2)); // found among the jobs of a crashed process: its publish is not recorded
  assertEquals(it.open().lastSerial(KEY), 9);
  it.nowMs += DAY_MS;
  it.open().add(jid(3));
  assertEquals(it.open().lastSerial(KEY), 9);
});

Deno.test("the serials of several masters are kept, also of one that has published nothing for days", () => {
  using it = memoryFixture();
  const other = "b".repeat(16);
  it.open().add(jid(0), { key: other, serial: 70 });
  for (let day = 1; day <= 3; day++) {
    it.nowMs += DAY_MS;
    const memory = it.open();
    for (let i = 0; i < 4; i++) memory.add(jid(day * 10 + i), { key: KEY, serial: day * 10 + i });
  }
  const memory = it.open();
  assertEquals([memory.lastSerial(other), memory.lastSerial(KEY)], [70, 33]);
});

Deno.test("a truncated or overwritten file is read as far as possible, and continued", () => {
  using it = memoryFixture();
  const memory = it.open();
  for (const i of [0, 1]) memory.add(jid(i), { key: KEY, serial: i });
  Deno.writeTextFileSync(it.path, Deno.readTextFileSync(it.path).slice(0, -5));
  const cut = it.open();
  assertEquals([known(cut, 2), cut.lastSerial(KEY)], [[0, 1], 0]);
  cut.add(jid(2));
  assertEquals(known(it.open(), 3), [0, 1, 2]);
  Deno.writeFileSync(it.path, new Uint8Array([0, 255, 10, 7]));
  assert(!it.lines.join("\n").includes("may run again"));
  const broken = it.open();
  assertStringIncludes(
    it.lines.join("\n"),
    "is empty or cut: a job of the last day that is published again may run again",
  );
  assertEquals(known(broken, 3), []);
  broken.add(jid(4));
  assertEquals(known(it.open(), 5), [4]);
});

Deno.test("a complete file is appended to, and one without a valid start time is written anew", () => {
  using it = memoryFixture();
  it.open().add(jid(0));
  const { ino } = Deno.statSync(it.path);
  it.open().add(jid(1));
  assertEquals(Deno.statSync(it.path).ino, ino);
  assertEquals(Deno.readTextFileSync(it.path), `1000000\n${jid(0)}\n${jid(1)}\n`);
  Deno.writeTextFileSync(it.path, `nonsense\n${jid(0)}\n`);
  it.nowMs += 5;
  it.open().add(jid(1));
  assertEquals(Deno.readTextFileSync(it.path), `1000005\n${jid(0)}\n${jid(1)}\n`);
});

Deno.test("a known id is not written again, and the file is always readable only for its owner", () => {
  using it = memoryFixture();
  const memory = it.open();
  const mode = () => (Deno.statSync(it.path).mode ?? 0) & 0o777;
  memory.add(jid(0));
  memory.add(jid(0), { key: KEY, serial: 1 });
  assertEquals([Deno.readTextFileSync(it.path), mode(), memory.lastSerial(KEY)], [`1000000\n${jid(0)}\n`, 0o600, 0]);
  Deno.removeSync(it.path);
  memory.add(jid(1));
  assertEquals([Deno.readTextFileSync(it.path), mode()], [`${jid(1)}\n`, 0o600]);
});

Deno.test("a failed write is logged, the id is remembered, and written with the next one", () => {
  using it = memoryFixture();
  const memory = it.open();
  Deno.mkdirSync(it.path);
  memory.add(jid(0));
  assert(memory.has(jid(0)));
  assertStringIncludes(it.lines.join("\n"), `ERROR Job id ${jid(0)} is remembered until this minion ends`);
  Deno.removeSync(it.path);
  memory.add(jid(1));
  assertEquals(known(it.open(), 2), [0, 1]);
});

Deno.test("an id that the journal cannot take is named in the log, and in the file all the same", async () => {
  using it = memoryFixture();
  const journal = {
    append() {
      throw new Error("no space left");
    },
    commit: () => Promise.resolve(),
  };
  const memory = it.open({ journal });
  memory.add(jid(0));
  assertEquals([known(memory, 1), it.lines], [
    [0],
    [`ERROR Job id ${jid(0)} is remembered until this minion ends: no space left`],
  ]);
  await Promise.resolve();
  assertEquals(known(it.open(), 1), [0]);
});

Deno.test("the serials of the 64 keys that were used last are kept, also by the next process", () => {
  using it = memoryFixture();
  const memory = it.open(), key = (n: number) => n.toString(16).padStart(16, "0");
  for (let n = 0; n < 64; n++) memory.add(jid(n), { key: key(n), serial: n + 1 });
  memory.add(jid(64), { key: key(0), serial: 100 });
  memory.add(jid(65), { key: key(64), serial: 65 });
  for (const one of [memory, it.open()]) {
    assertEquals([0, 1, 2, 64].map((n) => one.lastSerial(key(n))), [100, 0, 3, 65]);
    assertEquals(known(one, 66).length, 66);
  }
});
