/**
 * `state_max_parallel`, and modules that become available during a run.
 * @module
 */

import { assert, assertEquals } from "#tests/support/assert.ts";
import { openTree } from "#tests/support/calls/state_tree.ts";
import { isMap, type Value } from "#lib/values/value.ts";

const OUTCOME = { pid: 7, retcode: 0, stdout: new Uint8Array(), stderr: new Uint8Array(), timedOut: false };

Deno.test("no more states run at the same time than state_max_parallel", async () => {
  for (const [limit, expected] of [[0, 6], [1, 1], [2, 2]]) {
    let [now, max, count] = [0, 0, 0];
    const sls = [1, 2, 3, 4, 5, 6].map((i) => `s${i}:\n  cmd.run:\n    - name: work ${i}\n    - parallel: true\n`);
    await using tree = await openTree({
      files: { "t.sls": sls.join("") },
      opts: { state_max_parallel: limit },
      context: {
        runChild: async () => {
          max = Math.max(max, ++now);
          count++;
          await new Promise((done) => setTimeout(done, 30));
          now--;
          return { ...OUTCOME, dropped: { stdout: 0, stderr: 0 } };
        },
      },
    });
    const { retcode } = await tree.call("state.sls", ["t"]);
    assertEquals([retcode, count, max], [0, 6, expected]);
  }
});

function comment(returned: Value, id: string): Value {
  assert(isMap(returned));
  const [, result] = [...returned].find(([tag]) => String(tag).split("_|-")[1] === id) ?? [];
  return isMap(result) ? result.get("comment") ?? null : null;
}

Deno.test("reload_modules: a state function is available after an earlier state has installed its program", async () => {
  const bin = await Deno.makeTempDir({ prefix: "reload_" });
  const path = Deno.env.get("PATH") ?? "";
  try {
    Deno.env.set("PATH", bin);
    const lvm = "lvm.pv_absent:\n    - name: /dev/nowhere\n";
    for (const reload of ["reload_modules: true", "order: 2"]) {
      await Deno.remove(`${bin}/lvm`).catch(() => {});
      await using tree = await openTree({
        files: {
          "t.sls": `before:\n  ${lvm}    - order: 1
program:
  file.managed:
    - name: ${bin}/lvm
    - contents: '#!/bin/true'
    - mode: '0755'
    - ${reload}
after:\n  ${lvm}    - require: [{file: program}]\n`,
        },
      });
      const { returned } = await tree.call("state.sls", ["t"]);
      const missing = "State 'lvm.pv_absent' was not found";
      assert(String(comment(returned, "before")).startsWith(missing));
      assertEquals(
        String(comment(returned, "after")).startsWith(missing),
        reload.startsWith("order"),
        String(comment(returned, "after")),
      );
    }
  } finally {
    Deno.env.set("PATH", path);
    await Deno.remove(bin, { recursive: true });
  }
});
