/** @module */
import { deleteKey } from "./delete_key.ts";
import { restartMaster } from "./restart_master.ts";
import { chaosTest } from "./short_form.ts";

for (const fault of [restartMaster, deleteKey]) chaosTest(fault);
