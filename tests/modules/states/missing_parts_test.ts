/**
 * States where a program, a module or a file that they need is not there, or arguments are missing or too many.
 * @module
 */

import { CommandError, InvocationError } from "#lib/errors.ts";
import { callFunction } from "#lib/plugins/execution.ts";
import type { JobContext, StateContext } from "#lib/plugins/job_context.ts";
import { declare } from "#lib/plugins/module.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { callState } from "#tests/support/calls/state_call.ts";
import { SearchPath } from "#tests/support/search_path.ts";

/** A directory of the test, and the context of a masterless minion in it. */
class Place implements AsyncDisposable {
  readonly root = Deno.makeTempDirSync({ prefix: "parts_" });
  readonly job: JobContext = testContext({ opts: testOpts({ root_dir: `${this.root}/minion`, file_client: "local" }) });

  /** Result and comment of a state, with the directory as `@`. */
  async state(fun: string, args: Record<string, unknown>, state: Partial<StateContext> = {}): Promise<[Value, string]> {
    const ret = await callState(fun, args, { job: this.job, state });
    return [ret.get("result") ?? null, str(ret.get("comment") ?? "").replaceAll(this.root, "@")];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.root, { recursive: true });
  }
}

Deno.test("file.patch needs the state file.managed", async () => {
  await using place = new Place();
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

Deno.test("archive.extracted says why tar failed", async () => {
  await using place = new Place();
  const { root } = place;
  await Deno.mkdir(`${root}/in`);
  await Deno.writeTextFile(`${root}/in/f`, "x\n");
  await new Deno.Command("tar", { args: ["-cf", `${root}/a.tar`, "-C", `${root}/in`, "f"] }).output();
  const args = { name: `${root}/out`, source: `${root}/a.tar`, enforce_toplevel: false };
  await Deno.mkdir(`${root}/bin`);
  await Deno.writeTextFile(`${root}/bin/tar`, "#!/bin/sh\necho no room >&2\nexit 2\n", { mode: 0o755 });
  using _ = new SearchPath(`${root}/bin`);
  assertEquals(await place.state("archive.extracted", args), [false, "Failed to extract @/a.tar: no room"]);
  await Deno.mkdir(`${root}/out`, { recursive: true });
  const ret = await callState("archive.extracted", { ...args, options: "v" }, { job: place.job });
  const changes = ret.get("changes");
  assertEquals([ret.get("result"), isMap(changes ?? null) && (changes as ValueMap).get("stderr")], [false, "no room"]);
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
  await using place = new Place();
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
  await using place = new Place();
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

Deno.test("a state of a command warns of an argument that no function of it has", async () => {
  const ret = await callState("cmd.run", { name: "true", tmeout: 5 }, { test: false });
  assertEquals(ret.get("warnings"), [
    "cmd.run_all takes no argument 'tmeout', so it has no effect; did you mean timeout?",
  ]);
});

Deno.test("a rule of a firewall needs its chain", async () => {
  const fun = "iptables.append";
  await assertRejects(
    () => callState(fun, { name: "r", table: "filter" }),
    InvocationError,
    `${fun} needs the argument 'chain'`,
  );
});

/** A repository with two commits, the first tagged, and clones of it. */
async function repositories(root: string): Promise<void> {
  const script = `
    export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@b
    git init -q -b main up; cd up; echo 1 > f; git add f; git commit -q -m one; git tag v1; echo 2 > f; git commit -q -a -m two; cd ..
    for n in behind here; do git clone -q "file://$PWD/up" $n; done; git -C behind reset -q --hard v1`;
  const { success, stderr } = await new Deno.Command("sh", { args: ["-ec", script], cwd: root }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}

Deno.test("states of git say what a remote or a clone does not have after all", async () => {
  await using place = new Place();
  const { root } = place;
  await repositories(root);
  const name = `file://${root}/up`;
  /** The same, with one function of git that does something else. */
  const state = (
    fun: string,
    args: Record<string, unknown>,
    other: string,
    answer: (args: readonly Value[]) => Value | undefined,
  ) =>
    place.state(fun, { name, ...args }, {
      call: async (called, list = [], kwargs) => {
        const own = called === other ? answer(list) : undefined;
        return own !== undefined ? own : await callFunction(called, { args: list, kwargs, context: place.job });
      },
    });
  assertEquals(
    await state("git.latest", { target: `${root}/new`, rev: "v1" }, "git.list_tags", () => []),
    [false, "Revision 'v1' does not exist in clone\n\nChanges already made: file://@/up cloned to @/new"],
  );
  const behind = { target: `${root}/behind`, rev: "main", branch: "main" };
  const [, unmoved] = await state("git.latest", behind, "git.merge", () => "");
  assertEquals(unmoved.split("\n")[0], "Failed to update repository");
  assertEquals(
    await state("git.latest", behind, "git.merge", () => {
      throw new InvocationError("not like this");
    }),
    [false, "not like this"],
  );
  assertEquals(
    await state("git.detached", { target: `${root}/here`, rev: "nosuch" }, "git.remote_refs", () => {
      throw new CommandError("broken");
    }),
    [false, "Failed to list refs for origin: broken"],
  );
  const key = `${root}/key`;
  await Deno.writeTextFile(key, "-----BEGIN OPENSSH PRIVATE KEY-----\n", { mode: 0o600 });
  const [result] = await place.state("git.latest", { name, target: `${root}/keyed`, rev: "main", identity: key });
  assertEquals(result, true);
});

Deno.test("file.tidied leaves out what is gone by then, and what it may not look at", async () => {
  await using place = new Place();
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
