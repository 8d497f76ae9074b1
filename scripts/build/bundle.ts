/**
 * The scripts of an executable, made by rolldown: of each entry and each thread its script, with a source map beside it. Deno reads a few
 * files instead of hundreds, and keeps what V8 has compiled of each under one key.
 *
 * What a usual start loads is one file (`STARTS` of production.ts). Code that is imported with `import()` is in other
 * files, which are read on demand. Two scripts share no file: each runs in its own thread. Only Node's own modules stay
 * outside.
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

/** Sources that nothing loads before it needs them, and that may bring Node's compatibility layer for that. */
const LOADED_LATE: readonly string[] = ["lib/auth/ldap_directory.ts"];

/**
 * What usual starts of a source load with `import()`, by source: each list is one file with all that it imports and that no list before
 * it has. The first one holds what the source itself imports, too. `one file`: all of it, for a thread that may read no file.
 */
export type Starts = Readonly<Record<string, readonly (readonly string[])[] | "one file">>;

/** The functions that usual starts call, by the source of the script: see {@linkcode withEagerFunctions}. */
export type CalledFunctions = Readonly<Record<string, FunctionNames>>;

/**
 * The file name of the script of a source, `lib/bus/thread.ts`: `bus-thread.mjs`. All scripts are in one directory; `.mjs`, as Deno looks
 * for no package.json then. Its other files are named `bus-thread.NAME.mjs`.
 */
export function scriptOf(source: string): string {
  return `${stemOf(source)}.mjs`;
}

/** The part of the file names of a source's script that no other source's begin with. */
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

/**
 * Makes the scripts of `sources` in the directory `out`.
 * @param root The project's directory, with node_modules.
 * @param options `called`: what is compiled together with its file.
 * @returns The names of the files: the scripts and their maps.
 * @throws {BundleError} For a source that rolldown does not take, or one that names a file the executable would not have.
 */
export async function bundle(
  root: string,
  out: string,
  sources: readonly string[],
  { starts = {}, called = {} }: { readonly starts?: Starts; readonly called?: CalledFunctions } = {},
): Promise<string[]> {
  const project = { root, sources, called, imports: importMap(root) };
  const files: string[] = [];
  // In sequence: each takes all processors.
  for (const source of sources) files.push(...await scriptsOf(project, { source, out, starts: starts[source] ?? [] }));
  return files.sort();
}

interface Project {
  readonly root: string;
  readonly sources: readonly string[];
  readonly called: CalledFunctions;
  readonly imports: Readonly<Record<string, string>>;
}

/** Makes the script of one source. @returns The names of its files. */
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
  const entry = `${root}/${source}`;
  const graph = new Map<string, readonly string[]>();
  const groups = lists.map((list, index) => ({
    name: index === 0 ? "start" : stemOf(list[0]).replace(/^.*-/, ""),
    test: (id: string) => fileOf(id) === index,
    // All of it is named, and what a group imports is in it or in one before: no two files import each other.
    includeDependenciesRecursively: false,
  }));
  let files: Map<string, number> | undefined;
  const names = new Map<string, string>();
  /** The group that the module `id` belongs to. Asked when all modules are known. */
  const fileOf = (id: string) =>
    (files ??= startFiles(graph, entry, lists.map((list) => list.map((late) => `${root}/${late}`)))).get(id);
  try {
    await using build = await rolldown({
      cwd: root,
      input: { [stemOf(source)]: entry },
      // For "node" rolldown adds code that imports node:module at each start.
      platform: "neutral",
      resolve: { mainFields: ["module", "main"], conditionNames: ["import", "node", "default"] },
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
      // Names stay as they are: stacks and texts show them.
      minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
      comments: false,
      // One character above 255 makes V8 hold a whole file in two bytes a character.
      charset: "ascii",
      codeSplitting: groups.length > 0 ? { groups } : starts !== "one file",
    });
    const chunks = output.filter((file) => file.type === "chunk");
    refuseNodeModules(root, chunks);
    const maps = new Map(chunks.map(({ fileName, map }) => [fileName, map]));
    return withLateImports(chunks, stemOf(source)).flatMap(({ fileName, code }) => {
      const map = maps.get(fileName);
      // A file that only passes on what others export has none.
      if (!map) {
        Deno.writeTextFileSync(`${out}/${fileName}`, code);
        return [fileName];
      }
      const { version, names, sources, mappings } = sourceMap(map, { root, out });
      const made = withEagerFunctions({ code, sources, mappings }, project.called[source] ?? {});
      Deno.writeTextFileSync(`${out}/${fileName}`, made.code);
      Deno.writeTextFileSync(
        `${out}/${fileName}.map`,
        JSON.stringify({ version, sources, names, mappings: made.mappings }),
      );
      return [fileName, `${fileName}.map`];
    });
  } catch (error) {
    if (error instanceof BundleError || !(error instanceof Error)) throw error;
    throw new BundleError(error.message, { cause: error });
  }
}

