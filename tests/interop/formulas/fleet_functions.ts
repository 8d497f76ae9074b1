/**
 * Counts which functions of Salt the trees of public fleets name, and which of them are not built: docs/fleets.md.
 *
 *     deno run -A tests/interop/formulas/fleet_functions.ts DIRECTORY > docs/fleets.md
 *
 * DIRECTORY holds clones of the repositories that {@linkcode FLEETS} names, each at `OWNER+NAME`. Salt's functions are
 * those of 3006.28 and 3008.3: many modules have left Salt between them.
 * @module
 */

import { FLEETS } from "./fleet_trees.ts";
import { builtInFunctions, type FunctionFamily, TITLES } from "./built_in_functions.ts";
import { mustRun, pythonSalt } from "#tests/interop/python_salt.ts";
import { wrapProse } from "#scripts/reference/wrap_prose.ts";
import { compareStrings } from "#lib/values/value.ts";

/** Names of functions, by family. */
type Names = Readonly<Record<FunctionFamily, ReadonlySet<string>>>;

/** The number of places of each fleet that name a function. */
type Uses = Map<string, Map<string, number>>;

const FAMILIES = Object.keys(TITLES) as FunctionFamily[];

/** Files of other kinds have no calls. */
const HAS_CALLS =
  /(\.(sls|jinja2?|j2|py|sh|bash|ya?ml|conf|cfg|tmpl|template|jinja\w*|service|cron|ini|txt|sublime\w*)|\/[^./]+)$/;
/** What is no part of the fleet: its documentation, its tests. */
const IS_ASIDE = /(^|\/)(docs?|tests?|\.git|\.github|node_modules|vendor)\//;

const NAME = "([a-z][a-z0-9_]*\\.[a-z][a-z0-9_]*)";

/** Patterns whose first group is the name of an execution function. */
const EXECUTION: readonly RegExp[] = [
  new RegExp(`\\b(?:salt|__salt__)\\[\\s*['"]${NAME}['"]\\s*\\]`, "g"),
  new RegExp(`\\.cmd(?:_async|_iter|_batch)?\\(\\s*[^,()]+,\\s*['"]${NAME}['"]`, "g"),
  new RegExp(`\\bcaller\\.cmd\\(\\s*['"]${NAME}['"]`, "g"),
  new RegExp(`^\\s*(?:-\\s+)?(?:local|caller|cmd)\\.${NAME}:`, "gm"),
  new RegExp(`\\bsalt(?:-call|-ssh)?\\s[^\\n#;|]*?\\s${NAME}(?=[\\s"'\`)]|$)`, "gm"),
];
/** The same in templates, where `salt` is nothing else. */
const IN_TEMPLATES = new RegExp(`\\bsalt\\.${NAME}\\s*\\(`, "g");
/** Lines below `module.run` and the states of orchestration. */
const BELOW_RUN = new RegExp(`^\\s+-\\s+(?:name:\\s*|m_name:\\s*)?['"]?${NAME}['"]?:?\\s*$`, "gm");
const RUNS = /\b(module\.(run|wait)|salt\.(function|runner)|mine_functions|schedule)\b/;
const RUNNERS: readonly RegExp[] = [
  new RegExp(`\\bsalt-run\\s[^\\n#;|]*?\\b${NAME}(?=[\\s"'\`)]|$)`, "gm"),
  new RegExp(`^\\s*(?:-\\s+)?runner\\.${NAME}:`, "gm"),
  new RegExp(`\\bsaltutil\\.runner['"]?\\s*[\\](]+\\s*['"]${NAME}['"]`, "g"),
];
const STATES: readonly RegExp[] = [
  new RegExp(`^\\s+(?:-\\s+)?${NAME}:?\\s*(?:\\[\\]|\\{\\})?\\s*$`, "gm"),
  new RegExp(`^[^\\s#{][^\\n]*:\\s+${NAME}\\s*$`, "gm"),
];
/** A state module with its function in the list below it. */
const SHORT_STATE = /^\s+([a-z][a-z0-9_]*):\s*\n(?:\s+- [a-z_]+:[^\n]*\n)*\s+- ([a-z][a-z0-9_]*)\s*$/gm;

function namesIn(text: string, patterns: readonly RegExp[]): string[] {
  return patterns.flatMap((pattern) => [...text.matchAll(pattern)].map((match) => match[1]));
}

