/** @module */
import { detachedDirectory, writeDetached } from "#lib/programs/detached_commands.ts";
import { statIfExists } from "#lib/os/atomic_file.ts";
import type { MinionRequest } from "#lib/minion/worker/job_protocol.ts";
import { pack } from "#lib/minion/worker/job_protocol.ts";
import { JobPool } from "#lib/minion/worker/job_pool.ts";
import { packOpts } from "#lib/config/opts_transfer.ts";
import { sendSignal } from "#lib/libc/libc.ts";
import { isMap, map, repr, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually, WITHIN_MS } from "#tests/support/eventually.ts";
import { testOpts } from "#tests/support/calls/job_context.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";

/** A custom module with functions that a minion has to survive. */
const MODULE = `
const stamp = Math.random();
export function forever() { for (;;); }
export function thread() { return stamp; }
export function version() { return 1; }
export async function wait(path) {
  for (;;) {
    try {
      const text = Deno.readTextFileSync(path);
      if (text !== "") return text; // made, and not yet written
    } catch { /* not yet made */ }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
wait.permissions = { read: true };
export function die() { return new Promise(() => setTimeout(() => { throw new Error("out of the blue"); })); }
export function leave() { return new Promise(() => Deno.exit(3)); }
export function reject() { Promise.reject(new Error("nobody watches")); return new Promise(() => {}); }
export async function ask(action) { return await new Promise(() => {}); }
`;

class Fixture implements AsyncDisposable {
  readonly root = Deno.makeTempDirSync({ prefix: "pool_" });
  readonly requests: MinionRequest[] = [];
  readonly lines: string[];
  readonly pool: JobPool;
  answer: (request: MinionRequest) => Promise<Value> = () => Promise.resolve(true);
  #jids = 0;

  /** @param termMs The time limit for a job to end itself. Default: enough for a busy machine. */
  constructor(termMs = WITHIN_MS, threadUrl?: URL, options: Readonly<Record<string, Value>> = {}) {
    this.write("own", MODULE);
    const { log, lines } = memoryLog();
    this.lines = lines;
    this.pool = new JobPool({
      opts: packOpts("minion", testOpts({ root_dir: this.root, extension_modules: `${this.root}/ext`, ...options })),
      hostData: knowledge({ os: "Debian" }),
      log,
      termMs,
      threadUrl,
      answer: (request) => {
        this.requests.push(request);
        return this.answer(request);
      },
    });
  }

  write(module: string, text: string): void {
    Deno.mkdirSync(`${this.root}/ext/modules`, { recursive: true });
    Deno.writeTextFileSync(`${this.root}/ext/modules/${module}.js`, text);
  }

  /** Starts a job without waiting for its end. */
  start(fun: Value, ...arg: Value[]): { jid: string; outcome: Promise<ValueMap> } {
    const jid = `2026010100000000${String(++this.#jids).padStart(4, "0")}`;
    const load = map({ jid, fun, arg, tgt: "*", tgt_type: "glob", ret: "", user: "root" });
    return { jid, outcome: this.pool.run(load) };
  }

  /**
   * Runs a job.
   * @returns Its return.
   */
  async run(fun: Value, ...arg: Value[]): Promise<Value> {
    return (await this.start(fun, ...arg).outcome).get("return") ?? null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.pool.close();
    Deno.removeSync(this.root, { recursive: true });
  }
}

const knowledge = (grains: Record<string, unknown>) => ({ grains: pack(map(grains)), pillar: pack(new Map()) });

