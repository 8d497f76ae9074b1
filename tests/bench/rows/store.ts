/**
 * Rows: commands that search stored data: ten thousand keys, ten thousand jobs.
 * @module
 */

import { jobStore } from "#tests/support/fleet/job_store.ts";
import { KeyStore } from "#lib/keys/store.ts";
import { map } from "#lib/values/value.ts";
import type { Fleet } from "#tests/bench/fleets/fleet.ts";
import { keyPool } from "#tests/bench/fleets/key_pool.ts";
import { run } from "#tests/bench/harness/processes.ts";
import { MS, type Row, type Stage } from "./row.ts";
import { benchCommand, benchScript, type Side } from "#tests/bench/harness/sides.ts";

const KEYS = 10_000;
const JOBS = 10_000;
const TARGETED = 10_000;
/** The first job's time, 2026-11-20 00:00 UTC; one a second. Any time is possible, if each run uses the same. */
const FIRST_JOB_MS = Date.UTC(2026, 10, 20);

async function withKeys(fleet: Fleet): Promise<void> {
  const [key] = await keyPool(1, 2048);
  const store = new KeyStore(fleet.pkiDir);
  for (let i = 0; i < KEYS; i++) store.put(`minion-${i}`, "accepted", key.publicKey.pem);
}

/** Writes jobs in Salt's own layout, which both implementations read. */
function withJobs(fleet: Fleet): Promise<void> {
  const cachedir = `${fleet.root}/var/cache/salt/master`;
  const jobs = jobStore(cachedir);
  for (let i = 0; i < JOBS; i++) {
    const time = new Date(FIRST_JOB_MS + i * 1000).toISOString();
    const jid = `${time.replace(/\D/g, "").slice(0, 14)}${String(i).padStart(6, "0")}`;
    jobs.prepare(jid);
    const load = { fun: "test.ping", arg: [], tgt: "*", tgt_type: "glob", user: "root", jid, ret: "", cmd: "publish" };
    jobs.saveLoad(jid, map(load), ["web1", "web2"]);
  }
  return Promise.resolve();
}

/** The master's processor time for targets, in milliseconds, from resolve_targets.ts and its counterpart. */
async function targetCost(stage: Stage, side: Side): Promise<{ glob: number; compound: number }> {
  const words = side.python === undefined
    ? benchCommand("programs/resolve_targets.ts")
    : [side.python, benchScript("programs/resolve_targets.py")];
  const { out } = await run([...words, stage.directory(), String(TARGETED)]);
  return JSON.parse(out);
}

export const STORE_ROWS: readonly Row[] = [
  {
    name: "target",
    title:
      `a compound target of four grains among ${TARGETED} minions with 4 KB of grains, beyond a glob: the master's processor time`,
    unit: MS,
    group: "many targets",
    runs: 1,
    long: true,
    async measure(stage, side) {
      const { glob, compound } = await targetCost(stage, side);
      return compound - glob;
    },
  },
  {
    name: "keys",
    title: `\`salt-key -L\` with ${KEYS} keys, whole process`,
    unit: MS,
    group: "many keys",
    async measure(stage, side) {
      const fleet = await stage.fleet(side, withKeys);
      const { out, ms } = await run([...fleet.words("salt-key"), "-L"]);
      const listed = (out.match(/minion-\d+/g) ?? []).length;
      if (listed !== KEYS) stage.remarks.add(`${side.name}: ${listed} of ${KEYS} keys listed`);
      return ms;
    },
  },
  {
    name: "jobs-list",
    title: `\`salt-run jobs.list_jobs\` with ${JOBS} jobs, whole process`,
    unit: MS,
    group: "many jobs",
    async measure(stage, side) {
      // A master runs, because salt-run fires events on its bus.
      const fleet = await stage.fleet(side, async (fleet) => {
        await withJobs(fleet);
        await fleet.startMaster();
      });
      const { out, ms } = await run([...fleet.words("salt-run"), "jobs.list_jobs"]);
      const listed = (out.match(/^ *\d{20}:$/gm) ?? []).length;
      if (listed < JOBS) stage.remarks.add(`${side.name}: ${listed} of ${JOBS} jobs listed`);
      return ms;
    },
  },
];
