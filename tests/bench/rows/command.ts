/**
 * Rows: commands that need no master, as whole processes.
 * @module
 */

import { installed } from "./executables.ts";
import { run } from "#tests/bench/harness/processes.ts";
import { MS, type Row } from "./row.ts";
import type { Fleet } from "#tests/bench/fleets/fleet.ts";

const MINION = "bench-1";

async function withMinionConfig(fleet: Fleet): Promise<void> {
  await fleet.prepareMinion(MINION);
}

/** `salt --version` and `salt-call --local`. */
export const COMMAND_ROWS: readonly Row[] = [
  {
    name: "version",
    title: "`salt --version`, whole process",
    unit: MS,
    group: "commands",
    measure: async (_stage, side) => (await run([...(await installed(side)).command("salt"), "--version"])).ms,
  },
  {
    name: "call",
    title: "`salt-call --local test.ping`, whole process",
    unit: MS,
    group: "commands",
    async measure(stage, side) {
      const fleet = await stage.fleet(side, withMinionConfig);
      const salt = (await installed(side)).command("salt-call");
      const words = [...salt, "-c", `${fleet.root}/${MINION}/etc/salt`, "--local", "test.ping"];
      return (await run(words)).ms;
    },
  },
];
