/**
 * Both directions of a fleet of two implementations. Each version has a file of its own for each: together they take
 * minutes, most of them in waiting for Python.
 * @module
 */

import type { PYTHON_SALTS } from "#tests/interop/python_salt.ts";
import { OURS, testWithPython } from "#tests/interop/salts.ts";
import { proveFleet } from "./fleet_proof.ts";

/** Registers the test of our minion on a Python master, which is controlled by its own commands. */
export async function testOurMinion(version: typeof PYTHON_SALTS[number]): Promise<void> {
  await testWithPython(version, "our minion serves a master of {}", (python, t) => {
    return proveFleet(t, { master: python, minion: OURS });
  });
}

/** Registers the test of a Python minion on our master. */
export async function testPythonMinion(version: typeof PYTHON_SALTS[number]): Promise<void> {
  await testWithPython(version, "a minion of {} serves our master", (python, t) => {
    return proveFleet(t, { master: OURS, minion: python });
  });
}
