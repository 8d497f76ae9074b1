/**
 * The module `docker` and its states against a real engine: the same calls, one after the other, have the results that
 * Python Salt had.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import { map, str, toValue, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { resultOrError, testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { callState } from "#tests/support/calls/state_call.ts";
import { contextFor, withEngine } from "./docker_job.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

interface Step {
  readonly fun: string;
  readonly args?: readonly unknown[];
  readonly kwargs?: Readonly<Record<string, unknown>>;
  readonly test?: boolean;
  readonly result?: unknown;
  readonly raises?: string;
  readonly ours?: unknown;
}

/** A file that is written between two steps. */
interface Writing {
  readonly do: { readonly write: string; readonly text: string };
}

const { steps }: { readonly steps: readonly (Step | Writing)[] } = JSON.parse(
  Deno.readTextFileSync(new URL("../../corpus/docker.json", import.meta.url)),
);

/** The registries that pillar names, as in tests/corpus/make_docker.py. */
const REGISTRIES = {
  "docker-registries": toValue({
    "localhost:5001": { username: "salt", password: "secret" },
    "localhost:5000": { username: "a" },
    odd: 1,
  }),
  "my-docker-registries": toValue({ "localhost:5001x": { username: "salt", password: "wrong" } }),
};

/** What a step has come to: its result, or the text of its error. */
function wanted(step: Step): Value {
  if ("ours" in step) return parseJson(JSON.stringify(step.ours));
  if (step.raises === undefined) return parseJson(JSON.stringify(step.result));
  return map({ raises: step.raises.replace(/^\w+: /, "") });
}

async function done(step: Step, within: (value: unknown) => Value, context: JobContext): Promise<Value> {
  const kwargs = mapOrEmpty(within(step.kwargs ?? {}));
  try {
    return step.fun.startsWith("docker.")
      ? await context.call(step.fun, listOrEmpty(within(step.args ?? [])), kwargs)
      : await callState(step.fun, kwargs, { job: context, test: step.test ?? false });
  } catch (error) {
    return map({ raises: messageOf(error) });
  }
}

withEngine("docker and its states do as Python Salt's, call by call", async (server, root) => {
  for (const [i, step] of steps.entries()) {
    const within = (value: unknown): Value =>
      parseJson(JSON.stringify(value).replaceAll("{dir}", () => server.directory));
    if ("do" in step) {
      const path = str(within(step.do.write));
      Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
      Deno.writeTextFileSync(path, step.do.text);
      continue;
    }
    // Each call is a job of its own.
    const given = await done(step, within, contextFor(server, root, REGISTRIES));
    await server.look();
    const label = `${i}: ${step.fun} ${JSON.stringify([step.args, step.kwargs, step.test])}`;
    assertEquals(server.normal(given), wanted(step), label);
  }
});

withEngine("docker: commands, scripts, the mine and watched changes", async (server, root) => {
  const context = contextFor(server, root);
  const call = (fun: string, args: Value[] = [], kwargs: Record<string, unknown> = {}) =>
    context.call(`docker.${fun}`, args, map(kwargs));
  await call("import", [`${server.directory}/image.tar`, "base", "1"]);
  const running = { image: "base:1", cmd: "sleep 300", stop_timeout: 0 };
  await callState("docker_container.running", { name: "box", ...running }, { job: context });

  // A shell of the host has no part in a command.
  for (const cmd of ["echo a; id", "echo $HOME", "cat < /etc/passwd", "echo `id`", 'echo "$(id)"', "a && b"]) {
    assertStringIncludes(str(await resultOrError(context, "docker.run", ["box", cmd])), "without a shell");
  }
  assertEquals(await call("run", ["box", "echo 'a; b' \"c | d\""]), "a; b c | d");
  assertEquals(await call("run", ["box", ["echo", "a; b"]]), "a; b");
  // The engine's processes have numbers of their own here, which nsenter does not find.
  assertStringIncludes(str(await call("run", ["box", "id"], { exec_driver: "nsenter" })), "nsenter: ");
  const unknown = { exec_driver: "lxc-attach" };
  assertStringIncludes(str(await resultOrError(context, "docker.run", ["box", "id"], unknown)), "Valid drivers are:");
  assertEquals(await call("retcode", ["box", "sh -c 'exit 7'"]), 7);
  assertEquals(context.retcode, 7);

  const script = `${root}/script.sh`;
  Deno.writeTextFileSync(script, '#!/bin/sh\necho "$1 from $0"\nexit 3\n');
  const ran = mapOrEmpty(await call("script", ["box", script], { args: "'a b'", ignore_retcode: true }));
  assertEquals(ran.get("retcode"), 3);
  assert(/^a b from \/tmp\/salt\w+\.sh$/.test(str(ran.get("stdout") ?? "")));
  assertEquals(await call("script_retcode", ["box", script], { ignore_retcode: true }), 3);
  assertEquals(await call("run", ["box", "ls /tmp"]), "");

  const big = "x".repeat(3 << 20);
  assertEquals(str(await call("run", ["box", "cat"], { stdin: big })).length, big.length);

  // A watched change replaces the container, or sends it a signal.
  const id = async () => mapOrEmpty(await call("inspect_container", ["box"])).get("Id");
  const before = await id();
  const watch = (more: Record<string, unknown>) =>
    callState("docker_container.mod_watch", { name: "box", sfun: "running", ...running, ...more }, { job: context });
  assertStringIncludes(str((await watch({ watch_action: "SIGCONT" })).get("comment") ?? ""), "Sent signal SIGCONT");
  assertEquals(await id(), before);
  await watch({});
  assert(await id() !== before);

  // The mine gets the containers after each change.
  Deno.mkdirSync(`${root}/var/cache/salt/minion`, { recursive: true });
  const miner = contextFor(server, root, { "docker.update_mine": true });
  await miner.call("docker.stop", ["box"]);
  const mined = mapOrEmpty(await miner.call("data.get", ["mine_cache"])).get("docker.ps");
  assertStringIncludes(JSON.stringify([...mapOrEmpty(mined).keys()]), str(await id() ?? ""));
});

Deno.test("docker: an engine that is not there, and names that are other paths, are named", () =>
  withTemporaryDirectory(async (root) => {
    const options = { "docker.url": `unix://${root}/none.sock`, "docker.update_mine": false };
    const context = testContext({ opts: testOpts({ root_dir: root, ...options }) });
    for (const fun of ["docker.version", "docker.ps", "docker.images"]) {
      assertStringIncludes(str(await resultOrError(context, fun)), "there is no such socket; is Docker running?");
    }
    for (const name of ["..", "a/../b", "."]) {
      await assertRejects(() => context.call("docker.inspect_container", [name]), Error, "Invalid name");
    }
    for (const url of ["ftp://x", "tcp://host", "http://u:p@h:1/", "tcp://h:1/path"]) {
      const other = testContext({ opts: testOpts({ root_dir: root, "docker.url": url }) });
      assertStringIncludes(str(await resultOrError(other, "docker.ps")), "neither unix://PATH nor tcp://HOST:PORT");
    }
  }));
