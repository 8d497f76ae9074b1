/**
 * The limits of custom code: it can do to a minion, its other jobs and its host only what is documented. The modules
 * here are hostile, or import a hostile library.
 * @module
 */

import { pack } from "#lib/minion/worker/job_protocol.ts";
import { JobPool } from "#lib/minion/worker/job_pool.ts";
import { sendSignal } from "#lib/libc/libc.ts";
import { packMessage } from "#lib/minion/worker/module_messages.ts";
import { packOpts } from "#lib/config/opts_transfer.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually, WITHIN_MS } from "#tests/support/eventually.ts";
import { testOpts } from "#tests/support/calls/job_context.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";

class Fixture implements AsyncDisposable {
  readonly root = Deno.makeTempDirSync({ prefix: "custom_" });
  readonly lines: string[];
  readonly pool: JobPool;
  #jids = 0;

  constructor(
    modules: Readonly<Record<string, string>>,
    options: Readonly<Record<string, Value>> = {},
    grains: ValueMap = new Map(),
  ) {
    const directory = `${this.root}/ext/modules`;
    Deno.mkdirSync(directory, { recursive: true });
    for (const [name, text] of Object.entries(modules)) Deno.writeTextFileSync(`${directory}/${name}.js`, text);
    Deno.mkdirSync(`${this.root}/cache`);
    const { log, lines } = memoryLog();
    this.lines = lines;
    this.pool = new JobPool({
      opts: packOpts(
        "minion",
        testOpts({
          root_dir: this.root,
          cachedir: `${this.root}/cache`,
          extension_modules: `${this.root}/ext`,
          ...options,
        }),
      ),
      hostData: { grains: pack(grains), pillar: pack(new Map()) },
      log,
      termMs: 100,
      answer: () => Promise.resolve(true),
    });
  }

  start(fun: string, arg: Value[] = [], fields: Record<string, Value> = {}) {
    const jid = `2026010100000000${String(++this.#jids).padStart(4, "0")}`;
    return { jid, outcome: this.pool.run(map({ jid, fun, arg, tgt: "*", tgt_type: "glob", ret: "", ...fields })) };
  }

  async job(fun: string, ...arg: Value[]): Promise<ValueMap> {
    return await soon(this.start(fun, arg).outcome, fun);
  }

  async run(fun: string, ...arg: Value[]): Promise<Value> {
    return (await this.job(fun, ...arg)).get("return") ?? null;
  }

  /** The process of a running job, when its function has started. */
  async pidOf(jid: string): Promise<number> {
    await eventually(async () => (await this.pool.describe()).some((line) => line.endsWith(`for job ${jid}`)), {
      what: `the beginning of job ${jid}`,
    });
    const job = this.pool.running().find((running) => running.jid === jid);
    assert(job !== undefined && job.pid !== null && job.pid !== Deno.pid);
    return job.pid;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.pool.close();
    Deno.removeSync(this.root, { recursive: true });
  }
}

async function soon<T>(outcome: Promise<T>, what: string): Promise<T> {
  let timer;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`the end of ${what} did not come in ${WITHIN_MS} ms`)), WITHIN_MS);
  });
  try {
    return await Promise.race([outcome, late]);
  } finally {
    clearTimeout(timer);
  }
}

function lives(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(Deno.readTextFileSync(`/proc/${pid}/status`));
  } catch {
    return false;
  }
}

for (const [signal, how] of [[9, "killed at once"], [15, "told to end, and killed when it does not"]] as const) {
  Deno.test(`an endless loop of a custom module is ${how}: its process ends`, async () => {
    await using fixture = new Fixture({
      loop: "export function f() { Deno.addSignalListener('SIGTERM', () => {}); for (;;); }",
    });
    const { jid, outcome } = fixture.start("loop.f");
    const pid = await fixture.pidOf(jid);
    assertEquals([lives(pid), fixture.pool.signal(jid, signal)], [true, true]);
    assertEquals((await soon(outcome, "the job")).get("return"), `The job was ended by signal ${signal}`);
    assertEquals(lives(pid), false, "the process goes on");
    assertEquals(await fixture.run("test.ping"), true);
  });
}

