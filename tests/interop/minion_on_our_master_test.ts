/**
 * Python minions of each version beside ours on our master: jobs that are signed, and jobs one at a time.
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { TestOperator } from "#tests/support/fleet/operator.ts";
import { run } from "#tests/support/processes.ts";
import { PYTHON_SALTS } from "./python_salt.ts";
import { OURS, testWithPython } from "./salts.ts";
import { jsonDocuments, Site } from "./site.ts";

for (const version of PYTHON_SALTS) {
  await testWithPython(version, "a minion of {} runs a signed job as ours does", async (python) => {
    await using operator = await TestOperator.withAgent("alice");
    await using site = new Site();
    await site.explain(async () => {
      await site.startMaster(OURS);
      site.startMinion(python, "python1");
      const operators = `${site.minionRoot("ours1")}/etc/salt/operators.d`;
      Deno.mkdirSync(operators, { recursive: true });
      Deno.writeTextFileSync(`${operators}/alice`, `${operator.lines.get("alice")}\n`);
      site.startMinion(OURS, "ours1", [], "require_operator_signature: true\n");
      for (const id of ["python1", "ours1"]) await site.keyComes(id, "minions_pre");
      await site.acceptAll();
      await site.answers("python1");
      const agent = `SSH_AUTH_SOCK=${operator.directory}/agent`;
      const words = ["env", agent, ...OURS.command("salt"), "-c", `${site.root}/etc/salt`, "--out=json", "-t", "30"];
      const signed = await run([...words, "--sign", "*", "test.arg", "ü", "1.0", "deep={a: [null]}"]);
      for (const id of ["python1", "ours1"]) {
        const [answer] = [jsonDocuments(signed.out)[id]] as { args: unknown; kwargs: { deep: unknown } }[];
        assertEquals([answer.args, answer.kwargs.deep], [["ü", 1], { a: [null] }], signed.err);
      }
      const unsigned = await run([...words, "*", "test.ping"]);
      assertEquals(jsonDocuments(unsigned.out).python1, true);
      assertStringIncludes(String(jsonDocuments(unsigned.out).ours1), "not signed by an operator");
    });
  });

  await testWithPython(
    version,
    "minions of {} and ours run a job one at a time by `running` of flow",
    async (python) => {
      await using site = new Site("flow: [{fun: cmd.run, running: 1}]\n");
      await site.explain(async () => {
        await site.startMaster(OURS);
        for (const id of ["python1", "python2"]) site.startMinion(python, id);
        site.startMinion(OURS, "ours1");
        const ids = ["python1", "python2", "ours1"];
        for (const id of ids) await site.keyComes(id, "minions_pre");
        await site.acceptAll();
        for (const id of ids) await site.answers(id);
        const words = [...OURS.command("salt"), "-c", `${site.root}/etc/salt`, "--out=json", "--static", "-t", "3"];
        const { out, err } = await run([...words, "*", "cmd.run", "date +%s.%N; sleep 1; date +%s.%N"]);
        const answers = Object.entries(jsonDocuments(out));
        assertEquals(answers.map(([id]) => id).toSorted(), ids.toSorted(), err);
        const runs = answers.map(([, text]) => String(text).split("\n").map(Number)).toSorted(([a], [b]) => a - b);
        for (const [i, [from]] of runs.entries()) assert(i === 0 || from >= runs[i - 1][1], `${runs}`);
      });
    },
  );
}
