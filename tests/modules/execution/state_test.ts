import { messageOf } from "#lib/errors.ts";
import { exists } from "#lib/os/file_kind.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, str, type Value } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { resultOrError, testContext, testOpts, withGrains } from "#tests/support/calls/job_context.ts";
import { openTree } from "#tests/support/calls/state_tree.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

Deno.test("state.run_request without a request runs nothing", async () => {
  await withTemporaryDirectory(async (root) => {
    const context = testContext({ opts: testOpts({ root_dir: root, cachedir: `${root}/cache` }) });
    assertEquals(await resultOrError(context, "state.run_request", ["none"]), new Map());
  });
});

Deno.test("state.show_sls shows states in test mode, too", async () => {
  await using tree = await openTree({ files: { "t.sls": "a: {test.nop: []}\n" } });
  for (const kwargs of [{}, { test: true }]) {
    const { returned } = await tree.call("state.show_sls", ["t"], kwargs);
    assertEquals(isMap(returned) && [...returned.keys()], ["a"]);
  }
});

Deno.test("state.event requires the bus of the minion or of the master", async () => {
  const context = testContext({ opts: testOpts() });
  assertEquals(await resultOrError(context, "state.event", ["*"], { count: 0 }), null);
  assertEquals(
    await resultOrError(context, "state.event", ["*"], { node: "other" }),
    "node must be master or minion, not other",
  );
});

Deno.test("state.template runs the states of a file of this host, with or without .sls in its name", async () => {
  await withTemporaryDirectory(async (directory) => {
    Deno.writeTextFileSync(`${directory}/t.sls`, "{{ 'a' }}: test.nop\n");
    await using tree = await openTree({ files: {} });
    for (const path of [`${directory}/t.sls`, `${directory}/t`]) {
      const { returned } = await tree.call("state.template", [path]);
      assertEquals(isMap(returned) && [...returned.keys()], ["test_|-a_|-a_|-nop"]);
    }
    const missing = await tree.call("state.template", [`${directory}/none`]).catch(messageOf);
    assert(JSON.stringify(missing).includes("none"));
  });
});

Deno.test("state.disable and state.enable report the change of each name, and store it as a grain", async () => {
  await withGrains(async (call) => {
    assertEquals(await call("state.list_disabled"), "");
    assertEquals(
      await call("state.disable", "highstate,bind.config"),
      map({ res: true, msg: "Info: highstate state disabled.\nInfo: bind.config state disabled." }),
    );
    assertEquals(
      await call("state.disable", ["highstate", "x"]),
      map({ res: true, msg: "Info: highstate state already disabled.\nInfo: x state disabled." }),
    );
    assertEquals(await call("state.list_disabled"), ["highstate", "bind.config", "x"]);
    assertEquals(
      await call("state.enable", "highstate,y"),
      map({ res: true, msg: "Info: highstate state enabled.\nInfo: y state already enabled." }),
    );
    assertEquals(await call("state.list_disabled"), ["bind.config", "x"]);
  });
});

const MADE = "made: {file.managed: [{name: {{ pillar['dir'] }}/made, contents: text}]}\nother: {test.nop: []}\n";

Deno.test("state.test, sls_id and id_exists are about states of SLS files", async () => {
  await withTemporaryDirectory(async (dir) => {
    await using tree = await openTree({ files: { "top.sls": "base: {'*': [t]}", "t.sls": MADE }, pillar: { dir } });
    const results = async (fun: string, args: Value[], kwargs: Record<string, unknown> = {}) => {
      const { returned } = await tree.call(fun, args, kwargs);
      return [...mapOrEmpty(returned)].map(([key, one]) => [str(key).split("_|-")[1], mapOrEmpty(one).get("result")]);
    };
    const dry = [["made", null], ["other", true]];
    assertEquals([await results("state.test", ["t"]), exists(`${dir}/made`)], [dry, false]);
    assertEquals([await results("state.test", [], { test: false }), exists(`${dir}/made`)], [dry, false]);
    assertEquals(await results("state.sls_id", ["other", "t"]), [["other", true]]);
    assertEquals([await results("state.sls_id", ["made", "t"], { queue: "True" }), exists(`${dir}/made`)], [[[
      "made",
      true,
    ]], true]);
    const has = async (ids: Value) => (await tree.call("state.id_exists", [ids, "t"])).returned;
    assertEquals([await has("made,other"), await has(["other"]), await has("made,none")], [true, true, false]);
    assertEquals(
      (await tree.call("state.sls_id", ["made", "t"], { queue: "maybe" })).error?.message,
      "queue must be True, False or a number, not 'maybe'",
    );
  });
});

Deno.test("state.request keeps what a run would do, and state.run_request does it once", async () => {
  await withTemporaryDirectory(async (dir) => {
    await using tree = await openTree({ files: { "t.sls": MADE } });
    const pillar = { dir };
    const asked = await tree.call("state.request", ["t"], { pillar, name: "mine", test: false });
    assertEquals([mapOrEmpty(asked.returned).size, exists(`${dir}/made`)], [2, false]);
    const requests = async () => [...mapOrEmpty((await tree.call("state.check_request", ["mine"])).returned).keys()];
    assertEquals((await requests()).length > 0, true);
    // As in Salt, a request is never run in test mode.
    const ran = await tree.call("state.run_request", ["mine"], { test: true });
    assertEquals([mapOrEmpty(ran.returned).size, Deno.readTextFileSync(`${dir}/made`)], [2, "text\n"]);
    assertEquals([await requests(), (await tree.call("state.run_request", ["mine"])).returned], [[], new Map()]);
  });
});
