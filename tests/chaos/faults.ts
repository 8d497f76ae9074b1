/**
 * The faults, in the order in which they are run.
 * @module
 */

import { lossyLink, slowLink } from "./faults/bad_link.ts";
import { cacheRemoved } from "./faults/cache_removed.ts";
import { clock } from "./faults/clock.ts";
import { corruptFiles } from "./faults/corrupt_files.ts";
import { blackHole, cutLink } from "./faults/cut_link.ts";
import { deleteKey } from "./faults/delete_key.ts";
import { disk } from "./faults/disk.ts";
import type { Fault } from "./harness/fault.ts";
import { killCli } from "./faults/kill_cli.ts";
import { killMaster } from "./faults/kill_master.ts";
import { killMinion } from "./faults/kill_minion.ts";
import { moveMaster } from "./faults/move_master.ts";
import { oldJobs } from "./faults/old_jobs.ts";
import { power } from "./faults/power.ts";
import { soak } from "./faults/soak.ts";
import { stuckSubscriber } from "./faults/stuck_subscriber.ts";
import { killWorker } from "./faults/kill_worker.ts";
import { restartMaster } from "./faults/restart_master.ts";

export const FAULTS: readonly Fault[] = [
  killMaster,
  killMinion,
  killCli,
  killWorker,
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
  soak,
];
