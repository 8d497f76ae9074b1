/**
 * Registers the tests of program calls: one for each file of a folder of corpora. It runs in its own mount namespace if
 * its cases replace directories of the host.
 * @module
 */

import { DENO_RUN } from "#lib/runtime/self_command.ts";
import { UNSHARE_MOUNTS, whyNoMountNamespace } from "#tests/support/mount_namespace.ts";
import { casesOf, filesWithCases } from "./corpus_files.ts";
import { caseLabel, placesOf, ProgramNames, readTable, runCase } from "./program_calls.ts";

/**
 * Runs the cases of a module in a file of program calls in their own mount namespace.
 * @returns A function that throws the failure of a case, by its index among those of the module.
 */
async function privateRuns(file: URL, module: string): Promise<(i: number) => void> {
  const script = new URL("./private_program_calls.ts", import.meta.url).pathname;
  const [unshare, ...args] = UNSHARE_MOUNTS;
  const { stdout, stderr } = await new Deno.Command(unshare, {
    args: [...args, Deno.execPath(), ...DENO_RUN, script, file.href, module],
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
 * Registers a test for each file of `folder`, a folder of corpora, that has cases of `module`.
 * @returns The number of tests.
 */
export function testProgramCalls(folder: string, module: string): number {
  const missing = whyNoMountNamespace();
  const files = filesWithCases(folder, module);
  for (const file of files) {
    const { table, cases } = readTable(file);
    const isPrivate = placesOf(table).length > 0;
    const ignore = isPrivate && missing !== undefined;
    const name = file.pathname.replace(/^.*\//, "");
    const says = `functions of ${module} start the programs that Python Salt starts, and return what it returns`;
    Deno.test({ name: `${name}: ${says}${ignore ? ` (skipped: ${missing})` : ""}`, ignore }, async (t) => {
      const run = isPrivate ? await privateRuns(file, module) : undefined;
      using names = new ProgramNames();
      for (const [i, one] of casesOf(cases, module).entries()) {
        await t.step(caseLabel(one, i), () => run === undefined ? runCase(table, one, names) : run(i));
      }
    });
  }
  return files.length;
}
