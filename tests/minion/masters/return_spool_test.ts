/** @module */
import { RequestTimeoutError, RequestTooLargeError, WireError } from "#lib/errors.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { ReturnSpool, type SpoolLimits } from "#lib/minion/masters/return_spool.ts";
import { Float, isMap, map, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { AT_ONCE_MS } from "#tests/support/time.ts";

const DOWN = new RequestTimeoutError("tcp://master:4506", 1);

/** A spool directory, and a master that accepts each return unless `take` throws. */
class SpoolFixture implements Disposable {
  readonly directory = `${Deno.makeTempDirSync({ prefix: "spool_" })}/returns`;
  readonly taken: ValueMap[] = [];
  readonly tried: string[] = [];
  readonly lines: string[];
  readonly log;
  take: (load: ValueMap) => void | Promise<void> = () => {};
  /** Whether the master answers other requests. */
  there = false;
  probes = 0;

  constructor() {
    ({ log: this.log, lines: this.lines } = memoryLog());
  }

  open(retryMs: readonly [number, number] = [5, 20], limits: SpoolLimits = { maxBytes: 0, maxAgeMs: 0 }): ReturnSpool {
    return new ReturnSpool({
      directory: this.directory,
      retryMs,
      limits,
      log: this.log,
      replace: (load) => load.get("return") === "less" ? undefined : new Map(load).set("return", "less"),
      answers: () => {
        this.probes++;
        return Promise.resolve(this.there);
      },
      send: async (load) => {
        this.tried.push(String(load.get("jid")));
        await this.take(load);
        this.taken.push(load);
      },
    });
  }

  get jids(): string[] {
    return this.taken.map((load) => String(load.get("jid")));
  }

  get files(): string[] {
    return [...Deno.readDirSync(this.directory)].map(({ name }) => name).sort();
  }

  async until(count: number): Promise<void> {
    await eventually(() => this.taken.length >= count, { what: `${count} returns`, everyMs: 2 });
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.directory.replace(/\/returns$/, ""), { recursive: true });
  }
}

const ret = (jid: string, value: unknown = true) => map({ cmd: "_return", jid, return: value });
const down = () => {
  throw DOWN;
};

Deno.test("returns are sent in order, one after the other, and leave no file", async () => {
  using fixture = new SpoolFixture();
  let under = 0;
  fixture.take = async () => {
    assertEquals(++under, 1);
    await new Promise((resolve) => setTimeout(resolve, 1));
    under--;
  };
  const spool = fixture.open();
  for (const jid of ["1", "2", "3", "4"]) spool.add(ret(jid));
  assertEquals([spool.size, fixture.files.length], [4, 4]);
  await fixture.until(4);
  assertEquals(fixture.jids, ["1", "2", "3", "4"]);
  await spool.close();
  assertEquals([spool.size, fixture.files], [0, []]);
});

Deno.test("a spooled return is readable only for its owner, and is read back unchanged", async () => {
  using fixture = new SpoolFixture();
  fixture.take = down;
  const first = fixture.open([10_000, 10_000]);
  const value = new Map<never, never>();
  const load = ret("1", [new Float(1), 1, "é", new Uint8Array([0xff]), 2n ** 63n, null, value]);
  first.add(load);
  const [name] = fixture.files;
  assertEquals((Deno.statSync(`${fixture.directory}/${name}`).mode ?? 0) & 0o777, 0o600);
  assertEquals((Deno.statSync(fixture.directory).mode ?? 0) & 0o777, 0o700);
  await first.close();
  fixture.take = () => {};
  const second = fixture.open();
  assertEquals(second.size, 1);
  second.flush();
  await fixture.until(1);
  assertEquals(fixture.taken, [load]);
  await second.close();
});

Deno.test("a return is sent before it is written, and written in the same turn", async () => {
  using fixture = new SpoolFixture();
  const sent: string[][] = [];
  fixture.take = () => void sent.push(fixture.files);
  const spool = fixture.open();
  spool.add(ret("1"));
  assertEquals([sent, fixture.files.length], [[[]], 1]);
  await fixture.until(1);
  await spool.close();
  assertEquals(fixture.files, []);
});

Deno.test("returns of an earlier process are sent first, in order, on request", async () => {
  using fixture = new SpoolFixture();
  fixture.take = down;
  const first = fixture.open([10_000, 10_000]);
  for (const jid of ["1", "2", "3"]) first.add(ret(jid));
  await first.close();
  fixture.take = () => {};
  const second = fixture.open();
  await Promise.resolve();
  assertEquals(fixture.taken, []);
  second.add(ret("4"));
  await fixture.until(4);
  assertEquals(fixture.jids, ["1", "2", "3", "4"]);
  await second.close();
  assertEquals(fixture.files, []);
});

