/**
 * Commands that run longer than their minion, which is stopped, killed, or restarted by the command itself.
 * @module
 */

import { ProcessFleet } from "#tests/chaos/harness/process_fleet.ts";
import { detachedDirectory } from "#lib/programs/detached_commands.ts";
import type { PublishedJob } from "#lib/client/job.ts";
import { DENO_RUN } from "#lib/runtime/self_command.ts";
import { map, type Value } from "#lib/values/value.ts";
import { toWireArgs } from "#lib/yaml/arguments.ts";
import { assert, assertEquals, assertMatch, assertNotEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";

const ID = "m00";

/** Publishes a job and does not wait for it. */
async function publish(
  fleet: ProcessFleet,
  fun: Value,
  arg: Value[],
  fields: Record<string, unknown> = {},
): Promise<PublishedJob> {
  const client = await fleet.client();
  try {
    const wire = Array.isArray(fun) ? arg : toWireArgs(arg, map({ shell: "/bin/sh" }));
    return await client.publish({ tgt: ID, tgtType: "glob", fun, arg: wire, kwargs: map(fields) });
  } finally {
    client.close();
  }
}

/** A return as the master stored it. */
async function returned(fleet: ProcessFleet, jid: string): Promise<{ ret: Value; retcode: Value }> {
  return await eventually(() => {
    const entry = fleet.jobs.getReturn(jid, ID);
    return entry === undefined ? undefined : { ret: entry.return ?? null, retcode: entry.retcode ?? null };
  }, { what: `the return of ${jid}` });
}

/** A command that reports its start, waits for the file `done`, and continues with `then`. */
function waiting(root: string, name: string, then: string): string {
  const wait = `for _ in $(seq 3000); do [ -e ${root}/done ] && break; sleep 0.02; done`;
  return `echo before; echo $$ > ${root}/began.${name}; ${wait}; ${then}`;
}

function whenStarted(root: string, name: string): Promise<number> {
  return eventually(() => {
    const pid = Number(Deno.readTextFileSync(`${root}/began.${name}`));
    return pid > 0 ? pid : undefined;
  }, { what: `the command of ${name}` });
}

Deno.test("commands continue when their minion is stopped or killed, and the next minion returns their results", async (t) => {
  await using fleet = await ProcessFleet.start({ minions: 1 });
  const { root } = fleet;

  for (const how of ["stopMinion", "killMinion"] as const) {
    await t.step(how, async () => {
      const all = await publish(fleet, "cmd.run_all", [waiting(root, "all", "echo after; echo err >&2; exit 3")]);
      const killed = await publish(fleet, "cmd.retcode", [waiting(root, "killed", "kill -9 $$")]);
      const hidden = await publish(fleet, "cmd.run", [waiting(root, "hidden", "echo secret")], { no_log: true });
      const several = await publish(
        fleet,
        ["cmd.run", "test.sleep"],
        [[waiting(root, "several", "echo after")], [1]],
        {},
      );
      const pids = await Promise.all(["all", "killed", "hidden", "several"].map((name) => whenStarted(root, name)));
      const sockets = `${root}/${ID}/var/run/salt/minion`;
      const socket = names(sockets).find((name) => name.startsWith("commands_"));
      assertEquals((Deno.statSync(`${sockets}/${socket}`).mode ?? 0) & 0o777, 0o600);
      const before = fleet.minion(ID).pid;
      await fleet[how](ID);
      await fleet.startMinion(ID);
      await fleet.allPresent();
      assertNotEquals(fleet.minion(ID).pid, before);
      for (const pid of pids) Deno.statSync(`/proc/${pid}`);
      // The job now belongs to the new minion: it is found, with the process of its command.
      await eventually(async () => {
        const answer = await fleet.salt("salt", "--out=json", ID, "saltutil.find_job", all.jid);
        return JSON.parse(answer.out)[ID].pid === pids[0];
      }, { what: "the job with the process of its command" });
      Deno.writeTextFileSync(`${root}/done`, "");
      const { ret, retcode } = await returned(fleet, all.jid);
      assertEquals(ret, map({ pid: pids[0], retcode: 3, stdout: "before\nafter", stderr: "err" }));
      assertEquals(retcode, 3);
      assertEquals(await returned(fleet, killed.jid), { ret: -9, retcode: -9 });
      // A no_log job has no file with a result to return, but its command kept running.
      const log = fleet.log(ID);
      assertStringIncludes(
        log,
        `Job ${hidden.jid}, which was running when this minion ended, is returned as interrupted`,
      );
      assertEquals(
        names(detachedDirectory(fleet.minionCacheDir(ID))).filter((name) => name.startsWith(hidden.jid)),
        [],
      );
      await eventually(() => !exists(`/proc/${pids[2]}`), { what: "the end of the no_log command" });
      const { ret: text } = await returned(fleet, several.jid);
      assertStringIncludes(String(text), "The minion ended while it ran this job\nIts command '");
      assertStringIncludes(String(text), "' ended with return code 0\nbefore\nafter");
      await eventually(
        () => names(detachedDirectory(fleet.minionCacheDir(ID))).every((name) => /\.keeper$/.test(name)),
        {
          what: "the end of the files",
        },
      );
      for (const name of ["done", "began.all", "began.killed", "began.hidden", "began.several"]) {
        Deno.removeSync(`${root}/${name}`);
      }
    });
  }

  await t.step("processes and threads have their names", () => {
    const nodes = [["salt-master", fleet.master.pid, /^(MWorker-\d+|Publisher|EventBus)$/, 7], [
      "salt-minion",
      fleet.minion(ID).pid,
      /^Job-\d+$/,
      1,
    ]] as const;
    for (const [name, pid, threads, atLeast] of nodes) {
      assertEquals(Deno.readTextFileSync(`/proc/${pid}/comm`), `${name}\n`);
      const config = `${root}/${name === "salt-master" ? "master" : ID}/etc/salt`;
      assertEquals(Deno.readTextFileSync(`/proc/${pid}/cmdline`).replace(/\0+$/, ""), `${name}\0-c\0${config}`);
      const threadNames = names(`/proc/${pid}/task`).map((tid) =>
        Deno.readTextFileSync(`/proc/${pid}/task/${tid}/comm`).trim()
      );
      assert(threadNames.filter((one) => threads.test(one)).length >= atLeast, threadNames.join(" "));
    }
  });

  await t.step("a job that restarts its own minion returns", async () => {
    const pid = fleet.minion(ID).pid;
    const config = `${root}/${ID}/etc/salt`;
    const start = [Deno.execPath(), ...DENO_RUN, new URL("../../minion.ts", import.meta.url).pathname, "-c", config];
    const upgrade = [
      `kill ${pid}`,
      `while kill -0 ${pid} 2>/dev/null; do sleep 0.05; done`,
      "seq 100000", // more than a pipe can hold, while nobody reads
      `${start.map((word) => `'${word}'`).join(" ")} -d`,
      "echo upgraded",
    ].join("; ");
    const ran = await fleet.salt("salt", "-t", "60", "--out=json", ID, "cmd.run", upgrade, "shell=/bin/sh");
    const output: string = JSON.parse(ran.out)[ID];
    assertEquals(output.slice(-15), "100000\nupgraded");
    assertEquals(output.length, "100000\nupgraded".length + 588_888);
    assertEquals(ran.code, 0);
    const next = Number(Deno.readTextFileSync(`${root}/${ID}/var/run/salt-minion.pid`));
    assertMatch(Deno.readTextFileSync(`/proc/${next}/cmdline`), /minion/);
    Deno.kill(next, "SIGTERM");
    await eventually(() => !exists(`/proc/${next}`), { what: "the end of the new minion" });
  });
});

Deno.test("a keeper that could not be started once keeps the next command, which outlives its minion", async () => {
  await using fleet = await ProcessFleet.start({ minions: 1 });
  const { root } = fleet;
  const sockets = `${root}/${ID}/var/run/salt/minion`;
  Deno.renameSync(sockets, `${sockets}.away`);
  const first = await publish(fleet, "cmd.run", ["echo without"]);
  assertEquals(await returned(fleet, first.jid), { ret: "without", retcode: 0 });
  assertStringIncludes(fleet.log(ID), "Commands end with this minion: their keeper cannot be started");
  Deno.renameSync(`${sockets}.away`, sockets);
  // Commands try it again after some seconds at the latest.
  await eventually(async () => {
    const again = await publish(fleet, "cmd.run", ["true"]);
    await returned(fleet, again.jid);
    return names(sockets).some((name) => name.startsWith("commands_"));
  }, { what: "another keeper", everyMs: 500 });
  const last = await publish(fleet, "cmd.run", [waiting(root, "last", "echo after")]);
  await whenStarted(root, "last");
  await fleet.killMinion(ID);
  await fleet.startMinion(ID);
  await fleet.allPresent();
  Deno.writeTextFileSync(`${root}/done`, "");
  assertEquals(await returned(fleet, last.jid), { ret: "before\nafter", retcode: 0 });
});

function names(directory: string): string[] {
  return [...Deno.readDirSync(directory)].map(({ name }) => name);
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}