const GREEDY = {
  objects: "export function f() { const all = []; for (;;) all.push(new Array(1000).fill({ a: 1 })); }",
  text: "export function f() { let all = ['x']; for (;;) all = all.concat(all.map((one) => one + one.length)); }",
  buffers: "export function f() { const all = []; for (;;) all.push(new Uint8Array(5e7).fill(1)); }",
  programs:
    "export const f = { permissions: { run: true }, run() { const all = []; for (;;) all.push(new Uint8Array(5e7).fill(1)); } };",
};
Deno.test("a custom module that uses too much memory fails with a reason, without effect on others", async (t) => {
  for (const [what, text] of Object.entries(GREEDY)) {
    await t.step(what, async () => {
      await using fixture = new Fixture(
        {
          greedy: text,
          other: "export async function wait() { await new Promise((r) => setTimeout(r, 300)); return 'here'; }",
        },
        { custom_module_memory: 200_000_000 },
      );
      const other = fixture.start("other.wait");
      const outcome = await fixture.job("greedy.f");
      assertMatch(
        str(outcome.get("return") ?? null),
        /it needed more memory than it may have \(custom_module_memory: 200000000\)|Array buffer allocation failed/,
      );
      assertEquals([outcome.get("retcode"), outcome.get("success")], [1, false]);
      assertEquals((await soon(other.outcome, "the other job")).get("return"), "here");
      assertEquals(await fixture.run("test.ping"), true);
    });
  }
});

/** Messages that a module may not send, as bytes. */
const FORGED: Readonly<Record<string, unknown>> = {
  "that its job needs a worker with all permissions": { kind: "not_permitted", permissions: "all" },
  "a call of a function by the minion": {
    kind: "ask",
    id: 900,
    request: { what: "call", fun: "cmd.run", call: pack({}) },
  },
  "a signal without a number": { kind: "ask", id: 901, request: { what: "signal", jid: "1", signal: "9" } },
  "an output that is none": { kind: "output", written: { command: 1, stream: "stdin", bytes: "x" } },
  "a child that is no number": { kind: "child", pid: -1, state: "started" },
  "no map": ["done"],
  "an outcome that is no bytes": { kind: "done", outcome: { return: "forged" } },
};
for (const [what, message] of Object.entries(FORGED)) {
  Deno.test(`a custom module that forges ${what} is killed`, async () => {
    const bytes = [...pack(message)];
    await using fixture = new Fixture({
      liar: `export async function f() { postMessage(new Uint8Array([${bytes}])); await new Promise(() => {}); }`,
    });
    assertStringIncludes(str(await fixture.run("liar.f")), "The module's process ended: it sent an invalid message:");
    assertEquals(await fixture.run("test.ping"), true);
  });
}

Deno.test("a custom module that sends invalid messages, or too many requests, is killed", async () => {
  const ask = packMessage({ kind: "ask", id: 7, request: { what: "running" } });
  await using fixture = new Fixture({
    noise: "export async function f() { postMessage(new Uint8Array(1000).fill(0xc1)); await new Promise(() => {}); }",
    large: "export async function f() { postMessage(new Uint8Array(70e6)); await new Promise(() => {}); }",
    twice: `export async function f() { for (let n = 0; n < 1000; n++) postMessage(new Uint8Array([${[...ask]}]));
      await new Promise(() => {}); }`,
  });
  assertStringIncludes(str(await fixture.run("noise.f")), "it sent an invalid message");
  assertStringIncludes(str(await fixture.run("large.f")), "a message of 70000000 bytes");
  assertStringIncludes(str(await fixture.run("twice.f")), "it sent an invalid message: too many questions");
  assertEquals(await fixture.run("test.ping"), true);
});

