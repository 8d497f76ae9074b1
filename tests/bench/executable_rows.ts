/**
 * Rows: the executables of `deno task build`, which Python Salt has no like of.
 * @module
 */

import { run } from "./processes.ts";
import { MB, MS, type Row, type Stage } from "./row.ts";
import { benchScript } from "./sides.ts";

const GROUP = "executables";

/** Built when first asked for, into the fleet's root, which is removed with it. */
const built = new WeakMap<Stage, Promise<string>>();

/** The directory with the executables of `deno task build`. */
export function executables(stage: Stage): Promise<string> {
  const known = built.get(stage);
  if (known !== undefined) return known;
  const making = (async () => {
    const directory = stage.directory();
    const build = benchScript("../../scripts/build.ts");
    await run([Deno.execPath(), "run", "--allow-all", "--quiet", build, "--out", directory]);
    return directory;
  })();
  built.set(stage, making);
  return making;
}

/** One start of `salt --version`. @param unpacked Where a self-extracting executable unpacks itself. */
async function start(stage: Stage, unpacked: string): Promise<number> {
  const salt = `${await executables(stage)}/salt`;
  return (await run(["env", `SALT_UNPACK_DIR=${unpacked}`, salt, "--version"])).ms;
}

/** Executables. */
export const EXECUTABLE_ROWS: readonly Row[] = [
  {
    name: "exe-size",
    title: "the executable `salt`: size",
    unit: MB,
    group: GROUP,
    pythons: [],
    runs: 1,
    long: true,
    measure: async (stage) => (await Deno.stat(`${await executables(stage)}/salt`)).size / 2 ** 20,
  },
  {
    name: "exe-cold",
    title: "the executable `salt --version`: first start on a host",
    unit: MS,
    group: GROUP,
    pythons: [],
    long: true,
    measure: async (stage) => await start(stage, stage.directory()),
  },
  {
    name: "exe-warm",
    title: "the executable `salt --version`: every other start",
    unit: MS,
    group: GROUP,
    pythons: [],
    long: true,
    async measure(stage) {
      const unpacked = `${await executables(stage)}/unpacked`;
      await Deno.mkdir(unpacked, { recursive: true, mode: 0o700 });
      await start(stage, unpacked); // there from the second time on
      return await start(stage, unpacked);
    },
  },
];
