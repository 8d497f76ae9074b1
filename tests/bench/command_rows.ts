/**
 * Rows: commands that need no master, as whole processes.
 * @module
 */

import { run } from "./processes.ts";
import { MS, type Row } from "./row.ts";
import type { Fleet } from "./fleet.ts";

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
    measure: async (_stage, side) => (await run([...side.command("salt"), "--version"])).ms,
  },
  {
    name: "call",
    title: "`salt-call --local test.ping`, whole process",
    unit: MS,
    group: "commands",
    async measure(stage, side) {
      const fleet = await stage.fleet(side, withMinionConfig);
      const words = [...side.command("salt-call"), "-c", `${fleet.root}/${MINION}/etc/salt`, "--local", "test.ping"];
      return (await run(words)).ms;
    },
  },
];