Deno.test("an outcome forged by a custom module affects only its own job", async () => {
  const done = packMessage({
    kind: "done",
    outcome: pack({ return: "forged", retcode: 0, success: true, jid: "other" }),
  });
  await using fixture = new Fixture({
    liar: `export async function f() { for (let n = 0; n < 3; n++) postMessage(new Uint8Array([${[
      ...done,
    ]}])); return "true"; }`,
    honest: "export async function f() { await new Promise((r) => setTimeout(r, 300)); return 'honest'; }",
  });
  const honest = fixture.start("honest.f");
  assertEquals(await fixture.run("liar.f"), "forged");
  assertEquals((await soon(honest.outcome, "the honest job")).get("return"), "honest");
  assertEquals(await fixture.run("honest.f"), "honest");
});

Deno.test("a process runs further jobs of its own module only, and none after a no_log job", async () => {
  const keep = "const seen = []; export function f(what) { seen.push(what); return seen.join(' '); }";
  await using fixture = new Fixture({ keep, other: keep });
  assertEquals([await fixture.run("keep.f", "a"), await fixture.run("keep.f", "b")], ["a", "a b"]);
  assertEquals(await fixture.run("other.f", "x"), "x");
  const hidden = fixture.start("keep.f", ["secret"], { no_log: "aGVyZSBpcyBhIGtleSBvZiAzMiBieXRlcywgYmFzZTY0IQ==" });
  const hiddenReturn = (await soon(hidden.outcome, "the no_log job")).get("return");
  assertEquals(await fixture.run("keep.f", "c"), "a b c");
  assert(hiddenReturn === "secret", `it had a process of its own: ${str(hiddenReturn ?? null)}`);
});

Deno.test("a library that patches the globals of one module cannot read another module's job, nor a built-in one's", async () => {
  const patched = `globalThis.seen = [];
    const { stringify } = JSON, { set } = Map.prototype, { postMessage } = globalThis;
    JSON.stringify = (...all) => (seen.push("json"), stringify(...all));
    Map.prototype.set = function (key, value) { seen.push(String(value)); return set.call(this, key, value); };
    globalThis.postMessage = (...all) => (seen.push("post"), postMessage(...all));
    export function f() { return seen.join(" "); }`;
  await using fixture = new Fixture({ evil: patched, plain: "export function f(x) { return x; }" });
  await fixture.run("evil.f");
  assertEquals(await fixture.run("plain.f", "hunter2-secret"), "hunter2-secret");
  assertEquals(await fixture.run("test.echo", "hunter2-secret"), "hunter2-secret");
  assert(!str(await fixture.run("evil.f")).includes("hunter2-secret"));
});

Deno.test("a custom module cannot get a foreign process signalled, and cannot prevent being killed", async () => {
  const stranger = new Deno.Command("sleep", { args: ["600"], detached: true }).spawn();
  try {
    await using fixture = new Fixture({
      point: `export const f = { async run(_bound, context) {
        for (const pid of [${stranger.pid}, 1, 0, ${Deno.pid}, ${Deno.ppid}]) {
          try { context.child(pid, "started"); } catch { /* the next one */ }
        }
        const reply = await context.jobs.signal(context.job.jid, 15).then(() => "sent", (error) => error.message);
        context.log("warning", "asked: " + reply);
        await new Promise(() => {});
      } };`,
    });
    const { jid, outcome } = fixture.start("point.f");
    const pid = await fixture.pidOf(jid);
    await eventually(() => fixture.lines.some((line) => line.includes("asked: ")), { what: "the module's word" });
    assertStringIncludes(fixture.lines.join("\n"), 'asked: a function that signals jobs declares the permission "all"');
    for (const signal of [10, 15]) assertEquals(fixture.pool.signal(jid, signal), true);
    assertEquals((await soon(outcome, "the job")).get("return"), "The job was ended by signal 15");
    assertEquals([lives(pid), sendSignal(stranger.pid, 0)], [false, true]);
    // Closing also signals processes that jobs have started.
    const second = fixture.start("point.f");
    await fixture.pidOf(second.jid);
    await fixture.pool.close();
    assertEquals((await second.outcome).get("return"), "The minion ended while it ran this job");
    assertEquals(sendSignal(stranger.pid, 0), true, "the stranger was signalled");
  } finally {
    stranger.kill("SIGKILL");
    await stranger.status;
  }
});

