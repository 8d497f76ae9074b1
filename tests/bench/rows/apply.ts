/**
 * Rows: states applied by `salt-call --local`, as whole processes, and a highstate of a fleet.
 * @module
 */

import { formulasArchive, unpackFormulas } from "#tests/support/files/formulas.ts";
import { installed } from "./executables.ts";
import { run } from "#tests/bench/harness/processes.ts";
import { peakMemory } from "#tests/bench/harness/peak_memory.ts";
import { MB, MS, type Row, type Stage } from "./row.ts";
import type { Side } from "#tests/bench/harness/sides.ts";

const FILES = 500;
const CHAINED = 1_000;
const TREE_FILES = 5_000;
const INDEPENDENT_STATES = 10_000;
/** Formulas whose first file compiles without pillar of its own. */
const FORMULAS = [
  ...["cron", "logrotate", "nfs", "ntp", "packages", "postfix", "sudoers", "sysctl", "systemd", "template"],
];

/** Files with short contents, below `where`. */
function files(where: string): string {
  const state = (i: number) =>
    `${where}/f${i}:\n  file.managed:\n    - contents: "line ${i}\\nmore\\n"\n    - mode: '0644'\n    - makedirs: true\n`;
  return Array.from({ length: FILES }, (_, i) => state(i)).join("");
}

/** Every state requires the one before it. */
function chain(count: number): string {
  const state = (i: number) => `s${i}:\n  test.nop:\n    - require:\n      - test: s${i - 1}\n`;
  return "s0: test.nop\n" + Array.from({ length: count - 1 }, (_, i) => state(i + 1)).join("");
}

/** States without requisites. */
function independentStates(count: number): string {
  return Array.from({ length: count }, (_, i) => `s${i}: test.succeed_without_changes\n`).join("");
}

/** A minion's state tree, and the directory that its states write to. */
interface Tree {
  readonly root: string;
  readonly config: string;
  readonly target: string;
  readonly roots: readonly string[];
}

async function makeTree(
  stage: Stage,
  sls: (target: string) => string,
  more: { readonly roots?: readonly string[]; readonly top?: string; readonly pillar?: string } = {},
): Promise<Tree> {
  const root = stage.directory();
  for (const name of ["etc/salt", "srv/salt", "srv/pillar"]) await Deno.mkdir(`${root}/${name}`, { recursive: true });
  const target = `${root}/target`;
  await Deno.writeTextFile(`${root}/srv/salt/t.sls`, sls(target));
  await Deno.writeTextFile(`${root}/srv/salt/top.sls`, more.top ?? "base: {'*': [t]}\n");
  if (more.pillar !== undefined) {
    await Deno.writeTextFile(`${root}/srv/pillar/top.sls`, "base: {'*': [p]}\n");
    await Deno.writeTextFile(`${root}/srv/pillar/p.sls`, more.pillar);
  }
  const config = { id: "bench-1", root_dir: root, pillar_roots: { base: [`${root}/srv/pillar`] } };
  await Deno.writeTextFile(`${root}/etc/salt/minion`, JSON.stringify(config));
  return { root, config: `${root}/etc/salt`, target, roots: [`${root}/srv/salt`, ...more.roots ?? []] };
}

/** The command line of `salt-call --local`. */
async function words(side: Side, { config, roots }: Tree, ...command: readonly string[]): Promise<string[]> {
  const options = roots.map((root) => `--file-root=${root}`);
  return [
    ...(await installed(side)).command("salt-call"),
    "-c",
    config,
    "--local",
    ...options,
    "--out=json",
    ...command,
  ];
}

/**
 * Applies the states.
 * @throws {Error} If there are not `count` results.
 */
async function apply(side: Side, tree: Tree, count: number, ...more: readonly string[]): Promise<number> {
  const { ms, out } = await run(await words(side, tree, "state.apply", "t", ...more));
  check(side, out, count);
  return ms;
}

