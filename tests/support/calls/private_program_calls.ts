/**
 * Runs the cases of one module in a file of program calls in the mount namespace of this process. Prints a JSON list:
 * the failure of each case as text, or null.
 * @module
 */

import { casesOf } from "./corpus_files.ts";
import { hidePrograms } from "./private_host.ts";
import { ProgramNames, readTable, runCase } from "./program_calls.ts";

hidePrograms();
const [file, module] = Deno.args;
const { table, cases } = readTable(new URL(file));
const failures: (string | null)[] = [];
using names = new ProgramNames();
for (const one of casesOf(cases, module)) {
  failures.push(await runCase(table, one, names).then(() => null, (error) => String(error?.stack ?? error)));
}
Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify(failures)));
