/**
 * A command of a state that does not end: its `timeout` or the end of the job kills it with all its child processes.
 * @module
 */

import { assert, assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { openTree } from "#tests/support/calls/state_tree.ts";
import { isMap, repr, type Value } from "#lib/values/value.ts";

function outcomes(returned: Value): Record<string, Value> {
  assert(isMap(returned), repr(returned));
  return Object.fromEntries(
    [...returned].map((
      [tag, result],
    ) => [String(tag).split("_|-")[1], isMap(result) ? result.get("result") ?? null : null]),
  );
}

/** Whether a process has the arguments of `command` in its command line. */
function isRunning(command: string): boolean {
  for (const { name } of Deno.readDirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      if (Deno.readTextFileSync(`/proc/${name}/cmdline`).replaceAll("\0", " ").includes(command)) return true;
    } catch { /* The process has ended. */ }
  }
  return false;
}

/** A sleep time that no other process on this host uses, in seconds. */
const LONG = `${600 + Deno.pid / 10_000_000}`;

Deno.test("a hanging command fails its state after its timeout; the others run, and the next run succeeds", async () => {
  await using tree = await openTree({
    files: {
      "t.sls": `hangs:
  cmd.run:
    - name: '[ -e {{ pillar.flag }} ] || { sleep ${LONG} & sleep ${LONG}; }'
    - timeout: 1
behind:
  test.nop: []
requires:
  test.nop:
    - require: [{cmd: hangs}]
{% do salt["test.ping"]() %}
`,
    },
    pillar: { flag: "/nonexistent/flag" },
  });
  const { returned, retcode } = await tree.call("state.sls", ["t"]);
  assertEquals([outcomes(returned), retcode], [{ hangs: false, behind: true, requires: false }, 2]);
  assert(repr(returned).includes("Timed out after 1 seconds"), repr(returned));
  assert(!isRunning(`sleep ${LONG}`), "what the command started runs still");
  const healed = await tree.call("state.sls", ["t"], { pillar: new Map([["flag", "/"]]) });
  assertEquals(outcomes(healed.returned), { hangs: true, behind: true, requires: true });
});

Deno.test("the end of the job kills a hanging command of a state or of a condition, and the record names the state", async () => {
  for (const argument of [`name: sleep ${LONG}1`, `name: 'true'\n    - unless: sleep ${LONG}1`]) {
    const job = new AbortController();
    await using tree = await openTree({
      files: { "t.sls": `first: test.nop\nhangs:\n  cmd.run:\n    - ${argument}\nbehind: test.nop\n` },
      context: { signal: job.signal },
    });
    const called = tree.call("state.sls", ["t"]);
    await eventually(() => isRunning(`sleep ${LONG}1`), { what: "the command" });
    job.abort(new Error("the job was ended"));
    const { error } = await called;
    assertEquals(error?.message, "the job was ended");
    await eventually(() => !isRunning(`sleep ${LONG}1`), { what: "the end of the command" });
    await using after = await openTree({ opts: { root_dir: tree.root } });
    const { returned } = await after.call("state.last_run");
    assert(isMap(returned));
    assertEquals(
      repr(returned.get("unfinished") ?? null),
      "['cmd_|-hangs_|-" + (argument.includes("unless") ? "true" : `sleep ${LONG}1`) + "_|-run']",
    );
    assertEquals(returned.get("outcome"), "aborted");
  }
});
