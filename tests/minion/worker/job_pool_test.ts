/** @module */
import { detachedDirectory, writeDetached } from "#lib/programs/detached_commands.ts";
import { isMap, map, repr, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually, WITHIN_MS } from "#tests/support/eventually.ts";
import { testOpts } from "#tests/support/calls/job_context.ts";
import { endedBy, hostData, inTime, PoolFixture } from "./pool_fixture.ts";

Deno.test("a job's outcome has its return, its retcode and whether it succeeded", async () => {
  await using fixture = new PoolFixture();
  assertEquals(await fixture.start("test.ping").outcome, map({ return: true, retcode: 0, success: true }));
  const failed = await fixture.start("no.such").outcome;
  assertEquals([failed.get("retcode"), failed.get("success"), failed.get("out")], [1, false, "nested"]);
  assertEquals(
    await fixture.start(["test.ping", "test.echo"], [], ["x"]).outcome,
    map({
      return: { "test.ping": true, "test.echo": "x" },
      retcode: { "test.ping": 0, "test.echo": 0 },
      success: { "test.ping": true, "test.echo": true },
    }),
  );
});

Deno.test("jobs run concurrently, each in its own worker", async () => {
  await using fixture = new PoolFixture();
  const path = `${fixture.root}/go`;
  const waiting = [1, 2, 3, 4].map(() => fixture.start("own.wait", path));
  assertEquals(fixture.pool.size, 4);
  assertEquals(await fixture.run("test.ping"), true);
  Deno.writeTextFileSync(path, "gone");
  for (const { outcome } of waiting) assertEquals((await outcome).get("return"), "gone");
  assertEquals(fixture.pool.size, 0);
});

Deno.test("one worker runs several jobs in turn", async () => {
  await using fixture = new PoolFixture();
  const seen = new Set<Value>();
  for (let i = 0; i < 10; i++) seen.add(await fixture.run("own.thread"));
  // A slow job, like the first one on a busy machine, makes the pool prepare another worker, which may get a job.
  assert(seen.size <= 5, `${seen.size} workers for ten jobs`);
});

Deno.test("many small jobs at once share a few workers; jobs that last get one each", async () => {
  await using fixture = new PoolFixture();
  const workers = async () => (await fixture.pool.describe()).map((line) => Number(/^Job-(\d+)/.exec(line)?.[1]));
  assertEquals(await fixture.run("test.ping"), true);
  const pings = Array.from({ length: 200 }, () => fixture.start("test.ping"));
  assertEquals(fixture.pool.size, 200);
  for (const { outcome } of pings) assertEquals((await outcome).get("return"), true);
  const started = Math.max(...await workers());
  assert(started < 100, `${started} workers for 200 jobs`);
  const sleeping = [1, 2, 3, 4, 5].map(() => fixture.start("test.sleep", 600));
  assertEquals(await fixture.run("test.ping"), true);
  for (const { jid } of sleeping) assert(fixture.pool.signal(jid, 9));
  for (const { outcome } of sleeping) assertEquals(await outcome, endedBy(9));
});

Deno.test("a command whose keeper has gone is lost, and the job says so; a keeper that listens elsewhere is asked for", async () => {
  await using fixture = new PoolFixture();
  let path = "";
  let listening = 0;
  const listen = () => {
    path = `${fixture.root}/${++listening}.ipc`;
    const listener = Deno.listen({ transport: "unix", path });
    void (async () => {
      for await (const connection of listener) {
        await connection.read(new Uint8Array(65_536));
        connection.close();
      }
    })();
    return listener;
  };
  fixture.answer = ({ what }) => Promise.resolve(what === "keeper" ? path : true);
  for (let i = 0; i < 2; i++) {
    const listener = listen();
    const outcome = await inTime(fixture.start("cmd.run", "true").outcome, "the outcome");
    assertEquals([outcome.get("retcode"), outcome.get("success")], [1, false]);
    const message = String(outcome.get("return"));
    assertStringIncludes(message, "The process that ran the command has ended");
    // This minion has not ended: the job has failed.
    assertEquals([outcome.has("interrupted"), message.includes("The minion ended")], [false, false]);
    listener.close();
    Deno.removeSync(path);
  }
  assertEquals(fixture.requests.map(({ what }) => what), ["keeper", "keeper"]);
  const outcome = await inTime(fixture.start("cmd.run", "true").outcome, "the outcome");
  assertEquals(outcome.get("success"), false);
  assertStringIncludes(String(outcome.get("return")), `reason: The keeper of commands does not listen at ${path}`);
});

Deno.test("a resumed job whose function cannot be run again says that it was interrupted", async () => {
  await using fixture = new PoolFixture();
  for (const fun of ["test.ping", "file.touch"]) {
    const load = map({ jid: "20260101000000007777", fun, arg: [], tgt: "*", tgt_type: "glob", ret: "", user: "root" });
    const outcome = await inTime(fixture.pool.run(load, () => {}, { resumed: true }), `the outcome of ${fun}`);
    assertEquals([outcome.get("interrupted"), outcome.get("retcode")], [true, 1], fun);
  }
});

