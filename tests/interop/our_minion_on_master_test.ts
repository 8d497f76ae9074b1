/**
 * Our minion on Python masters of each version, controlled by their own commands.
 * @module
 */

import { proveFleet } from "./fleet_proof.ts";
import { PYTHON_SALTS } from "./python_salt.ts";
import { OURS, testWithPython } from "./salts.ts";

for (const version of PYTHON_SALTS) {
  await testWithPython(version, "our minion serves a master of {}", (python, t) => {
    return proveFleet(t, { master: python, minion: OURS });
  });
}
