/**
 * Makes the scripts of an executable with rolldown: one script for each entry and each thread, with a source map beside
 * it. Deno then reads a few files instead of hundreds, and caches V8's compiled code of each file under one key.
 *
 * All code that a usual start loads is in one file (`STARTS` of production.ts). Code that is imported with `import()`
 * is in other files, which are read on demand. Two scripts share no file: each runs in its own thread. Only Node's own
 * modules are not bundled.
 * @module
 */

import { type OutputChunk, type Plugin, rolldown, type SourceMap } from "rolldown";
import { type FunctionNames, withEagerFunctions } from "./eager_functions.ts";
import { HASH_FILES, withHashTables } from "./hash_tables.ts";
import { withLateImports } from "./late_imports.ts";
import { OPTION_FILES, optionTable } from "./option_tables.ts";
import { withYamlTables, YAML_FILE } from "./yaml_tables.ts";

/** A source that cannot be bundled; the message is for the developer. */
export class BundleError extends Error {
  override name = "BundleError";
}

/** Sources that are loaded only when they are needed. They may load Node's compatibility layer. */
const LOADED_LATE: readonly string[] = ["lib/auth/ldap_directory.ts"];

/**
 * The modules that usual starts of a source load with `import()`, by source. Each list becomes one file: these modules
 * and their imports, without those in an earlier list. The first file also holds the imports of the source itself. `one
 * file`: everything in one file, for a thread that may read no other file.
 */
export type Starts = Readonly<Record<string, readonly (readonly string[])[] | "one file">>;

/** The functions that usual starts call, by the source of the script: see {@linkcode withEagerFunctions}. */
export type CalledFunctions = Readonly<Record<string, FunctionNames>>;

/**
 * The file name of the script of a source, `lib/bus/thread.ts`: `bus-thread.mjs`. All scripts are in one directory;
 * `.mjs`, as Deno looks for no package.json then. Its other files are named `bus-thread.NAME.mjs`.
 */
export function scriptOf(source: string): string {
  return `${stemOf(source)}.mjs`;
}

/** The prefix of the file names of a source's script. It is unique for each source. */
export function stemOf(source: string): string {
  return source.replace(/^(lib|scripts|node_modules\/\.deno\/[^/]+\/node_modules)\//, "").replaceAll("/", "-").replace(
    /\.ts$/,
    "",
  );
}

/** Whether `file` is part of the script of `source`. */
export function isOf(source: string, file: string): boolean {
  return file.startsWith(`${stemOf(source)}.`);
}

/** The part of its file's name that tells a list of {@linkcode Starts} from the others of its source. */
export function startName(list: readonly string[], index: number): string {
  return index === 0 ? "start" : stemOf(list[0]).replace(/^.*-/, "");
}

/** Options of {@linkcode bundle}. */
export interface BundleOptions {
  readonly starts?: Starts;
  /** What is compiled together with its file. */
  readonly called?: CalledFunctions;
  /** Further sources, which may load Node's compatibility layer when they are loaded, and are in one file each. */
  readonly libraries?: readonly string[];
}

/**
 * Makes the scripts of `sources` in the directory `out`.
 * @param root The project's directory, with node_modules.
 * @returns The names of the files: the scripts and their maps.
 * @throws {BundleError} If rolldown cannot bundle a source, or if a source names a file that the executable does not
 * have.
 */
export async function bundle(
  root: string,
  out: string,
  sources: readonly string[],
  { starts = {}, called = {}, libraries = [] }: BundleOptions = {},
): Promise<string[]> {
  const project = { root, sources: [...sources, ...libraries], libraries, called, imports: importMap(root) };
  const files: string[] = [];
  // One after the other: each run uses all processors.
  for (const source of project.sources) {
    files.push(...await scriptsOf(project, { source, out, starts: starts[source] ?? [] }));
  }
  return files.sort();
}

interface Project {
  readonly root: string;
  readonly sources: readonly string[];
  readonly libraries: readonly string[];
  readonly called: CalledFunctions;
  readonly imports: Readonly<Record<string, string>>;
}

/**
 * Makes the script of one source.
 * @returns The names of its files.
 */