Deno.test("a return is queued behind those of an earlier process, even if the clock was set back since", async () => {
  using fixture = new SpoolFixture();
  Deno.mkdirSync(fixture.directory);
  const later = `${String((Date.now() + 60_000) * 1000).padStart(20, "0")}.p`;
  Deno.writeFileSync(`${fixture.directory}/${later}`, encode(ret("1"), "disk"));
  fixture.take = down;
  const spool = fixture.open([10_000, 10_000]);
  for (const jid of ["2", "3"]) spool.add(ret(jid));
  await spool.close();
  fixture.take = () => {};
  const next = fixture.open();
  next.flush();
  await fixture.until(3);
  assertEquals(fixture.jids, ["1", "2", "3"]);
  await next.close();
});

Deno.test("an unreachable master is sent the same return again, at growing intervals, until it accepts it", async () => {
  using fixture = new SpoolFixture();
  const times: number[] = [];
  fixture.take = () => {
    times.push(performance.now());
    if (times.length < 6) throw DOWN;
  };
  const spool = fixture.open([10, 40]);
  spool.add(ret("1"));
  spool.add(ret("2"));
  await fixture.until(2);
  assertEquals(fixture.tried, ["1", "1", "1", "1", "1", "1", "2"]);
  const waits = times.slice(1, 6).map((time, i) => time - times[i]);
  for (const [i, min] of [10, 20, 40, 40, 40].entries()) {
    assert(waits[i] >= min - 2, `wait ${i}: ${waits[i]} ms`);
  }
  assertStringIncludes(
    fixture.lines[0],
    "WARNING The return of job 1 waits; 2 in all: No reply from tcp://master:4506",
  );
  await spool.close();
});

Deno.test("flush ends the wait", async () => {
  using fixture = new SpoolFixture();
  fixture.take = down;
  const spool = fixture.open([60_000, 60_000]);
  spool.add(ret("1"));
  await eventually(() => fixture.lines.length === 1, { what: "a first failure" });
  fixture.take = () => {};
  spool.flush();
  await fixture.until(1);
  await spool.close();
});

Deno.test("a return that the master refuses does not delay the others", async () => {
  using fixture = new SpoolFixture();
  fixture.take = (load) => {
    if (load.get("jid") === "bad") throw new WireError("The master answered Some exception handling minion payload");
  };
  const spool = fixture.open();
  for (const jid of ["bad", "1", "2"]) spool.add(ret(jid));
  await fixture.until(2);
  assertEquals(fixture.jids, ["1", "2"]);
  await spool.close();
  assertEquals([spool.size, fixture.files.length], [1, 1]);
});

Deno.test("a return without an answer, while the master answers other requests, is queued behind the others", async () => {
  using fixture = new SpoolFixture();
  fixture.take = (load) => {
    if (load.get("jid") === "mute") throw DOWN;
  };
  fixture.there = true;
  const spool = fixture.open();
  for (const jid of ["mute", "1", "2"]) spool.add(ret(jid));
  await fixture.until(2);
  assertEquals(fixture.tried.slice(0, 4), ["mute", "mute", "1", "2"]);
  await spool.close();
  assertEquals([spool.size, fixture.files.length], [1, 1]);
});

Deno.test("while the master answers nothing, the order does not change", async () => {
  using fixture = new SpoolFixture();
  let silences = 6;
  fixture.take = () => {
    if (silences-- > 0) throw DOWN;
  };
  const spool = fixture.open();
  for (const jid of ["1", "2"]) spool.add(ret(jid));
  await fixture.until(2);
  assertEquals(fixture.tried, ["1", "1", "1", "1", "1", "1", "1", "2"]);
  assertEquals(fixture.probes, 5);
  await spool.close();
});

Deno.test("a refused return is retried at growing intervals, a new return is sent at once, and all are retried with a new master", async () => {
  using fixture = new SpoolFixture();
  fixture.take = (load) => {
    if (load.get("jid") === "bad") throw new WireError("The master answered Some exception handling minion payload");
  };
  // Pauses of 100 ms, 200 ms, 400 ms, …
  const spool = fixture.open([100, 1]);
  spool.add(ret("bad"));
  await eventually(() => fixture.tried.length === 4, { what: "four tries" });
  const started = performance.now();
  spool.add(ret("1"));
  await fixture.until(1);
  spool.add(ret("2"));
  await fixture.until(2);
  assert(fixture.tried.length <= 9, `${fixture.tried} in ${performance.now() - started} ms`);
  fixture.take = () => {};
  spool.flush();
  await fixture.until(3);
  assertEquals(fixture.jids, ["1", "2", "bad"]);
  await spool.close();
  assertEquals(fixture.files, []);
});

