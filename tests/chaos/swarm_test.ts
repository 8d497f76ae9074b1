/** @module */
import { deleteKey } from "#tests/chaos/faults/delete_key.ts";
import { restartMaster } from "#tests/chaos/faults/restart_master.ts";
import { chaosTest } from "./short_form.ts";

for (const fault of [restartMaster, deleteKey]) chaosTest(fault);
