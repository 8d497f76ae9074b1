/**
 * Python minions of each version on our master.
 * @module
 */

import { proveFleet } from "./fleet_proof.ts";
import { PYTHON_SALTS } from "./python_salt.ts";
import { OURS, testWithPython } from "./salts.ts";

for (const version of PYTHON_SALTS) {
  await testWithPython(version, "a minion of {} serves our master", (python, t) => {
    return proveFleet(t, { master: OURS, minion: python });
  });
}
