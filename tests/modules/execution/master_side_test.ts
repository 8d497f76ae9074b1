/**
 * saltutil.runner and saltutil.wheel with real `salt-run` processes of these sources, on the configuration of a master
 * that does not run.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { isMap, map, str, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
import { type TestContext, testContext, testOpts } from "#tests/support/calls/job_context.ts";

interface Place extends Disposable {
  readonly context: TestContext;
}

function place(master: string | undefined): Place {
  const root = Deno.makeTempDirSync({ prefix: "master_side_" });
  Deno.mkdirSync(`${root}/etc/salt`, { recursive: true });
  if (master !== undefined) Deno.writeTextFileSync(`${root}/etc/salt/master`, `root_dir: ${root}\n${master}`);
  const opts = testOpts({ root_dir: root });
  return {
    context: testContext({ opts: { ...opts, conf_file: `${root}/etc/salt/minion` } }),
    [Symbol.dispose]: () => Deno.removeSync(root, { recursive: true }),
  };
}

Deno.test("saltutil.runner passes all types of arguments on, and returns the runner's result", async () => {
  using p = place("");
  const runnerArgs = {
    name: "test.arg",
    arg: ["a: 1", 2, null, ["x"]],
    kwarg: { foo: "1", deep: { a: [true] } },
    more: 2.5,
  };
  const result = await p.context.call("saltutil.runner", [], map(runnerArgs));
  assertEquals(
    result,
    map({ args: ["a: 1", 2, null, ["x"]], kwargs: { foo: "1", deep: { a: [true] }, more: 2.5 } }),
  );
});

Deno.test("saltutil.wheel returns the same fields as Salt's: fun, jid, user, fun_args, return, success", async () => {
  using p = place("");
  const result = await p.context.call("saltutil.wheel", ["key.list_all"]);
  assert(isMap(result));
  assertEquals([...result.keys()], ["fun", "jid", "user", "fun_args", "return", "success", "retcode"]);
  const keys: Value = result.get("return") ?? null;
  assertEquals([result.get("fun"), result.get("success"), isMap(keys) && keys.get("minions")], [
    "wheel.key.list_all",
    true,
    [],
  ]);
});

Deno.test("saltutil.runner reports failures, and a missing master", async () => {
  using p = place("");
  await assertRejects(() => p.context.call("saltutil.runner", ["nope.nope"]), CommandError, "nope.nope");
  using none = place(undefined);
  await assertRejects(() => none.context.call("saltutil.runner", ["test.arg"]), CommandError, "located on the master");
  await assertRejects(
    () => none.context.call("saltutil.cmd", ["*", "test.ping"]),
    CommandError,
    "located on the master",
  );
});

Deno.test("sys lists the runners of this host's master", async () => {
  using p = place("");
  const modules = await p.context.call("sys.list_runners", ["j*", "manage"]);
  assertEquals(modules, ["jobs", "manage"]);
  const specs = await p.context.call("sys.runner_argspec", ["test.arg"]);
  assertEquals(specs, map({ "test.arg": { args: null, defaults: null, varargs: true, kwargs: true } }));
  const docs = await p.context.call("sys.runner_doc", ["jobs.active"]);
  assert(isMap(docs) && str(docs.get("jobs.active") ?? "").includes("jobs"));
});

/** A minion on the host of a master whose `salt-run` prints this. */
function scripted(stdout: string, { retcode = 0, stderr = "" } = {}) {
  const p = place("");
  const words: string[][] = [];
  const runChild: JobContext["runChild"] = ({ argv }) => {
    words.push([...argv]);
    const encoder = new TextEncoder();
    return Promise.resolve({
      pid: 1,
      retcode,
      stdout: encoder.encode(stdout),
      stderr: encoder.encode(stderr),
      timedOut: false,
      dropped: { stdout: 0, stderr: 0 },
    });
  };
  const call = (name: string, args: Value[], kwargs: Record<string, unknown> = {}) =>
    testContext({ opts: p.context.opts, runChild }).call(name, args, map(kwargs));
  /** The arguments after the options. */
  const commandArgs = () => words.at(-1)?.slice(words.at(-1)!.indexOf("--no-color") + 1);
  return { call, commandArgs, [Symbol.dispose]: () => p[Symbol.dispose]() };
}

Deno.test("saltutil.cmd and cmd_iter pass their options on to the master", async () => {
  using p = scripted('{"web1": {"ret": true, "retcode": 0}, "web2": {"ret": false, "retcode": 1}}\n');
  const given = { timeout: 5, kwarg: { a: 1 }, more: "x", roster: "flat", ret: "redis" };
  const answer = await p.call("saltutil.cmd", ["web*", "test.ping"], given);
  assertEquals(answer, map({ web1: { ret: true, retcode: 0 }, web2: { ret: false, retcode: 1 } }));
  assertEquals(p.commandArgs(), [
    ...[
      "salt.returns",
      '"web*"',
      '"test.ping"',
      "arg=[]",
      'tgt_type="glob"',
      'ret="redis"',
      "timeout=5",
      'kwarg={"a": 1}',
    ],
    'more="x"',
  ]);
  assertEquals(await p.call("saltutil.cmd_iter", ["web*", "test.ping"]), [
    map({ web1: { ret: true, retcode: 0 } }),
    map({ web2: { ret: false, retcode: 1 } }),
  ]);
  await assertRejects(
    () => p.call("saltutil.cmd", ["*", "test.ping"], { ssh: true }),
    CommandError,
    "run salt-ssh on the master's host",
  );
});

Deno.test("saltutil.runner returns a runner's result as Salt's clients do, or the output of salt-run if there is none", async () => {
  using p = scripted("[1, 2]\n");
  const whole = await p.call("saltutil.runner", ["test.arg", "a"], { full_return: true });
  assert(isMap(whole));
  const { jid, user, ...known } = Object.fromEntries(whole);
  assert(/^\d{20}$/.test(String(jid)) && typeof user === "string");
  assertEquals(known, { fun: "runner.test.arg", fun_args: ["a"], return: [1, 2], success: true, retcode: 0 });
  using broken = scripted("Segmentation fault\n", { retcode: 139 });
  await assertRejects(() => broken.call("saltutil.runner", ["test.arg"]), CommandError, "Segmentation fault");
  using silent = scripted("{", { retcode: 2, stderr: "no memory" });
  await assertRejects(() => silent.call("saltutil.runner", ["test.arg"]), CommandError, "no memory");
});
