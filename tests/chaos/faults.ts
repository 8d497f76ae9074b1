/**
 * The faults, in the order in which they are run.
 * @module
 */

import { lossyLink, slowLink } from "./bad_link.ts";
import { cacheRemoved } from "./cache_removed.ts";
import { clock } from "./clock.ts";
import { corruptFiles } from "./corrupt_files.ts";
import { blackHole, cutLink } from "./cut_link.ts";
import { deleteKey } from "./delete_key.ts";
import { disk } from "./disk.ts";
import type { Fault } from "./fault.ts";
import { killCli } from "./kill_cli.ts";
import { killMaster } from "./kill_master.ts";
import { killMinion } from "./kill_minion.ts";
import { moveMaster } from "./move_master.ts";
import { oldJobs } from "./old_jobs.ts";
import { power } from "./power.ts";
import { soak } from "./soak.ts";
import { stuckSubscriber } from "./stuck_subscriber.ts";
import { killWorker } from "./kill_worker.ts";
import { restartMaster } from "./restart_master.ts";

/** All of them. */
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
