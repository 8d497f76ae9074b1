/**
 * The lists of users and groups that a job caches. No program runs.
 * @module
 */
import { findPasswdEntry, groupEntries, passwdEntries } from "#lib/host/accounts/account_entries.ts";
import type { ChildRunner } from "#lib/programs/child_process.ts";
import { which } from "#lib/programs/which.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { testContext } from "#tests/support/calls/job_context.ts";

Deno.test({
  name: "a job has getent list users once, until the files that they come from change",
  ignore: which("getent") === undefined,
  async fn() {
    let [users, retcode, commands] = ["ann:x:1500:1500::/:/bin/sh\n", 0, [] as string[]];
    const runChild: ChildRunner = (spec) => {
      const words = spec.argv.slice(spec.argv.indexOf("sh") + 1);
      commands.push(words.join(" "));
      const text = words[1] === "passwd" ? users : "team:x:2000:ann\n";
      const [stdout, stderr] = [new TextEncoder().encode(text), new Uint8Array()];
      return Promise.resolve({ pid: 1, retcode, stdout, stderr, dropped: { stdout: 0, stderr: 0 }, timedOut: false });
    };
    const names = async (job: Parameters<typeof passwdEntries>[0]) =>
      (await passwdEntries(job, null)).map(({ name }) => name);
    const job = testContext({ runChild });
    for (let i = 0; i < 3; i++) assertEquals(await names(job), ["ann"]);
    for (let i = 0; i < 3; i++) assertEquals((await groupEntries(job, null))[0].members, ["ann"]);
    assertEquals(commands, ["getent passwd", "getent group"]);

    users += "bob:x:1501:1501::/:/bin/sh\n";
    commands = [];
    assertEquals((await findPasswdEntry("bob", job, null))?.uid, 1501, "who is in no list is asked for by name");
    assertEquals(commands, ["getent passwd bob"]);
    assertEquals(await names(testContext({ runChild })), ["ann", "bob"], "another job reads the list itself");

    const stat = Deno.statSync;
    try {
      // As after `useradd`, which writes a new file and renames it.
      Deno.statSync = (path) => ({ ...stat(path), ...path === "/etc/passwd" && { ino: -1 } });
      commands = [];
      assertEquals(await names(job), ["ann", "bob"]);
      assertEquals(commands, ["getent passwd"]);
    } finally {
      Deno.statSync = stat;
    }
    retcode = 2;
    commands = [];
    const failing = testContext({ runChild });
    for (let i = 0; i < 2; i++) await names(failing);
    assertEquals(commands, ["getent passwd", "getent passwd"], "a failure is not cached");
  },
});
