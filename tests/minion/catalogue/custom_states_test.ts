import { CallModules } from "#lib/minion/local_call/modules.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { callState } from "#tests/support/calls/state_call.ts";

const APP = `
export const virtual = { serves: [{ grains: { kernel: ["Linux"] }, otherwise: "not a Linux" }] };
export const installed = {
  doc: "Writes the version of an app into a file.",
  permissions: { read: ["/tmp"], write: ["/tmp"] },
  params: { name: { type: "str" }, version: { type: "str", default: "1" } },
  async run({ name, version }, context) {
    const old = await Deno.readTextFile(name).catch(() => null);
    if (old === version) return { name, result: true, comment: "as wanted", changes: {} };
    const changes = { version: { old, new: version } };
    if (context.test) return { name, result: null, comment: "would change " + context.low.get("__id__"), changes };
    await Deno.writeTextFile(name, version);
    return { name, result: true, comment: await context.call("test.echo", ["changed"]), changes };
  },
};
export const undeclared = {
  params: { name: { type: "str" } },
  run: ({ name }) => Deno.writeTextFile(name, "x"),
};
export const nested = {
  params: { name: { type: "str" } },
  run: ({ name }, context) => context.state("test.succeed_with_changes", new Map([["name", name]])),
};
export const owned = {
  params: { name: { type: "str" } },
  run: ({ name }, context) => ({ name, result: true, comment: context.runas ?? "nobody is named", changes: {} }),
};
export const mod_watch = {
  params: { name: { type: "str" } },
  varKwargs: "kwargs",
  run: ({ name }, _context, { kwargs }) => ({ name, result: true, comment: [...kwargs.keys()].join(), changes: {} }),
};
`;

class Fixture implements AsyncDisposable {
  readonly root = Deno.makeTempDirSync({ prefix: "custom_states_" });
  readonly modules: CallModules;
  readonly job;

  constructor(states: Readonly<Record<string, string>>) {
    Deno.mkdirSync(`${this.root}/ext/states`, { recursive: true });
    for (const [file, text] of Object.entries(states)) Deno.writeTextFileSync(`${this.root}/ext/states/${file}`, text);
    const opts = testOpts({ root_dir: this.root, extension_modules: `${this.root}/ext` });
    const grains = map({ kernel: "Linux" });
    this.modules = new CallModules({ opts, grains, log: memoryLog().log });
    this.job = testContext({ opts, grains, catalogue: this.modules.catalogue });
    this.modules.enter(this.job);
  }

  call(fun: string, args: Readonly<Record<string, Value>>, test = false): Promise<ValueMap> {
    return callState(fun, args, { job: this.job, test });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.modules[Symbol.asyncDispose]();
    Deno.removeSync(this.root, { recursive: true });
  }
}

Deno.test("a custom state module changes only what its file declares, and nothing in test mode", async (t) => {
  await using fixture = new Fixture({ "app.js": APP });
  const name = `${fixture.root}/version`;
  const change = map({ version: { old: null, new: "2" } });

  await t.step("test mode", async () => {
    const result = await fixture.call("app.installed", { name, version: "2" }, true);
    assertEquals([result.get("result"), result.get("comment"), result.get("changes")], [
      null,
      `would change ${name}`,
      change,
    ]);
    await assertRejects(() => Deno.stat(name), Deno.errors.NotFound);
  });

  await t.step("two runs", async () => {
    const first = await fixture.call("app.installed", { name, version: "2" });
    assertEquals([first.get("result"), first.get("comment"), first.get("changes")], [true, "changed", change]);
    const second = await fixture.call("app.installed", { name, version: "2" });
    assertEquals([second.get("comment"), second.get("changes")], ["as wanted", new Map()]);
  });

  await t.step("an undeclared permission is refused", async () => {
    const error = await assertRejects(() => fixture.call("app.undeclared", { name }));
    assertStringIncludes(error.message, "write access");
  });

  await t.step("it calls other states", async () => {
    assertEquals((await fixture.call("app.nested", { name: "x" })).get("comment"), "Success!");
    assertEquals((await fixture.call("app.nested", { name: "x" }, true)).get("result"), null);
  });

  await t.step("its commands run as the user that the state names", async () => {
    const low = map({ name: "x", runas: "app" });
    const result = await callState("app.owned", { name: "x" }, { job: fixture.job, state: { low } });
    assertEquals(result.get("comment"), "app");
    assertEquals((await fixture.call("app.owned", { name: "x" })).get("comment"), "nobody is named");
  });

  await t.step("mod_watch gets the arguments of the state", async () => {
    assertEquals((await fixture.call("app.mod_watch", { name: "x", sfun: "installed" })).get("comment"), "sfun");
  });

  await t.step("its functions are listed with their parameters", async () => {
    const all = await fixture.modules.catalogue.states.all();
    assertEquals(all.filter(({ name }) => name.startsWith("app.")).map(({ name }) => name), [
      "app.installed",
      "app.mod_watch",
      "app.nested",
      "app.owned",
      "app.undeclared",
    ]);
    const fun = await fixture.modules.catalogue.states.get("app.installed");
    assertEquals([fun?.doc, Object.keys(fun?.params ?? {})], ["Writes the version of an app into a file.", [
      "name",
      "version",
    ]]);
    assert(all.some(({ name }) => name === "test.nop"));
    assert(!(await fixture.modules.catalogue.all()).some(({ name }) => name.includes("app.")));
    await assertRejects(() => fixture.call("app.installed", { name, usr: "x" }));
  });
});

Deno.test("a custom state module replaces a built-in one of its name", async () => {
  const text = `export const nop = { params: { name: {type: "str"} },
    run: ({ name }) => ({ name, result: true, comment: "own", changes: {} }) };`;
  await using fixture = new Fixture({ "test.js": text });
  assertEquals((await fixture.call("test.nop", { name: "x" })).get("comment"), "own");
});

Deno.test("a custom state module that is invalid or not available reports the reason", async () => {
  await using fixture = new Fixture({
    "plain.js": "export function installed(name) { return { name }; }",
    "other.js": APP.replace('["Linux"]', '["Plan9"]'),
  });
  const { states } = fixture.modules.catalogue;
  assertEquals(await states.get("plain.installed"), undefined);
  assertStringIncludes(states.problems().get("plain") ?? "", "installed is a plain function");
  assertEquals(await states.get("other.installed"), undefined);
  assertEquals(states.refusals().get("other"), "not a Linux");
});
