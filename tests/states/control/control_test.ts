/**
 * Control of runs: unknown arguments, pauses, switched-off states, requests, records, runs that continue after a
 * restart, events.
 * @module
 */

import { assert, assertEquals } from "#tests/support/assert.ts";
import { testContext } from "#tests/support/calls/job_context.ts";
import { resultOf } from "#tests/support/calls/returned_states.ts";
import { openTree, withoutTimes } from "#tests/support/calls/state_tree.ts";
import { interruptedRunLines } from "#lib/states/control/interrupted_run.ts";
import { readRun, RunRecord } from "#lib/states/control/record.ts";
import { isMap, map, type Value, type ValueMap } from "#lib/values/value.ts";

const JID = "20260101000000000000";

/** The keys of the results, shortened. */
function ids(returned: Value): unknown {
  return isMap(returned) ? [...returned.keys()].map((tag) => String(tag).split("_|-")[1]) : returned;
}

Deno.test("an unknown argument of a state function is an error with its position, and nothing runs", async () => {
  const sls =
    "ok: test.succeed_with_changes\na:\n  test.configurable_test_state:\n    - changes: True\n    - reslut: True\n";
  await using tree = await openTree({ files: { "t.sls": sls } });
  for (const fun of ["state.sls", "state.show_low_sls"]) {
    const { returned, retcode } = await tree.call(fun, ["t"]);
    const [text = ""] = Array.isArray(returned) ? returned.map(String) : [];
    assertEquals(text.split("\n").slice(0, 3), [
      "unknown argument `reslut` of test.configurable_test_state in state 'a' in SLS 't'",
      "Did you mean result?",
      "t.sls:5:7",
    ]);
    assertEquals(retcode, 1);
  }
});

Deno.test("a state function that accepts arguments besides its parameters declares them", async () => {
  const sls =
    "/x/y:\n  file.managed:\n    - usr: root\n    - owner: root\nb:\n  file.absent:\n    - name: /x/y\n    - contents: x\n";
  await using tree = await openTree({ files: { "t.sls": sls } });
  const { returned } = await tree.call("state.show_low_sls", ["t"]);
  assertEquals(Array.isArray(returned) && returned.map((text) => String(text).split("\n").slice(0, 3)), [[
    "unknown argument `usr` of file.managed in state '/x/y' in SLS 't'",
    "Did you mean user?",
    "t.sls:3:7",
  ]]);
});

Deno.test("a run ends before the state that an operator chose, and continues after a pause", async () => {
  await using tree = await openTree({ files: { "t.sls": "a: test.nop\nb: test.nop\nc: test.nop\n" } });
  await tree.call("state.soft_kill", [JID, "b"]);
  const { returned } = await tree.call("state.sls", ["t"]);
  assertEquals(ids(returned), ["a"]);
  await tree.call("state.pause", [JID, "c", 1]);
  const begun = performance.now();
  assertEquals(ids((await tree.call("state.sls", ["t"])).returned), ["a", "b", "c"]);
  assert(performance.now() - begun > 900);
  assertEquals((await tree.call("state.get_pauses")).returned, new Map());
});

Deno.test("SLS files, functions and the highstate can be switched off", async () => {
  const off = ["t", "highstate", "test.nop"];
  await using tree = await openTree({
    files: { "t.sls": "a: test.nop\n", "u.sls": "b: test.nop\nc: test.succeed_with_changes\n" },
  });
  const context = {
    ...tree.context,
    grains: map({ ...Object.fromEntries(tree.context.grains), state_runs_disabled: off }),
  };
  await using switched = await openTree({
    files: { "t.sls": "a: test.nop\n", "u.sls": "b: test.nop\nc: test.succeed_with_changes\n" },
    context: { grains: context.grains },
  });
  assertEquals((await switched.call("state.sls", ["t"])).returned, [
    'The state file "t" is currently disabled, to re-enable, run state.enable t.',
  ]);
  assertEquals(ids((await switched.call("state.sls", ["u"])).returned), ["c"]);
  const { returned } = await switched.call("state.highstate");
  assertEquals(isMap(returned) && returned.get("comment"), "Disabled");
  assertEquals((await switched.call("state.list_disabled")).returned, off);
});

Deno.test("a requested run is tested, stored, and applied on request", async () => {
  await using tree = await openTree({ files: { "t.sls": "a: test.succeed_with_changes\n" } });
  assertEquals(resultOf((await tree.call("state.request", ["t"])).returned, "a").get("result"), null);
  const kept = (await tree.call("state.check_request")).returned;
  const request = isMap(kept) ? kept.get("default") : undefined;
  assertEquals(isMap(request) && request.get("mods"), "t");
  assertEquals(resultOf((await tree.call("state.run_request")).returned, "a").get("result"), true);
  assertEquals((await tree.call("state.check_request")).returned, new Map());
});

