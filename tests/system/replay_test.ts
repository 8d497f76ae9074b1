/**
 * A publish that arrives again: the job runs once, also after a restart of the master or the minion.
 * @module
 */

import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { LocalClient } from "#lib/client/local.ts";
import { decode } from "#lib/values/msgpack.ts";
import { packOpts } from "#lib/config/opts_transfer.ts";
import { clearRequest } from "#lib/protocol/payload.ts";
import { RequestChannel } from "#lib/sockets/request_channel.ts";
import { Thread } from "#lib/runtime/thread.ts";
import { TimeBudget } from "#lib/os/time_budget.ts";
import { isMap, map } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { startCli } from "#tests/support/fleet/cli_process.ts";
import { WITHIN_MS } from "#tests/support/eventually.ts";
import { eventually, type Fleet, fleetTest, startFleet } from "#tests/support/fleet/fleet.ts";
import { runJob } from "#tests/support/fleet/jobs.ts";
import type { MinionThreadInit } from "#tests/support/fleet/minion_thread.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { ScriptedMinion, testKey } from "#tests/support/fleet/scripted_minion.ts";
import { Peer } from "#tests/support/fleet/peer.ts";

/**
 * Publishes a job that appends a line to `ran`, with a new id or one that was used.
 * @returns The id.
 */
async function publish(fleet: Fleet, jid?: string): Promise<string> {
  using client = await LocalClient.connect(fleet.masterOpts, { user: "root", log: SILENT_LOGGER });
  const arg = [`echo ran >> ${fleet.root}/ran`];
  const job = await client.publish({ tgt: "web1", tgtType: "glob", fun: "cmd.run", arg, jid });
  return job.jid;
}

async function runs(fleet: Fleet): Promise<number> {
  // A job after the others: when it has returned, they have been processed.
  await runJob(fleet, "test.ping");
  return Deno.readTextFileSync(`${fleet.root}/ran`).split("\n").filter((line) => line === "ran").length;
}

Deno.test("a job that is published again runs once, also after a restart of minion or master", async () => {
  await using fleet = await startFleet();
  const init = { opts: [packOpts("minion", fleet.minionOpts("web1"))] };
  const url = new URL("../support/fleet/minion_thread.ts", import.meta.url);
  const start = async () => {
    const thread = new Thread<MinionThreadInit>({ name: "Minions", url, init, log: memoryLog().log });
    await fleet.untilServing(["web1"], () => thread.ready);
    return thread;
  };
  let minion = await start();
  try {
    const jid = await publish(fleet);
    await eventually(() => runs(fleet), { what: "the first run" });
    assertEquals([await publish(fleet, jid), await runs(fleet)], [jid, 1]);
    await minion.stop(new TimeBudget(10_000));
    minion = await start();
    assertEquals([await publish(fleet, jid), await runs(fleet)], [jid, 1]);
    await fleet.stopMaster();
    await fleet.startMaster();
    assertEquals([await publish(fleet, jid), await runs(fleet)], [jid, 1]);
    const other = await publish(fleet);
    await eventually(async () => await runs(fleet) === 2, { what: `the run of job ${other}` });
  } finally {
    await minion.stop(new TimeBudget(10_000));
  }
});

fleetTest(
  "a job that waits for a minion runs only there when it connects, not on other or later accepted minions",
  {
    minions: ["web1", "web2"],
  },
  async (fleet) => {
    await fleet.stopMinion("web2");
    using client = await LocalClient.connect(fleet.masterOpts, { user: "root", log: SILENT_LOGGER });
    const waiting = { tgt: "*", tgtType: "glob", fun: "test.ping", arg: [], kwargs: map({ job_ttl: 600 }) };
    const { jid } = await client.publish(waiting);
    const runs = (id: string) =>
      fleet.logs.filter((line) =>
        line.includes(` ${id}: `) && line.includes(`Executing command test.ping with jid ${jid}`)
      )
        .length;
    const returned = `web1 returned test.ping (jid ${jid})`;
    await eventually(() => fleet.logs.some((line) => line.includes(returned)), { what: "the return of web1" });
    await fleet.stopMinion("web1");
    Deno.removeSync(`${fleet.minionOpts("web1").cachedir}/jids`);
    await fleet.untilServing(["web1", "web3"], () => Promise.all(["web1", "web3"].map((id) => fleet.startMinion(id))));
    await fleet.untilServing(["web2"], () => fleet.startMinion("web2"));
    await eventually(() => runs("web2") === 1, { what: "the run on web2" });
    await runJob(fleet, "test.ping"); // after the other job: when it has returned, all minions have processed that one
    assertEquals(["web1", "web2", "web3"].map(runs), [1, 1, 0]);
  },
);

fleetTest("after SIGINT salt prints how to attach again, and jobs.attach shows everything", {
  minions: ["web1"],
}, async (fleet) => {
  const gate = `${fleet.root}/gate`;
  const command = `echo one; while [ ! -e ${gate} ]; do sleep 0.02; done; echo two`;
  const salt = startCli(fleet, "salt", "--live", "web1", "cmd.run", command);
  await eventually(() => salt.lines.length > 0, { what: "the first line" });
  salt.child.kill("SIGINT");
  const { code, out, err } = await salt.ended;
  assertEquals([code, out], [130, "web1: one\n"]);
  const attach = /\nsalt-run -c \S+ (jobs\.attach \d{20})\n$/.exec(err)?.[1] ?? "";
  Deno.writeTextFileSync(gate, "");
  const attached = await fleet.saltRun(...attach.split(" "));
  assertEquals(
    [attached.code, attached.out],
    [0, "web1: one\nweb1: two\nweb1:\n    (the 2 lines above)\nweb1:\n    returned\n"],
  );
});

fleetTest(
  "a recorded sign-in is answered only a few times, however often it is sent, and its minion can still sign in",
  {},
  async (fleet) => {
    using channel = new RequestChannel(`tcp://127.0.0.1:${fleet.masterOpts.ret_port}`);
    const ask = (frame: Uint8Array) => channel.request(frame, { timeoutMs: WITHIN_MS, tries: 1 });
    const sent: Uint8Array[] = [];
    const minion = new ScriptedMinion("web1", await testKey("web1"), (frame) => (sent.push(frame), ask(frame)));
    assert((await minion.signIn()).inner.has("aes"));

    using attacker = Peer.dealer({ highWaterMark: 0 });
    attacker.connect(`tcp://127.0.0.1:${fleet.masterOpts.ret_port}`);
    const ping = clearRequest(map({ cmd: "ping" }));
    let answers = 0;
    // After every hundred requests, one that is answered: when its reply has come, all of them have been processed.
    for (let round = 0; round < 5; round++) {
      for (let n = 0; n < 100; n++) await attacker.send([new Uint8Array(), sent[0]], WITHIN_MS);
      for (let n = 0; n < fleet.masterOpts.worker_threads; n++) {
        await attacker.send([new Uint8Array(), ping], WITHIN_MS);
      }
      for (let pings = 0; pings < fleet.masterOpts.worker_threads;) {
        const frames = await attacker.receive(WITHIN_MS);
        assert(frames !== undefined, "a ping is not answered");
        const reply = decode(frames[frames.length - 1], "wire");
        if (isMap(reply) && reply.has("sig")) answers++;
        else pings++;
      }
      assert((await minion.signIn()).inner.has("aes"));
    }
    assert(answers >= 1 && answers <= 3, `${answers} answers`);
    assert(fleet.logs.some((line) => line.includes("Too many sign-ins of web1")), fleet.logs.join("\n"));
  },
);
