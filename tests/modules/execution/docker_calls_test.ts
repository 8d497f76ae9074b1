/**
 * Functions and states in containers of a real engine: their image has only busybox; this host's libraries and this
 * program's source tree are bound into them.
 * @module
 */

import { dirName } from "#lib/os/paths.ts";
import { listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertMatch, assertRejects } from "#tests/support/assert.ts";
import { resultOrError, testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { callState } from "#tests/support/calls/state_call.ts";
import { eventually } from "#tests/support/eventually.ts";
import type { TestEngine } from "#tests/support/servers/docker_engine.ts";
import { engineOptions, withEngine } from "./docker_job.ts";
import { TREE_CONFIG } from "#tests/support/tree_config.ts";

/** The directories of this host that a container has. */
const BINDS = ["/usr", "/lib", "/lib64", "/opt", dirName(TREE_CONFIG), dirName(Deno.realPathSync(Deno.execPath()))]
  .filter((path, i, all) => all.indexOf(path) === i && Deno.statSync(path).isDirectory)
  .map((path) => `${Deno.realPathSync(path)}:${path}:ro`);

const TREE_FILES = {
  "top.sls": "base: {'*': [inner]}",
  "inner.sls": `
made:
  file.managed:
    - name: /made.txt
    - source: salt://text.jinja
    - template: jinja
`,
  "text.jinja": "{{ pillar['word'] }} {{ grains['role'] }} {{ grains['id'] }}",
  "failing.sls": "broken: {test.fail_without_changes: []}",
};

/** A job of a minion with states. */
function jobFor(server: TestEngine, root: string, signal = new AbortController().signal) {
  Deno.mkdirSync(`${root}/srv`, { recursive: true });
  for (const [path, text] of Object.entries(TREE_FILES)) Deno.writeTextFileSync(`${root}/srv/${path}`, text);
  const opts = testOpts({
    ...engineOptions(server, root),
    id: "web1",
    file_roots: map({ base: [`${root}/srv`] }),
    grains: map({ role: "inner-web" }),
  });
  return testContext({ opts, signal, pillar: map({ word: "outer" }) });
}

type Call = (fun: string, args?: Value[], kwargs?: Record<string, unknown>) => Promise<Value>;

/** Calls functions of `docker`; of a map its values. */
function caller(context: ReturnType<typeof jobFor>): Call {
  return (fun, args = [], kwargs = {}) => context.call(`docker.${fun}`, args, map(kwargs));
}

/** The result and the comment of the one state. */
function onlyState(results: Value): readonly [Value, string] {
  assert(isMap(results), JSON.stringify(results));
  const [state] = [...results.values()].map(mapOrEmpty);
  return [state.get("result") ?? null, str(state.get("comment") ?? "")];
}

/** What of the executable is left in the container. */
async function leftIn(call: Call, name: string): Promise<string[]> {
  return str(await call("run", [name, "ls -a /"])).split("\n").filter((file) => file.startsWith(".salt"));
}

/** The containers that there are. */
async function names(call: Call): Promise<string[]> {
  return listOrEmpty(await call("list_containers", [], { all: true })).map(str);
}

async function startBox(call: Call, server: TestEngine): Promise<void> {
  await call("import", [`${server.directory}/image.tar`, "base", "1"]);
  await call("run_container", ["base:1"], { name: "box", bg: true, cmd: "sleep 600", binds: BINDS });
}

withEngine("docker.call runs functions in a container, and leaves nothing there", async (server, root) => {
  const job = jobFor(server, root), call = caller(job);
  await startBox(call, server);
  const host = str(await call("run", ["box", "hostname"]));
  assertEquals(
    await call("call", ["box", "grains.item", "id", "role", "nodename"]),
    map({ id: "web1", role: "inner-web", nodename: host }),
  );
  await call("call", ["box", "file.write", "/made.txt"], { args: ["a b"] });
  assertEquals(await call("run", ["box", "cat /made.txt"]), "a b");
  assertEquals(mapOrEmpty(await call("call", ["box", "cmd.run_all", "exit 3"])).get("retcode"), 3);
  assertMatch(str(await call("call", ["box", "test.nosuch"])), /'test.nosuch' is not available/);
  assert(job.retcode !== 0);
  assertEquals(await leftIn(call, "box"), []);
  assertMatch(str(await resultOrError(job, "docker.call", ["box", ""])), /Missing function parameter/);

  // One in which nothing runs, one that does not run, and none.
  await call("run_container", ["base:1"], { name: "bare", bg: true, cmd: "sleep 600" });
  const refused = str(await resultOrError(job, "docker.call", ["bare", "test.ping"]));
  assertMatch(refused, /salt-minion does not run in container 'bare': .*not found/);
  assertEquals(await leftIn(call, "bare"), []);
  await call("kill", ["bare"]);
  assertMatch(str(await resultOrError(job, "docker.call", ["bare", "test.ping"])), /'bare' is not running/);
  assertMatch(str(await resultOrError(job, "docker.call", ["nosuch", "test.ping"])), /No such container: nosuch/);
});

withEngine("docker.call ends with its job, and what it has started", async (server, root) => {
  const ended = new AbortController();
  const call = caller(jobFor(server, root));
  await startBox(call, server);
  const sleeps = async () => JSON.stringify([...mapOrEmpty(await call("top", ["box"])).values()].map(String));
  const processes = async () => str(await call("run", ["box", "ps"]));
  const running = caller(jobFor(server, root, ended.signal))("call", ["box", "cmd.run", "sleep 301"]);
  await eventually(async () => (await processes()).includes("sleep 301"), { what: "the command", everyMs: 200 });
  ended.abort(new Error("the job is ended"));
  await assertRejects(() => running, Error);
  await eventually(async () => !(await processes()).includes("sleep 301"), { what: "its end", everyMs: 200 });
  assertEquals(await leftIn(call, "box"), [], await sleeps());
});

withEngine("docker.apply runs states there, with the pillar and the files of this minion", async (server, root) => {
  const job = jobFor(server, root), call = caller(job);
  await startBox(call, server);
  const made = () => call("run", ["box", "cat /made.txt"]);
  const [result, comment] = onlyState(await call("apply", ["box", "inner"]));
  assertEquals([result, await made()], [true, "outer inner-web web1"], comment);
  const tested = await call("sls", ["box"], { mods: "inner", test: true, pillar: { word: "given" } });
  assertEquals([onlyState(tested)[0], await made()], [null, "outer inner-web web1"]);
  await call("highstate", ["box"], { pillar: { word: "high" } });
  assertEquals(await made(), "high inner-web web1");
  await call("apply", ["box"], { pillar: { word: "top" } });
  assertEquals([await made(), job.retcode], ["top inner-web web1", 0]);
  assertEquals([onlyState(await call("sls", ["box", "failing"]))[0], job.retcode], [false, 2]);
  assertMatch(JSON.stringify(await call("sls", ["box", "nosuch"])), /No matching sls found for 'nosuch'/);
  assertEquals([job.retcode, await leftIn(call, "box")], [1, []]);
});

withEngine("docker.sls_build makes an image by states, or none", async (server, root) => {
  const job = jobFor(server, root), call = caller(job);
  await call("import", [`${server.directory}/image.tar`, "base", "1"]);
  const given = { base: "base:1", binds: BINDS };
  const built = mapOrEmpty(await call("sls_build", ["own"], { ...given, tag: "2", mods: "inner" }));
  assertMatch(str(built.get("Id") ?? ""), /^sha256:/);
  const told: ValueMap = mapOrEmpty(await call("run_container", ["own:2"], { name: "told", cmd: "cat /made.txt" }));
  assertEquals(told.get("Logs"), "outer inner-web web1");
  await call("rm", ["told"]);
  const dry = await call("sls_build", ["dry"], { ...given, mods: "inner", dryrun: true });
  assertEquals([onlyState(dry)[0], await call("resolve_tag", ["dry"])], [true, false]);
  const failing = str(await resultOrError(job, "docker.sls_build", ["bad"], { ...given, mods: "failing" }));
  assertMatch(failing, /The states for bad:latest have failed[^]*broken/);
  assertEquals([await call("resolve_tag", ["bad"]), await names(call)], [false, []]);

  // The state: without the libraries of this host nothing runs in a container.
  const state = { name: "state", tag: "1", sls: "inner", base: "base:1" };
  const failed = await callState("docker_image.present", state, { job });
  assertMatch(str(failed.get("comment") ?? ""), /error using SLS inner for building state:1: salt-minion does not run/);
  const tested = await callState("docker_image.present", state, { job, test: true });
  assertEquals([failed.get("result"), tested.get("result")], [false, null]);
  assertEquals(await names(call), []);
});
