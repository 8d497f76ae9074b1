import { parseCrontab, removeJob, setJob } from "#lib/host/accounts/crontab.ts";
import { findUser } from "#lib/os/users.ts";
import type { Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { run, testContext } from "#tests/support/calls/job_context.ts";
import { RecordedPrograms } from "#tests/support/calls/recorded_program.ts";

const USER = findUser(Deno.uid() ?? 0)?.name ?? "root";

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
