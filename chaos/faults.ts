/**
 * The faults, in the order in which they are run.
 * @module
 */

import type { Fault } from "./fault.ts";
import { killCli } from "./kill_cli.ts";
import { killMaster } from "./kill_master.ts";
import { killMinion } from "./kill_minion.ts";

/** All of them. */
export const FAULTS: readonly Fault[] = [killMaster, killMinion, killCli];
