/**
 * Runs of states that are interrupted, with real processes: a state that restarts the minion, a minion that is killed,
 * and a master that stops. Each run ends with a named outcome, no file is half-written, and the next run succeeds.
 * @module
 */

import { ProcessFleet } from "#tests/chaos/harness/process_fleet.ts";
import { lexistsOrThrow } from "#lib/os/file_kind.ts";
import { readRun } from "#lib/states/control/record.ts";
import { repr } from "#lib/values/value.ts";
import { serveStates, startApply, untilReturned } from "#tests/chaos/harness/applied_states.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { fieldOf } from "#tests/support/calls/returned_states.ts";

const ID = "m00";

Deno.test("runs of states end with a named outcome after a restart, a kill and a lost master", async (t) => {
  await using fleet = await ProcessFleet.start({
    minions: 1,
    minion: { request_channel_timeout: 2, request_channel_tries: 2 },
  });
  const { root } = fleet;
  const apply = (sls: string) => startApply(fleet, ID, sls);
  const returned = (jid: string) => untilReturned(fleet, ID, jid);

  await t.step("a minion that is killed: the return has the completed states, and the next run succeeds", async () => {
    const killed = (length: number) =>
      serveStates(fleet, "killed", {
        first: { "file.managed": [{ name: `${root}/first` }, { contents: "first" }] },
        wait: { "module.run": [{ "test.sleep": [{ length }] }] },
        last: { "file.managed": [{ name: `${root}/last` }, { contents: "last" }] },
      });
    killed(600);
    const jid = await apply("killed");
    await eventually(
      () => readRun(fleet.minionCacheDir(ID), jid)?.unfinished.keys().some((tag) => tag.startsWith("module_|-wait")),
      {
        what: "the second state in the record",
      },
    );
    await fleet.killMinion(ID);
    await fleet.startMinion(ID);
    const text = repr(await returned(jid));
    assertStringIncludes(text, "1 states had run by then (1 with changes, 0 failed)");
    assertStringIncludes(text, "It had begun with module.run of wait");
    assert(!lexistsOrThrow(`${root}/last`));
    await fleet.allPresent();
    const shown = await fleet.salt("salt", "--out=json", ID, "state.last_run", jid);
    assertEquals(JSON.parse(shown.out)[ID].outcome, "interrupted", shown.out);
    killed(0);
    const next = await returned(await apply("killed"));
    assertEquals(fieldOf(next, ["first", "wait", "last"], "result"), [true, true, true]);
    assertEquals(Deno.readTextFileSync(`${root}/last`), "last\n");
  });

  await t.step(
    "a master that stops: the state that needs it fails with a named error, and the next run succeeds",
    async () => {
      Deno.writeTextFileSync(`${fleet.statesDir}/large.txt`, "line\n".repeat(400_000));
      serveStates(fleet, "lost", {
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
      const jid = await apply("lost");
      await eventually(() => lexistsOrThrow(`${root}/waits`), { what: "the first state" });
      await fleet.killMaster();
      Deno.writeTextFileSync(`${root}/go`, "");
      await eventually(() => lexistsOrThrow(`${root}/own`), { what: "the state behind it", withinMs: 180_000 });
      assert(!lexistsOrThrow(`${root}/fetched`));
      await fleet.startMaster();
      const first = await returned(jid);
      assertEquals(fieldOf(first, ["wait", "fetched", "own"], "result"), [true, false, true]);
      assert(fieldOf(first, ["fetched"], "comment")[0] !== "", repr(first));
      await fleet.allPresent();
      const next = await returned(await apply("lost"));
      assertEquals(fieldOf(next, ["wait", "fetched", "own"], "result"), [true, true, true]);
      assertEquals(Deno.statSync(`${root}/fetched`).size, 2_000_000);
    },
  );

  await t.step("a state that restarts salt-minion: the run continues to its end, and no state runs twice", async () => {
    const start = fleet.startWords(ID);
    const pid = fleet.minion(ID).pid;
    // Like `systemctl restart salt-minion`.
    Deno.writeTextFileSync(
      `${root}/systemctl`,
      `#!/bin/sh\necho "$*" >> ${root}/systemctl.calls\nkill ${pid}\nwhile kill -0 ${pid} 2> /dev/null; do sleep 0.05; done\n` +
        `${start.map((word) => `'${word}'`).join(" ")} -d\n`,
      { mode: 0o755 },
    );
    serveStates(fleet, "restart", {
      before: { "cmd.run": [{ name: `echo before >> ${root}/ran` }] },
      restart: { "cmd.run": [{ name: `${root}/systemctl restart salt-minion` }, { require: [{ cmd: "before" }] }] },
      after: { "cmd.run": [{ name: `echo after >> ${root}/ran` }, { require: [{ cmd: "restart" }] }] },
    });
    const jid = await apply("restart");
    const all = await returned(jid);
    const next = Number(Deno.readTextFileSync(`${root}/${ID}/var/run/salt-minion.pid`));
    try {
      assertEquals(fieldOf(all, ["before", "restart", "after"], "result"), [true, true, true], repr(all));
      assertEquals(Deno.readTextFileSync(`${root}/ran`), "before\nafter\n");
      assertEquals(Deno.readTextFileSync(`${root}/systemctl.calls`), "restart salt-minion\n");
      assert(next !== pid);
    } finally {
      Deno.kill(next, "SIGTERM");
      await eventually(() => !lexistsOrThrow(`/proc/${next}`), { what: "the end of the new minion" });
    }
  });
});
