/**
 * The limits of custom code: it can do to a minion, its other jobs and its host only what is documented. The modules
 * here are hostile, or import a hostile library.
 * @module
 */

import { sendSignal } from "#lib/libc/libc.ts";
import { packMessage } from "#lib/minion/worker/module_messages.ts";
import { map, str } from "#lib/values/value.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "#tests/support/assert.ts";
import { CustomModules, lives, soon } from "#tests/support/calls/custom_modules.ts";
import { eventually } from "#tests/support/eventually.ts";

for (const [signal, how] of [[9, "killed at once"], [15, "told to end, and killed when it does not"]] as const) {
  Deno.test(`an endless loop of a custom module is ${how}: its process ends`, async () => {
    await using fixture = new CustomModules({
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
      await using fixture = new CustomModules(
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

Deno.test("a process runs further jobs of its own module only, and none after a no_log job", async () => {
  const keep = "const seen = []; export function f(what) { seen.push(what); return seen.join(' '); }";
  await using fixture = new CustomModules({ keep, other: keep });
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
  await using fixture = new CustomModules({ evil: patched, plain: "export function f(x) { return x; }" });
  await fixture.run("evil.f");
  assertEquals(await fixture.run("plain.f", "hunter2-secret"), "hunter2-secret");
  assertEquals(await fixture.run("test.echo", "hunter2-secret"), "hunter2-secret");
  assert(!str(await fixture.run("evil.f")).includes("hunter2-secret"));
});

Deno.test("a custom module cannot get a foreign process signalled, and cannot prevent being killed", async () => {
  const stranger = new Deno.Command("sleep", { args: ["600"], detached: true }).spawn();
  try {
    await using fixture = new CustomModules({
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
  await using fixture = new CustomModules({
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
  await using fixture = new CustomModules({
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
  await using fixture = new CustomModules({
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

Deno.test("a process of a custom module starts once, whatever it says, and its output belongs to its job", async () => {
  const messages = [
    packMessage({ kind: "ready" }),
    packMessage({
      kind: "output",
      written: { command: 1, stream: "stdout", bytes: new Uint8Array([65]), encoding: null },
    }),
  ];
  const posts = messages.map((bytes) => `postMessage(new Uint8Array([${[...bytes]}]));`).join(" ");
  await using fixture = new CustomModules({ own: `let n = 0; export const f = () => { ${posts} return ++n; };` });
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
