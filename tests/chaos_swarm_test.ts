/** @module */
import { deleteKey } from "../chaos/delete_key.ts";
import { restartMaster } from "../chaos/restart_master.ts";
import { chaosTest } from "./chaos.ts";

for (const fault of [restartMaster, deleteKey]) chaosTest(fault);