Deno.test("each new return is sent at once to a master that refuses every return", async () => {
  using fixture = new SpoolFixture();
  fixture.take = () => {
    throw new WireError("The master could not take it");
  };
  const spool = fixture.open([60_000, 60_000]);
  for (const jid of ["1", "2", "3"]) {
    spool.add(ret(jid));
    await eventually(() => fixture.tried.includes(jid), { what: `return ${jid}` });
  }
  fixture.take = () => {};
  spool.flush();
  await fixture.until(3);
  assertEquals(fixture.jids, ["1", "2", "3"]);
  await spool.close();
});

Deno.test("a return that is too large is replaced in the queue and on disk, and dropped if the replacement is too large", async () => {
  using fixture = new SpoolFixture();
  const limit = 100;
  fixture.take = (load) => {
    const bytes = encode(load, "disk").length;
    if (load.get("jid") === "huge" || bytes > limit) throw new RequestTooLargeError(bytes, limit);
    if (load.get("jid") === "1") throw DOWN;
  };
  const spool = fixture.open([60_000, 60_000]);
  spool.add(ret("huge"));
  spool.add(ret("1", "x".repeat(1_000)));
  await eventually(() => fixture.tried.join() === "huge,huge,1,1", { what: "four tries" });
  assertStringIncludes(
    fixture.lines.find((line) => line.startsWith("ERROR")) ?? "",
    "Dropped the return of job huge: A request of",
  );
  await spool.close();
  const [file, ...others] = fixture.files.map((name) => Deno.readFileSync(`${fixture.directory}/${name}`));
  assertEquals([others.length, decode(file, "disk")], [0, ret("1", "less")]);
});

Deno.test("an accepted return is not sent again: not after a failure of the next one, not by the next process", async () => {
  using fixture = new SpoolFixture();
  let failures = 0;
  fixture.take = (load) => {
    if (load.get("jid") === "2" && failures++ < 3) throw DOWN;
  };
  const spool = fixture.open();
  for (const jid of ["1", "2", "3"]) spool.add(ret(jid));
  await fixture.until(3);
  await spool.close();
  const next = fixture.open();
  next.flush();
  await next.close();
  assertEquals(fixture.tried, ["1", "2", "2", "2", "2", "3"]);
});

Deno.test("a file that is no return is moved away and logged; the others are sent", async () => {
  using fixture = new SpoolFixture();
  const broken = [
    new Uint8Array([0xc1]),
    new Uint8Array(),
    encode(["no", "map"], "disk"),
    encode(ret("9"), "disk").slice(0, -1),
  ];
  Deno.mkdirSync(fixture.directory);
  for (const [i, bytes] of broken.entries()) Deno.writeFileSync(`${fixture.directory}/00000${i}.p`, bytes);
  Deno.writeFileSync(`${fixture.directory}/000009.p`, encode(ret("1"), "disk"));
  Deno.writeFileSync(`${fixture.directory}/.half.tmp`, new Uint8Array(3));
  const spool = fixture.open();
  assertEquals(spool.size, 5);
  spool.flush();
  await fixture.until(1);
  assertEquals(fixture.jids, ["1"]);
  await eventually(() => spool.size === 0, { what: "an empty spool" });
  assertEquals(fixture.files, [".half.tmp", ...broken.map((_, i) => `00000${i}.p.broken`)]);
  assertEquals(fixture.lines.filter((line) => line.includes("of the return spool aside, as")).length, 4);
  await spool.close();
});

Deno.test("an unreadable file is kept, logged once, and delays nothing", async () => {
  using fixture = new SpoolFixture();
  Deno.mkdirSync(`${fixture.directory}/000001.p`, { recursive: true });
  const spool = fixture.open();
  spool.add(ret("1"));
  await fixture.until(1);
  await spool.close();
  assertEquals(fixture.files, ["000001.p"]);
  assertEquals(fixture.lines.filter((line) => line.startsWith("ERROR Cannot read 000001.p")).length, 1);
});

