/**
 * Rows: templates of state files.
 * @module
 */

import { run } from "#tests/bench/harness/processes.ts";
import { PER_SECOND, type Row, type Stage } from "./row.ts";
import { benchCommand, benchScript, type Side } from "#tests/bench/harness/sides.ts";

/** Seconds of processor time for each template. */
const SECONDS = 2;

/** The renders in a second of processor time, from render_templates.ts and its counterpart. */
async function rates(stage: Stage, side: Side): Promise<{ loop: number; map: number }> {
  const words = side.python === undefined
    ? benchCommand("programs/render_templates.ts")
    : [side.python, benchScript("programs/render_templates.py")];
  const { out } = await run([...words, stage.directory(), String(SECONDS)]);
  return JSON.parse(out);
}

export const TEMPLATE_ROWS: readonly Row[] = [
  {
    name: "template-loop",
    title: "a state file's template that loops over users of the pillar: renders in a second of processor time",
    unit: PER_SECOND,
    group: "templates",
    runs: 1,
    measure: async (stage, side) => (await rates(stage, side)).loop,
  },
  {
    name: "template-map",
    title: "a state file's template that imports a map file, which imports YAML: renders in a second of processor time",
    unit: PER_SECOND,
    group: "templates",
    runs: 1,
    measure: async (stage, side) => (await rates(stage, side)).map,
  },
];