function check(side: Side, out: string, count: number): void {
  const results = out.match(/"__run_num__"/g)?.length ?? 0;
  if (results < count) {
    throw new Error(`${side.name} gave ${results} results in place of ${count}:\n${out.slice(0, 2_000)}`);
  }
}

const ROW = { unit: MS, group: "apply" } as const;

/** A tree whose states have been applied once. */
async function applied(stage: Stage, side: Side): Promise<Tree> {
  const tree = await makeTree(stage, files);
  await apply(side, tree, FILES);
  return tree;
}

/** The rows. The row of formulas exists only if there is an archive of formulas. */
export const APPLY_ROWS: readonly Row[] = [
  {
    ...ROW,
    name: "apply_files_first",
    title: `${FILES} file.managed applied for the first time, whole \`salt-call --local\``,
    measure: async (stage, side) => await apply(side, await makeTree(stage, files), FILES),
  },
  {
    ...ROW,
    name: "apply_files_again",
    title: `the same ${FILES} once more: nothing is to be done`,
    measure: async (stage, side) => await apply(side, await applied(stage, side), FILES),
  },
  {
    ...ROW,
    name: "apply_files_test",
    title: `the same ${FILES} in test mode`,
    measure: async (stage, side) => await apply(side, await applied(stage, side), FILES, "test=True"),
  },
  {
    ...ROW,
    name: "apply_chain",
    title: `${CHAINED.toLocaleString("en")} states in a chain applied`,
    measure: async (stage, side) => await apply(side, await makeTree(stage, () => chain(CHAINED)), CHAINED),
  },
  {
    ...ROW,
    name: "apply_recurse",
    title: `file.recurse of ${TREE_FILES.toLocaleString("en")} files`,
    async measure(stage, side) {
      const tree = await makeTree(stage, (target) => `${target}:\n  file.recurse:\n    - source: salt://tree\n`);
      for (let i = 0; i < TREE_FILES; i++) {
        const directory = `${tree.roots[0]}/tree/d${i % 50}`;
        if (i < 50) Deno.mkdirSync(directory, { recursive: true });
        Deno.writeTextFileSync(`${directory}/f${i}`, `file ${i}\n`);
      }
      return await apply(side, tree, 1);
    },
  },
  {
    ...ROW,
    unit: MB,
    name: "apply_memory",
    title: `the most memory of a run of ${INDEPENDENT_STATES.toLocaleString("en")} states`,
    async measure(stage, side) {
      const tree = await makeTree(stage, () => independentStates(INDEPENDENT_STATES));
      const { out, peakKb } = await peakMemory(await words(side, tree, "state.apply", "t"));
      check(side, out, INDEPENDENT_STATES);
      return peakKb / 1024;
    },
  },
  ...formulaRows(),
];

function formulaRows(): Row[] {
  const archive = formulasArchive();
  if (archive === undefined) return [];
  return [{
    ...ROW,
    name: "apply_formulas",
    title: `the highstate of ${FORMULAS.length} formulas in test mode`,
    async measure(stage, side) {
      const formulas = (await unpackFormulas(archive, stage.directory()))
        .filter(({ name }) => FORMULAS.includes(name.replace(/-formula$/, "")));
      const tree = await makeTree(stage, () => "{}\n", {
        roots: formulas.map(({ root }) => root),
        top: `base: {'*': [${formulas.map(({ sls }) => sls[0]).join(", ")}]}\n`,
      });
      // Several of them update apt's lists, which would measure the network.
      await Deno.mkdir(`${tree.root}/bin`);
      await Deno.writeTextFile(`${tree.root}/bin/apt-get`, "#!/bin/sh\n", { mode: 0o755 });
      const path = `PATH=${tree.root}/bin:${Deno.env.get("PATH") ?? ""}`;
      const { ms, out } = await run(["env", path, ...await words(side, tree, "state.highstate", "test=True")]);
      check(side, out, FORMULAS.length);
      return ms;
    },
  }];
}
