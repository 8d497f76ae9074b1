/**
 * Runs the cases of one file of program calls in the mount namespace of this process. Prints a JSON list: the failure
 * of each case as text, or null.
 * @module
 */

import { hidePrograms } from "./private_host.ts";
import { ProgramNames, readTable, runCase } from "./program_calls.ts";

hidePrograms();
const { table, cases } = readTable(new URL(Deno.args[0]));
const failures: (string | null)[] = [];
using names = new ProgramNames();
for (const one of cases) {
  failures.push(await runCase(table, one, names).then(() => null, (error) => String(error?.stack ?? error)));
}
Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify(failures)));
