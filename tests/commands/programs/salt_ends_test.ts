import { readPresence } from "#lib/fleet/presence_file.ts";
import { reportUnexpected } from "#lib/commands/cli/unexpected_error.ts";
import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { Fleet, fleetTest } from "#tests/support/fleet/fleet.ts";
import { failedText, IMPATIENT, NOBODY } from "#tests/support/fleet/salt_texts.ts";
import { AT_ONCE_MS } from "#tests/support/time.ts";

const LOOKUP = "The minions may not have all finished running and any remaining minions will return upon completion. " +
  "To look up the return data for this job later, run the following command:";

fleetTest("salt names silent minions", { minions: ["web1", "db1"], master: IMPATIENT }, async (fleet) => {
  await fleet.stopMinion("db1");
  const salt = async (...words: string[]) => {
    const run = await fleet.salt(...words);
    // If web1 takes longer than the time-out, this line is printed meanwhile.
    return { ...run, err: run.err.replace("Not connected: db1. The others are waited for.\n", "") };
  };
  const silence = "db1:\n    Minion did not return. [Not connected]\n";

  const run = await salt("*", "test.ping");
  assert(run.out.startsWith(`web1:\n    True\n${silence}`), run.out);
  const failed = failedText("not connected (db1)");
  assertEquals([run.err, run.code], [failed, 1]);

  // The silent minion is not printed, but it still sets the exit code.
  assertEquals(await salt("--hide-timeout", "*", "test.ping"), {
    code: 1,
    out: "web1:\n    True\n",
    err: failed,
  });
  assertEquals(await salt("--static", "db1", "test.ping"), { code: 2, out: "", err: NOBODY });
  assertEquals(await salt("--static", "--out=json", "db1", "test.ping"), { code: 2, out: "{}\n", err: NOBODY });
  // Output for programs holds only returns.
  assertEquals(await salt("--static", "--out=json", "--out-indent=-1", "*", "test.ping"), {
    code: 1,
    out: '{"web1": true}\n',
    err: failed,
  });

  const summary = await salt("--summary", "-v", "*", "test.ping");
  assertStringIncludes(
    summary.out,
    "# of minions targeted: 2\n# of minions returned: 1\n# of minions that did not return: 1\n",
  );
  assertStringIncludes(summary.out, "\nMinions not connected: db1\n");

  const docs = await salt("-d", "*", "test.ping");
  assertEquals([docs.code, docs.err], [0, ""]);
  assertEquals(await salt("-d", "db1", "test.ping"), { code: 1, out: silence, err: failed });

  const batch = await salt("-b", "1", "*", "test.ping");
  assert(
    batch.out.startsWith("Minion db1 did not respond. No job will be sent.\n\nExecuting run on ['web1']\n"),
    batch.out,
  );
  assertEquals([batch.code, batch.err], [1, failed]);
});

fleetTest("a time-out of a second is a second, for a minion that is known not to be connected", {
  minions: ["web1", "db1"],
  master: { timeout: 30, gather_job_timeout: 60 },
}, async (fleet) => {
  await fleet.stopMinion("db1");
  await eventually(() => readPresence(fleet.masterOpts.cachedir).gone.has("db1"), { what: "that db1 is gone" });
  using events = await fleet.listen("salt/job/");
  const run = await fleet.salt("-t", "1", "*", "test.ping");
  assertEquals(run.out, "web1:\n    True\ndb1:\n    Minion did not return. [Not connected]\n");
  const status = await fleet.saltRun("manage.status", "timeout=1", "--out=json");
  assertEquals(JSON.parse(status.out), { up: ["web1"], down: ["db1"] });
  // No minion got a find_job, which would have taken a minute.
  const funs = new Set<unknown>();
  for (let event; (event = await events.next(0)) !== undefined;) funs.add(event.data.get("fun"));
  assertEquals(funs.has("test.ping") && !funs.has("saltutil.find_job"), true);
});

