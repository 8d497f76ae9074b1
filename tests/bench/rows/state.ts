/**
 * Rows: states compiled to low data by `salt-call --local`, as whole processes.
 * @module
 */

import { formulasArchive, unpackFormulas } from "#tests/support/files/formulas.ts";
import { installed } from "./executables.ts";
import { run } from "#tests/bench/harness/processes.ts";
import { MS, type Row, type Stage } from "./row.ts";
import type { Side } from "#tests/bench/harness/sides.ts";

const CHAINED = 1_000;
const IN_ONE_FILE = 5_000;

/** Every state requires the one before it. */
function chain(): string {
  const state = (i: number) => `s${i}:\n  test.nop:\n    - require:\n      - test: s${i - 1}\n`;
  return "s0: test.nop\n" + Array.from({ length: CHAINED - 1 }, (_, i) => state(i + 1)).join("");
}

/** States as in a file of users or of directories. */
function oneFile(): string {
  const state = (i: number) =>
    `/srv/data/${i}:\n  file.directory:\n    - user: root\n    - mode: '0755'\n    - makedirs: true\n`;
  return Array.from({ length: IN_ONE_FILE }, (_, i) => state(i)).join("");
}

interface Tree {
  readonly config: string;
  readonly roots: readonly string[];
}

async function treeWith(stage: Stage, files: Readonly<Record<string, string>>): Promise<Tree> {
  const root = stage.directory();
  await Deno.mkdir(`${root}/etc/salt`, { recursive: true });
  await Deno.mkdir(`${root}/srv/salt`, { recursive: true });
  await Deno.mkdir(`${root}/srv/pillar`, { recursive: true });
  for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(`${root}/srv/salt/${name}`, text);
  const config = { id: "bench-1", root_dir: root, pillar_roots: { base: [`${root}/srv/pillar`] } };
  await Deno.writeTextFile(`${root}/etc/salt/minion`, JSON.stringify(config));
  return { config: `${root}/etc/salt`, roots: [`${root}/srv/salt`] };
}

async function lowData(side: Side, { config, roots }: Tree, sls: string): Promise<number> {
  const files = roots.map((root) => `--file-root=${root}`);
  const words = [
    ...(await installed(side)).command("salt-call"),
    "-c",
    config,
    "--local",
    ...files,
    "--out=json",
    "state.show_low_sls",
    sls,
  ];
  const { ms, out } = await run(words);
  if (!out.includes("__sls__")) throw new Error(`${side.name} made no low data of ${sls}:\n${out}`);
  return ms;
}

const ROW = { unit: MS, group: "states" } as const;

/** The rows. The row of the formula exists only if there is an archive of formulas. */
export const STATE_ROWS: readonly Row[] = [
  {
    ...ROW,
    name: "states_chain",
    title: `${CHAINED.toLocaleString("en")} states in a chain to low data, whole \`salt-call --local\``,
    measure: async (stage, side) => await lowData(side, await treeWith(stage, { "t.sls": chain() }), "t"),
  },
  {
    ...ROW,
    name: "states_file",
    title: `${IN_ONE_FILE.toLocaleString("en")} states of one file to low data, whole \`salt-call --local\``,
    measure: async (stage, side) => await lowData(side, await treeWith(stage, { "t.sls": oneFile() }), "t"),
  },
  ...formulaRows(),
];

function formulaRows(): Row[] {
  const archive = formulasArchive();
  if (archive === undefined) return [];
  return [{
    ...ROW,
    name: "states_docker",
    title: "the docker formula to low data, whole `salt-call --local`",
    async measure(stage, side) {
      const formulas = await unpackFormulas(archive, stage.directory());
      const docker = formulas.filter(({ name }) => name === "docker-formula").map(({ root }) => root);
      return await lowData(side, { ...await treeWith(stage, {}), roots: docker }, "docker");
    },
  }];
}
