/**
 * States of the module `file`, compared with Salt 3008.3 on the same directories: `corpus/file_states.json`, made by
 * `corpus/make_file_states.py`. In test mode, in a first and in a second run, the results and the trees afterwards are
 * equal; test mode does not change the tree.
 * @module
 */

import { callFunction } from "#lib/plugins/execution.ts";
import type { JobContext, StateContext } from "#lib/plugins/job_context.ts";
import { declare } from "#lib/plugins/module.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { isMap, map, repr, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { mapAt } from "#tests/support/calls/call_cases.ts";
import { FileStateCases } from "#tests/support/calls/file_state_cases.ts";
import { testContext } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { callState } from "#tests/support/calls/state_call.ts";
import { StatePlace } from "#tests/support/calls/state_place.ts";

testRecordedCases("states", "file");

const corpus = parseJson(await Deno.readTextFile(new URL("../../corpus/file_states.json", import.meta.url)));

assert(Array.isArray(corpus) && corpus.length > 800);

const [common, ...entries] = corpus;

assert(isMap(common));

const settings = { served: mapAt(common, "served"), pillar: mapAt(common, "pillar"), grains: mapAt(common, "grains") };

const byFunction = new Map<string, ValueMap[]>();

for (const entry of entries) {
  assert(isMap(entry));
  const steps = entry.get("steps");
  const last = Array.isArray(steps) ? steps.at(-1) : null;
  const name = str(Array.isArray(last) ? last[0] : null);
  byFunction.set(name, [...byFunction.get(name) ?? [], entry]);
}

const asRoot = Deno.uid() === 0;

for (const [name, cases] of byFunction) {
  Deno.test({
    name: `file.${name} has Salt's results, in ${cases.length} cases${asRoot ? "" : " (not here, without root)"}`,
    ignore: !asRoot,
    fn: async () => {
      await using place = await FileStateCases.open(settings);
      for (const entry of cases) {
        const shown = `${repr(entry.get("steps") ?? null)} in ${repr(entry.get("tree") ?? null)}`;
        const outcomes = await place.run(entry);
        if (entry.has("differs")) {
          const same = outcomes.every(({ expected, actual }) => expected === actual);
          assert(!same, `does what Salt's does, and is said to differ: ${shown}`);
        } else {
          for (const { what, expected, actual } of outcomes) assertEquals(actual, expected, `${what}: ${shown}`);
        }
      }
    },
  });
}

Deno.test("file.mod_run_check_cmd runs a command with a path as last argument", async () => {
  const filename = await Deno.makeTempFile({ prefix: "check_cmd_" });
  try {
    const passed = await callState("file.mod_run_check_cmd", { cmd: "test -f", filename });
    assertEquals([passed.get("result"), passed.get("changes")], [true, map({})]);
    const failed = await callState("file.mod_run_check_cmd", { cmd: "test -d", filename });
    assertEquals([failed.get("result"), failed.get("comment")], [false, "check_cmd execution failed"]);
  } finally {
    await Deno.remove(filename);
  }
});

Deno.test("file.patch needs the state file.managed", async () => {
  await using place = new StatePlace();
  await Deno.writeTextFile(`${place.root}/f`, "x\n");
  const args = { name: `${place.root}/f`, source: "salt://p" };
  const { catalogue } = place.job;
  const states = {
    ...catalogue.states,
    get: (name: string) => name === "file.managed" ? Promise.resolve(undefined) : catalogue.states.get(name),
  };
  const without = { catalogue: { ...catalogue, get: (name: string) => catalogue.get(name), states } };
  // The state itself is found before: it is called with this context.
  const [result, comment] = await place.state("file.patch", args, without);
  assertEquals(result, false);
  assertStringIncludes(comment, "'file.managed' is not available.");
});

Deno.test("file.patch says what is wrong with a patch, whatever of it was rejected", async () => {
  await using place = new StatePlace();
  const file = `${place.root}/f`;
  await Deno.writeTextFile(file, "x\n");
  const rejected = "--- f\n+++ f\n@@ -1,1 +1,1 @@\n-other\n+y\n";
  await Deno.writeTextFile(`${place.root}/p`, `${rejected}@@ -9,1 +9,1 @@\nno line of a patch\n`);
  const [result, comment] = await place.state("file.patch", {
    name: file,
    source: `${place.root}/p`,
    skip_verify: true,
  });
  assertEquals(result, false);
  assertStringIncludes(comment, "malformed patch at line 7");
  assertEquals(await Deno.readTextFile(file), "x\n");
});

Deno.test("file.patch that breaks down after it has rejected something is no patch that was applied", async () => {
  await using place = new StatePlace();
  await Deno.writeTextFile(`${place.root}/f`, "x\n");
  await Deno.writeTextFile(`${place.root}/p`, "any");
  const call = async (fun: string, args: Value[] = [], kwargs: ValueMap = new Map()): Promise<Value> => {
    if (fun !== "file.patch") return await place.job.call(fun, args, kwargs);
    if (kwargs.get("dry_run") === true) return map({ retcode: 0, stdout: "", stderr: "" });
    const options = kwargs.get("options");
    assert(Array.isArray(options));
    await Deno.writeTextFile(str(options[options.indexOf("-r") + 1]), "rejected");
    return map({ retcode: 2, stdout: "", stderr: "patch: **** out of memory" });
  };
  const [result, comment] = await place.state(
    "file.patch",
    { name: `${place.root}/f`, source: `${place.root}/p`, skip_verify: true },
    { call },
  );
  assertEquals([result, comment], [false, "patch: **** out of memory"]);
});

