/**
 * The options that say which states, returners and grains a minion does not have: on the minion, with `salt-call`, and
 * for plugins in Python.
 * @module
 */

import { loadGrains } from "#lib/minion/agent/grains.ts";
import { CallModules } from "#lib/minion/local_call/modules.ts";
import { pythonPlugins } from "#lib/minion/catalogue/python_plugins.ts";
import { map, str, type Value } from "#lib/values/value.ts";
import { CORE_GRAINS } from "#modules/grains/core.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { CustomModules } from "#tests/support/calls/custom_modules.ts";
import { testOpts } from "#tests/support/calls/job_context.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { run } from "#tests/support/processes.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const STATE = `
export const installed = { params: { name: { type: "str" } }, run: ({ name }) =>
  new Map([["name", name], ["changes", new Map()], ["result", true], ["comment", "ran"]]) };`;

/** Which of these state modules the threads of a minion list, and `salt-call` finds. */
async function stateModules(options: Readonly<Record<string, Value>>): Promise<string[][]> {
  const names = ["file", "test", "app"];
  await using fixture = new CustomModules({}, options);
  Deno.mkdirSync(`${fixture.root}/ext/states`);
  Deno.writeTextFileSync(`${fixture.root}/ext/states/app.js`, STATE);
  await fixture.pool.reload();
  const listed = await fixture.run("sys.list_state_modules");
  const opts = testOpts({ root_dir: fixture.root, extension_modules: `${fixture.root}/ext`, ...options });
  await using modules = new CallModules({ opts, grains: new Map(), log: memoryLog().log });
  const { states } = modules.catalogue;
  const funs = ["file.absent", "test.nop", "app.installed"];
  const found = await Promise.all(funs.map(async (fun) => await states?.get(fun) !== undefined));
  return [names.filter((name) => Array.isArray(listed) && listed.includes(name)), names.filter((_, i) => found[i])];
}

Deno.test("whitelist_state_modules, disable_states: a state module that they leave out, built-in or own, is not there", async () => {
  const twice = (...names: string[]) => [names, names];
  assertEquals(await stateModules({}), twice("file", "test", "app"));
  assertEquals(await stateModules({ whitelist_state_modules: ["test"] }), twice("test"));
  assertEquals(await stateModules({ whitelist_state_modules: ["app"] }), twice("app"));
  assertEquals(await stateModules({ disable_states: ["file", "app"] }), twice("test"));
});

Deno.test("disable_returners: a returner that it names, built-in or own, is not available", async () => {
  const ret = map({ jid: "20260101000000000001", id: "m1", fun: "test.ping", return: true });
  const disable_returners = ["rawfile_json", "mine_own"];
  for (const isOff of [false, true]) {
    const options = { disable_returners: isOff ? disable_returners : [] };
    await using fixture = new CustomModules({}, options);
    Deno.mkdirSync(`${fixture.root}/ext/returners`);
    for (const name of ["mine_own", "other"]) {
      Deno.writeTextFileSync(`${fixture.root}/ext/returners/${name}.js`, "export const returner = () => 'kept';");
    }
    await fixture.pool.reload();
    assertEquals(await fixture.run("returners/other.returner", ret), "kept");
    for (const name of disable_returners) {
      const fun = `returners/${name}.returner`;
      const text = str(await fixture.run(fun, ret));
      assertEquals(text.startsWith(`'${fun}' is not available`), isOff, text);
    }
  }
});

Deno.test("the options also leave out plugins in Python, by the name of their file or, in white lists, of __virtual__", () =>
  withTemporaryDirectory((root) => {
    for (const family of ["modules", "states", "returners"]) {
      Deno.mkdirSync(`${root}/ext/${family}`, { recursive: true });
      for (const name of ["one", "two"]) Deno.writeTextFileSync(`${root}/ext/${family}/${name}.py`, "");
      Deno.writeTextFileSync(
        `${root}/ext/${family}/three.py`,
        "__virtualname__ = 'third'\ndef __virtual__():\n    return __virtualname__\n",
      );
    }
    const found = (options: Record<string, Value>) => {
      const opts = testOpts({ extension_modules: `${root}/ext`, ...options });
      const { files } = pythonPlugins(opts, memoryLog().log.warning);
      return ["modules", "states", "returners"].map((family) =>
        Object.keys(files[family as "modules"] ?? {}).sort().join(" ")
      );
    };
    const all = "one three two";
    assertEquals(found({}), [all, all, all]);
    assertEquals(found({ disable_modules: ["one"] }), ["three two", all, all]);
    assertEquals(found({ disable_states: ["one"] }), [all, "three two", all]);
    assertEquals(found({ disable_returners: ["one"] }), [all, all, "three two"]);
    assertEquals(found({ whitelist_modules: ["third"] }), ["three", all, all]);
    assertEquals(found({ whitelist_state_modules: ["two"] }), [all, "two", all]);
    return Promise.resolve();
  }));

Deno.test("grains_blacklist: the minion has none of these grains, but what the option grains says", () =>
  withTemporaryDirectory(async (root) => {
    Deno.writeTextFileSync(`${root}/grains`, "secret_one: 1\nroles: [web]\n");
    const opts = { ...testOpts({ extension_modules: root, grains: map({ secret_two: 2 }) }), config_dir: root };
    const grains = await loadGrains({ ...opts, grains_blacklist: ["secret_*", "ip_interfaces", "ip[46]_.*"] }, {
      core: CORE_GRAINS,
    });
    assert(grains.has("os") && grains.has("roles"));
    for (const name of ["secret_one", "ip_interfaces", "ip4_interfaces", "ip6_gw"]) assert(!grains.has(name), name);
    assertEquals(grains.get("secret_two"), 2);
    const all = await loadGrains(opts, { core: CORE_GRAINS });
    for (const name of ["secret_one", "ip_interfaces", "ip4_interfaces"]) assert(all.has(name), name);
  }));

Deno.test("salt-call without a master keeps to these options", () =>
  withTemporaryDirectory(async (root) => {
    const options = {
      ...{ id: "web1", root_dir: root, log_file: "/log" },
      ...{ whitelist_state_modules: ["test"], disable_returners: ["rawfile_json"], grains_blacklist: ["os"] },
      "rawfile_json.filename": `${root}/events`,
    };
    Deno.writeTextFileSync(`${root}/minion`, JSON.stringify(options));
    const entry = decodeURIComponent(new URL("../../../minion.ts", import.meta.url).pathname);
    const start = [Deno.execPath(), "run", "--allow-all", "--quiet", "--no-prompt", entry, "--as", "salt-call"];
    const call = async (...words: string[]) => {
      const { out, err } = await run([...start, "-c", root, "--local", ...words]);
      return out + err;
    };
    assertStringIncludes(await call("state.single", "file.absent", "name=/nowhere"), "'file.absent' was not found");
    assertStringIncludes(await call("state.single", "test.nop", "name=x"), "Success!");
    assertStringIncludes(
      await call("--return", "rawfile_json", "test.ping"),
      "rawfile_json.returner' is not available",
    );
    assertStringIncludes(await call("grains.has_value", "os"), "False");
    assertStringIncludes(await call("grains.has_value", "kernel"), "True");
  }));
