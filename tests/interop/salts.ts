/**
 * The Salts that meet in these tests: ours from its sources, and Python's. A test names the programs alike.
 * @module
 */

import { DENO_RUN } from "../../lib/process/self_command.ts";
import { pythonSalt } from "./python_salt.ts";

/** A program of Salt. */
export type Program = "salt-master" | "salt-minion" | "salt-call" | "salt" | "salt-key" | "salt-run" | "salt-cp";

/** An implementation. */
export interface Salt {
  /** For names and failures. */
  readonly name: string;
  /** The version of Python Salt; ours has none here. */
  readonly version: string | undefined;
  /** The words that start a program; its own arguments are to be added. */
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
};

/** Ours, as its entries start it. */
export const OURS: Salt = {
  name: "ours",
  version: undefined,
  command(program) {
    const deno = [Deno.execPath(), ...DENO_RUN, "--config", `${ROOT}deno.json`];
    const entry = ENTRIES[program];
    return [...deno, `${ROOT}${entry}`, ...(program === "salt-master" ? [] : ["--as", program])];
  },
};

/** Python Salt of a version, or why there is none here. */
async function findPythonSalt(version: string): Promise<Salt | { readonly missing: string }> {
  const installed = await pythonSalt(version);
  if ("missing" in installed) return installed;
  return { name: `Python Salt ${version}`, version, command: (program) => [`${installed.bin}/${program}`] };
}

/**
 * Registers a test that needs Python Salt `version`. Where there is none it counts as ignored, and its name says why.
 * @param name What is proved; `{}` stands for "Python Salt 3006.28".
 */
export async function testWithPython(
  version: string,
  name: string,
  prove: (python: Salt, t: Deno.TestContext) => Promise<void>,
): Promise<void> {
  const title = name.replace("{}", `Python Salt ${version}`);
  const found = await findPythonSalt(version);
  if ("missing" in found) {
    Deno.test({ name: `${title} (skipped: ${found.missing})`, ignore: true, fn() {} });
    return;
  }
  // Services outlive the steps that start them.
  Deno.test({ name: title, sanitizeOps: false, sanitizeResources: false, fn: (t) => prove(found, t) });
}