/**
 * A name for the file of these modules. Of two with the same stem rolldown would call one `salt2.hmac.mjs`, which begins as no file of `salt.ts` does.
 * @param names The names so far, with the modules of each.
 */
function ownName(names: Map<string, string>, stem: string, modules: string): string {
  for (let number = 1;; number++) {
    const name = `${stem}${number === 1 ? "" : `-${number}`}.mjs`;
    if (names.getOrInsert(name, modules) === modules) return name;
  }
}

/** deno.json's import map. */
function importMap(root: string): Readonly<Record<string, string>> {
  const { imports }: { imports: Record<string, string> } = JSON.parse(Deno.readTextFileSync(`${root}/deno.json`));
  return imports;
}

/** Finds the packages where deno.json's import map has them. */
function packages({ root, imports }: Project): Plugin {
  return {
    name: "import map",
    async resolveId(id, importer) {
      // What a package imports is found as Node finds it.
      if (!/^[^./]/.test(id) || id.startsWith("node:") || importer?.includes("/node_modules/")) return null;
      const key = Object.keys(imports).find((name) => id === name || id.startsWith(`${name}/`));
      if (key === undefined) throw new BundleError(`${id} is not in deno.json's import map`);
      const target = imports[key].replace(/^npm:((?:@[^/]+\/)?[^@/]+)@[^/]+/, "$1") + id.slice(key.length);
      return await this.resolve(target, `${root}/deno.json`, { skipSelf: true });
    },
  };
}

/**
 * What a source says of its own place, in terms of the script's. `new URL("./publisher.ts", import.meta.url)`, a file that is
 * started, becomes that file's script; a directory, the project's, the scripts'; a file of a package stays where it is.
 */
function ownUrls({ root, sources }: Project): Plugin {
  return {
    name: "own URLs",
    transform: {
      filter: { id: /\.ts$/ },
      handler(text, path) {
        const code = text
          .replace(/new URL\("(\.[^"]*)", import\.meta\.url\)/g, (_, to: string) => {
            const target = decodeURIComponent(new URL(to, `file://${path}`).pathname).slice(root.length + 1);
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
        // Lines and columns up to these words are the source's: the map needs no more.
        return { code, map: null };
      },
    },
  };
}

/** Has js-yaml make less: see {@linkcode withYamlTables}. */
function yamlTables(): Plugin {
  return {
    name: "YAML tables",
    transform: { filter: { id: YAML_FILE }, handler: (text) => ({ code: withYamlTables(text), map: null }) },
  };
}

/** Has the tables of digests made now: see {@linkcode withHashTables}. */
function hashTables(): Plugin {
  return {
    name: "hash tables",
    transform: {
      filter: { id: HASH_FILES },
      handler: (text, path) => ({ code: withHashTables(path, text), map: null }),
    },
  };
}

/** Has the tables of options made now: see {@linkcode optionTable}. */
function optionTables(): Plugin {
  return {
    name: "option tables",
    load: {
      filter: { id: OPTION_FILES },
      handler: (path) => ({ code: optionTable(path), map: null, moduleType: "js" }),
    },
  };
}

/** Notes in `graph` what each module imports, without `import()`. */
function importsIn(graph: Map<string, readonly string[]>): Plugin {
  return { name: "graph", moduleParsed: ({ id, importedIds }) => void graph.set(id, importedIds) };
}

/** Which list each module is of that the lists name or import; of several lists the first. The entry itself is of none: `import.meta.main` is true in the script alone. */
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

/** A module of Node's that is imported at the start costs each start 20 to 40 ms, also those that never use it. */
function refuseNodeModules(root: string, chunks: readonly OutputChunk[]): void {
  for (const { fileName, imports, moduleIds } of chunks) {
    if (LOADED_LATE.some((late) => moduleIds.includes(`${root}/${late}`))) continue;
    const early = imports.find((name) => name.startsWith("node:"));
    if (early !== undefined) {
      throw new BundleError(`${fileName} imports ${early} at its start: see lib/os/node_builtin.ts`);
    }
  }
}

/** The source map of a file. Its sources are named from the project's root, as if that were the scripts' directory. */
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
