/**
 * Row: a highstate of twenty real minions through one master.
 * @module
 */

import { run } from "#tests/bench/harness/processes.ts";
import type { Fleet } from "#tests/bench/fleets/fleet.ts";
import { MS, type Row, type Stage } from "./row.ts";
import type { Side } from "#tests/bench/harness/sides.ts";

const MINIONS = 20;
/** Number of files from templates of the master; as many others have their contents in the state. */
const FILES = 20;

/** The states; each minion writes below its own directory. */
function states(target: string): string {
  const path = (name: string) => `${target}/{{ grains.id }}/${name}`;
  const state = (i: number) =>
    `${
      path(`t${i}`)
    }:\n  file.managed:\n    - source: salt://web/t${i}.conf\n    - template: jinja\n    - makedirs: true\n` +
    `${path(`c${i}`)}:\n  file.managed:\n    - contents: "line ${i}"\n    - require:\n      - file: ${path(`t${i}`)}\n`;
  return Array.from({ length: FILES }, (_, i) => state(i)).join("");
}

async function highstateFleet(stage: Stage, side: Side): Promise<Fleet> {
  return await stage.fleet(side, async (fleet) => {
    const base = `${fleet.root}/srv/salt`;
    fleet.setOptions({ file_roots: `{base: [${base}]}` });
    Deno.mkdirSync(`${base}/web`, { recursive: true });
    Deno.writeTextFileSync(`${base}/top.sls`, "base: {'*': [web]}\n");
    Deno.writeTextFileSync(`${base}/web/init.sls`, states(`${fleet.root}/target`));
    for (let i = 0; i < FILES; i++) {
      Deno.writeTextFileSync(
        `${base}/web/t${i}.conf`,
        `# ${i}\nname {{ grains.id }}\n{% for n in range(9) %}l{{ n }}\n{% endfor %}`,
      );
    }
    await fleet.startMaster();
    for (let i = 1; i <= MINIONS; i++) await fleet.startMinion(`bench-${i}`);
    await fleet.warmUp("*", MINIONS);
    // Loading and fetching for a minion's first highstate must not be measured.
    await highstate(fleet);
  });
}

/**
 * Runs a highstate that must make every file.
 * @returns Milliseconds until the last return is printed.
 */
async function highstate(fleet: Fleet): Promise<number> {
  await Deno.remove(`${fleet.root}/target`, { recursive: true }).catch(() => {});
  const { ms, out } = await run([
    ...fleet.words("salt"),
    "-t",
    "150",
    "--out=json",
    "--static",
    "*",
    "state.highstate",
  ]);
  const made = out.match(/"diff": "New file"/g)?.length ?? 0;
  if (made < MINIONS * FILES * 2) {
    throw new Error(`${fleet.side.name} made ${made} of ${MINIONS * FILES * 2} files:\n${out.slice(0, 2_000)}`);
  }
  return ms;
}

export const APPLY_FLEET_ROWS: readonly Row[] = [{
  name: "apply_fleet",
  title: `\`salt '*' state.highstate\` of ${MINIONS} minions, ${
    2 * FILES
  } files each, until the last return is printed`,
  unit: MS,
  group: "apply fleet",
  runs: 2,
  measure: async (stage, side) => await highstate(await highstateFleet(stage, side)),
}];