Deno.test("the commands of a custom module's job end with it, also unreported ones", async () => {
  await using fixture = new Fixture({
    busy: `export const f = { permissions: "all", async run({}, context) {
      new Deno.Command("sh", { args: ["-c", "echo $$ > " + context.opts.cachedir + "/silent; exec sleep 600"] }).spawn();
      new Deno.Command("sh", { args: ["-c", "echo $$ > " + context.opts.cachedir + "/apart; exec sleep 600"], detached: true }).spawn();
      await context.call("cmd.run", ["echo $$ > " + context.opts.cachedir + "/told; exec sleep 600"], new Map([["python_shell", true]]));
    } };`,
  });
  const { jid, outcome } = fixture.start("busy.f");
  const pids = await eventually(() => {
    const read = ["silent", "apart", "told"].map((name) =>
      Number(Deno.readTextFileSync(`${fixture.root}/cache/${name}`))
    );
    return read.every((pid) => pid > 0) && read;
  }, { what: "the commands" });
  fixture.pool.signal(jid, 9);
  await soon(outcome, "the job");
  await eventually(() => !pids.some(lives), { what: "the end of the commands" });
});

Deno.test("a custom module changes neither the minion's working directory nor its signal handlers, and leaves nothing on the disk", async () => {
  await using fixture = new Fixture({
    nasty: `export const move = { permissions: { read: true }, run() { Deno.chdir("/usr"); return Deno.cwd(); } };
      export function listen() { for (const name of ["SIGUSR2", "SIGINT"]) Deno.addSignalListener(name, () => {}); return true; }
      export function there() { return typeof caches; }
      export function wait() { return new Promise(() => {}); }
      export async function store() {
        const { Worker } = await import("node:worker_threads");
        const text = \`const { parentPort } = require("node:worker_threads");
          caches.open("x").then(async (cache) => { await cache.put("http://a/b", new Response("x".repeat(1e6))); return "wrote"; })
            .then((reply) => parentPort.postMessage(reply), (error) => parentPort.postMessage("failed: " + error.message));\`;
        const worker = new Worker(text, { eval: true });
        const reply = await new Promise((resolve) => { worker.on("message", resolve); worker.on("error", (e) => resolve("failed: " + e.message)); });
        return reply;
      }`,
  });
  const before = Deno.cwd();
  assertEquals([await fixture.run("nasty.move"), Deno.cwd()], ["/usr", before]);
  assertEquals(await fixture.run("nasty.listen"), true);
  // Its own thread, which has web storage, needs more memory than it may use.
  assertMatch(str(await fixture.run("nasty.store")), /^failed: |it needed more memory than it may have/);
  assertEquals(await fixture.run("nasty.there"), "undefined");
  const { jid, outcome } = fixture.start("nasty.wait");
  const limits = Deno.readTextFileSync(`/proc/${await fixture.pidOf(jid)}/limits`);
  assertMatch(limits, /^Max file size +0 +0 +bytes/m);
  assertMatch(limits, /^Max core file size +0 +0 +bytes/m);
  assertMatch(limits, /^Max data size +\d+ +\d+ +bytes/m);
  fixture.pool.signal(jid, 9);
  await outcome;
});

Deno.test("the output of a custom module is logged up to a limit, and does not disturb messages", async () => {
  await using fixture = new Fixture({
    loud: `export function f() {
      for (let n = 0; n < 5000; n++) console.log("line", n);
      Deno.stdout.writeSync(new Uint8Array([0, 0, 0, 5, 1, 1, 1, 1, 1, 1]));
      Deno.stderr.writeSync(new TextEncoder().encode("y".repeat(100_000) + "\\n"));
      console.error("to the error");
      return "done";
    }`,
  });
  assertEquals(await fixture.run("loud.f"), "done");
  await eventually(() => fixture.lines.some((line) => line.includes("is left out")), { what: "the end of the lines" });
  const printed = fixture.lines.filter((line) => line.includes("printed: "));
  assertMatch(printed[0], /Job-\d+ printed: line 0$/);
  assertEquals(printed.length, 1_000);
  assertEquals(Math.max(...fixture.lines.map((line) => line.length)) < 3_000, true);
  assertEquals(await fixture.run("loud.f"), "done");
});