async function scriptsOf(
  project: Project,
  { source, out, starts }: {
    readonly source: string;
    readonly out: string;
    readonly starts: Starts[string];
  },
): Promise<string[]> {
  const { root } = project;
  const lists = starts === "one file" ? [] : starts;
  const isLibrary = project.libraries.includes(source);
  const entry = `${root}/${source}`;
  const graph = new Map<string, readonly string[]>();
  const groups = lists.map((list, index) => ({
    name: startName(list, index),
    test: (id: string) => fileOf(id) === index,
    // Every module is in a group, and the imports of a group are in the same group or in an earlier one: no two files
    // import each other.
    includeDependenciesRecursively: false,
  }));
  let files: Map<string, number> | undefined;
  const names = new Map<string, string>();
  /** The group of the module `id`. rolldown calls it when it knows all modules. */
  const fileOf = (id: string) =>
    (files ??= startFiles(graph, entry, lists.map((list) => list.map((late) => `${root}/${late}`)))).get(id);
  try {
    await using build = await rolldown({
      cwd: root,
      input: { [stemOf(source)]: entry },
      // For "node" rolldown adds code that imports node:module at each start.
      platform: isLibrary ? "node" : "neutral",
      // A library keeps the choice between its modules and its CommonJS files, which differ by who loads them.
      ...!isLibrary && { resolve: { mainFields: ["module", "main"], conditionNames: ["import", "node", "default"] } },
      external: [/^node:/],
      plugins: [packages(project), ownUrls(project), yamlTables(), hashTables(), optionTables(), importsIn(graph)],
      onLog: () => {},
      preserveEntrySignatures: "allow-extension",
    });
    const { output } = await build.generate({
      dir: out,
      format: "esm",
      entryFileNames: "[name].mjs",
      chunkFileNames: ({ name, facadeModuleId: of, moduleIds }) => {
        const stem = `${stemOf(source)}.${of?.startsWith(`${root}/`) ? stemOf(of.slice(root.length + 1)) : name}`;
        return ownName(names, stem, moduleIds.join());
      },
      sourcemap: true,
      // Names are not shortened: stack traces and messages show them.
      minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
      comments: false,
      // If a file has one character above 255, V8 stores the whole file with two bytes for each character.
      charset: "ascii",
      codeSplitting: groups.length > 0 ? { groups } : starts !== "one file" && !isLibrary,
    });
    const chunks = output.filter((file) => file.type === "chunk");
    if (!isLibrary) refuseNodeModules(root, chunks);
    return writeChunks(chunks, project, { source, out });
  } catch (error) {
    if (error instanceof BundleError || !(error instanceof Error)) throw error;
    throw new BundleError(error.message, { cause: error });
  }
}

/**
 * Writes the files of a script, with their source maps.
 * @returns Their names.
 */
function writeChunks(
  chunks: readonly OutputChunk[],
  { root, called }: Project,
  { source, out }: { readonly source: string; readonly out: string },
): string[] {
  const maps = new Map(chunks.map(({ fileName, map }) => [fileName, map]));
  return withLateImports(chunks, stemOf(source)).flatMap(({ fileName, code }) => {
    const map = maps.get(fileName);
    // A file that only re-exports has no source map.
    if (!map) {
      Deno.writeTextFileSync(`${out}/${fileName}`, code);
      return [fileName];
    }
    const { version, names, sources, mappings } = sourceMap(map, { root, out });
    const made = withEagerFunctions({ code, sources, mappings }, called[source] ?? {});
    Deno.writeTextFileSync(`${out}/${fileName}`, made.code);
    const text = JSON.stringify({ version, sources, names, mappings: made.mappings });
    Deno.writeTextFileSync(`${out}/${fileName}.map`, text);
    return [fileName, `${fileName}.map`];
  });
}

/**
 * A name for the file of these modules. If two files had the same stem, rolldown would name one `salt2.hmac.mjs`, which
 * has not the prefix of the files of `salt.ts`.
 * @param names The names used so far, with the modules of each.
 */
function ownName(names: Map<string, string>, stem: string, modules: string): string {
  for (let number = 1;; number++) {
    const name = `${stem}${number === 1 ? "" : `-${number}`}.mjs`;
    if (names.getOrInsert(name, modules) === modules) return name;
  }
}

function importMap(root: string): Readonly<Record<string, string>> {
  const { imports }: { imports: Record<string, string> } = JSON.parse(Deno.readTextFileSync(`${root}/deno.json`));
  return imports;
}

/** Resolves packages, and folders of the tree (`#lib/`), by the import map of deno.json. */
function packages({ root, imports }: Project): Plugin {
  return {
    name: "import map",
    async resolveId(id, importer) {
      // Imports inside packages are resolved as Node resolves them.
      if (!/^[^./]/.test(id) || id.startsWith("node:") || importer?.includes("/node_modules/")) return null;
      const key = Object.keys(imports).find((name) => id === name || id.startsWith(name.replace(/\/?$/, "/")));
      if (key === undefined) throw new BundleError(`${id} is not in deno.json's import map`);
      if (imports[key].startsWith("./")) return `${root}/${imports[key].slice("./".length)}${id.slice(key.length)}`;
      const target = imports[key].replace(/^npm:((?:@[^/]+\/)?[^@/]+)@[^/]+/, "$1") + id.slice(key.length);
      return await this.resolve(target, `${root}/deno.json`, { skipSelf: true });
    },
  };
}

