/**
 * The permissions of a minion's job functions: only those that they declare.
 * @module
 */

import { pack } from "#lib/minion/worker/job_protocol.ts";
import { JobPool } from "#lib/minion/worker/job_pool.ts";
import { loadCatalogue } from "#lib/minion/catalogue/catalogue.ts";
import { packOpts } from "#lib/config/opts_transfer.ts";
import { mayStartAnything, permissionKey } from "#lib/plugins/permissions.ts";
import { map, repr, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { eventually } from "#tests/support/eventually.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { testOpts } from "#tests/support/calls/job_context.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";

/** Custom modules. Each tries everything that it can on the host. */
const MODULES = {
  peek: `
    import { readFileSync } from "node:fs";
    const shadow = () => Deno.readTextFileSync("/etc/shadow").length > 0;
    export function plain() { return shadow(); }
    export const silent = { run: shadow };
    export const asked = { permissions: { read: ["/etc/shadow"] }, run: shadow };
    export const other = { permissions: { read: ["/etc/hosts"] }, run: shadow };
    export const everything = { permissions: "all", run: shadow };
    export const node = { run: () => readFileSync("/etc/shadow").length };
    export const programs = { permissions: { run: true, read: true, env: true, sys: true }, run: (_bound, context) => context.call("cmd.run", ["echo 42"]) };
    export const program = { permissions: { run: ["id"] }, run: () => new Deno.Command("id").outputSync().success };
    export const other_program = { permissions: { run: ["id"] }, run: () => new Deno.Command("uname").outputSync().success };
    export const nested = { run: (_bound, context) => context.call("cmd.run", ["id -u"]) };
    export const escalate = { run: () => { new Worker("data:text/javascript,0", { type: "module", deno: { permissions: { read: true } } }); } };
    export const caught = { run: () => { try { return shadow(); } catch (error) { return error.name; } } };
    export const write = { permissions: { write: ["{cachedir}/own"] }, run: (_b, { opts }) => { Deno.mkdirSync(opts.cachedir + "/own"); return true; } };
    export const beside = { permissions: { write: ["{cachedir}/own"] }, run: (_b, { opts }) => { Deno.mkdirSync(opts.cachedir + "/other"); return true; } };
    export const nohost = { permissions: { net: ["not a host"] }, run: shadow };
    export const nowhere = { permissions: { read: ["{nonesuch}/x"] }, run: shadow };
    export async function remote() { return await import(["https:", "", "127.0.0.1:1", "x.js"].join("/")); }
    export function env() { return Deno.env.get("HOME"); }
    export async function connect() { await Deno.connect({ hostname: "127.0.0.1", port: 1 }); }
    export function command() { return new Deno.Command("id").outputSync().code; }
    export function library() { Deno.dlopen("libc.so.6", {}); }
    export function name() { return Deno.hostname(); }
  `,
  eager: `const text = Deno.readTextFileSync("/etc/shadow"); export function f() { return text.length; }`,
  wrong: `export const f = { permissions: { everything: true }, run: () => 1 };`,
};

class Fixture implements AsyncDisposable {
  readonly root = Deno.makeTempDirSync({ prefix: "permissions_" });
  readonly lines: string[];
  readonly pool: JobPool;
  #jids = 0;

  constructor() {
    for (const [name, text] of Object.entries(MODULES)) this.write(name, text);
    const { log, lines } = memoryLog();
    this.lines = lines;
    const opts = testOpts({
      root_dir: this.root,
      cachedir: `${this.root}/cache`,
      extension_modules: `${this.root}/ext`,
    });
    Deno.mkdirSync(opts.cachedir);
    this.pool = new JobPool({
      opts: packOpts("minion", opts),
      hostData: { grains: pack(new Map()), pillar: pack(new Map()) },
      log,
      answer: () => Promise.resolve(true),
    });
  }

  write(module: string, text: string): void {
    Deno.mkdirSync(`${this.root}/ext/modules`, { recursive: true });
    Deno.writeTextFileSync(`${this.root}/ext/modules/${module}.js`, text);
  }

  async job(fun: Value, ...arg: Value[]): Promise<ValueMap> {
    const jid = `2026010100000000${String(++this.#jids).padStart(4, "0")}`;
    return await this.pool.run(map({ jid, fun, arg, tgt: "*", tgt_type: "glob", ret: "", user: "root" }));
  }

  async run(fun: Value, ...arg: Value[]): Promise<Value> {
    return (await this.job(fun, ...arg)).get("return") ?? null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.pool.close();
    Deno.removeSync(this.root, { recursive: true });
  }
}

const UNDECLARED = "The permissions that the function declares do not allow this";

/** Functions without the permissions for their work, and the error messages. */
const REFUSED: readonly [fun: string, message: string][] = [
  ["peek.plain", `${UNDECLARED}: read access to "/etc/shadow". A module of your own declares what peek.plain needs`],
  ["peek.silent", `${UNDECLARED}: read access to "/etc/shadow"`],
  ["peek.other", `${UNDECLARED}: read access to "/etc/shadow"`],
  ["peek.node", `${UNDECLARED}: read access to "/etc/shadow"`],
  ["peek.nested", UNDECLARED],
  ["peek.escalate", UNDECLARED],
  ["peek.beside", `${UNDECLARED}: write access to`],
  ["peek.env", `${UNDECLARED}: env access to "HOME"`],
  ["peek.connect", `${UNDECLARED}: net access to "127.0.0.1:1"`],
  ["peek.command", `${UNDECLARED}: run access to "id"`],
  ["peek.library", `${UNDECLARED}: ffi access to "libc.so.6"`],
  ["peek.name", `${UNDECLARED}: sys access to "hostname"`],
  ["peek.remote", 'Requires import access to "127.0.0.1:1"'],
  ["peek.nowhere", 'The permissions that the function declares cannot be given: there is no option "nonesuch"'],
  ["peek.nohost", "The permissions that the function declares cannot be given: "],
  ["eager.f", 'Requires read access to "/etc/shadow"'],
  ["wrong.f", "f.permissions.everything is none of"],
];

Deno.test("a custom module reads /etc/shadow only if it declares that", async (t) => {
  await using fixture = new Fixture();
  for (const [fun, message] of REFUSED) {
    await t.step(`${fun} is refused`, async () => {
      const outcome = await fixture.job(fun);
      assertStringIncludes(str(outcome.get("return") ?? null), message);
      assertEquals([outcome.get("retcode"), outcome.get("success")], [1, false]);
    });
  }
  for (const fun of ["peek.asked", "peek.everything", "peek.write"]) {
    await t.step(`${fun} has its declared permissions`, async () => assertEquals(await fixture.run(fun), true));
  }
  await t.step("permissions of one function are not passed to the next one", async () => {
    assertEquals(await fixture.run("peek.asked"), true);
    for (let n = 0; n < 3; n++) assertEquals(await fixture.run("peek.caught"), "NotCapable");
    assertEquals(await fixture.run("peek.asked"), true);
  });
});

Deno.test("a custom module that declares programs runs them, itself and by built-in functions", async () => {
  await using fixture = new Fixture();
  assertEquals(await fixture.run("peek.programs"), "42");
  assertEquals(await fixture.run("peek.program"), true);
  assertStringIncludes(str(await fixture.run("peek.other_program")), `${UNDECLARED}: run access to "uname"`);
  const both = await fixture.job(["peek.programs", "test.ping", "cmd.run"], [], [], ["echo 43"]);
  assertEquals(repr(both.get("return") ?? null), "{'peek.programs': '42', 'test.ping': True, 'cmd.run': '43'}");
});

Deno.test("the functions of one job have all their declared permissions together", async () => {
  await using fixture = new Fixture();
  const both = await fixture.job(["peek.asked", "peek.caught"], [], []);
  assertEquals(repr(both.get("return") ?? null), "{'peek.asked': True, 'peek.caught': True}");
  assertEquals(
    repr(await fixture.run(["peek.caught", "test.ping"], [], [])),
    "{'peek.caught': 'NotCapable', 'test.ping': True}",
  );
});

Deno.test("a function whose declaration has changed after a reload has only the new permissions", async () => {
  await using fixture = new Fixture();
  assertEquals(await fixture.run("peek.asked"), true);
  fixture.write("peek", MODULES.peek.replace(`{ read: ["/etc/shadow"] }`, `"none"`) + "\n// changed");
  await fixture.pool.reload();
  assertStringIncludes(str(await fixture.run("peek.asked")), UNDECLARED);
});

Deno.test("idle are one worker without permissions, at most one with permissions, and two processes of custom modules", async () => {
  await using fixture = new Fixture();
  for (const fun of ["test.ping", "status.loadavg", "cmd.shells", "test.ping"]) await fixture.run(fun);
  await eventually(async () => (await fixture.pool.describe()).length === 2, {
    what: "the end of those that are not needed",
  });
  for (const fun of ["peek.asked", "peek.plain", "peek.everything"]) await fixture.run(fun);
  assertEquals((await fixture.pool.describe()).length, 4);
});

/** Arguments for the built-in functions that need some. */
const ARGUMENTS: Readonly<Record<string, readonly Value[]>> = {
  "cmd.exec_code": ["sh", "true"],
  "cmd.exec_code_all": ["sh", "true"],
  "hashutil.base64_decodefile": ["true", "/nonesuch/file"],
  "cmd.script": ["/nonesuch"],
  "cmd.tty": ["tty0", "x"],
  "test.sleep": [0],
  "test.rand_sleep": [0],
  "test.collatz": [3],
  "test.fib": [3],
  "test.raise_exception": ["TypeError"],
  "status.ping_master": ["127.0.0.1"],
  "status.master": ["127.0.0.1"],
};
/** Functions that wait; other tests check their declarations. */
const LEFT_OUT = ["saltutil.kill_all_jobs", "saltutil.term_all_jobs"];

Deno.test("every built-in function runs with the permissions that it declares", async () => {
  await using fixture = new Fixture();
  // Functions that declare all permissions are skipped: nothing is refused to them, and many of them change the host.
  const entries = (await loadCatalogue().all()).filter(({ name, fun }) =>
    !LEFT_OUT.includes(name) && fun.permissions !== "all"
  );
  assert(entries.length > 50);
  for (const { name, fun } of entries) {
    const needed = Object.values(fun.params).filter((parameter) => parameter.default === undefined);
    const arg = ARGUMENTS[name] ??
      needed.map(({ type }) => type === "int" || type === "float" ? 1 : type === "dict" ? new Map() : "true");
    const result = str(await fixture.run(name, ...arg));
    assertEquals(
      /do not allow this|NotCapable|Requires \w+ access|cannot be given/.exec(result)?.[0],
      undefined,
      `${name}: ${result}`,
    );
  }
  const denied = fixture.lines.filter((line) =>
    /NotCapable|Requires \w+ access/.test(line) && !/eager|wrong/.test(line)
  );
  assertEquals(denied, []);
});

Deno.test("a built-in function that may start every program declares all permissions: the keeper runs its commands", async () => {
  const entries = await loadCatalogue().all();
  assert(entries.some(({ fun }) => fun.permissions === "all"));
  const others = entries.filter(({ fun }) => fun.permissions !== "all" && mayStartAnything(fun.permissions ?? "none"));
  assertEquals(others.map(({ name }) => name), []);
});

Deno.test("test.* has no permissions, except to load libraries for their versions, and to find available modules", async () => {
  const entries = (await loadCatalogue().all()).filter(({ name }) => name.startsWith("test."));
  const more = entries.filter(({ fun }) => permissionKey(fun.permissions ?? "none") !== "none").map(({ name }) => name);
  assertEquals(more, [
    "test.module_report",
    "test.not_loaded",
    "test.provider",
    "test.providers",
    "test.versions",
    "test.versions_information",
    "test.versions_report",
  ]);
});
