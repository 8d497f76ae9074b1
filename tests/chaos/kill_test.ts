/** @module */
import { killCli } from "./kill_cli.ts";
import { killMaster } from "./kill_master.ts";
import { killMinion } from "./kill_minion.ts";
import { killWorker } from "./kill_worker.ts";
import { chaosTest } from "./short_form.ts";

for (const fault of [killMaster, killMinion, killCli, killWorker]) chaosTest(fault);