/** A text without its comments. */
function withoutComments(text: string): string {
  return text.replace(/\{#[^]*?#\}/g, "").replace(/^\s*#[^\n]*$/gm, "");
}

/** The names in one file, by family; a name as often as it stands there. */
function namesOf(path: string, text: string, salt: Names): Readonly<Record<FunctionFamily, readonly string[]>> {
  const isPython = path.endsWith(".py");
  const isStates = /\.(sls|jinja2?|j2)$/.test(path);
  const execution = namesIn(text, isPython ? EXECUTION : [...EXECUTION, IN_TEMPLATES]);
  const below = RUNS.test(text) ? namesIn(text, [BELOW_RUN]).filter((name) => !salt.states.has(name)) : [];
  const short = [...text.matchAll(SHORT_STATE)].map(([, module, name]) => `${module}.${name}`);
  return {
    modules: [...execution, ...below.filter((name) => !salt.runners.has(name))],
    states: isStates ? [...namesIn(text, STATES), ...short] : [],
    runners: [...namesIn(text, RUNNERS), ...below],
  };
}

/** The paths of a clone's files. */
function* filesIn(root: string, below = ""): Generator<string> {
  for (const { name, isDirectory, isFile } of Deno.readDirSync(`${root}/${below}`)) {
    const path = `${below}${name}`;
    if (isDirectory && !IS_ASIDE.test(`${path}/`)) yield* filesIn(root, `${path}/`);
    if (isFile && HAS_CALLS.test(`/${path}`)) yield path;
  }
}

/** The names of the fleet's own modules of a family: `_modules/NAME.py`. */
function ownModules(paths: readonly string[], family: FunctionFamily): ReadonlySet<string> {
  const own = new RegExp(`(?:^|/)_${family}/([a-z0-9_]+)(?:\\.py|/)`);
  return new Set(paths.flatMap((path) => own.exec(path)?.[1] ?? []));
}

/** Counts the names of one fleet. */
function countFleet(fleet: string, root: string, { salt, uses }: { salt: Names; uses: Record<FunctionFamily, Uses> }) {
  const paths = [...filesIn(root)];
  for (const path of paths) {
    const text = withoutComments(new TextDecoder().decode(Deno.readFileSync(`${root}/${path}`)));
    const names = namesOf(path, text, salt);
    for (const family of FAMILIES) {
      const own = ownModules(paths, family);
      for (const name of names[family]) {
        if (!salt[family].has(name) || own.has(name.split(".")[0])) continue;
        const places = uses[family].getOrInsertComputed(name, () => new Map());
        places.set(fleet, (places.get(fleet) ?? 0) + 1);
      }
    }
  }
}

/** The functions of both versions of Salt. */
async function saltNames(): Promise<Names> {
  const script = decodeURIComponent(new URL("./salt_names.py", import.meta.url).pathname);
  const found: Record<FunctionFamily, Set<string>> = { modules: new Set(), states: new Set(), runners: new Set() };
  for (const version of ["3006.28", "3008.3"]) {
    const installed = await pythonSalt(version);
    if ("missing" in installed) throw new Error(installed.missing);
    const { stdout } = await new Deno.Command(`${installed.bin}/python`, { args: [script] }).output();
    const names: Record<FunctionFamily, string[]> = JSON.parse(new TextDecoder().decode(stdout));
    for (const family of FAMILIES) for (const name of names[family]) found[family].add(name);
  }
  return found;
}

/** A row for each module: its functions that are there, and those that are not. */
function table(uses: Uses, built: ReadonlySet<string>): string {
  const modules = new Map<string, { there: string[]; missing: string[] }>();
  for (const [name, fleets] of [...uses].sort(([a], [b]) => compareStrings(a, b))) {
    const [module, fun] = name.split(".");
    const row = modules.getOrInsertComputed(module, () => ({ there: [], missing: [] }));
    const places = [...fleets.values()].reduce((sum, one) => sum + one, 0);
    row[built.has(name) ? "there" : "missing"].push(`\`${fun}\` ${fleets.size}/${places}`);
  }
  const rows = [...modules].map(([module, { there, missing }]) =>
    `| \`${module}\` | ${there.join(", ")} | ${missing.join(", ")} |`
  );
  return ["| module | there | not there |", "| --- | --- | --- |", ...rows].join("\n");
}

async function page(directory: string): Promise<string> {
  const salt = await saltNames();
  const built = await builtInFunctions();
  const uses: Record<FunctionFamily, Uses> = { modules: new Map(), states: new Map(), runners: new Map() };
  for (const fleet of Object.keys(FLEETS)) {
    countFleet(fleet, `${directory}/${fleet.replace("/", "+")}`, { salt, uses });
  }
  const sections = FAMILIES.map((family) => {
    const names = [...uses[family].keys()];
    const there = names.filter((name) => built[family].has(name)).length;
    return `## ${TITLES[family]}\n\n${there} of ${names.length} are there.\n\n${table(uses[family], built[family])}`;
  });
  return wrapProse(`# Functions that public fleets name

*Made by \`deno run -A tests/interop/formulas/fleet_functions.ts DIRECTORY > docs/fleets.md\`; do not edit.*

Which functions of Salt the trees of ${Object.keys(FLEETS).length} public fleets name: ${
    Object.keys(FLEETS).join(", ")
  }. The numbers are fleets and places: 3/12 is three fleets, twelve places. They come from patterns in SLS files, templates, scripts and
Python: a place in a loop counts once, a name that is computed does not count, and a name that only looks like a call does. A fleet's own
modules do not count. Salt's functions are those of 3006.28 and 3008.3. [moving.md](moving.md) says how many of their SLS files compile.

${sections.join("\n\n")}
`);
}

if (import.meta.main) {
  const [directory] = Deno.args;
  await mustRun(["test", "-d", directory]);
  Deno.stdout.writeSync(new TextEncoder().encode(await page(directory)));
}
