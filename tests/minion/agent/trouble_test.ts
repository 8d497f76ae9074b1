/**
 * A running minion with failures, and requests of its custom modules.
 * @module
 */

import { fireEvent } from "#lib/bus/fire.ts";
import { minionBus } from "#lib/bus/paths.ts";
import { MinionJobs } from "#lib/minion/agent/jobs.ts";
import { Minion } from "#lib/minion/agent/minion.ts";
import { SignInError } from "#lib/errors.ts";
import { createLogger, LEVEL_NUMBERS } from "#lib/runtime/log.ts";
import { detachedDirectory } from "#lib/programs/detached_commands.ts";
import { map } from "#lib/values/value.ts";
import { assert, assertEquals, assertMatch, assertRejects } from "#tests/support/assert.ts";
import { testOpts } from "#tests/support/calls/job_context.ts";
import { eventually, fleetTest, untilKey } from "#tests/support/fleet/fleet.ts";
import { runOn, startJob } from "#tests/support/fleet/jobs.ts";

function recorded(lines: string[]) {
  return createLogger([{
    level: LEVEL_NUMBERS.info,
    write: ({ message }) => void lines.push(message),
    close: () => {},
  }]);
}

fleetTest("a minion answers requests of its custom modules", {}, async (fleet) => {
  const directory = `${fleet.minionConfigDir("web1")}/ext/modules`;
  Deno.mkdirSync(directory, { recursive: true });
  Deno.writeTextFileSync(
    `${directory}/own.js`,
    `const reason = (error) => error.message;
     export const asks = { permissions: "all", run: async (_bound, { outside, jobs }) => [
       await outside.fire(new Map([["a", 1]]), "my/tag"),
       await outside.fire("text", "my/tag"),
       await outside.refresh("modules"),
       (await outside.grains()).get("role"),
       [...await outside.pillar({})].length,
       await outside.request("no map").catch(reason),
       (await jobs.running()).map(({ fun }) => fun),
       await jobs.signal("20200101000000000000", 15),
     ] };`,
  );
  const options = { extension_modules: `${fleet.minionConfigDir("web1")}/ext` };
  await fleet.untilServing(["web1"], () => fleet.startMinion("web1", options));
  Deno.writeTextFileSync(`${fleet.minionConfigDir("web1")}/grains`, "role: database\n");
  assertEquals(await runOn(fleet, "web1", "own.asks"), [
    true,
    true,
    true,
    "database",
    0,
    "a request is not a map",
    ["own.asks"],
    false,
  ]);
});

fleetTest("a minion with ping_interval shows its master that it is there", {}, async (fleet) => {
  using events = await fleet.listen("minion_ping");
  const lines: string[] = [];
  const minion = await Minion.start({ ...fleet.minionOpts("web1"), ping_interval: 0.005 }, recorded(lines));
  try {
    assertEquals((await events.next(60_000))?.data.get("id"), "web1");
  } finally {
    await minion.close();
  }
});

fleetTest(
  "failures of a minion's own tasks are logged; a return ends a minion whose key was rejected",
  {},
  async (fleet) => {
    await fleet.untilServing(["web1"], () => fleet.startMinion("web1", { grains_refresh_every: 0.005 }));
    const closed = fleet.minions.get("web1")?.closed;
    const gate = `${fleet.root}/gate`;
    const job = await startJob(fleet, "cmd.run", {
      tgt: "web1",
      arg: [`touch ${gate}.begun; while [ ! -e ${gate} ]; do sleep 0.02; done`],
    });
    await eventually(() => [...Deno.readDirSync(fleet.root)].some(({ name }) => name === "gate.begun"), {
      what: "the command",
    });
    assertEquals((await fleet.saltKey("--reject", "web1", "--include-accepted", "--yes")).code, 0);
    await untilKey(fleet, "web1", "rejected");
    await eventually(() => fleet.logs.some((line) => /web1: \[ERROR\] .*rejected/.test(line)), {
      what: "a refresh that fails",
    });
    assertEquals(await fireEvent(minionBus(fleet.minionOpts("web1")), "pillar_refresh", map({})), true);
    await eventually(() => fleet.logs.some((line) => /web1: \[ERROR\] The event pillar_refresh failed: /.test(line)), {
      what: "an event that fails",
    });
    Deno.writeTextFileSync(gate, "");
    const error = await assertRejects(() => closed ?? Promise.resolve(), SignInError);
    assertEquals(error.exitCode, 77);
    job.done.catch(() => {});
  },
);

fleetTest("a return larger than the master's limit is replaced by one that says so", {
  minions: ["web1"],
  master: { max_request_bytes: 1_000_000 },
}, async (fleet) => {
  const answer = await runOn(fleet, "web1", "cmd.run", "head -c 3000000 /dev/zero | tr '\\0' x");
  assertMatch(String(answer), /too large|larger/);
  assert(String(answer).length < 10_000);
});

fleetTest("a minion whose key was rejected ends when its master restarts", { minions: ["web1"] }, async (fleet) => {
  const closed = fleet.minions.get("web1")?.closed;
  assertEquals((await fleet.saltKey("--reject", "web1", "--include-accepted", "--yes")).code, 0);
  await untilKey(fleet, "web1", "rejected");
  await fleet.stopMaster();
  await fleet.startMaster();
  const error = await assertRejects(
    () => closed ?? Promise.resolve(),
    SignInError,
    "rejected this minion's public key",
  );
  assertEquals(error.exitCode, 77);
});

fleetTest("a minion that cannot open its sockets, or cannot read stored jobs", {}, async (fleet) => {
  const lines: string[] = [];
  const opts = fleet.minionOpts("web1");
  await assertRejects(
    () => Minion.start({ ...opts, sock_dir: `${fleet.configDir}/master` }, recorded(lines)),
    Error,
  );
  Deno.mkdirSync(`${detachedDirectory(opts.cachedir)}/1.keeper`, { recursive: true });
  await fleet.untilServing(["web1"], () => fleet.startMinion("web1"));
  Deno.removeSync(`${opts.cachedir}/proc`);
  Deno.writeTextFileSync(`${opts.cachedir}/proc`, "in the way");
  assertEquals(await runOn(fleet, "web1", "test.echo", map({ a: 1 })), map({ a: 1 }));
  const text = fleet.logs.join("\n");
  assertMatch(text, /The commands that kept running cannot be read: /);
  assertMatch(text, /There is no proc file of job \d+: /);
});

Deno.test("a job whose outcome is not available is named in the log, and one that the journal cannot take", async () => {
  const lines: string[] = [];
  const jobs = new MinionJobs(
    {
      opts: testOpts({ id: "web1" }),
      log: recorded(lines),
      pool: {
        size: 0,
        run: () => Promise.reject(new Error("a fault")),
      },
      spool: {},
      returners: { give() {} },
      proc: { add: () => {}, left: [] },
      journal: { commit: () => Promise.reject(new Error("no space left")) },
      fireMaster: () => Promise.resolve(true),
      maxRequestBytes: () => undefined,
    } as unknown as ConstructorParameters<typeof MinionJobs>[0],
  );
  jobs.begin(map({ jid: "1", fun: "test.ping" }));
  await eventually(() => lines.some((line) => line.startsWith("Job 1 was lost: Error: a fault")), { what: "its line" });
  assert(lines.includes("A power failure would lose job 1: no space left"), lines.join("\n"));
});
