/**
 * `salt-call` with custom modules, as its own process.
 * @module
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { run } from "#tests/support/processes.ts";

class Host implements Disposable {
  readonly root = Deno.makeTempDirSync({ prefix: "call_" });

  constructor(module: string) {
    Deno.mkdirSync(`${this.root}/ext/modules`, { recursive: true });
    Deno.writeTextFileSync(`${this.root}/ext/modules/own.js`, module);
    Deno.writeTextFileSync(
      `${this.root}/minion`,
      JSON.stringify({ id: "web1", root_dir: this.root, extension_modules: `${this.root}/ext`, log_file: "/log" }),
    );
  }

  words(...words: readonly string[]): string[] {
    const entry = decodeURIComponent(new URL("../../../minion.ts", import.meta.url).pathname);
    const call = [entry, "--as", "salt-call", "-c", this.root, "--local", ...words];
    return [Deno.execPath(), "run", "--allow-all", "--quiet", "--no-prompt", ...call];
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.root, { recursive: true });
  }
}

Deno.test("salt-call runs a custom function with exactly the permissions that its file declares", async () => {
  using host = new Host(`
    const shadow = () => Deno.readTextFileSync("/etc/shadow").length > 0;
    export const plain = { run: shadow };
    export const asked = { doc: "Asks.", permissions: { read: ["/etc/shadow"] }, run: shadow };
    export const typed = { doc: "Typed.", params: { n: { type: "int" } }, run: ({ n }) => n + 1 };
    export const fails = { run: (_b, context) => { context.setRetcode(7); return "failed"; } };`);
  assertEquals((await run(host.words("own.asked"))).out, "local:\n    True\n");
  const plain = await run(host.words("own.plain"));
  assertEquals([plain.code, plain.out], [1, ""]);
  assertStringIncludes(plain.err, 'do not allow this: read access to "/etc/shadow"');
  assertEquals((await run(host.words("own.typed", "41"))).out, "local:\n    42\n");
  const wrong = await run(host.words("own.typed"));
  assertEquals(wrong.code, 1);
  assertMatch(wrong.err, /Passed invalid arguments: .*\n\nUsage:\n/);
  assertStringIncludes(wrong.out, "Typed.");
  const missing = await run(host.words("own.none"));
  assertEquals([missing.code, missing.err], [255, "'own.none' is not available.\n"]);
  assertEquals((await run(host.words("--retcode-passthrough", "own.fails"))).code, 7);
  assertMatch((await run(host.words("-d", "own"))).out, /own\.asked:\n\n {4}Asks\./);
  assertEquals((await run(host.words("test.cross_test", "own.asked"))).out, "local:\n    True\n");
});

Deno.test("a custom function of salt-call has the same access as a built-in one", async () => {
  using host = new Host(`
    const reason = (error) => error.message;
    export const asks = { permissions: "all", run: async (_bound, { outside, jobs }) => [
      await outside.fire(new Map([["a", 1]]), "my/tag"),
      await outside.refresh("modules"),
      (await outside.grains()).get("id"),
      [...await outside.pillar({})].length,
      await outside.request(new Map([["cmd", "ping"]])).catch(reason),
      await outside.request("no map").catch(reason),
      (await jobs.running()).map(({ fun }) => fun),
      await jobs.signal("20200101000000000000", 15),
    ] };
    export const lists = { permissions: "all", run: (_bound, { call }) => call("cmd.run", ["echo one; echo two"], new Map([["python_shell", true]])) };
    export const fails = { permissions: "all", run: (_bound, { call }) => call("cmd.run", ["true"], new Map([["cwd", "/nonexistent"]])) };
    export const misses = { run() { const error = new Error("no zip"); error.name = "CommandNotFoundError"; throw error; } };
    export const refuses = { run() { const error = new Error("no"); error.name = "InvocationError"; throw error; } };`);
  const result = await run(host.words("--out=json", "own.asks"));
  assertEquals(JSON.parse(result.out).local, [
    false,
    false,
    "web1",
    0,
    "There is no master: this runs locally",
    "There is no master: this runs locally",
    ["own.asks"],
    false,
  ], result.err);
  const live = await run(host.words("--live", "own.lists"));
  assertEquals(live.out, "local: one\nlocal: two\nlocal:\n    (the 2 lines above)\n");
  for (
    const [name, text] of [
      ["fails", "Error running 'own.fails': Specified cwd '/nonexistent' either not absolute or does not exist"],
      ["misses", "Command required for 'own.misses' not found: no zip"],
      ["refuses", "no"],
    ]
  ) {
    const { code, err } = await run(host.words(`own.${name}`));
    assertEquals([code, err], [1, `${text}\n`]);
  }
});

Deno.test("salt-call ends another salt-call by its job id", async () => {
  using host = new Host("");
  const sleeping = run(host.words("test.sleep", "600"));
  const jid = await eventually(async () => {
    const { out } = await run(host.words("--out=json", "saltutil.running"));
    const job = (JSON.parse(out).local as { jid: string; fun: string }[]).find(({ fun }) => fun === "test.sleep");
    return job?.jid;
  }, { what: "the first job" });
  assertMatch((await run(host.words("saltutil.kill_job", jid))).out, new RegExp(`Signal 9 sent to job ${jid} at pid`));
  assertEquals((await sleeping).code, 137);
});

Deno.test("salt-call -m loads modules from _modules below the directory, and runs them in the module process", async () => {
  using host = new Host("export const one = { run: () => 1 };");
  Deno.mkdirSync(`${host.root}/tree/_modules`, { recursive: true });
  Deno.writeTextFileSync(`${host.root}/tree/_modules/own.js`, "export const one = { run: () => 2 };");
  assertEquals((await run(host.words("-m", `${host.root}/tree`, "own.one"))).out, "local:\n    2\n");
});

Deno.test("the process of a custom function ends when salt-call is killed", async () => {
  using host = new Host(`export const hang = { permissions: { write: ["{root_dir}"] },
    run(_b, { opts }) { Deno.writeTextFileSync(opts.root_dir + "/pid", String(Deno.pid)); for (;;); } };`);
  const [command, ...args] = host.words("own.hang");
  const call = new Deno.Command(command, { args, stdin: "null", stdout: "null", stderr: "null" }).spawn();
  const pid = await eventually(() => {
    try {
      return Number(Deno.readTextFileSync(`${host.root}/pid`)) || undefined;
    } catch {
      return undefined;
    }
  }, { what: "the function" });
  assert(pid !== call.pid);
  call.kill("SIGKILL");
  await call.status;
  await eventually(() => {
    try {
      return /^State:\s+Z/m.test(Deno.readTextFileSync(`/proc/${pid}/status`));
    } catch {
      return true;
    }
  }, { what: "the end of the function's process" });
});

Deno.test("a command that writes 400 MB does not end a program with a small heap", async () => {
  using host = new Host("");
  const [command, ...args] = host.words("--out=json", "cmd.run", "head -c 400000000 /dev/zero | tr '\\0' x");
  const { code, signal, stdout } = await new Deno.Command(command, {
    args,
    env: { DENO_V8_FLAGS: "--max-old-space-size=256" },
    stdin: "null",
    stderr: "null",
  }).output();
  assertEquals([code, signal], [1, null]);
  assertStringIncludes(
    new TextDecoder().decode(stdout.slice(-400)),
    "[stdout was cut here: 366445568 more bytes were written, and 33554432 are kept of a command's output (output_max)]",
  );
});
