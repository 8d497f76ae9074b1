/**
 * States of packages in a root directory of their own, with apt and dpkg, and the module's functions for the runtime.
 * @module
 */
import { CommandError } from "#lib/errors.ts";
import { hashHex } from "#lib/crypto/hash.ts";
import { which } from "#lib/programs/which.ts";
import { wantsRefresh } from "#lib/host/packages/refresh_tag.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { loadCatalogue } from "#lib/minion/catalogue/catalogue.ts";
import { mod_aggregate, mod_init } from "#modules/states/pkg/mod.ts";
import { AptRoot } from "#tests/support/calls/apt_root.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { callState, scriptedState, stateContext, throwing } from "#tests/support/calls/state_call.ts";
import { filesBelow } from "#tests/support/tree.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";

testRecordedCases("states", "pkg");

const GRAINS = map({ os: "Debian", os_family: "Debian", osarch: "amd64", cpuarch: "x86_64", kernel: "Linux" });
/** The files below a directory with their contents, without the caches that apt computes from its lists. */
function tree(path: string): [string, string][] {
  const files = [...filesBelow(path)].filter((file) => !file.endsWith("pkgcache.bin")).sort();
  return files.map((file) => [file, hashHex(Deno.readFileSync(file), "sha256")]);
}

const there = which("apt-get") !== undefined && which("dpkg-deb") !== undefined && Deno.uid() === 0;

class States {
  readonly #job: JobContext;

  constructor(root: string) {
    this.#job = testContext({
      opts: testOpts({ root_dir: `${root}/salt`, color: false }),
      grains: GRAINS,
      catalogue: loadCatalogue({ grains: () => GRAINS }),
    });
  }

  async #call(fun: string, args: Record<string, unknown>, test: boolean): Promise<[Value, string, Value]> {
    const result = await callState(`pkg.${fun}`, { name: "state", ...args }, { test, job: this.#job });
    const comment = result.get("comment") ?? "";
    return [result.get("result") ?? null, str(comment), result.get("changes") ?? null];
  }

  plan(fun: string, args: Record<string, unknown>): Promise<[Value, string, Value]> {
    return this.#call(fun, args, true);
  }

  run(fun: string, args: Record<string, unknown>): Promise<[Value, string, Value]> {
    return this.#call(fun, args, false);
  }
}

Deno.test({
  name: "packages are planned, installed, upgraded, held, removed and purged, and a second run changes nothing",
  ignore: !there,
  async fn() {
    using root = new AptRoot([
      { name: "lib", version: "1.0" },
      { name: "hello", version: "1:1.0-1", depends: "lib" },
      { name: "other", version: "0.9" },
    ]);
    const pkg = new States(root.path);
    const hello = { name: "hello" };
    const done = { lib: { old: "", new: "1.0" }, hello: { old: "", new: "1:1.0-1" } };
    await pkg.run("uptodate", { refresh: true });
    const before = tree(root.path);
    assertEquals(await pkg.plan("installed", hello), [
      null,
      "The following packages would be installed/updated: hello",
      map({ hello: { new: "1:1.0-1", old: "" } }),
    ]);
    assertEquals(tree(root.path), before, "a plan changes nothing");
    assertEquals(await pkg.run("installed", hello), [
      true,
      "The following packages were installed/updated: hello",
      map(done),
    ]);
    assertEquals(await pkg.run("installed", hello), [true, "All specified packages are already installed", map({})]);
    const exact = { pkgs: [{ hello: "1:1.0-1" }, { lib: ">=1, <2" }] };
    assertEquals(await pkg.run("installed", exact), [
      true,
      "All specified packages are already installed and are at the desired version",
      map({}),
    ]);

    const [failed, message, changes] = await pkg.run("installed", { name: "nosuch" });
    assertEquals([failed, changes], [false, map({})]);
    assertStringIncludes(message, "Problem encountered installing package(s). Additional info follows:\n\nerrors:\n");
    assertStringIncludes(message, "Unable to locate package nosuch");
    assert(!message.includes("changes:"));

    root.offer([{ name: "hello", version: "1:1.1-1", depends: "lib" }]);
    assertEquals(await pkg.run("latest", { ...hello, refresh: true }), [
      true,
      "The following packages were successfully installed/upgraded: hello",
      map({ hello: { old: "1:1.0-1", new: "1:1.1-1" } }),
    ]);
    assertEquals(await pkg.run("latest", hello), [true, "Package hello is already up-to-date", map({})]);
    const file = root.build({ name: "local", version: "3" });
    const source = { sources: [{ local: file }] };
    assertEquals((await pkg.run("installed", source)).slice(0, 2), [
      true,
      "The following packages were installed/updated: local",
    ]);
    assertEquals(await pkg.run("installed", source), [true, "All specified packages are already installed", map({})]);

    assertEquals((await pkg.run("held", hello)).slice(0, 2), [true, "Package hello is now being held"]);
    assertEquals(await pkg.run("held", hello), [true, "No changes made", map({})]);
    assertEquals((await pkg.run("unheld", hello)).slice(0, 2), [true, "Package hello is no longer being held."]);

    assertEquals((await pkg.plan("removed", hello))[1], "The following packages will be removed: hello.");
    assertEquals(await pkg.run("removed", hello), [
      true,
      "All targeted packages were removed.",
      map({ hello: { old: "1:1.1-1", new: "" } }),
    ]);
    assertEquals(await pkg.run("removed", hello), [
      true,
      "All specified packages are already absent",
      map({}),
    ]);
    const [purged, comment] = await pkg.run("purged", { pkgs: ["hello", "other"] });
    assertEquals([purged, comment], [
      true,
      "The following packages were not installed: other The following packages were purged: hello.",
    ]);
    assertEquals(
      (await pkg.run("purged", hello))[1],
      "None of the targeted packages are installed or partially installed",
    );
    assertEquals((await pkg.run("uptodate", {})).slice(0, 2), [true, "System is already up-to-date"]);
  },
});

