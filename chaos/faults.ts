/**
 * The faults, in the order in which they are run.
 * @module
 */

import { deleteKey } from "./delete_key.ts";
import type { Fault } from "./fault.ts";
import { killCli } from "./kill_cli.ts";
import { killMaster } from "./kill_master.ts";
import { killMinion } from "./kill_minion.ts";
import { restartMaster } from "./restart_master.ts";

/** All of them. */
export const FAULTS: readonly Fault[] = [killMaster, killMinion, killCli, restartMaster, deleteKey];