Deno.test("a library cannot extend the permissions of the module that imports it", async () => {
  await using fixture = new Fixture({
    honest: `import { help } from "../lib/library.js";
      export const f = { run: () => help() };
      export const asks = { permissions: { read: ["/etc/hosts"] }, run: () => help() };`,
  });
  Deno.mkdirSync(`${fixture.root}/ext/lib`);
  // Below the modules directory, which every function may read.
  Deno.mkdirSync(`${fixture.root}/ext/modules/lib`);
  Deno.writeTextFileSync(
    `${fixture.root}/ext/modules/lib/library.js`,
    `Object.prototype.permissions = "all";
     const { entries } = Object;
     Object.entries = (object) => entries(object).map(([key, one]) => {
       if (one && typeof one === "object") try { one.permissions = "all"; } catch { /* frozen */ }
       return [key, one];
     });
     export function help() { return Deno.readTextFileSync("/etc/shadow").length; }`,
  );
  const path = `${fixture.root}/ext/modules/honest.js`;
  Deno.writeTextFileSync(path, Deno.readTextFileSync(path).replace("../lib/library.js", "./lib/library.js"));
  for (const fun of ["honest.f", "honest.asks"]) {
    assertMatch(
      str(await fixture.run(fun)),
      /has the permissions all when it runs, and \S+ in the text of its file|do not allow this/,
      fun,
    );
  }
});

/** Functions whose declaration is not a literal, and the error message. */
const NOT_LITERAL: readonly [fun: string, text: string, message: RegExp][] = [
  [
    "a variable",
    'const ALL = "all"; export const f = { permissions: ALL, run: () => 1 };',
    /"permissions" of f is no literal in line 1 of .*own\.js/,
  ],
  [
    "a shorthand",
    'const permissions = "all"; export const f = { permissions, run: () => 1 };',
    /"permissions" of f is a variable in line 1/,
  ],
  ["made of two", 'export function f() {}\nf.permissions = "al" + "l";', /"permissions" of f is no literal in line 2/],
  [
    "inserted",
    "export const f = { permissions: { read: [`/${1}`] }, run: () => 1 };",
    /"permissions" of f is no literal/,
  ],
  [
    "spread",
    'const all = { permissions: "all" }; export const f = { ...all, run: () => 1 };',
    /own\.f has the permissions all when it runs, and none in the text of its file/,
  ],
  [
    "set by code",
    'export function f() {}\n{ f.permissions = "all"; }',
    /own\.f has the permissions all when it runs, and none in the text/,
  ],
  [
    "in a comment",
    '/* f.permissions = "all"; */ export function f() { return Deno.readTextFileSync("/etc/shadow"); }',
    /do not allow this/,
  ],
  [
    "not the same",
    'export const f = { permissions: { read: true }, run: () => 1 };\nObject.assign(f, { permissions: "all" });',
    /has the permissions all when it runs, and read in the text/,
  ],
];
for (const [what, text, message] of NOT_LITERAL) {
  Deno.test(`permissions that are ${what} count as none, and the error reports that`, async () => {
    await using fixture = new Fixture({ own: text });
    const outcome = await fixture.job("own.f");
    assertMatch(str(outcome.get("return") ?? null), message);
    assertEquals([outcome.get("retcode"), outcome.get("success")], [1, false]);
  });
}