Deno.test("the first state that installs reads the lists of packages, and the next ones do not", () =>
  withTemporaryDirectory(async (root) => {
    const opts = testOpts({ root_dir: root });
    const refreshes: Value[] = [];
    const call = (name: string, _args: Value[] = [], kwargs: ValueMap = new Map()): Promise<Value> => {
      if (name === "pkg.latest_version") refreshes.push(kwargs.get("refresh") ?? null);
      return Promise.resolve(name === "pkg.version" ? "1" : "");
    };
    const run = async (args: Record<string, unknown>) => {
      await callState("pkg.latest", { name: "a", ...args }, { job: testContext({ opts }), state: { call } });
    };
    const init = (fun: string) => {
      const context = stateContext(`pkg.${fun}`, map({ name: "a" }), { job: testContext({ opts }) });
      return mod_init.run({ low: context.low }, context, { args: [], kwargs: new Map() });
    };
    await run({});
    assertEquals(await init("removed"), false);
    await run({});
    assertEquals(await init("latest"), true);
    await run({});
    await run({ refresh: false });
    await run({ refresh: true });
    assertEquals(refreshes, [false, false, true, false, true]);
    assertEquals([wantsRefresh(null, opts), wantsRefresh(false, opts)], [true, false]);
  }));

/** A chunk of the module pkg. */
function chunk(name: string, more: Record<string, unknown> = {}): ValueMap {
  return map({ state: "pkg", name, __id__: name, fun: "installed", ...more });
}

/** The first chunk after the aggregation, and the other chunks that it includes. */
async function aggregated(chunks: readonly ValueMap[], running: ValueMap = new Map()): Promise<[Value, string[]]> {
  const [low] = chunks;
  low.set("__agg__", true);
  const context = stateContext("pkg.installed", low);
  const made = await mod_aggregate.run({ low, chunks, running }, context, { args: [], kwargs: new Map() });
  assert(made instanceof Map && isMap(made));
  const taken = chunks.slice(1).filter((one) => one.has("__agg__"));
  return [made.get("sources") ?? made.get("pkgs") ?? null, taken.map((one) => str(one.get("name") ?? null))];
}

Deno.test("states of packages are aggregated into the first one, with their versions", async () => {
  const own = [chunk("other_pkgs", { pkgs: ["byobu"] }), chunk("bc", { hold: true }), chunk("vim"), chunk("tmux")];
  assertEquals(await aggregated([...own, map({ ...Object.fromEntries(chunk("x")), state: "pkgrepo" })]), [
    ["byobu", "vim", "tmux"],
    ["vim", "tmux"],
  ]);
  const versions = [
    chunk("vim", { version: "1.0" }),
    chunk("list", { pkgs: [{ a: "2" }, "b", "vim"] }),
    chunk("repo", { fromrepo: "sid" }),
    chunk("files", { sources: [{ c: "/c" }] }),
    chunk("new", { fun: "latest" }),
    chunk("done"),
  ];
  const running = map({ "pkg_|-done_|-done_|-installed": {} });
  assertEquals(await aggregated(versions, running), [[map({ vim: "1.0" }), map({ a: "2" }), "b"], ["list"]]);
  const sources = [chunk("a", { sources: [{ a: "/a" }] }), chunk("b", { sources: [{ b: "/b" }] }), chunk("c")];
  assertEquals(await aggregated(sources), [[map({ a: "/a" }), map({ b: "/b" })], ["b"]]);
  assertEquals(await aggregated([chunk("a"), chunk("b", { hold: true })]), [null, []]);
});

Deno.test("pkg.installed: a version that cannot be compared is a failure, and installs nothing", async () => {
  const real = loadCatalogue();
  // This host has a function that compares versions.
  const get = (name: string) => real.get(name === "pkg.version_cmp" ? "test.ping" : name);
  const given = await scriptedState("pkg.installed", {
    name: "a",
    pkgs: [{ a: ">=1" }, "b"],
    refresh: false,
    skip_suggestions: true,
  }, {
    "pkg.list_pkgs": (_args, kwargs) => kwargs.has("purge_desired") ? new Map() : map({ a: ["2"], b: ["1"] }),
    "pkg.version_cmp": throwing(new CommandError("the versions are none")),
    "pkg.normalize_name": ([name]) => name,
  }, { job: testContext({ catalogue: { ...real, get } }) });
  assertEquals([given.result, given.comment, given.changes], [false, "the versions are none", new Map()]);
});
