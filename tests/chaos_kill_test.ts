/** @module */
import { killCli } from "../chaos/kill_cli.ts";
import { killMaster } from "../chaos/kill_master.ts";
import { killMinion } from "../chaos/kill_minion.ts";
import { killWorker } from "../chaos/kill_worker.ts";
import { chaosTest } from "./chaos.ts";

for (const fault of [killMaster, killMinion, killCli, killWorker]) chaosTest(fault);
