/**
 * The Salts in these tests: ours, run from its sources or as executables, and Python's. A test uses the same names of
 * programs for both.
 * @module
 */

import { DENO_RUN } from "#lib/runtime/self_command.ts";
import { pythonSalt } from "./python_salt.ts";
import { TREE_CONFIG } from "#tests/support/tree_config.ts";

/** The programs of Salt that there are in each implementation. */
export const PROGRAMS = [
  "salt-master",
  "salt-minion",
  "salt-call",
  "salt",
  "salt-key",
  "salt-run",
  "salt-cp",
  "salt-syndic",
] as const;
export type Program = typeof PROGRAMS[number];

/** An implementation. */
export interface Salt {
  /** For names and failures. */
  readonly name: string;
  /** The version of Python Salt; `undefined` for ours. */
  readonly version: string | undefined;
  /** The command that starts a program; its own arguments follow. */
  command(program: Program): readonly string[];
}

const ROOT = new URL("../../", import.meta.url).pathname;

const ENTRIES: Readonly<Record<Program, string>> = {
  "salt-master": "master.ts",
  "salt-minion": "minion.ts",
  "salt-call": "minion.ts",
  "salt": "salt.ts",
  "salt-key": "salt.ts",
  "salt-run": "salt.ts",
  "salt-cp": "salt.ts",
  "salt-syndic": "master.ts",
};

/** The directory of our executables. They start three times as fast as the sources. */
const DIST = Deno.env.get("SALT_DIST");

/** Our Salt, started by its entries, or the executables in the directory that `SALT_DIST` names. */
export const OURS: Salt = {
  name: "ours",
  version: undefined,
  command(program) {
    if (DIST !== undefined) return [`${DIST}/${program}`];
    const deno = [Deno.execPath(), ...DENO_RUN, "--config", TREE_CONFIG];
    const entry = ENTRIES[program];
    return [...deno, `${ROOT}${entry}`, ...(program === "salt-master" ? [] : ["--as", program])];
  },
};

/** The program Python of a Python Salt, with which scripts import it. */
export function pythonOf(salt: Salt): string {
  const [program] = salt.command("salt");
  if (salt.version === undefined) throw new Error("our Salt has no Python");
  return program.replace(/salt$/, "python");
}

/** Python Salt of a version, or the reason why there is none here. */
async function findPythonSalt(version: string): Promise<Salt | { readonly missing: string }> {
  const installed = await pythonSalt(version);
  if ("missing" in installed) return installed;
  return { name: `Python Salt ${version}`, version, command: (program) => [`${installed.bin}/${program}`] };
}

/**
 * Registers a test that needs Python Salt `version`. Without that version the test is ignored, and its name has the
 * reason.
 * @param name The name of the test; `{}` stands for "Python Salt 3006.28".
 */
export async function testWithPython(
  version: string,
  name: string,
  prove: (python: Salt, t: Deno.TestContext) => Promise<void>,
): Promise<void> {
  await testWithPythons([version], name, ([python], t) => prove(python, t));
}

/** The same for a test in which several versions run side by side; `{}` stands for all of them. */
export async function testWithPythons(
  versions: readonly string[],
  name: string,
  prove: (pythons: readonly Salt[], t: Deno.TestContext) => Promise<void>,
): Promise<void> {
  const title = name.replace("{}", `Python Salt ${versions.join(", ")}`);
  const pythons: Salt[] = [];
  for (const version of versions) {
    const python = await findPythonSalt(version);
    if ("missing" in python) {
      Deno.test({ name: `${title} (skipped: ${python.missing})`, ignore: true, fn() {} });
      return;
    }
    pythons.push(python);
  }
  // Services run longer than the steps that start them.
  Deno.test({ name: title, sanitizeOps: false, sanitizeResources: false, fn: (t) => prove(pythons, t) });
}