Deno.test("a custom function called by a built-in one gets no more permissions than the caller", async () => {
  await using fixture = new Fixture({
    own: `export const f = { permissions: { read: ["/etc/shadow"] }, params: { x: { type: "str" } },
        run: ({ x }) => x + Deno.readTextFileSync("/etc/shadow").length };
      export const g = { params: { x: { type: "str" } }, run: ({ x }) => "got " + x };
      export const slow = { run: () => new Promise(() => {}) };`,
  });
  assertEquals(await fixture.run("test.cross_test", "own.g", ["a=b"]), "got a=b");
  assertStringIncludes(
    str(await fixture.run("test.cross_test", "own.f", ["x"])),
    'Requires read access to "/etc/shadow"',
  );
  assertMatch(str(await fixture.run("own.f", "x")), /^x\d+$/);
  const slow = fixture.start("test.cross_test", ["own.slow"]);
  await eventually(async () => (await fixture.pool.describe()).some((line) => line.includes("running own.slow")), {
    what: "the called function",
  });
  assertEquals(fixture.pool.running().map(({ fun }) => fun), ["test.cross_test"]);
  assertEquals(fixture.pool.signal(slow.jid, 9), true);
  assertEquals((await soon(slow.outcome, "the job")).get("return"), "The job was ended by signal 9");
  await eventually(async () => !(await fixture.pool.describe()).some((line) => line.includes("running")), {
    what: "the end of what was called",
  });
});

Deno.test("sys.doc and sys.argspec list custom functions, also if another module hangs or fails", async () => {
  await using fixture = new Fixture({
    own:
      `export const f = { doc: "Does.", params: { a: { type: "int" }, b: { type: "str", default: "x" } }, run: () => 1 };`,
    bad: "throw new Error('not today');",
  });
  const docs = await fixture.run("sys.doc", "own");
  assert(isMap(docs));
  assertStringIncludes(str(docs.get("own.f") ?? null), "Does.");
  const spec = await fixture.run("sys.argspec", "own.f");
  assertEquals(spec, map({ "own.f": map({ args: ["a", "b"], defaults: ["x"], varargs: null, kwargs: null }) }));
  assertMatch(str(await fixture.run("bad.f")), /^'bad.f' is not available. Possible reasons: '.*bad.js: not today'$/);
  assertEquals(await fixture.run("sys.list_functions", "test.ping"), ["test.ping"]);
});

Deno.test("descriptions that a custom module forges are taken as far as they are some", async () => {
  const functions = [
    5,
    { name: "other.f" },
    { name: "liar.f", doc: 5, params: { a: 5, b: { type: "odd" }, c: { type: "int", default: 1 } }, varArgs: ["x"] },
  ];
  const done = packMessage({ kind: "done", outcome: pack({ functions, problems: 5 }) });
  await using fixture = new Fixture({
    liar: `postMessage(new Uint8Array([${[...done]}])); export const f = () => 1;`,
  });
  assertEquals(await fixture.run("sys.list_functions", "liar"), ["liar.f"]);
  assertEquals(
    await fixture.run("sys.argspec", "liar.f"),
    map({ "liar.f": map({ args: ["c"], defaults: [1], varargs: null, kwargs: null }) }),
  );
});

Deno.test("a custom module whose loading ends the process is named as the reason why no custom function is listed", async () => {
  await using fixture = new Fixture({
    dying: "Promise.reject(new Error('blue')); await new Promise(() => {});",
    own: "export const f = () => 1;",
  });
  assertEquals(await fixture.run("own.f"), 1);
  assertEquals(await fixture.run("sys.list_functions", "own"), []);
  const described = await fixture.pool.describeCustom();
  assert(isMap(described) && isMap(described.get("problems")));
  assertStringIncludes(str(described.get("problems") ?? null), "The module's process ended: ");
});

Deno.test("a process of a custom module starts once, whatever it says, and its output belongs to its job", async () => {
  const messages = [
    packMessage({ kind: "ready" }),
    packMessage({
      kind: "output",
      written: { command: 1, stream: "stdout", bytes: new Uint8Array([65]), encoding: null },
    }),
  ];
  const posts = messages.map((bytes) => `postMessage(new Uint8Array([${[...bytes]}]));`).join(" ");
  await using fixture = new Fixture({ own: `let n = 0; export const f = () => { ${posts} return ++n; };` });
  const load = map({
    jid: "20260101000000009999",
    fun: "own.f",
    arg: [],
    tgt: "*",
    tgt_type: "glob",
    ret: "",
    live: true,
  });
  let output = "";
  const outcome = await soon(
    fixture.pool.run(load, ({ bytes }) => output += new TextDecoder().decode(bytes)),
    "the job",
  );
  assertEquals([outcome.get("return"), output], [1, "A"]);
  assertEquals(await fixture.run("own.f"), 2, "the same process");
});

