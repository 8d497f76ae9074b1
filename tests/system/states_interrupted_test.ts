/**
 * Runs of states that something breaks into, with real processes: a state that restarts the minion, a minion that is killed, and a
 * master that goes away. Each run ends with a named outcome, nothing is half-written, and the next run heals it.
 * @module
 */

import { ProcessFleet } from "../chaos/process_fleet.ts";
import { DENO_RUN } from "../../lib/process/self_command.ts";
import { readRun } from "../../lib/state_control/record.ts";
import { isMap, map, repr, str, type Value } from "../../lib/values/value.ts";
import { toWireArgs } from "../../lib/yaml/arguments.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { eventually } from "../support/eventually.ts";

const ID = "m00";

async function apply(fleet: ProcessFleet, sls: string): Promise<string> {
  const client = await fleet.client();
  try {
    const { jid } = await client.publish({
      tgt: ID,
      tgtType: "glob",
      fun: "state.apply",
      arg: toWireArgs([sls], map({})),
      kwargs: map({}),
    });
    return jid;
  } finally {
    client.close();
  }
}

async function returned(fleet: ProcessFleet, jid: string): Promise<Value> {
  return await eventually(() => fleet.jobs.getReturn(jid, ID)?.return, { what: `the return of ${jid}` }) ?? null;
}

/** What the state of an id came to. */
function result(returned: Value, id: string, field = "result"): Value | undefined {
  assert(isMap(returned), repr(returned));
  const found = [...returned].find(([tag]) => str(tag).split("_|-")[1] === id)?.[1];
  return isMap(found) ? found.get(field) : undefined;
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

Deno.test("runs of states survive a restart, a kill and a lost master with a named outcome", async (t) => {
  await using fleet = await ProcessFleet.start({
    minions: 1,
    minion: { request_channel_timeout: 2, request_channel_tries: 2 },
  });
  const { root } = fleet;
  const srv = `${root}/master/srv/salt`;
  Deno.mkdirSync(srv, { recursive: true });
  fleet.configure("master", { file_roots: { base: [srv] } });
  await fleet.stopMaster();
  await fleet.startMaster();
  await fleet.allPresent();
  const write = (name: string, high: Record<string, unknown>) =>
    Deno.writeTextFileSync(`${srv}/${name}.sls`, `#!json\n${JSON.stringify(high)}\n`);

  await t.step("a minion that is killed: the return says how far it came, and the next run heals it", async () => {
    const killed = (length: number) =>
      write("killed", {
        first: { "file.managed": [{ name: `${root}/first` }, { contents: "first" }] },
        wait: { "module.run": [{ "test.sleep": [{ length }] }] },
        last: { "file.managed": [{ name: `${root}/last` }, { contents: "last" }] },
      });
    killed(600);
    const jid = await apply(fleet, "killed");
    await eventually(
      () => readRun(fleet.minionCacheDir(ID), jid)?.unfinished.keys().some((tag) => tag.startsWith("module_|-wait")),
      {
        what: "the second state in the record",
      },
    );
    await fleet.killMinion(ID);
    await fleet.startMinion(ID);
    const text = repr(await returned(fleet, jid));
    assertStringIncludes(text, "1 states had run by then (1 with changes, 0 failed)");
    assertStringIncludes(text, "It had begun with module.run of wait");
    assert(!exists(`${root}/last`));
    await fleet.allPresent();
    const shown = await fleet.salt("salt", "--out=json", ID, "state.last_run", jid);
    assertEquals(JSON.parse(shown.out)[ID].outcome, "interrupted", shown.out);
    killed(0);
    const next = await returned(fleet, await apply(fleet, "killed"));
    assertEquals(["first", "wait", "last"].map((id) => result(next, id)), [true, true, true]);
    assertEquals(Deno.readTextFileSync(`${root}/last`), "last\n");
  });

  await t.step(
    "a master that goes away: the state that needs it fails by name, and the next run heals it",
    async () => {
      Deno.writeTextFileSync(`${srv}/large.txt`, "line\n".repeat(400_000));
      write("lost", {
        wait: {
          "cmd.run": [{
            name: `touch ${root}/waits; for _ in $(seq 3000); do [ -e ${root}/go ] && break; sleep 0.02; done`,
          }],
        },
        fetched: {
          "file.managed": [{ name: `${root}/fetched` }, { source: "salt://large.txt" }, { require: [{ cmd: "wait" }] }],
        },
        own: { "file.managed": [{ name: `${root}/own` }, { contents: "own" }] },
      });
      const jid = await apply(fleet, "lost");
      await eventually(() => exists(`${root}/waits`), { what: "the first state" });
      await fleet.killMaster();
      Deno.writeTextFileSync(`${root}/go`, "");
      await eventually(() => exists(`${root}/own`), { what: "the state behind it", withinMs: 180_000 });
      assert(!exists(`${root}/fetched`));
      await fleet.startMaster();
      const first = await returned(fleet, jid);
      assertEquals(["wait", "fetched", "own"].map((id) => result(first, id)), [true, false, true]);
      assert(str(result(first, "fetched", "comment") ?? "") !== "", repr(first));
      await fleet.allPresent();
      const next = await returned(fleet, await apply(fleet, "lost"));
      assertEquals(["wait", "fetched", "own"].map((id) => result(next, id)), [true, true, true]);
      assertEquals(Deno.statSync(`${root}/fetched`).size, 2_000_000);
    },
  );

  await t.step("a state that restarts salt-minion: the run goes on to its end, and no state runs twice", async () => {
    const config = `${root}/${ID}/etc/salt`;
    const start = [Deno.execPath(), ...DENO_RUN, new URL("../../minion.ts", import.meta.url).pathname, "-c", config];
    const pid = fleet.minion(ID).pid;
    // What systemd does for `systemctl restart salt-minion`.
    Deno.writeTextFileSync(
      `${root}/systemctl`,
      `#!/bin/sh\necho "$*" >> ${root}/systemctl.calls\nkill ${pid}\nwhile kill -0 ${pid} 2> /dev/null; do sleep 0.05; done\n` +
        `${start.map((word) => `'${word}'`).join(" ")} -d\n`,
      { mode: 0o755 },
    );
    write("restart", {
      before: { "cmd.run": [{ name: `echo before >> ${root}/ran` }] },
      restart: { "cmd.run": [{ name: `${root}/systemctl restart salt-minion` }, { require: [{ cmd: "before" }] }] },
      after: { "cmd.run": [{ name: `echo after >> ${root}/ran` }, { require: [{ cmd: "restart" }] }] },
    });
    const jid = await apply(fleet, "restart");
    const all = await returned(fleet, jid);
    const next = Number(Deno.readTextFileSync(`${root}/${ID}/var/run/salt-minion.pid`));
    try {
      assertEquals(["before", "restart", "after"].map((id) => result(all, id)), [true, true, true], repr(all));
      assertEquals(Deno.readTextFileSync(`${root}/ran`), "before\nafter\n");
      assertEquals(Deno.readTextFileSync(`${root}/systemctl.calls`), "restart salt-minion\n");
      assert(next !== pid);
    } finally {
      Deno.kill(next, "SIGTERM");
      await eventually(() => !exists(`/proc/${next}`), { what: "the end of the new minion" });
    }
  });
});
