/**
 * `salt-call` with custom modules, as its own process.
 * @module
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "../support/assert.ts";
import { eventually } from "../support/eventually.ts";
import { run } from "../support/processes.ts";

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
    const entry = decodeURIComponent(new URL("../../minion.ts", import.meta.url).pathname);
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
