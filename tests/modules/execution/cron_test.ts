import { findUser } from "#lib/os/users.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { answeringContext, resultOrError, run, testContext } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { RecordedPrograms } from "#tests/support/calls/recorded_program.ts";

testRecordedCases("execution", "cron");

const minion = (answers: Readonly<Record<string, Value>> = {}, grains: ValueMap = new Map()) =>
  answeringContext(answers, { grains });

Deno.test("cron.get_entry prefers the identifier, and says so", async () => {
  using programs = new RecordedPrograms();
  Deno.writeTextFileSync(
    programs.keepCrontab(),
    "# Lines below here are managed by Salt, do not edit\n# SALT_CRON_IDENTIFIER:one\n1 * * * * run\n",
  );
  const context = minion();
  const entry = await resultOrError(context, "cron.get_entry", ["root"], { identifier: "one", cmd: "other" });
  assertEquals(isMap(entry) && entry.get("cmd"), "run");
  assertEquals(context.logged.filter((line) => line.includes("Only using identifier")).length, 1);
});

const SEQUENCES = parseJson(Deno.readTextFileSync(new URL("../../corpus/cron.json", import.meta.url)));

const USER = findUser(Deno.uid() ?? 0)?.name ?? "root";

function field(value: Value, name: string): Value {
  assert(isMap(value));
  return value.get(name) ?? null;
}

assert(Array.isArray(SEQUENCES));
for (const [i, sequence] of SEQUENCES.entries()) {
  Deno.test(`cron.* returns and writes what Python Salt's cron.* does, sequence ${i + 1}`, async () => {
    using programs = new RecordedPrograms();
    const tab = programs.keepCrontab();
    Deno.writeTextFileSync(tab, str(field(sequence, "before")));
    const steps = field(sequence, "steps");
    assert(Array.isArray(steps) && steps.length > 0);
    for (const step of steps) {
      const [fun, args, kwargs] = [str(field(step, "fun")), field(step, "args"), field(step, "kwargs")];
      assert(Array.isArray(args) && isMap(kwargs));
      const arg = [USER, ...args, ...kwargs.size === 0 ? [] : [new Map([...map({ __kwarg__: true }), ...kwargs])]];
      const { return: answer } = await run(`cron.${fun}`, arg, testContext());
      const message = `${fun} ${JSON.stringify(args.map(str))}`;
      assertEquals(answer, field(step, "return"), message);
      assertEquals(Deno.readTextFileSync(tab), field(step, "tab"), message);
    }
  });
}
