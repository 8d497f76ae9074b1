/**
 * Registers the tests of program calls: one for each file of a directory. It runs in its own mount namespace if its
 * cases replace directories of the host.
 * @module
 */

import { DENO_RUN } from "#lib/runtime/self_command.ts";
import { UNSHARE_MOUNTS, whyNoMountNamespace } from "#tests/support/mount_namespace.ts";
import { caseLabel, placesOf, ProgramNames, readTable, runCase } from "./program_calls.ts";

/**
 * Runs the cases of a file of program calls in their own mount namespace.
 * @returns A function that throws the failure of a case, by index.
 */
async function privateRuns(file: URL): Promise<(i: number) => void> {
  const script = new URL("./private_program_calls.ts", import.meta.url).pathname;
  const [unshare, ...args] = UNSHARE_MOUNTS;
  const { stdout, stderr } = await new Deno.Command(unshare, {
    args: [...args, Deno.execPath(), ...DENO_RUN, script, file.href],
    stdout: "piped",
    stderr: "piped",
  }).output();
  const failures: readonly (string | null)[] = JSON.parse(new TextDecoder().decode(stdout) || "[]");
  return (i) => {
    if (failures[i] === null) return;
    throw new Error(failures[i] ?? `no answer: ${new TextDecoder().decode(stderr)}`);
  };
}

/**
 * Runs the cases of all files of a directory, a test for each file.
 * @param directory With a slash at the end.
 */
export function testProgramCalls(directory: URL): void {
  const missing = whyNoMountNamespace();
  for (const name of [...Deno.readDirSync(directory)].map((entry) => entry.name).sort()) {
    const file = new URL(name, directory);
    const { table, cases } = readTable(file);
    const isPrivate = placesOf(table).length > 0;
    const ignore = isPrivate && missing !== undefined;
    const says = "functions start the programs that Python Salt starts, and return what it returns";
    Deno.test({ name: `${name}: ${says}${ignore ? ` (skipped: ${missing})` : ""}`, ignore }, async (t) => {
      const run = isPrivate ? await privateRuns(file) : undefined;
      using names = new ProgramNames();
      for (const [i, one] of cases.entries()) {
        await t.step(caseLabel(one, i), () => run === undefined ? runCase(table, one, names) : run(i));
      }
    });
  }
}
