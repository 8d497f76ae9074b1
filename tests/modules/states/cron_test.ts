/**
 * States of crontabs, on a table of the test.
 * @module
 */
import { findUser } from "#lib/os/users.ts";
import { map, str, type Value } from "#lib/values/value.ts";
import { assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { RecordedPrograms } from "#tests/support/calls/recorded_program.ts";
import { callState } from "#tests/support/calls/state_call.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";

testRecordedCases("states", "cron");

const USER = findUser(Deno.uid() ?? 0)?.name ?? "root";
const TAG = "# Lines below here are managed by Salt, do not edit\n";

/** A table that a `crontab` program of the test stores, and the states on it. */
class Table implements Disposable {
  readonly #programs = new RecordedPrograms();
  readonly path = this.#programs.keepCrontab();

  constructor() {
    Deno.writeTextFileSync(this.path, "");
  }

  read(): string {
    return Deno.readTextFileSync(this.path);
  }

  /** Result, comment and changes; in test mode the table may not change. */
  async state(fun: string, args: Record<string, unknown>, test = false): Promise<[Value, string, Value]> {
    const before = this.read();
    const job = testContext({ opts: testOpts({ root_dir: `${this.#programs.path}/salt`, file_client: "local" }) });
    const result = await callState(`cron.${fun}`, { user: USER, ...args }, { test, job });
    if (test) assertEquals(this.read(), before);
    return [result.get("result") ?? null, str(result.get("comment") ?? ""), result.get("changes") ?? null];
  }

  [Symbol.dispose](): void {
    this.#programs[Symbol.dispose]();
  }
}

Deno.test("a job and a variable are planned, added, changed and removed, and a second run changes nothing", async () => {
  using table = new Table();
  const job = { name: "/bin/x", minute: 5, comment: "hi" };
  assertEquals(await table.state("present", job, true), [null, "Cron /bin/x is set to be added", map({})]);
  const changes = map({ [USER]: "/bin/x" });
  assertEquals(await table.state("present", job), [true, `Cron /bin/x added to ${USER}'s crontab`, changes]);
  assertEquals(table.read(), `${TAG}# hi SALT_CRON_IDENTIFIER:/bin/x\n5 * * * * /bin/x\n`);
  assertEquals(await table.state("present", job, true), [true, "Cron /bin/x already present", map({})]);
  assertEquals(await table.state("present", job), [true, "Cron /bin/x already present", map({})]);
  const later = { ...job, hour: "random" };
  assertEquals((await table.state("present", later, true))[1], "Cron /bin/x is set to be updated");
  assertEquals(await table.state("present", later), [true, "Cron /bin/x updated", changes]);
  assertEquals(await table.state("present", later), [true, "Cron /bin/x already present", map({})]);
  assertEquals((await table.state("env_present", { name: "MAILTO", value: "a@b" }))[2], map({ [USER]: "MAILTO" }));
  assertEquals(await table.state("env_present", { name: "MAILTO", value: "a@b" }, true), [
    true,
    "Cron env MAILTO already present",
    map({}),
  ]);
  assertStringIncludes(table.read(), "MAILTO=a@b\n");
  assertEquals((await table.state("env_absent", { name: "MAILTO" }))[0], true);
  assertEquals((await table.state("absent", { name: "/bin/x" }, true))[1], "Cron /bin/x is set to be removed");
  assertEquals(await table.state("absent", { name: "/bin/x" }), [
    true,
    `Cron /bin/x removed from ${USER}'s crontab`,
    changes,
  ]);
  assertEquals(await table.state("absent", { name: "/bin/x" }), [true, "Cron /bin/x already absent", map({})]);
  assertEquals(table.read(), TAG);
});

Deno.test("a whole table is read from a file", async () => {
  using table = new Table();
  const file = await Deno.makeTempFile({ prefix: "cron_source_" });
  try {
    await Deno.writeTextFile(file, "1 * * * * /bin/y\n");
    assertEquals((await table.state("file", { name: file }, true))[0], null);
    const [done, message, changes] = await table.state("file", { name: file });
    assertEquals([done, message], [true, `Crontab for user ${USER} was updated`]);
    assertStringIncludes(str(changes), "+1 * * * * /bin/y");
    assertEquals(table.read(), "1 * * * * /bin/y\n");
    const correct: [Value, string, Value] = [true, `Crontab for user ${USER} is in the correct state`, map({})];
    assertEquals(await table.state("file", { name: file }), correct);
    assertEquals(await table.state("file", { name: file, replace: false }), [
      true,
      `User ${USER} already has a crontab. No changes made`,
      map({}),
    ]);
    assertEquals((await table.state("file", { name: "/nonexistent/file" }))[0], false);
    assertEquals(await table.state("file", { name: file, user: "no_such_user" }), [
      false,
      "Could not identify group for user no_such_user",
      map({}),
    ]);
  } finally {
    await Deno.remove(file);
  }
});
