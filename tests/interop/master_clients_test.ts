/**
 * Python's clients of a master's own functions, on our master: WheelClient and RunnerClient, and `salt-run`.
 * @module
 */

import { PYTHON_SALTS } from "./python_salt.ts";
import { OURS, pythonOf, testWithPython } from "./salts.ts";
import { Site } from "./site.ts";
import { assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { run } from "#tests/support/processes.ts";

const SCRIPT = decodeURIComponent(new URL("./master_clients.py", import.meta.url).pathname);

for (const version of PYTHON_SALTS) {
  await testWithPython(version, "WheelClient, RunnerClient and salt-run of {} work on our master", async (python) => {
    await using site = new Site();
    await site.explain(async () => {
      Deno.mkdirSync(`${site.root}/etc/salt/master.d`, { recursive: true });
      Deno.writeTextFileSync(
        `${site.root}/etc/salt/master.d/roots.conf`,
        `file_roots: {base: [${site.root}/srv/salt]}\n`,
      );
      await site.startMaster(OURS);
      const words = [pythonOf(python), SCRIPT, `${site.root}/etc/salt/master`];
      const { code, out, err } = await run(words);
      assertEquals(code, 0, `${out}${err}`);
      const output = JSON.parse(out.trim().split("\n").at(-1) ?? "");
      assertEquals(output.listed, { minions: [] });
      assertEquals(output.positional, { minions_pre: [] });
      assertEquals(output.fun, "wheel.key.list");
      assertEquals(output.written, `Wrote data to file ${site.root}/srv/salt/made.sls`);
      assertEquals(Deno.readTextFileSync(`${site.root}/srv/salt/made.sls`), "made: by wheel\n");
      assertEquals(output.outside, "Invalid path: ../outside");
      assertStringIncludes(output.failed, "boom");
      assertEquals(output.refused, 'Authentication failure of type "user" occurred');
      // The result of a runner is also in the job cache. python_clients_test.ts checks that its event can be read.
      const jobs = await eventually(async () => {
        const listed = await site.saltRun(["jobs.list_jobs"]) as Record<string, Record<string, unknown>>;
        return output.jid in listed && Object.values(listed).some(({ Function }) => Function === "wheel.key.list_all")
          ? listed
          : undefined;
      }, { what: "the jobs of the functions in the job cache" });
      assertEquals(jobs[output.jid].Function, "runner.test.arg");
      const { Result } = await site.saltRun(["jobs.list_job", output.jid]) as {
        Result: Record<string, { return: unknown }>;
      };
      const [{ return: event }] = Object.values(Result) as { return: Record<string, unknown> }[];
      assertEquals([event.return, event.success], [{ args: [1, "a"], kwargs: { b: 2 } }, true]);
      assertEquals(Object.values(jobs).filter(({ Function }) => Function === "wheel.key.list_all").length, 1);
      // Without a master it waits seconds for a bus, so it is tested only once.
      if (version !== PYTHON_SALTS.at(-1)) return;
      await site.stopMaster();
      const own = await site.operate("salt-run", ["--out=json", "test.arg", "1"], python);
      assertEquals(JSON.parse(own.out.slice(own.out.indexOf("{"))).args, [1], own.err);
    });
  });
}
