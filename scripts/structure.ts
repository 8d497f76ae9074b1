/**
 * What the compiler does not say of a tree: imports that make a circle, layers that reach up, exports that nobody uses, and
 * what brings Node's compatibility layer along.
 *
 *     deno run -A scripts/structure.ts
 *
 * Reads import and export statements as text, for which the formatter sees to their form; knows nothing of what they mean.
 * @module
 */

/** The directories that it looks at; "." holds the entries. */
const DIRECTORIES = [
  ".",
  "bench",
  "chaos",
  "fuzz",
  "grains",
  "lib",
  "modules",
  "runners",
  "scripts",
  "tests",
  "tests/interop",
] as const;

/** Where a directory's files may import from, beside from each other. What is not listed may be imported by nobody. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  ".": ["lib"],
  "lib": ["modules", "grains", "runners"], // the tables of the loaders, and nothing else of it
  "modules": ["lib"],
  "grains": ["lib"],
  "runners": ["lib"],
  "scripts": [".", "lib"],
  "fuzz": [".", "lib", "tests"],
  "bench": [".", "lib", "scripts", "tests"],
  "chaos": [".", "bench", "fuzz", "lib", "scripts", "tests", "tests/interop"],
  "tests": [".", "bench", "chaos", "fuzz", "grains", "lib", "modules", "runners", "scripts"],
  "tests/interop": [".", "lib", "scripts", "tests"],
};

/** The files of `lib/` that may import the plugins: they are where plugins come from. */
const PLUGIN_TABLES: readonly string[] = ["lib/loader.ts", "lib/grains.ts", "lib/runners.ts"];
const PLUGINS: readonly string[] = ["modules", "grains", "runners"];

/** One source file. */
export interface Source {
  /** Its path from the root of the tree: `lib/jid.ts`. */
  readonly path: string;
  /** What is in it. */
  readonly text: string;
}

/** What one file imports from another of the tree. */
interface Import {
  readonly from: string;
  /** The imported names; `*` for all of them. */
  readonly names: readonly string[];
}

/** Every source file below `root`. */
function readTree(root: URL): Source[] {
  return DIRECTORIES.flatMap((directory) => {
    const base = new URL(`${directory}/`, root);
    return [...Deno.readDirSync(base)].filter(({ name, isFile }) => isFile && name.endsWith(".ts"))
      .map(({ name }) => ({
        path: directory === "." ? name : `${directory}/${name}`,
        text: Deno.readTextFileSync(new URL(name, base)),
      }));
  }).sort((a, b) => a.path < b.path ? -1 : 1);
}

/** What is wrong with the structure of `sources`, a line each. */
export function structureProblems(sources: readonly Source[]): string[] {
  const imports = new Map(sources.map(({ path, text }) => [path, importsOf(path, text)]));
  return [...circles(imports), ...layers(imports), ...unusedExports(sources, imports), ...nodeImports(sources)];
}

function importsOf(path: string, text: string): Import[] {
  const found: Import[] = [];
  const add = (specifier: string, names: readonly string[]) =>
    found.push({ from: new URL(specifier, `file:///${path}`).pathname.slice(1), names });
  for (const [, names, specifier] of text.matchAll(/^(?:import|export) ([^;]*?) from "(\.[^"]+\.ts)";/gm)) {
    const braces = /\{([^}]*)\}/.exec(names);
    const listed = braces?.[1].split(",").map((name) => name.trim().replace(/^type /, "").split(" as ")[0]);
    add(specifier, listed ?? ["*"]);
  }
  // Only where a thread starts or a command is chosen: by then the importing file has been loaded.
  for (const [, specifier] of text.matchAll(/import\("(\.[^"]+\.ts)"\)/g)) add(specifier, ["*"]);
  return found.filter(({ from }) => from !== path);
}

/** Circles of files that import each other, types counted too: one line for each file that leads back to itself. */
function circles(imports: ReadonlyMap<string, readonly Import[]>): string[] {
  const problems: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, way: readonly string[]) => {
    if (way.includes(path)) problems.push(`circle: ${[...way.slice(way.indexOf(path)), path].join(" → ")}`);
    if (way.includes(path) || done.has(path)) return;
    for (const { from } of imports.get(path) ?? []) visit(from, [...way, path]);
    done.add(path);
  };
  for (const path of imports.keys()) visit(path, []);
  return problems;
}

/**
 * Imports of Node's modules by files that programs and threads load when they start: 20 to 40 ms and 4 to 6 MB of each, for
 * what node_builtin.ts loads when it is needed. A module of modules/ is loaded when it is needed.
 */
function nodeImports(sources: readonly Source[]): string[] {
  return sources.filter(({ path }) => [".", "grains", "lib", "runners"].includes(directoryOf(path))).flatMap((
    { path, text },
  ) =>
    [...text.matchAll(/^(?:import|export) (?!type )[^;]*?"(node:[^"]+)";/gm)].map(([, module]) =>
      `node: ${path} imports ${module} before it is needed`
    )
  );
}

function directoryOf(path: string): string {
  return path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : ".";
}

function layers(imports: ReadonlyMap<string, readonly Import[]>): string[] {
  return [...imports].flatMap(([path, its]) =>
    its.filter(({ from }) => {
      const [own, other] = [directoryOf(path), directoryOf(from)];
      if (own === other) return false;
      if (own === "lib" && PLUGINS.includes(other)) return !PLUGIN_TABLES.includes(path);
      return !MAY_IMPORT[own]?.includes(other);
    }).map(({ from }) => `layer: ${path} imports ${from}`)
  );
}

/**
 * Functions, classes and constants that are exported and that no other file names, nor an exported type of their own. A
 * plugin's exports are its functions.
 */
function unusedExports(sources: readonly Source[], imports: ReadonlyMap<string, readonly Import[]>): string[] {
  const used = new Set(
    [...imports.values()].flat().flatMap(({ from, names }) => names.map((name) => `${from} ${name}`)),
  );
  // The text of a test may hold modules of its own.
  const whole = sources.filter(({ path }) => !PLUGINS.includes(directoryOf(path)) && !path.endsWith("_test.ts"));
  return whole.flatMap(({ path, text }) =>
    [...text.matchAll(/^export (?:async )?(?:function\*?|class|abstract class|const) (\w+)/gm)]
      .filter(([, name]) => !used.has(`${path} ${name}`) && !used.has(`${path} *`))
      .filter(([, name]) => !new RegExp(`(?:typeof|extends) ${name}\\b`).test(text))
      .map(([, name]) => `unused: ${path} exports ${name}`)
  );
}

if (import.meta.main) {
  const problems = structureProblems(readTree(new URL("..", import.meta.url)));
  for (const problem of problems) Deno.stdout.writeSync(new TextEncoder().encode(`${problem}\n`));
  Deno.exit(problems.length > 0 ? 1 : 0);
}
