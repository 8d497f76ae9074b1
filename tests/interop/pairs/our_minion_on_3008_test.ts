/**
 * Our minion on a master of Salt 3008.
 * @module
 */

import { PYTHON_SALTS } from "#tests/interop/python_salt.ts";
import { testOurMinion } from "./directions.ts";

await testOurMinion(PYTHON_SALTS[2]);
