/**
 * A minion of Salt 3006 on our master.
 * @module
 */

import { PYTHON_SALTS } from "#tests/interop/python_salt.ts";
import { testPythonMinion } from "./directions.ts";

await testPythonMinion(PYTHON_SALTS[0]);
