/**
 * The faults, in the order in which they are run.
 * @module
 */

import { apiFlood } from "#tests/chaos/faults/api_flood.ts";
import { lossyLink, slowLink } from "#tests/chaos/faults/bad_link.ts";
import { cacheRemoved } from "#tests/chaos/faults/cache_removed.ts";
import { clock } from "#tests/chaos/faults/clock.ts";
import { corruptFiles } from "#tests/chaos/faults/corrupt_files.ts";
import { blackHole, cutLink } from "#tests/chaos/faults/cut_link.ts";
import { deleteKey } from "#tests/chaos/faults/delete_key.ts";
import { disk } from "#tests/chaos/faults/disk.ts";
import type { Fault } from "#tests/chaos/harness/fault.ts";
import { flowFlood } from "#tests/chaos/faults/flow_flood.ts";
import { killCli } from "#tests/chaos/faults/kill_cli.ts";
import { killCluster } from "#tests/chaos/faults/kill_cluster.ts";
import { killMaster } from "#tests/chaos/faults/kill_master.ts";
import { killMinion } from "#tests/chaos/faults/kill_minion.ts";
import { moveMaster } from "#tests/chaos/faults/move_master.ts";
import { oldJobs } from "#tests/chaos/faults/old_jobs.ts";
import { power } from "#tests/chaos/faults/power.ts";
import { soak } from "#tests/chaos/faults/soak.ts";
import { stuckSubscriber } from "#tests/chaos/faults/stuck_subscriber.ts";
import { killStore } from "#tests/chaos/faults/kill_store.ts";
import { killWorker } from "#tests/chaos/faults/kill_worker.ts";
import { restartMaster } from "#tests/chaos/faults/restart_master.ts";

export const FAULTS: readonly Fault[] = [
  killMaster,
  killMinion,
  killCli,
  killWorker,
  killStore,
  killCluster,
  restartMaster,
  deleteKey,
  cutLink,
  blackHole,
  moveMaster,
  lossyLink,
  slowLink,
  disk,
  cacheRemoved,
  corruptFiles,
  clock,
  power,
  oldJobs,
  stuckSubscriber,
  apiFlood,
  flowFlood,
  soak,
];
