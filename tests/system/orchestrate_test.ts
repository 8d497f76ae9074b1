/**
 * An orchestration in a whole fleet: its states run functions and states on minions, in order, through the master's
 * client, and wait for events of the minions.
 * @module
 */

import { map } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { startFleet } from "#tests/support/fleet/fleet.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const STATES = {
  "web.sls": "changed:\n  test.succeed_with_changes: []\n",
  "bad.sls": "broken:\n  test.fail_without_changes: []\n",
  "deploy.sls": `
ask:
  salt.function:
    - name: test.arg
    - tgt: 'web*'
    - arg: [{{ pillar.get('version', 1) }}]
    - kwarg: {k: v}
states:
  salt.state:
    - tgt: '*'
    - sls: web
    - require: [{salt: ask}]
batch:
  salt.function:
    - name: test.ping
    - tgt: '*'
    - batch: 1
nobody:
  salt.function:
    - name: test.ping
    - tgt: 'none*'
nostates:
  salt.state:
    - tgt: 'dbb*'
    - sls: web
exits:
  salt.function:
    - name: cmd.run
    - tgt: db1
    - arg: [exit 4]
fails:
  salt.state:
    - tgt: db1
    - sls: bad
after:
  salt.function:
    - name: test.ping
    - tgt: db1
    - require: [{salt: fails}]
`,
  "wait.sls": "wait:\n  salt.wait_for_event:\n    - name: my/tag/*\n    - id_list: [a, b]\n    - timeout: 30\n",
  "late.sls": "wait:\n  salt.wait_for_event:\n    - name: my/tag/*\n    - id_list: [never]\n    - timeout: 0.2\n",
};

Deno.test("an orchestration runs functions on minions, in order, and reports their results", () =>
  withTemporaryDirectory(async (root) => {
    for (const [name, text] of Object.entries(STATES)) Deno.writeTextFileSync(`${root}/${name}`, text);
    const master = { file_roots: { base: [root] }, fileserver_list_cache_time: 0 };
    await using fleet = await startFleet({ minions: ["web1", "db1"], master });

    const { code, out, err } = await fleet.saltRun("state.orch", "deploy", "pillar={version: 7}");
    assert(code === 1, `${code} ${out}${err}`);
    for (
      const line of [
        "Comment: Function ran successfully. Function test.arg ran on web1.",
        "Comment: States ran successfully. Updating ",
        "Comment: No minions responded: no minion matches 'none*', or none of those that match answered",
        "Comment: No minions returned: no minion matches 'dbb*'\n",
        "Comment: Running function cmd.run failed on minions: db1 Function cmd.run ran on db1.",
        "Return code of db1: 4",
        "Comment: Run failed on minions: db1",
        "Comment: One or more requisite failed: deploy.fails",
        "Succeeded: 3 (changed=4)",
        "Failed:    5",
      ]
    ) assertStringIncludes(out, line);
    assert(/- 7\n +kwargs:/.test(out), out);

    const tested = await fleet.saltRun("state.orch", "deploy", "test=True");
    assertStringIncludes(tested.out, "Function test.arg would be executed on target web*");

    const waiting = fleet.saltRun("--out=json", "state.orch", "wait");
    const fire = setInterval(() => {
      for (const id of ["a", "b"]) void fleet.fire(`my/tag/${id}`, map({ id }));
    }, 300);
    const seen = await waiting.finally(() => clearInterval(fire));
    assertStringIncludes(seen.out, "All events seen in ");
    assert(seen.code === 0, seen.out);
    const late = await fleet.saltRun("state.orch", "late");
    assertStringIncludes(late.out, "Timeout value reached.");

    // What people are told besides Salt's words is in the result, unless a program reads it.
    const misspelt = await fleet.saltRun("state.orch", "deplyo");
    assertStringIncludes(misspelt.out, "No matching sls found for 'deplyo' in env 'base'\nDid you mean 'deploy'?\n");
    const read = await fleet.saltRun("--out=json", "state.orch", "deplyo");
    const { data } = JSON.parse(read.out);
    assertEquals(Object.values(data), [["No matching sls found for 'deplyo' in env 'base'"]]);
  }));