Deno.test("a request stays as long as another run holds it up", async () => {
  const other = {
    jid: "20250101000000000000",
    fun: "state.apply",
    arg: [],
    tgt: "*",
    tgt_type: "glob",
    ret: "",
    user: "root",
    pid: 5,
  };
  const running: (typeof other)[] = [];
  await using tree = await openTree({
    files: { "t.sls": "a: test.succeed_with_changes\n" },
    context: { jobs: { running: () => Promise.resolve(running), signal: () => Promise.resolve(false) } },
  });
  await tree.call("state.request", ["t"], { name: "later" });
  running.push(other);
  const { returned, retcode } = await tree.call("state.run_request", ["later"]);
  assert(Array.isArray(returned) && String(returned[0]).includes("is running as"), String(returned));
  assertEquals(retcode, 1);
  running.pop();
  assertEquals(resultOf((await tree.call("state.run_request", ["later"])).returned, "a").get("result"), true);
  assertEquals((await tree.call("state.run_request", ["later"])).returned, new Map());
});

Deno.test("the record of a run has every result, and that of an interrupted run shows its progress", async () => {
  await using tree = await openTree({
    files: { "t.sls": "a: test.succeed_with_changes\nb: test.fail_without_changes\n" },
  });
  const { returned } = await tree.call("state.sls", ["t"]);
  const last = (await tree.call("state.last_run")).returned;
  assert(isMap(last) && isMap(returned));
  assertEquals([last.get("outcome"), last.get("jid")], ["finished", JID]);
  assertEquals(withoutTimes(last.get("states") ?? null), withoutTimes(returned));
  const { cachedir } = tree.context.opts;
  {
    using record = new RunRecord(cachedir, { jid: "20270101000000000000", fun: "state.apply" });
    record.started("test_|-a_|-a_|-nop");
    record.result("test_|-a_|-a_|-nop", map({ result: true, changes: { x: 1 } }));
    record.started("cmd_|-b_|-sleep 100_|-run");
    await new Promise((done) => setTimeout(done, 20));
    assertEquals([...readRun(cachedir)?.unfinished.keys() ?? []], ["cmd_|-b_|-sleep 100_|-run"]);
  }
  const cut = (await tree.call("state.last_run")).returned;
  assertEquals(isMap(cut) && cut.get("outcome"), "interrupted");
  assertEquals(interruptedRunLines(cachedir, "20270101000000000000"), [
    "1 states had run by then (1 with changes, 0 failed): state.last_run 20270101000000000000 shows them",
    "It had begun with cmd.run of b",
  ]);
});

Deno.test("a run whose state restarted the minion continues with the next state", async () => {
  const words = ["systemctl", "restart", "salt-minion"];
  const mark = { pid: 1, at: "" };
  await using tree = await openTree({
    files: {
      "t.sls": "a: test.succeed_with_changes\nb:\n  test.fail_without_changes:\n    - require: [{test: a}]\n" +
        "c:\n  test.nop:\n    - require: [{test: b}]\n",
    },
    context: {
      detachedCommands: [{ jid: JID, number: 1, words, process: mark, keeper: mark }],
      runChild: () =>
        Promise.resolve({
          pid: 7,
          retcode: 0,
          stdout: new Uint8Array(),
          stderr: new Uint8Array(),
          timedOut: false,
          dropped: { stdout: 0, stderr: 0 },
        }),
    },
  });
  {
    using record = new RunRecord(tree.context.opts.cachedir, { jid: JID, fun: "state.apply" });
    record.started("test_|-a_|-a_|-succeed_with_changes");
    record.result(
      "test_|-a_|-a_|-succeed_with_changes",
      map({ name: "a", result: true, changes: { from: "before" }, comment: "" }),
    );
    record.started("test_|-b_|-b_|-fail_without_changes");
    await new Promise((done) => setTimeout(done, 20));
  }
  const { returned, retcode } = await tree.call("state.sls", ["t"]);
  assertEquals(retcode, 0);
  assertEquals(resultOf(returned, "a").get("changes"), map({ from: "before" }));
  assertEquals(
    resultOf(returned, "b").get("comment"),
    "The minion ended while this state ran, and the run went on.\nsystemctl restart salt-minion ended with return code 0.",
  );
  assertEquals([resultOf(returned, "b").get("result"), resultOf(returned, "c").get("comment")], [true, "Success!"]);
});

Deno.test("states send their results to the master if requested", async () => {
  const requests: { tag: Value; data: Value }[] = [];
  await using tree = await openTree({
    files: {
      "t.sls": "a:\n  test.nop:\n    - fire_event: my/tag\nb:\n  test.nop:\n    - fire_event: True\nc: test.nop\n",
    },
    opts: { use_master_when_local: true },
    context: {
      outside: {
        ...testContext().outside,
        request: (load) => {
          requests.push({ tag: load.get("tag") ?? null, data: load.get("data") ?? null });
          return Promise.resolve(true);
        },
        pillar: () => Promise.resolve(new Map()),
        grains: () => Promise.resolve(new Map()),
        fire: () => Promise.resolve(true),
        refresh: () => Promise.resolve(true),
      },
    },
  });
  await tree.call("state.sls", ["t"], { state_events: true });
  assertEquals(requests.map(({ tag }) => tag), [
    `salt/state_result/${JID}/m1/my/tag`,
    `salt/state_result/${JID}/m1/b`,
    `salt/job/${JID}/prog/m1/2`,
  ]);
  const progress = requests.at(-1)?.data;
  assertEquals(isMap(progress) && progress.get("len"), 3);
});

