/**
 * Rows: the time that a person waits after a tab in bash. Measured is a whole bash that reads the script and completes
 * once, which is a little more than in a shell that has read the script; a bash that does nothing is measured too. The
 * aim is 50 ms.
 * @module
 */

import { completionScript } from "#scripts/reference/completion.ts";
import { run } from "#tests/bench/harness/processes.ts";
import { MS_TENTHS, type Row, type Stage } from "./row.ts";

const MINIONS = 10_000;

/** The directories of a master with many keys, and the script; made once for the group. */
const places = new WeakMap<Stage, Promise<string>>();

async function makePlace(stage: Stage): Promise<string> {
  const root = stage.directory();
  Deno.mkdirSync(`${root}/etc/salt/pki/master/minions`, { recursive: true });
  Deno.writeTextFileSync(`${root}/etc/salt/master`, `root_dir: ${root}\n`);
  Deno.writeTextFileSync(`${root}/etc/salt/minion`, `root_dir: ${root}\n`);
  for (let i = 0; i < MINIONS; i++) Deno.writeTextFileSync(`${root}/etc/salt/pki/master/minions/web${i}`, "");
  const modules = `${root}/var/cache/salt/minion/extmods/modules`;
  Deno.mkdirSync(modules, { recursive: true });
  Deno.writeTextFileSync(`${modules}/racks.js`, "export function where() {}\n");
  Deno.writeTextFileSync(`${root}/salt.bash`, await completionScript("bash"));
  return root;
}

/** A row that completes `line`; at least `min` completions are expected. */
function row(name: string, { title, line, min }: { title: string; line: string; min: number }): Row {
  return {
    name,
    title: `bash completes \`${title}\`, whole process`,
    unit: MS_TENTHS,
    group: "completion",
    pythons: [],
    async measure(stage) {
      const place = places.get(stage) ?? makePlace(stage);
      places.set(stage, place);
      const root = await place;
      const ask = `. ${root}/salt.bash; export SALT_CONFIG_DIR=${root}/etc/salt
COMP_LINE=$1 COMP_POINT=\${#1}; _salt salt "\${1##* }" ""; echo \${#COMPREPLY[@]}`;
      const { out, err, ms } = await run(["bash", "-c", ask, "bash", line]);
      if (Number(out) < min) throw new Error(`${line}: ${out} answers, not ${min}\n${err}`);
      return ms;
    },
  };
}

/** Completion of minions by a few letters, of all minions, and of functions with custom modules. */
export const COMPLETION_ROWS: readonly Row[] = [
  {
    name: "tab_nothing",
    title: "a bash that does nothing, whole process",
    unit: MS_TENTHS,
    group: "completion",
    pythons: [],
    measure: async () => (await run(["bash", "-c", "true"])).ms,
  },
  row("tab_minions", { title: "salt web99<Tab> of 10,000 minions", line: "salt web99", min: 111 }),
  row("tab_all_minions", { title: "salt <Tab> of 10,000 minions", line: "salt ", min: MINIONS }),
  row("tab_functions", { title: "salt web1 racks.<Tab>", line: "salt web1 racks.", min: 1 }),
];