Deno.test("a resumed job whose command went on is interrupted if no one knows how the command ended", async () => {
  await using fixture = new PoolFixture();
  const { cachedir } = testOpts({ root_dir: fixture.root });
  const jid = "20260101000000008888";
  const gone = { pid: 2 ** 30, at: "" };
  Deno.mkdirSync(detachedDirectory(cachedir), { recursive: true });
  writeDetached(cachedir, { jid, number: 1, words: ["sh", "-c", "true"], process: gone, keeper: gone });
  const load = map({ jid, fun: "cmd.run", arg: ["true"], tgt: "*", tgt_type: "glob", ret: "", user: "root" });
  const outcome = await inTime(fixture.pool.run(load, () => {}, { resumed: true }), "the outcome");
  const message = "The minion ended while it ran this job\nIt is not known how the command ended: its keeper has ended";
  assertEquals(
    outcome,
    map({ return: message, retcode: 1, success: false, out: "nested", interrupted: true }),
  );
});

Deno.test("after a reload the next job has the changed module; a running job keeps the old one", async () => {
  await using fixture = new PoolFixture();
  const path = `${fixture.root}/go`;
  const waiting = fixture.start("own.wait", path);
  await eventually(
    async () => (await fixture.pool.describe()).some((line) => line.includes("running own.wait")),
    { what: "the job to have its module" },
  );
  assertEquals(await fixture.run("own.version"), 1);
  assertMatch(String(await fixture.run("own.added")), /^'own\.added' is not available\./);
  fixture.write("own", "export function version() { return 2; }\nexport function added() { return 'here'; }");
  fixture.write("fresh", "export function hello() { return 'hello'; }");
  assertEquals(await fixture.run("own.version"), 1);
  await fixture.pool.reload();
  assertEquals(await fixture.run("own.version"), 2);
  assertEquals(await fixture.run("own.added"), "here");
  assertEquals(await fixture.run("fresh.hello"), "hello");
  Deno.writeTextFileSync(path, "gone");
  assertEquals((await waiting.outcome).get("return"), "gone");
  for (let i = 0; i < 3; i++) assertEquals(await fixture.run("own.version"), 2);
});

Deno.test("later jobs have new grains, in old and new workers", async () => {
  await using fixture = new PoolFixture();
  assertEquals(await fixture.run("grains.get", "os"), "Debian");
  fixture.pool.setHostData(hostData({ os: "Fedora" }));
  for (const ran of await Promise.all([1, 2, 3].map(() => fixture.run("grains.get", "os")))) {
    assertEquals(ran, "Fedora");
  }
});

Deno.test("a job can list and terminate the other running jobs", async () => {
  await using fixture = new PoolFixture();
  const hung = fixture.start("own.forever");
  const [job] = [await fixture.run("saltutil.running")].flat();
  assert(isMap(job ?? null) && job instanceof Map);
  assertEquals([...job.keys()], ["pid", "fun", "arg", "tgt", "jid", "ret", "tgt_type", "user"]);
  assertEquals([job.get("jid"), job.get("fun")], [hung.jid, "own.forever"]);
  const pid = job.get("pid");
  assert(typeof pid === "number" && pid !== Deno.pid, "a job of a custom module has a process of its own");
  assertEquals(await fixture.run("saltutil.find_job", hung.jid), job);
  assertEquals(await fixture.run("saltutil.kill_job", hung.jid), `Signal 9 sent to job ${hung.jid} at pid ${pid}`);
  assertEquals(await hung.outcome, endedBy(9));
  assertEquals(await fixture.run("saltutil.find_job", hung.jid), new Map());
});

Deno.test("a job's requests to its minion are answered, and a refusal is thrown in the job", async () => {
  await using fixture = new PoolFixture();
  assertEquals(await fixture.run("saltutil.refresh_pillar"), true);
  assertEquals(fixture.requests, [{ what: "refresh", refresh: "pillar" }]);
  fixture.answer = () => Promise.reject(new Error("the master is away"));
  assertStringIncludes(String(await fixture.run("saltutil.refresh_pillar")), "the master is away");
});

Deno.test("a run of states asks its minion for new grains, and goes on with them", async () => {
  await using fixture = new PoolFixture(WITHIN_MS, undefined, { file_client: "local" });
  const answers: Readonly<Record<string, Value>> = { grains: map({ os: "Fedora" }), pillar: new Map() };
  fixture.answer = ({ what }) => Promise.resolve(answers[what] ?? true);
  const states = map({
    a: map({ test: ["nop", map({ reload_grains: true }), map({ order: 1 })] }),
    b: map({ module: ["run", map({ "grains.get": ["os"] }), map({ order: 2 })] }),
  });
  const outcome = await inTime(fixture.start("state.high", states).outcome, "the outcome");
  assertMatch(repr(outcome.get("return") ?? null), /'changes': \{'grains\.get': 'Fedora'\}/);
  assertEquals(fixture.requests.filter(({ what }) => what === "grains").length, 1);
});

Deno.test("describe has a line for each worker, a hung one too", async () => {
  await using fixture = new PoolFixture();
  const job = fixture.start("own.wait", `${fixture.root}/go`);
  const line = `running own.wait for job ${job.jid}`;
  const lines = await eventually(async () => {
    const described = await fixture.pool.describe();
    return described.some((described) => described.endsWith(line)) && described;
  }, { what: `"${line}"` });
  assert(lines.every((described) => /^Job-\d+: /.test(described)), lines.join("\n"));
});