Deno.test("a watcher of a job gets the result of each state", async () => {
  const tags: Value[] = [];
  const request = (load: ValueMap) => {
    tags.push(load.get("tag") ?? null);
    return Promise.resolve(true);
  };
  for (const watchCommand of [undefined, () => () => {}]) {
    await using tree = await openTree({
      files: { "t.sls": "a: test.nop\n" },
      opts: { use_master_when_local: true },
      context: { watchCommand, outside: { ...testContext().outside, request } },
    });
    await tree.call("state.sls", ["t"]);
    await tree.call("state.sls", ["t"], { state_events: false });
  }
  assertEquals(tags, [`salt/job/${JID}/prog/m1/0`]);
});

Deno.test("grains and pillar that a state refreshes are used by later states", async () => {
  await using tree = await openTree({
    files: {
      "t.sls":
        "a:\n  test.nop:\n    - reload_grains: True\n    - reload_pillar: True\nb:\n  test.check_pillar:\n    - present: later\n" +
        "c:\n  test.configurable_test_state:\n    - comment: __slot__:salt:grains.get(later)\n    - changes: False\n",
    },
    context: {
      outside: {
        ...testContext().outside,
        grains: () => Promise.resolve(map({ later: "yes" })),
        pillar: () => Promise.resolve(map({ later: 1 })),
      },
    },
  });
  const { returned } = await tree.call("state.sls", ["t"]);
  assertEquals([resultOf(returned, "b").get("result"), resultOf(returned, "c").get("comment")], [true, "yes"]);
});

Deno.test("a run waits for earlier ones, or is refused without queue", async () => {
  const other = { fun: "state.apply", arg: [], tgt: "*", tgt_type: "glob", ret: "", user: "root", pid: 5 };
  let looks = 0;
  const jobs = (jids: readonly string[]) => ({
    running: () => Promise.resolve(looks++ < 3 ? jids.map((jid) => ({ ...other, jid })) : []),
    signal: () => Promise.resolve(false),
  });
  const files = { "t.sls": "a: test.nop\n" };
  const [before, after] = ["20250101000000000000", "20280101000000000000"];
  await using first = await openTree({ files, context: { jobs: jobs([before]) } });
  const refused = await first.call("state.sls", ["t"]);
  assertEquals([refused.retcode, Array.isArray(refused.returned)], [1, true]);
  assertEquals(ids((await first.call("state.sls", ["t"], { queue: true })).returned), ["a"]);
  // Two waiting runs do not wait for each other.
  looks = -1000;
  await using second = await openTree({ files, context: { jobs: jobs([after]) } });
  assertEquals(ids((await second.call("state.sls", ["t"], { queue: true })).returned), ["a"]);
  assertEquals((await second.call("state.sls", ["t"], { queue: 1 })).retcode, 1);
  await using third = await openTree({ files, opts: { state_queue: true }, context: { jobs: jobs([after]) } });
  assertEquals(ids((await third.call("state.sls", ["t"])).returned), ["a"]);
});

Deno.test("localconfig replaces options for one call", async () => {
  await using tree = await openTree({ files: { "t.sls": "a: test.nop\n" } });
  await Deno.mkdir(`${tree.root}/other`);
  await Deno.writeTextFile(`${tree.root}/other/t.sls`, "b: test.nop\n");
  await Deno.writeTextFile(
    `${tree.root}/other.conf`,
    `root_dir: ${tree.root}/elsewhere\nfile_client: local\nfile_roots: {base: [${tree.root}/other]}\n`,
  );
  const { returned } = await tree.call("state.sls", ["t"], { localconfig: `${tree.root}/other.conf` });
  assertEquals(ids(returned), ["b"]);
  assertEquals(ids((await tree.call("state.sls", ["t"])).returned), ["a"]);
});

Deno.test("mock=True calls no state, and each result reports that", async () => {
  await using tree = await openTree({
    files: { "t.sls": "a: test.fail_without_changes\nb: test.succeed_with_changes\n" },
  });
  const { returned, retcode } = await tree.call("state.sls", ["t"], { mock: true });
  for (const id of ["a", "b"]) {
    assertEquals(resultOf(returned, id).get("comment"), "Not called, mocked");
    assertEquals(resultOf(returned, id).get("changes"), new Map());
  }
  assertEquals(retcode, 0);
});

Deno.test("a hanging command is terminated by its timeout, and later states run", async () => {
  const sls = "hang:\n  cmd.run:\n    - name: exec sleep 600\n    - timeout: 1\nnext: test.succeed_with_changes\n";
  await using tree = await openTree({ files: { "t.sls": sls } });
  const { returned } = await tree.call("state.sls", ["t"]);
  assertEquals(resultOf(returned, "hang").get("result"), false);
  const changes = resultOf(returned, "hang").get("changes");
  assert(isMap(changes) && String(changes.get("stdout")).includes("Timed out after 1 seconds"), String(changes));
  assertEquals(resultOf(returned, "next").get("result"), true);
});
