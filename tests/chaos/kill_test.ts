/** @module */
import { killCli } from "./faults/kill_cli.ts";
import { killMaster } from "./faults/kill_master.ts";
import { killMinion } from "./faults/kill_minion.ts";
import { killWorker } from "./faults/kill_worker.ts";
import { chaosTest } from "./short_form.ts";

for (const fault of [killMaster, killMinion, killCli, killWorker]) chaosTest(fault);