Deno.test("on a full disk a return is delivered from memory, and that is logged", async () => {
  using fixture = new SpoolFixture();
  fixture.take = down;
  const spool = fixture.open();
  Deno.removeSync(fixture.directory, { recursive: true }); // the disk counts as full
  spool.add(ret("1"));
  spool.add(ret("2"));
  fixture.take = () => {};
  await fixture.until(2);
  assertEquals(fixture.jids, ["1", "2"]);
  assertStringIncludes(fixture.lines[0], "ERROR The return of job 1 is in memory only");
  await spool.close();
});

Deno.test("close ends a wait at once; a later return is stored for the next process and not sent", async () => {
  using fixture = new SpoolFixture();
  fixture.take = down;
  const spool = fixture.open([60_000, 60_000]);
  spool.add(ret("1"));
  await eventually(() => fixture.tried.length === 1, { what: "a first try" });
  const started = performance.now();
  await spool.close();
  assert(performance.now() - started < AT_ONCE_MS);
  spool.add(ret("2"));
  spool.flush();
  await spool.close();
  assertEquals([fixture.tried, fixture.files.length], [["1"], 2]);
});

Deno.test("close while a return is being sent does not send the next one", async () => {
  using fixture = new SpoolFixture();
  const gate = Promise.withResolvers<void>();
  fixture.take = () => gate.promise;
  const spool = fixture.open();
  spool.add(ret("1"));
  spool.add(ret("2"));
  await eventually(() => fixture.tried.length === 1, { what: "a first try" });
  const closed = spool.close();
  gate.resolve();
  await closed;
  assertEquals([fixture.jids, fixture.files.length], [["1"], 1]);
  assert(isMap(fixture.taken[0]));
});

Deno.test("above the limit the oldest returns are dropped, with a warning that names the job; the newest stays, even if it is too large", async () => {
  using fixture = new SpoolFixture();
  fixture.take = down;
  const room = encode(ret("1", "x".repeat(100)), "disk").length * 3;
  const first = fixture.open([60_000, 60_000], { maxBytes: room, maxAgeMs: 0 });
  for (const jid of ["1", "2", "3", "4"]) first.add(ret(jid, "x".repeat(100)));
  assertEquals([first.size, fixture.files.length], [3, 3]);
  assertEquals(fixture.lines.filter((line) => line.includes("Dropped the return")), [
    "WARNING Dropped the return of job 1, which the master did not acknowledge: too many wait (return_spool_max_size)",
  ]);
  await first.close();
  // The next process has the same limit.
  const second = fixture.open([5, 5], { maxBytes: room - 1, maxAgeMs: 0 });
  assertEquals([second.size, fixture.files.length], [2, 2]);
  second.add(ret("5", "x".repeat(10_000)));
  assertEquals([second.size, fixture.files.length], [1, 1]);
  fixture.take = () => {};
  second.flush();
  await fixture.until(1);
  assertEquals(fixture.jids, ["5"]);
  await second.close();
  assertEquals(fixture.files, []);
});

Deno.test("a return that is too old is dropped with a warning, the others are sent", async () => {
  using fixture = new SpoolFixture();
  Deno.mkdirSync(fixture.directory);
  const name = (ageMs: number) => `${String((Date.now() - ageMs) * 1000).padStart(20, "0")}.p`;
  for (const [jid, ageMs] of [["old", 7_200_000], ["young", 60_000]] as const) {
    Deno.writeFileSync(`${fixture.directory}/${name(ageMs)}`, encode(ret(jid), "disk"));
  }
  const spool = fixture.open([5, 20], { maxBytes: 0, maxAgeMs: 3_600_000 });
  spool.flush();
  await fixture.until(1);
  assertEquals(fixture.jids, ["young"]);
  await spool.close();
  assertEquals(fixture.files, []);
  assertStringIncludes(fixture.lines[0], "WARNING Dropped the return of job old");
  assertStringIncludes(fixture.lines[0], "it is 3600 s old (return_spool_max_age)");
});

Deno.test("a hundred waiting returns are sent in order, although most are only on disk", async () => {
  using fixture = new SpoolFixture();
  fixture.take = down;
  const spool = fixture.open([60_000, 60_000]);
  const jids = Array.from({ length: 100 }, (_, i) => String(i));
  for (const jid of jids) spool.add(ret(jid));
  await eventually(() => fixture.tried.length === 1, { what: "a first try" });
  fixture.take = () => {};
  spool.flush();
  await fixture.until(100);
  assertEquals(fixture.jids, jids);
  await spool.close();
});
