import { parseCrontab, removeJob, setJob } from "#lib/host/accounts/crontab.ts";
import { findUser } from "#lib/os/users.ts";
import { isMap, map, str, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { run, testContext } from "#tests/support/calls/job_context.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { RecordedPrograms } from "#tests/support/calls/recorded_program.ts";

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

Deno.test("a random time is within its range, and does not change in later runs", () => {
  const time = { minute: "random", hour: "3:5", daymonth: "random", month: "2", dayweek: "*" };
  const wanted = { cmd: "x", identifier: null, comment: null, commented: false, time };
  const highest = setJob(parseCrontab(""), wanted, (_low, high) => high).table;
  assert(highest !== undefined);
  assertEquals(highest.crons.map(({ minute, hour, daymonth }) => [minute, hour, daymonth]), [["59", "5", "28"]]);
  const again = setJob(highest, { ...wanted, identifier: "x", time: { ...time, hour: "5" } }, () => 0);
  assertEquals(again.table?.crons.map(({ minute, daymonth }) => [minute, daymonth]), [["59", "28"]]);
  assertEquals(removeJob(highest, { cmd: "x", identifier: null, time: { minute: "random" } }).answer, "removed");
});

Deno.test("no field of a job becomes a separate line, and no user name becomes an option", async () => {
  using programs = new RecordedPrograms();
  Deno.writeTextFileSync(programs.keepCrontab(), "");
  const resultText = async (fun: string, ...arg: Value[]) =>
    String((await run(`cron.${fun}`, arg, testContext())).return);
  assertStringIncludes(
    await resultText("set_job", USER, "1", "1", "1", "1", "1", "a\n* * * * * evil"),
    "Invalid command",
  );
  assertStringIncludes(await resultText("set_job", USER, "1\n", "1", "1", "1", "1", "a"), "Invalid minute");
  assertStringIncludes(await resultText("set_env", USER, "A", "b\n* * * * * evil"), "Invalid value");
  assertStringIncludes(await resultText("set_special", USER, "@reboot\n", "a"), "Invalid occasion");
  for (const user of ["-l", "a\nb", "x:y"]) {
    assertStringIncludes(await resultText("raw_cron", user), "Invalid user name");
  }
  assertEquals(Deno.readTextFileSync(`${programs.path}/tab`), "");
});

Deno.test("a special time without a command is no job", () => {
  const text = "# Lines below here are managed by Salt, do not edit\n# SALT_CRON_IDENTIFIER:x\n@reboot\n@daily true\n";
  const [job, ...more] = parseCrontab(text).special;
  assertEquals([job.spec, job.cmd, job.identifier, more], ["@daily", "true", "x", []]);
});