Deno.test("a custom module that replaces a built-in one is treated as custom", async () => {
  await using fixture = new Fixture({ match: "export function glob() { return Deno.pid; }" });
  const pid = await fixture.run("match.glob");
  assert(typeof pid === "number" && pid !== Deno.pid, "it ran in the minion");
});

Deno.test("a custom module is available under its virtual name, or reports why it is not", async () => {
  const virtual = (what: string) => `export const virtual = ${what};\n`;
  await using fixture = new Fixture(
    {
      mypkg: virtual('{ name: "pkg", serves: [{ grains: { os: ["Debian"] }, otherwise: "not here" }] }') +
        "export const f = () => 'mine';",
      other_pkg: virtual('{ name: "pkg", serves: [{ grains: { os: ["Arch"] }, otherwise: "not here" }] }') +
        "export const f = () => 'other'; f.permissions = 'all';",
      second_pkg: virtual('{ name: "pkg" }') + "export const f = () => 'second'; f.permissions = 'all';",
      elsewhere: virtual('{ serves: [{ grains: { os: ["Arch"] }, otherwise: "only on Arch" }] }') +
        "export const f = () => 'elsewhere';",
      test: virtual('{ serves: [{ programs: ["no-such-program"], otherwise: "no program" }] }') +
        "export const f = () => 1;",
      reader: virtual('{ serves: [{ unlessHost: { paths: ["/nowhere"] }, otherwise: "nowhere" }] }') +
        "export const f = () => 'read';",
      missing: virtual('{ serves: [{ unlessHost: { paths: ["/etc/passwd"] }, otherwise: "accounts" }] }') +
        "export const f = () => 1;",
      unclear: virtual("make()") + "export const f = () => 1;",
      chosen: "export const f = () => 'chosen';",
    },
    { providers: new Map([["service", "chosen"]]) },
    map({ os: "Debian" }),
  );
  assertEquals(await fixture.run("pkg.f"), "mine");
  assertEquals(await fixture.run("service.f"), "chosen");
  // Of several files with one virtual name, the first that serves this host is the module.
  assertEquals(await fixture.run("second_pkg.f"), "'second_pkg.f' is not available.");
  assertEquals(await fixture.run("mypkg.f"), "'mypkg.f' is not available. Did you mean pkg.f?");
  assertEquals(await fixture.run("elsewhere.f"), "'elsewhere' __virtual__ returned False: only on Arch");
  assertEquals(await fixture.run("test.ping"), "'test' __virtual__ returned False: no program");
  assertEquals(await fixture.run("reader.f"), "read");
  assertEquals(await fixture.run("missing.f"), "'missing' __virtual__ returned False: accounts");
  assertStringIncludes(str(await fixture.run("unclear.f")), `"virtual" is no literal in line 1 of ${fixture.root}`);
  const modules = await fixture.run("sys.list_modules");
  assert(Array.isArray(modules));
  assertEquals(["pkg", "service", "mypkg", "elsewhere", "test", "unclear"].filter((name) => modules.includes(name)), [
    "pkg",
    "service",
  ]);
});

Deno.test("a custom module that the options leave out, or whose file cannot be read, is not there; the others are", async () => {
  const text = "export const f = () => 'here';";
  for (const [option, names] of [["disable_modules", ["off"]], ["whitelist_modules", ["on", "odd", "gone"]]] as const) {
    const options = { [option]: [...names] };
    await using fixture = new Fixture({ on: text, off: text, odd: "export const f = (;" }, options);
    Deno.symlinkSync("nowhere", `${fixture.root}/ext/modules/gone.js`);
    await fixture.pool.reload();
    assertEquals(await fixture.run("on.f"), "here");
    for (const fun of ["off.f", "odd.f", "gone.f"]) {
      assertStringIncludes(str(await fixture.run(fun)), `'${fun}' is not available.`);
    }
  }
});
