/** @module */
import { killCli } from "#tests/chaos/faults/kill_cli.ts";
import { killMaster } from "#tests/chaos/faults/kill_master.ts";
import { killMinion } from "#tests/chaos/faults/kill_minion.ts";
import { killStore } from "#tests/chaos/faults/kill_store.ts";
import { killWorker } from "#tests/chaos/faults/kill_worker.ts";
import { chaosTest } from "./short_form.ts";

for (const fault of [killMaster, killMinion, killCli, killWorker, killStore]) chaosTest(fault);