fleetTest("salt waits for minions that still run the job", { minions: ["web1"], master: IMPATIENT }, async (fleet) => {
  assertEquals((await fleet.salt("web1", "test.sleep", "2")).out, "web1:\n    True\n");
});

for (const batch of [[], ["-b", "1"]]) {
  fleetTest(
    `Ctrl-C ends salt ${batch.join(" ")} and tells how to find the job`,
    { minions: ["web1"] },
    async (fleet) => {
      const control = new AbortController();
      const running = fleet.saltWith({ signal: control.signal }, ...batch, "web1", "test.sleep", "60");
      const jid = await eventually(
        () =>
          fleet.logs.map((line) => /Executing command test\.sleep with jid (\d+)/.exec(line)?.[1]).find((job) => job),
        { what: "the job" },
      );
      const started = performance.now();
      control.abort();
      const run = await running;
      assert(performance.now() - started < AT_ONCE_MS, "it ends at once");
      assertEquals(run.code, 130);
      assertEquals(
        run.err,
        `\nExiting gracefully on Ctrl-c\nThis job's jid is: ${jid}\n${LOOKUP}\n\nsalt-run -c ${fleet.configDir} jobs.lookup_jid ${jid}\n\n` +
          "To see what has come of this job and follow the rest, run the following command:\n\n" +
          `salt-run -c ${fleet.configDir} jobs.attach ${jid}\n`,
      );
    },
  );
}

fleetTest("salt without the right key is refused", { minions: ["web1"] }, async (fleet) => {
  const { cachedir } = fleet.masterOpts;
  for (const { name } of Deno.readDirSync(cachedir)) {
    if (!/^\..*_key$/.test(name)) continue;
    Deno.chmodSync(`${cachedir}/${name}`, 0o600);
    Deno.writeTextFileSync(`${cachedir}/${name}`, "not the key");
  }
  assertEquals(await fleet.salt("web1", "test.ping"), { code: 77, out: "Authentication error occurred.\n", err: "" });
  assertEquals((await fleet.salt("-b1", "web1", "test.ping")).code, 77);
});

fleetTest("salt without a master says so at once", { minions: [] }, async (fleet) => {
  const sockDir = fleet.masterOpts.sock_dir;
  await fleet.stopMaster();
  const started = performance.now();
  // A wait for the bus would take five seconds each.
  for (const words of [["*", "test.ping"], ["--async", "*", "test.ping"], ["-b1", "*", "test.ping"], ["*", "a.b"]]) {
    assertEquals(await fleet.salt(...words), {
      code: 69,
      out: "The salt master could not be contacted. Is master running?\n",
      err:
        `[ERROR   ] Unable to connect to the salt master publisher at ${sockDir}: no salt-master of this configuration is running\n`,
    });
  }
  assert(performance.now() - started < AT_ONCE_MS);
  // Socket files that a killed master left behind do not count as a master.
  Deno.listen({ transport: "unix", path: `${sockDir}/publish_pull.ipc` }).close();
  assertEquals((await fleet.salt("*", "test.ping")).code, 69);
});

Deno.test("salt with an invalid configuration names file and line", async () => {
  await using fleet = new Fleet({});
  Deno.mkdirSync(fleet.configDir);
  Deno.writeTextFileSync(`${fleet.configDir}/master`, "worker_threads: many\n");
  const run = await fleet.salt("*", "test.ping");
  assertEquals([run.code, run.out], [1, ""]);
  assertMatch(run.err, /^salt: .*\/master:1: worker_threads: must be an integer.*\n$/);
});

Deno.test("an unexpected error is one line and code 70, or thrown with --hard-crash", async () => {
  let err = "";
  const run = (args: string[]) =>
    reportUnexpected({ name: "salt", args, writeError: (text) => void (err += text) }, () => {
      throw new TypeError("what\x1b[0m");
    });
  assertEquals(await run([]), 70);
  assertEquals(err, "salt: TypeError: what\\x1b[0m (--hard-crash shows where)\n");
  await assertRejects(() => run(["--hard-crash"]), TypeError);
});