/**
 * Rewrites the uses of `import.meta` in a source for the script. The import of a file by its URL, which Deno does not
 * follow before it runs, is one that is followed here. `new URL("./publisher.ts", import.meta.url)`, a file
 * that is started, becomes the script of that file; the project's directory becomes the directory of the scripts; the
 * path of a package's file is kept.
 */
function ownUrls({ root, sources }: Project): Plugin {
  return {
    name: "own URLs",
    transform: {
      filter: { id: /\.ts$/ },
      handler(text, path) {
        const targetOf = (to: string) =>
          decodeURIComponent(new URL(to, `file://${path}`).pathname).slice(root.length + 1);
        const code = text
          .replace(
            /import\(new URL\("(\.[^"]*)", import\.meta\.url\)\.href\)/g,
            (whole, to: string) => sources.includes(targetOf(to)) ? whole : `import("${to}")`,
          )
          .replace(/new URL\("(\.[^"]*)", import\.meta\.url\)/g, (_, to: string) => {
            const target = targetOf(to);
            if (target !== "" && !sources.includes(target)) {
              throw new BundleError(`${path} names ${target}, which has no script of its own`);
            }
            return `new URL("./${target && scriptOf(target)}", import.meta.url)`;
          })
          .replace(/import\.meta\.resolve\("(\w[^"]*)"\)/g, 'new URL("./node_modules/$1", import.meta.url).href');
        const left = code.replace(/new URL\("\.\/[^"]*", import\.meta\.url\)|import\.meta\.main/g, "");
        if (left.includes("import.meta.")) {
          throw new BundleError(`${path} uses import.meta in a way that scripts have not`);
        }
        // Lines and columns before this text are those of the source: the map needs no more.
        return { code, map: null };
      },
    },
  };
}

/** Makes js-yaml do less when it is loaded: see {@linkcode withYamlTables}. */
function yamlTables(): Plugin {
  return {
    name: "YAML tables",
    transform: { filter: { id: YAML_FILE }, handler: (text) => ({ code: withYamlTables(text), map: null }) },
  };
}

/** Computes the tables of digests at build time: see {@linkcode withHashTables}. */
function hashTables(): Plugin {
  return {
    name: "hash tables",
    transform: {
      filter: { id: HASH_FILES },
      handler: (text, path) => ({ code: withHashTables(path, text), map: null }),
    },
  };
}

/** Computes the tables of options at build time: see {@linkcode optionTable}. */
function optionTables(): Plugin {
  return {
    name: "option tables",
    load: {
      filter: { id: OPTION_FILES },
      handler: (path) => ({ code: optionTable(path), map: null, moduleType: "js" }),
    },
  };
}

/** Writes the static imports of each module to `graph`. */
function importsIn(graph: Map<string, readonly string[]>): Plugin {
  return { name: "graph", moduleParsed: ({ id, importedIds }) => void graph.set(id, importedIds) };
}

/**
 * For each module that the lists name or import, the first list that has it. The entry itself is in none:
 * `import.meta.main` is true only in the script.
 */
function startFiles(
  graph: ReadonlyMap<string, readonly string[]>,
  entry: string,
  lists: readonly (readonly string[])[],
): Map<string, number> {
  const files = new Map<string, number>();
  const visit = (id: string, index: number) => {
    if (files.has(id)) return;
    files.set(id, index);
    for (const imported of graph.get(id) ?? []) visit(imported, index);
  };
  lists.forEach((list, index) => {
    for (const late of list) {
      if (!graph.has(late)) throw new BundleError(`STARTS names ${late}, which ${entry} does not import`);
    }
    for (const id of index === 0 ? [...graph.get(entry) ?? [], ...list] : list) visit(id, index);
  });
  return files;
}

/** A Node module that is imported at the start costs every start 20 to 40 ms, also the starts that never use it. */
function refuseNodeModules(root: string, chunks: readonly OutputChunk[]): void {
  for (const { fileName, imports, moduleIds } of chunks) {
    if (LOADED_LATE.some((late) => moduleIds.includes(`${root}/${late}`))) continue;
    const early = imports.find((name) => name.startsWith("node:"));
    if (early !== undefined) {
      throw new BundleError(`${fileName} imports ${early} at its start: see lib/os/node_builtin.ts`);
    }
  }
}

/**
 * The source map of a file. The paths of its sources are relative to the project's root, as if the scripts were there.
 */
function sourceMap(
  { version, names, mappings, sources }: SourceMap,
  { root, out }: { readonly root: string; readonly out: string },
): Pick<SourceMap, "version" | "names" | "mappings" | "sources"> {
  const named = sources.map((source) => {
    const path = decodeURIComponent(new URL(source, `file://${out}/`).pathname);
    return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : source;
  });
  return { version, sources: named, names, mappings };
}