Deno.test("file.managed for a plan says what a new file would hold, unless few may read it", async () => {
  await using place = new StatePlace();
  const name = `${place.root}/new`;
  const diffOf = async (args: Readonly<Record<string, unknown>>, isPlan = true) => {
    const ret = await callState("file.managed", { name, contents: "text", ...args }, {
      test: true,
      job: place.job,
      state: { isPlan },
    });
    const changes = ret.get("changes");
    assert(isMap(changes));
    assertEquals([ret.get("result"), changes.get("newfile")], [null, name]);
    return changes.get("diff");
  };
  assertStringIncludes(str(await diffOf({}) ?? null), "+text");
  assertStringIncludes(str(await diffOf({ mode: "0644" }) ?? null), "+text");
  assertEquals(await diffOf({ mode: "0600" }), undefined);
  assertEquals(await diffOf({}, false), undefined);
});

Deno.test("file.directory: a wrong recurse is refused before a file makes way, and before anything is cleaned", async () => {
  await using place = new StatePlace();
  const name = `${place.root}/d`, text = 'Types for "recurse" limited to ';
  await Deno.writeTextFile(name, "kept\n");
  for (const more of [{ force: true }, { backupname: `${place.root}/old` }]) {
    const [result, comment] = await place.state("file.directory", { name, recurse: ["owner"], ...more });
    assertEquals(result, false);
    assertStringIncludes(comment, text);
    assertEquals(await Deno.readTextFile(name), "kept\n");
  }
  const [result, comment] = await place.state("file.directory", { name: place.root, recurse: ["owner"], clean: true });
  assertEquals(result, false);
  assertStringIncludes(comment, text);
  assertEquals(await Deno.readTextFile(name), "kept\n");
});

Deno.test("file.managed: contents that an encoding does not have change nothing, in test mode neither", async () => {
  await using place = new StatePlace();
  const name = `${place.root}/f`;
  await Deno.writeTextFile(name, "kept\n");
  const managed = async (contents: string, test: boolean) => {
    const args = { name, contents, encoding: "ascii" };
    const ret = await callState("file.managed", args, { job: place.job, test });
    return [ret.get("result"), mapAt(ret, "changes").size > 0];
  };
  assertEquals(await managed("kept", true), [true, false]);
  assertEquals(await managed("é", true), [null, true]);
  assertEquals(await managed("é", false), [false, false]);
  assertEquals(await Deno.readTextFile(name), "kept\n");
});

Deno.test("file.mod_beacon calls beacon.present of the minion's own modules", async () => {
  const { catalogue } = testContext();
  const given: ValueMap[] = [];
  const beacon = declare<Record<never, never>, StateContext>({
    doc: "",
    params: {},
    varKwargs: "kwargs",
    run: (_bound, _context, { kwargs }) => {
      given.push(kwargs);
      return map({ name: "n", result: true, comment: "Adding", changes: {} });
    },
  });
  await using place = new StatePlace();
  const states = {
    ...catalogue.states,
    get: (name: string) => name === "beacon.present" ? Promise.resolve(beacon) : catalogue.states.get(name),
  };
  const job: JobContext = { ...place.job, catalogue: { ...catalogue, get: (name) => catalogue.get(name), states } };
  const call = (args: Record<string, unknown>) => callState("file.mod_beacon", { name: "/f", ...args }, { job });
  assertEquals((await call({ sfun: "managed", beacon: true })).get("comment"), "Adding");
  const beacon_data = { interval: 5, mask: ["open"], recurse: false };
  await call({ sfun: "directory", beacon: true, beacon_data });
  const name = "beacon_inotify_/f";
  const common = { name, beacon_module: "inotify", coalesce: false };
  assertEquals(given, [
    map({ ...common, files: { "/f": { mask: ["create", "delete", "modify"] } }, interval: 60 }),
    map({
      ...common,
      files: { "/f": { mask: ["open"], auto_add: true, recurse: false, exclude: [] } },
      interval: 5,
    }),
  ]);
});

Deno.test("file.retention_schedule ignores a file that is gone by then", async () => {
  await using place = new StatePlace();
  await Deno.writeTextFile(`${place.root}/a`, "x\n");
  const call: StateContext["call"] = (fun, args, kwargs) =>
    fun === "file.lstat" ? Promise.resolve(new Map()) : callFunction(fun, { args, kwargs, context: place.job });
  const args = { name: place.root, retain: { most_recent: 0 } };
  assertEquals(await place.state("file.retention_schedule", args, { call }), [
    true,
    "0 backups were removed from @.\n",
  ]);
  assertEquals(await place.state("file.retention_schedule", args), [true, "1 backups were removed from @.\n"]);
});

Deno.test("file.tidied leaves out what is gone by then, and what it may not look at", async () => {
  await using place = new StatePlace();
  for (const name of ["a", "gone", "hidden"]) await Deno.writeTextFile(`${place.root}/${name}`, "x\n");
  const { lstatSync } = Deno;
  Deno.lstatSync = (path) => {
    if (String(path).endsWith("/gone")) throw new Deno.errors.NotFound("gone");
    if (String(path).endsWith("/hidden")) throw new Deno.errors.PermissionDenied("hidden");
    return lstatSync(path);
  };
  const warnings: string[] = [];
  const log = (_level: string, text: string) => void warnings.push(text.replaceAll(place.root, "@"));
  try {
    const ret = await callState("file.tidied", { name: place.root }, { job: { ...place.job, log }, test: true });
    assertEquals(ret.get("changes"), map({ removed: [`${place.root}/a`] }));
    assertEquals(warnings, ["Unable to read @/hidden due to permissions error."]);
  } finally {
    Deno.lstatSync = lstatSync;
  }
});
