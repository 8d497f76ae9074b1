/** @module */
import { messageOf } from "#lib/errors.ts";
import { missingCompiler } from "#tests/chaos/harness/compiler.ts";
import { ONLY_SYNCED } from "#tests/support/files/power_model.ts";
import { PowerFleet } from "#tests/chaos/harness/power_fleet.ts";
import type { LocalClient } from "#lib/client/local.ts";
import { makeJid } from "#lib/protocol/jid.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";

const missing = missingCompiler();
const ID = "m00";
const MACHINE = { durability: "machine" };

/** A master and a minion whose disks lose everything that was not synced at a power failure. */
function powerTest(name: string, run: (machines: PowerFleet) => Promise<void>): void {
  Deno.test({
    name: `under durability: machine ${name}${missing === undefined ? "" : ` (left out: ${missing})`}`,
    ignore: missing !== undefined,
    async fn() {
      await using machines = await PowerFleet.start({ minions: 1, master: MACHINE, minion: MACHINE });
      try {
        await run(machines);
      } catch (error) {
        throw new Error(`${messageOf(error)}${machines.fleet.lastWords()}`, {
          cause: error,
        });
      }
    },
  });
}

const DELIVERY = [3_600, 50] as const;

/**
 * Publishes a command to the minion.
 * @returns The job's id, when the operator has it.
 */
async function publish(client: LocalClient, command: string, ttlS = 3_600): Promise<string> {
  const jid = makeJid(undefined, { unique: true });
  await client.publish({
    tgt: ID,
    tgtType: "glob",
    fun: "cmd.run",
    arg: [command],
    jid,
    kwargs: new Map([["job_ttl", ttlS]]),
  });
  return jid;
}

const lines = (path: string) => Deno.readTextFileSync(path).split("\n").length - 1;

async function returned({ fleet }: PowerFleet, jid: string): Promise<unknown> {
  await eventually(() => fleet.jobs.has(jid, ID), { what: `the return of ${jid}` });
  return fleet.jobs.getReturn(jid, ID)?.return;
}

powerTest(
  "a job that was confirmed to an operator is delivered after the power failure, and is in the cache",
  async (machines) => {
    const { fleet } = machines;
    await fleet.stopMinion(ID);
    const jids = [];
    {
      using client = await fleet.client();
      for (const ttlS of DELIVERY) jids.push(await publish(client, "echo ran", ttlS));
    }
    await machines.cut(["master"], ONLY_SYNCED);
    await fleet.startMaster();
    for (const jid of jids) assertEquals(fleet.jobs.getLoad(jid)?.get("Minions"), [ID]);
    await fleet.startMinion(ID);
    for (const jid of jids) assertEquals(await returned(machines, jid), "ran");
  },
);

powerTest("a return that was fired as an event is stored unchanged, when all machines lose power", async (machines) => {
  const { fleet } = machines;
  const ran = `${fleet.root}/ran`;
  let jid: string;
  {
    using client = await fleet.client();
    jid = await publish(client, `echo ran >> ${ran}; echo done`);
    assertEquals(await returned(machines, jid), "done");
    // The master has acknowledged the return to the minion: from now on only the master has it.
    await eventually(() => [...Deno.readDirSync(`${fleet.minionCacheDir(ID)}/returns`)].length === 0, {
      what: "the acknowledgement",
    });
  }
  await machines.cut(["master", ID], ONLY_SYNCED);
  await fleet.startMaster();
  assertEquals(fleet.jobs.getReturn(jid, ID)?.return, "done");
  await fleet.startMinion(ID);
  await fleet.allPresent();
  using client = await fleet.client();
  await returned(machines, await publish(client, "true"));
  assertEquals([fleet.jobs.getReturn(jid, ID)?.return, lines(ran)], ["done", 1]);
});

powerTest(
  "a job that was running is interrupted, and does not run again when it is published again",
  async (machines) => {
    const { fleet } = machines;
    const ran = `${fleet.root}/ran`;
    let jid: string;
    {
      using client = await fleet.client();
      jid = await publish(client, `echo ran >> ${ran}; exec sleep 600`);
      await eventually(() => lines(ran) === 1, { what: "the job to run" });
    }
    await machines.cut(["master", ID], ONLY_SYNCED);
    await fleet.startMaster();
    await fleet.startMinion(ID);
    await returned(machines, jid);
    assertEquals(fleet.jobs.getReturn(jid, ID)?.interrupted, true);
    await fleet.allPresent();
    using client = await fleet.client();
    await client.publish({ tgt: ID, tgtType: "glob", fun: "cmd.run", arg: [`echo again >> ${ran}`], jid });
    assertEquals(await returned(machines, await publish(client, "echo later")), "later");
    assertEquals(lines(ran), 1);
  },
);

powerTest(
  "a job whose note is interrupted by a power failure is still run or returned as interrupted",
  async (machines) => {
    const { fleet } = machines;
    {
      using client = await fleet.client();
      await returned(machines, await publish(client, "true"));
    }
    // The read part of the journal is on the disk: from then on the file of job ids has its final name.
    await machines.cut([ID], ONLY_SYNCED);
    await fleet.startMinion(ID);
    for (const operations of [2, 3, 4]) {
      await fleet.allPresent();
      using client = await fleet.client();
      await returned(machines, await publish(client, "true"));
      const isEmpty = (name: string) => [...Deno.readDirSync(`${fleet.minionCacheDir(ID)}/${name}`)].length === 0;
      await eventually(() => isEmpty("proc") && isEmpty("returns"), { what: "the end of the job before" });
      // The power fails between the note of the job, its id, and the sync of the journal: the id must not be stored
      // without the note.
      machines.disk(ID).cutAt(operations, "before");
      const jid = await publish(client, "echo after all");
      await fleet.minion(ID).ended(60_000);
      await machines.cut([ID], { ...ONLY_SYNCED, keeps: (name) => name === "jids" });
      assert(Deno.readTextFileSync(`${fleet.minionCacheDir(ID)}/jids`).includes("\n"));
      await fleet.startMinion(ID);
      await returned(machines, jid);
    }
  },
);

powerTest("a return that waits in the spool survives a power failure of the minion's machine", async (machines) => {
  const { fleet } = machines;
  const go = `${fleet.root}/go`;
  let jid: string;
  {
    using client = await fleet.client();
    jid = await publish(client, `until [ -e ${go} ]; do sleep 0.05; done; echo the result`);
  }
  const proc = `${fleet.minionCacheDir(ID)}/proc/${jid}`;
  const isThere = () => Deno.lstat(proc).then(() => true, () => false);
  await eventually(isThere, { what: "the job to begin" });
  await machines.cut(["master"], ONLY_SYNCED);
  Deno.writeTextFileSync(go, "");
  // The note is removed when the return is synced.
  await eventually(async () => !await isThere(), { what: "the job to end" });
  assert([...Deno.readDirSync(`${fleet.minionCacheDir(ID)}/returns`)].length > 0);
  await machines.cut([ID], ONLY_SYNCED);
  await fleet.startMaster();
  await fleet.startMinion(ID);
  assertEquals(await returned(machines, jid), "the result");
});
