/**
 * Rows: the executables of `deno task build`. Python Salt has no counterpart.
 * @module
 */

import { executables, unpackedExecutables } from "./executables.ts";
import { run } from "#tests/bench/harness/processes.ts";
import { MB, MS, type Row } from "./row.ts";

const GROUP = "executables";

/**
 * One start of `salt --version`.
 * @param unpacked The directory that a self-extracting executable is unpacked to.
 */
async function start(unpacked: string): Promise<number> {
  const salt = `${await executables()}/salt`;
  return (await run(["env", `SALT_UNPACK_DIR=${unpacked}`, salt, "--version"])).ms;
}

export const EXECUTABLE_ROWS: readonly Row[] = [
  {
    name: "exe-size",
    title: "the executable `salt`: size",
    unit: MB,
    group: GROUP,
    pythons: [],
    runs: 1,
    long: true,
    measure: async () => (await Deno.stat(`${await executables()}/salt`)).size / 1e6,
  },
  {
    name: "exe-cold",
    title: "the executable `salt --version`: first start on a host",
    unit: MS,
    group: GROUP,
    pythons: [],
    long: true,
    measure: async (stage) => await start(stage.directory()),
  },
  {
    name: "exe-warm",
    title: "the executable `salt --version`: every other start",
    unit: MS,
    group: GROUP,
    pythons: [],
    long: true,
    measure: async () => await start(await unpackedExecutables()),
  },
];