async function soon<T>(outcome: Promise<T>, what: string, withinMs = WITHIN_MS): Promise<T> {
  let timer;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not come in ${withinMs} ms`)), withinMs);
  });
  try {
    return await Promise.race([outcome, late]);
  } finally {
    clearTimeout(timer);
  }
}

const killed = (signal: number) =>
  map({ return: `The job was ended by signal ${signal}`, retcode: 1, success: false, out: "nested" });

Deno.test("a job's outcome has its return, its retcode and whether it succeeded", async () => {
  await using fixture = new Fixture();
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
  await using fixture = new Fixture();
  const path = `${fixture.root}/go`;
  const waiting = [1, 2, 3, 4].map(() => fixture.start("own.wait", path));
  assertEquals(fixture.pool.size, 4);
  assertEquals(await fixture.run("test.ping"), true);
  Deno.writeTextFileSync(path, "gone");
  for (const { outcome } of waiting) assertEquals((await outcome).get("return"), "gone");
  assertEquals(fixture.pool.size, 0);
});

Deno.test("one worker runs several jobs in turn", async () => {
  await using fixture = new Fixture();
  const seen = new Set<Value>();
  for (let i = 0; i < 10; i++) seen.add(await fixture.run("own.thread"));
  // A slow job, like the first one on a busy machine, makes the pool prepare another worker, which may get a job.
  assert(seen.size <= 5, `${seen.size} workers for ten jobs`);
});

Deno.test("many small jobs at once share a few workers; jobs that last get one each", async () => {
  await using fixture = new Fixture();
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
  for (const { outcome } of sleeping) assertEquals(await outcome, killed(9));
});

Deno.test("a job that waits for a worker is listed, can be ended, and is interrupted by the minion's end", async () => {
  const fixture = new Fixture();
  assertEquals(await fixture.run("test.ping"), true);
  // More than there are idle workers at most.
  const [ended, left] = Array.from({ length: 8 }, () => fixture.start("test.sleep", 600)).slice(-2);
  assertEquals(fixture.pool.running().length, 8);
  assert(fixture.pool.signal(ended.jid, 15));
  assertEquals(await ended.outcome, killed(15));
  assertEquals(fixture.pool.running().map(({ jid }) => jid).includes(ended.jid), false);
  await fixture[Symbol.asyncDispose]();
  assertStringIncludes(String((await left.outcome).get("return")), "before it began this job");
});

Deno.test("a job that does not end is killed by signal 9, its process ends, and other jobs continue", async () => {
  await using fixture = new Fixture();
  const hung = fixture.start("own.forever");
  const pid = await begun(fixture, hung.jid);
  const path = `${fixture.root}/go`;
  const waiting = fixture.start("own.wait", path);
  assertEquals(await fixture.run("test.ping"), true);
  assertEquals(fixture.pool.running().map(({ jid, fun }) => [jid, fun]), [
    [hung.jid, "own.forever"],
    [waiting.jid, "own.wait"],
  ]);
  assertEquals(fixture.pool.signal(hung.jid, 9), true);
  assertEquals(await soon(hung.outcome, "the end of the job"), killed(9));
  assertEquals(lives(pid), false, "it goes on");
  assertEquals(fixture.pool.signal(hung.jid, 9), false);
  Deno.writeTextFileSync(path, "gone");
  assertEquals((await waiting.outcome).get("return"), "gone");
  assertEquals(await fixture.run("test.ping"), true);
});

Deno.test("a job that does not end gets a signal, and is killed after its time limit", async () => {
  await using fixture = new Fixture(20);
  const hung = fixture.start("own.forever");
  const pid = await begun(fixture, hung.jid);
  assertEquals(fixture.pool.signal(hung.jid, 15), true);
  assertEquals(await soon(hung.outcome, "the end of the job"), killed(15));
  assertEquals(lives(pid), false, "it goes on");
  assertEquals(await fixture.run("test.ping"), true);
});

Deno.test("a job can be killed before its worker has started", async () => {
  await using fixture = new Fixture();
  const jobs = [1, 2, 3].map(() => fixture.start("own.forever"));
  for (const { jid } of jobs) assertEquals(fixture.pool.signal(jid, 9), true);
  for (const { outcome } of jobs) assertEquals(await outcome, killed(9));
});

Deno.test("no process is signalled for a job that is not running", async () => {
  await using fixture = new Fixture();
  assertEquals(fixture.pool.signal("20260101000000000099", 15), false);
});

/**
 * Starts a command of a job that writes its pid and sleeps.
 * @returns The job, and the pid of the sleeping command.
 */
async function sleeping(fixture: Fixture, shell = "sleep 600") {
  const path = `${fixture.root}/pid`;
  const job = fixture.start(
    "cmd.run",
    `echo $$ > ${path}; ${shell} & echo $! >> ${path}; wait`,
    map({ __kwarg__: true, python_shell: true }),
  );
  const pids = await eventually(() => {
    const lines = Deno.readTextFileSync(path).trim().split("\n");
    return lines.length === 2 && lines.map(Number);
  }, { what: "the command" });
  assertEquals(pids.map((pid) => sendSignal(pid, 0)), [true, true]);
  // The shell can be faster than the worker's record of the started process; a worker that describes itself has
  // recorded it.
  await eventually(async () => (await fixture.pool.describe()).some((line) => line.endsWith(`for job ${job.jid}`)), {
    what: "the description of the job's worker",
  });
  return { job, pids };
}

function lives(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(Deno.readTextFileSync(`/proc/${pid}/status`));
  } catch {
    return false;
  }
}

/**
 * Waits until a job of a custom module has started.
 * @returns Its process id.
 */
async function begun(fixture: Fixture, jid: string): Promise<number> {
  await eventually(async () => (await fixture.pool.describe()).some((line) => line.endsWith(`for job ${jid}`)), {
    what: `the beginning of job ${jid}`,
  });
  const job = fixture.pool.running().find((running) => running.jid === jid);
  assert(job !== undefined && job.pid !== null && job.pid !== Deno.pid);
  return job.pid;
}

async function gone(pids: number[]): Promise<void> {
  await eventually(() => !pids.some(lives), { what: `the end of ${pids}` });
}

for (const signal of [15, 9, 2]) {
  Deno.test(`signal ${signal} ends the commands of a job with their children, and the job`, async () => {
    await using fixture = new Fixture();
    const { job, pids } = await sleeping(fixture);
    assertEquals(fixture.pool.signal(job.jid, signal), true);
    const outcome = await soon(job.outcome, "the end of the job");
    // Other signals kill the worker only as the last resort.
    assertEquals(outcome.get("return") === killed(signal).get("return"), signal === 9);
    await gone(pids);
    assertEquals(await fixture.run("test.ping"), true);
  });
}

Deno.test("SIGTERM ends a job that sleeps without a command", async () => {
  await using fixture = new Fixture();
  const job = fixture.start("test.sleep", 60);
  // The job must have begun to receive messages; before that the message is queued.
  fixture.pool.signal(job.jid, 15);
  const outcome = await soon(job.outcome, "the end of the job");
  assertEquals([outcome.get("success"), outcome.get("return") === killed(15).get("return")], [false, false]);
});

Deno.test("a command whose keeper has gone is lost, and the job says so; a keeper that listens elsewhere is asked for", async () => {
  await using fixture = new Fixture();
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
    const outcome = await soon(fixture.start("cmd.run", "true").outcome, "the outcome");
    assertEquals([outcome.get("retcode"), outcome.get("success")], [1, false]);
    const message = String(outcome.get("return"));
    assertStringIncludes(message, "The process that ran the command has ended");
    // This minion has not ended: the job has failed.
    assertEquals([outcome.has("interrupted"), message.includes("The minion ended")], [false, false]);
    listener.close();
    Deno.removeSync(path);
  }
  assertEquals(fixture.requests.map(({ what }) => what), ["keeper", "keeper"]);
  const outcome = await soon(fixture.start("cmd.run", "true").outcome, "the outcome");
  assertEquals(outcome.get("success"), false);
  assertStringIncludes(String(outcome.get("return")), `reason: The keeper of commands does not listen at ${path}`);
});

Deno.test("a resumed job whose function cannot be run again says that it was interrupted", async () => {
  await using fixture = new Fixture();
  for (const fun of ["test.ping", "file.touch"]) {
    const load = map({ jid: "20260101000000007777", fun, arg: [], tgt: "*", tgt_type: "glob", ret: "", user: "root" });
    const outcome = await soon(fixture.pool.run(load, () => {}, { resumed: true }), `the outcome of ${fun}`);
    assertEquals([outcome.get("interrupted"), outcome.get("retcode")], [true, 1], fun);
  }
});

Deno.test("a resumed job whose command went on is interrupted if no one knows how the command ended", async () => {
  await using fixture = new Fixture();
  const { cachedir } = testOpts({ root_dir: fixture.root });
  const jid = "20260101000000008888";
  const gone = { pid: 2 ** 30, at: "" };
  Deno.mkdirSync(detachedDirectory(cachedir), { recursive: true });
  writeDetached(cachedir, { jid, number: 1, words: ["sh", "-c", "true"], process: gone, keeper: gone });
  const load = map({ jid, fun: "cmd.run", arg: ["true"], tgt: "*", tgt_type: "glob", ret: "", user: "root" });
  const outcome = await soon(fixture.pool.run(load, () => {}, { resumed: true }), "the outcome");
  const message = "The minion ended while it ran this job\nIt is not known how the command ended: its keeper has ended";
  assertEquals(
    outcome,
    map({ return: message, retcode: 1, success: false, out: "nested", interrupted: true }),
  );
});

const DEATHS = [["own.die", "out of the blue"], ["own.reject", "nobody watches"], [
  "own.leave",
  "Deno.exit(3)",
]] as const;
for (const [fun, says] of DEATHS) {
  Deno.test(`a job whose worker dies (${fun}) has that as its outcome, and the next one runs`, async () => {
    await using fixture = new Fixture();
    const outcome = await soon(fixture.start(fun).outcome, "the outcome");
    assertEquals([outcome.get("retcode"), outcome.get("success")], [1, false]);
    assertStringIncludes(String(outcome.get("return")), says);
    assertEquals(await fixture.run("test.ping"), true);
    assertEquals(fixture.pool.size, 0);
  });
}

Deno.test("the commands of a job end when the process of its custom module dies", async () => {
  await using fixture = new Fixture();
  const path = `${fixture.root}/pid`;
  fixture.write(
    "own",
    `export const dying = { permissions: "all", async run(_bound, context) {
      void context.call("cmd.run", ["echo $$ > ${path}; exec sleep 600"], new Map([["python_shell", true]]));
      while (!(await Deno.readTextFile("${path}").catch(() => "")).endsWith("\\n")) await new Promise((r) => setTimeout(r, 5));
      setTimeout(() => { throw new Error("out of the blue"); });
      await new Promise(() => {});
    } };`,
  );
  await fixture.pool.reload();
  const outcome = await soon(fixture.start("own.dying").outcome, "the outcome");
  assertStringIncludes(String(outcome.get("return")), "out of the blue");
  await gone([Number(Deno.readTextFileSync(path))]);
});

Deno.test("the function of a custom module ends when the thread dies whose job called it", async () => {
  await using fixture = new Fixture(WITHIN_MS, new URL("../../support/threads/calling_worker.ts", import.meta.url));
  const { jid, outcome } = fixture.start("test.cross_test", "own.forever");
  await eventually(
    async () => (await fixture.pool.describe()).some((line) => line.endsWith(`running own.forever for job ${jid}`)),
    { what: "the called function" },
  );
  fixture.pool.setHostData(knowledge({}));
  assertStringIncludes(String((await soon(outcome, "the outcome")).get("return")), "out of the blue");
  await eventually(async () => !(await fixture.pool.describe()).some((line) => line.includes("own.forever")), {
    what: "the end of what was called",
  });
});

Deno.test("after a reload the next job has the changed module; a running job keeps the old one", async () => {
  await using fixture = new Fixture();
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
  await using fixture = new Fixture();
  assertEquals(await fixture.run("grains.get", "os"), "Debian");
  fixture.pool.setHostData(knowledge({ os: "Fedora" }));
  for (const ran of await Promise.all([1, 2, 3].map(() => fixture.run("grains.get", "os")))) {
    assertEquals(ran, "Fedora");
  }
});

Deno.test("a job can list and terminate the other running jobs", async () => {
  await using fixture = new Fixture();
  const hung = fixture.start("own.forever");
  const [job] = [await fixture.run("saltutil.running")].flat();
  assert(isMap(job ?? null) && job instanceof Map);
  assertEquals([...job.keys()], ["pid", "fun", "arg", "tgt", "jid", "ret", "tgt_type", "user"]);
  assertEquals([job.get("jid"), job.get("fun")], [hung.jid, "own.forever"]);
  const pid = job.get("pid");
  assert(typeof pid === "number" && pid !== Deno.pid, "a job of a custom module has a process of its own");
  assertEquals(await fixture.run("saltutil.find_job", hung.jid), job);
  assertEquals(await fixture.run("saltutil.kill_job", hung.jid), `Signal 9 sent to job ${hung.jid} at pid ${pid}`);
  assertEquals(await hung.outcome, killed(9));
  assertEquals(await fixture.run("saltutil.find_job", hung.jid), new Map());
});

Deno.test("a job's requests to its minion are answered, and a refusal is thrown in the job", async () => {
  await using fixture = new Fixture();
  assertEquals(await fixture.run("saltutil.refresh_pillar"), true);
  assertEquals(fixture.requests, [{ what: "refresh", refresh: "pillar" }]);
  fixture.answer = () => Promise.reject(new Error("the master is away"));
  assertStringIncludes(String(await fixture.run("saltutil.refresh_pillar")), "the master is away");
});

Deno.test("a run of states asks its minion for new grains, and goes on with them", async () => {
  await using fixture = new Fixture(WITHIN_MS, undefined, { file_client: "local" });
  const answers: Readonly<Record<string, Value>> = { grains: map({ os: "Fedora" }), pillar: new Map() };
  fixture.answer = ({ what }) => Promise.resolve(answers[what] ?? true);
  const states = map({
    a: map({ test: ["nop", map({ reload_grains: true }), map({ order: 1 })] }),
    b: map({ module: ["run", map({ "grains.get": ["os"] }), map({ order: 2 })] }),
  });
  const outcome = await soon(fixture.start("state.high", states).outcome, "the outcome");
  assertMatch(repr(outcome.get("return") ?? null), /'changes': \{'grains\.get': 'Fedora'\}/);
  assertEquals(fixture.requests.filter(({ what }) => what === "grains").length, 1);
});

Deno.test("describe has a line for each worker, a hung one too", async () => {
  await using fixture = new Fixture();
  const job = fixture.start("own.wait", `${fixture.root}/go`);
  const line = `running own.wait for job ${job.jid}`;
  const lines = await eventually(async () => {
    const described = await fixture.pool.describe();
    return described.some((described) => described.endsWith(line)) && described;
  }, { what: `"${line}"` });
  assert(lines.every((described) => /^Job-\d+: /.test(described)), lines.join("\n"));
});

Deno.test("close terminates jobs and their commands, also unwilling ones, and their outcome reports that", async () => {
  await using fixture = new Fixture();
  const hung = fixture.start("own.forever");
  const pid = await begun(fixture, hung.jid);
  const { job, pids } = await sleeping(fixture, "trap '' TERM; sleep 600");
  await fixture.pool.close();
  for (const { outcome } of [hung, job]) {
    assertEquals((await outcome).get("return"), "The minion ended while it ran this job");
  }
  assertEquals(lives(pid), false, "the job that hangs goes on");
  await gone(pids);
  assertEquals(await fixture.run("test.ping"), "The minion ended before it began this job");
});

Deno.test("a job that is killed before its worker has its permissions never starts", async () => {
  await using fixture = new Fixture();
  const path = `${fixture.root}/begun`;
  // The function's declaration is not known yet: the first worker, which has no permissions, has to report it.
  const { jid, outcome } = fixture.start("cmd.run", `touch ${path}`);
  assertEquals(fixture.pool.signal(jid, 15), true);
  assertEquals(await soon(outcome, "the end of the job"), killed(15));
  assertEquals(fixture.pool.size, 0);
  assertEquals(await fixture.run("test.ping"), true);
  assertEquals(statIfExists(path), undefined, "the command was run all the same");
});

Deno.test("a thread whose job is killed while it waits ends; for one that never waits, the outcome says that it continues", async () => {
  await using fixture = new Fixture(WITHIN_MS, new URL("../../support/threads/looping_worker.ts", import.meta.url));
  const waiting = fixture.start("wait");
  const spinning = fixture.start("spin", 15_000);
  // A thread that is still starting does not answer either, so all others must answer.
  await eventually(async () => {
    const busy = (await fixture.pool.describe()).filter((line) => line.includes("busy: no answer"));
    return busy.length === 1;
  }, { what: "the thread that never waits" });
  for (const { jid } of [waiting, spinning]) assertEquals(fixture.pool.signal(jid, 9), true);
  assertEquals((await waiting.outcome).get("return"), "The job was ended by signal 9");
  const result = (await spinning.outcome).get("return");
  assertEquals(
    result,
    "The job was ended by signal 9, and its thread continues: it uses a processor until the minion is restarted",
  );
  assert(fixture.lines.some((line) => line.startsWith(`CRITICAL Job ${spinning.jid}: `) && line.includes("continues")));
});
