/**
 * A master that restarts while its minions keep running.
 * @module
 */

import { jobStore } from "#tests/support/fleet/job_store.ts";
import { readPresence } from "#lib/fleet/presence_file.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { eventually, WITHIN_MS } from "#tests/support/eventually.ts";
import { fleetTest } from "#tests/support/fleet/fleet.ts";
import { runJob, startJob } from "#tests/support/fleet/jobs.ts";

const IDS = ["db1", "web1"];
/**
 * The old subscription reconnects after a random delay of up to five minutes, which is too late. Sign-ins are retried
 * at once.
 */
const SLOW = { recon_default: 1, recon_max: 300_000, recon_randomize: true, auth_timeout: 5 };

function names(directory: string): string[] {
  return [...Deno.readDirSync(directory)].map(({ name }) => name);
}

fleetTest("after a restart of the master minions reconnect by themselves, and a return made meanwhile arrives", {
  minions: IDS,
  minion: SLOW,
}, async (fleet) => {
  const path = `${fleet.root}/done`;
  const job = await startJob(fleet, "cmd.run", {
    tgt: "web1",
    arg: [`touch ${path}.began; for _ in $(seq 1500); do [ -e ${path} ] && break; sleep 0.02; done; echo late`],
    kwargs: { python_shell: true },
    signal: AbortSignal.abort(),
  });
  await eventually(() => names(fleet.root).includes("done.began"), { what: "the command" });

  // Events are read all the time: a SUB socket resubscribes only while a receive is pending.
  using events = await fleet.listen("salt/minion/");
  const timer = setTimeout(() => events.close(), 2 * WITHIN_MS);
  const back = (async () => {
    const tags = new Set<string>();
    for (let event; tags.size < IDS.length && (event = await events.next()) !== undefined;) tags.add(event.tag);
    clearTimeout(timer);
    return [...tags].sort();
  })();
  await fleet.stopMaster();
  Deno.writeTextFileSync(path, "");
  const spool = `${fleet.minionConfigDir("web1")}/var/cache/salt/minion/returns`;
  await eventually(() => names(spool).length > 0, { what: "a spooled return" });
  const started = performance.now();
  await fleet.startMaster();
  assertEquals(await back, IDS.map((id) => `salt/minion/${id}/start`));
  const backMs = performance.now() - started;
  // About two seconds on an idle machine.
  assert(backMs < 30_000, `the minions were back after ${Math.round(backMs)} ms`);

  // A job right after the start event is not lost: the minion subscribes first.
  assertEquals([...(await runJob(fleet, "test.ping")).keys()].sort(), IDS);
  const { cachedir, hash_type } = fleet.masterOpts;
  const jobs = jobStore(cachedir, { hashType: hash_type });
  await eventually(() => jobs.getReturn(job.jid, "web1")?.return === "late", { what: "the late return" });
  await eventually(() => names(spool).length === 0, { what: "an empty spool" });
});

fleetTest("the next master sends a job to a minion that was away, and not again to one that has acknowledged it", {
  minions: IDS,
}, async (fleet) => {
  const { cachedir, hash_type } = fleet.masterOpts;
  const [runs, done] = ["runs", "done"].map((name) => `${fleet.root}/${name}`);
  await fleet.stopMinion("db1");
  const { jid } = await startJob(fleet, "cmd.run", {
    arg: [`echo run >> ${runs}; for _ in $(seq 3000); do [ -e ${done} ] && break; sleep 0.02; done; echo late`],
    kwargs: { python_shell: true },
    fields: { job_ttl: 600 },
    signal: AbortSignal.abort(),
  });
  const acks = jobStore(cachedir, { hashType: hash_type }).acks;
  await eventually(() => acks.all(jid).has("web1"), { what: "the acknowledgement of web1" });
  await fleet.stopMaster();
  const before = fleet.logs.length;
  await fleet.startMaster();
  // A minion that has missed a job gets it when it connects; web1 is connected before db1.
  await eventually(() => readPresence(cachedir).present.has("web1"), { what: "web1" });
  await fleet.startMinion("db1");
  await eventually(() => Deno.readTextFileSync(runs) === "run\nrun\n", { what: "the job on db1" });
  const again = fleet.logs.slice(before).filter((line) => line.includes(` web1: [DEBUG] Job ${jid} came again`));
  assertEquals(again, []);
  Deno.writeTextFileSync(done, "");
  const jobs = jobStore(cachedir, { hashType: hash_type });
  for (const id of IDS) {
    await eventually(() => jobs.getReturn(jid, id)?.return === "late", { what: `the return of ${id}` });
  }
});
