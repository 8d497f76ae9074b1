/** @module */
import { deleteKey } from "./faults/delete_key.ts";
import { restartMaster } from "./faults/restart_master.ts";
import { chaosTest } from "./short_form.ts";

for (const fault of [restartMaster, deleteKey]) chaosTest(fault);
