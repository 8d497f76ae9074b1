/**
 * Checks the structure of the tree beyond the compiler: files in no room, rooms with too many files, files with too
 * many lines, imports that point up, form a cycle or have a long path, exports that nothing or only tests use, names
 * that several files export, and imports that load Node's compatibility layer.
 *
 *     deno run -A scripts/structure.ts
 *
 * Import and export statements are read as text, because the formatter guarantees their form.
 * @module
 */

import { FLOORS, WINGS } from "./floors.ts";
import { importPath, TREE_PREFIX } from "./import_path.ts";
import { sourceFiles } from "./source_files.ts";

/** The place of a room: its box, the floor of that box, and the floor of the room in it if the box is a wing. */
interface Floor {
  readonly box: string;
  readonly floor: number;
  readonly inside: number;
}

const FLOOR_OF: ReadonlyMap<string, Floor> = new Map(
  FLOORS.flatMap((boxes, floor) =>
    boxes.flatMap((box): [string, Floor][] =>
      Object.hasOwn(WINGS, box)
        ? WINGS[box].flatMap((rooms, inside) =>
          rooms.map((room): [string, Floor] => [`${box}/${room}`, { box, floor, inside }])
        )
        : [[box, { box, floor, inside: 0 }]]
    )
  ),
);

/** The tests of rooms, above everything that has a floor. */
const TESTS: Floor = { box: "tests", floor: FLOORS.length, inside: 0 };

/**
 * The files of `lib` that may import from `modules`, with the reason: each puts together a program or a thread, and
 * hands the tables of plugins to the code that uses them.
 */
const COMPOSITION: Readonly<Record<string, string>> = {
  "lib/api/calls/function_catalogue.ts": "the execution modules, whose arguments the API documents",
  "lib/master/functions/catalogues.ts":
    "runners and wheel modules, for salt-run, the process of a function, and the reactor",
  "lib/master/event_return/event_return_thread.ts": "the returners that the master calls",
  "lib/master/daemon/master.ts": "the backends that the master's main thread updates",
  "lib/master/daemon/mworker_thread.ts": "the file server and the systems of external_auth of an MWorker",
  "lib/master/daemon/reactor_thread.ts": "the same, for the services that the reactor publishes with",
  "lib/minion/beacons/beacon_worker.ts": "the beacons that a thread of them runs",
  "lib/minion/catalogue/catalogue.ts":
    "what jobs use: functions, states, renderers, returners, backends; the core grains",
  "lib/minion/catalogue/pillar_host.ts": "the sources of pillar and of master_tops, wherever pillar is compiled",
};

/** Known imports that point up, as `FILE imports FILE`. Remove an entry when the import is fixed. */
const UPWARD: readonly string[] = [];

/**
 * Known exports that only tests use, as `FILE exports NAME`. Remove an entry when the product uses the export or the
 * export is removed.
 */
const FOR_TESTS: readonly string[] = [];

/** Known names that several files export. The list only gets shorter: remove a name when only one file exports it. */
const SHARED_NAMES: readonly string[] = [
  "ENCODING",
  "FILE_COMMANDS",
  "RETCODE",
  "RUN",
  "SALTENV",
  "WHO",
];

/** One source file. */
export interface Source {
  /** Its path from the root of the tree: `lib/protocol/jid.ts`. */
  readonly path: string;
  readonly text: string;
}

/** The imports of one file from another file of the tree. */
export interface Import {
  /** The path of the imported file. */
  readonly from: string;
  /** The imported names; `*` for all of them. */
  readonly names: readonly string[];
}

/** Known problems of a tree, in the form in which they are reported. */
export interface Known {
  /** `FILE imports FILE` */
  readonly upwardImports?: readonly string[];
  /** The files of `lib` that may import from `modules`. */
  readonly composition?: readonly string[];
  /** `FILE exports NAME` */
  readonly forTests?: readonly string[];
  /** The names alone. */
  readonly sharedNames?: readonly string[];
}

/**
 * The problems of the structure of `sources`, one line for each, without known ones. A known problem that no longer
 * exists is reported too.
 */
export function structureProblems(sources: readonly Source[], known: Known = {}): string[] {
  const imports = new Map(sources.map(({ path, text }) => [path, importsOf(path, text)]));
  return [
    ...filesWithoutRoom(sources),
    ...roomsOverLimit(sources),
    ...filesOverLimit(sources),
    ...importCycles(imports),
    ...longPaths(sources),
    ...less("up", upwardImports(imports), known.upwardImports),
    ...pluginImports(imports, known.composition),
    ...unusedExports(sources, imports),
    ...less("only tests use it", exportsForTests(sources, imports), known.forTests),
    ...newSharedNames(sources, known.sharedNames),
    ...nodeImports(sources),
  ];
}

/**
 * Maximum number of files in a room; a room with more is split by subject. Families of `modules` have as many files as
 * Salt has modules.
 */
const MAX_FILES = 30;

/** Rooms with too many files. */
function roomsOverLimit(sources: readonly Source[]): string[] {
  const files = new Map<string, number>();
  for (const { path } of sources) {
    const room = roomOf(path);
    if (!/^(tests\/)?modules\//.test(path) && room !== path) files.set(room, (files.get(room) ?? 0) + 1);
  }
  return [...files].filter(([, count]) => count > MAX_FILES).map(([room, count]) => {
    return `room: ${room} has ${count} files; split it by subject`;
  });
}

/** Maximum number of lines of a file; a longer one has more than one idea, or a list that has parts. */
const MAX_LINES = 500;

/** Files with too many lines. */
function filesOverLimit(sources: readonly Source[]): string[] {
  return sources.map(({ path, text }) => ({ path, lines: text.split("\n").length - 1 }))
    .filter(({ lines }) => lines > MAX_LINES)
    .map(({ path, lines }) => `length: ${path} has ${lines} lines; split it by subject`);
}

/** Rooms without a file: the room was moved or renamed, and its entry in the floors has no effect. */
export function emptyRooms(sources: readonly Source[]): string[] {
  const rooms = new Set(sources.map(({ path }) => roomOf(path)));
  return [...FLOOR_OF.keys()].filter((room) => !rooms.has(room)).map((room) => `room: ${room} is empty`);
}

/** The problems in `problems` that are not known, and the known problems that were not found. */
function less(kind: string, problems: readonly string[], known: readonly string[] = []): string[] {
  return [
    ...problems.filter((line) => !known.includes(line)).map((line) => `${kind}: ${line}`),
    ...known.filter((line) => !problems.includes(line)).map((line) => `known, and no longer so: ${line}`),
  ];
}

/** What `text`, the source file `path`, imports from the tree. */
export function importsOf(path: string, text: string): Import[] {
  const imports: Import[] = [];
  const add = (specifier: string, names: readonly string[]) =>
    imports.push({ from: importPath(path, specifier), names });
  for (const [, names, specifier] of text.matchAll(/^(?:import|export) ([^;]*?) from "([.#][^"]+\.ts)";/gm)) {
    const braces = /\{([^}]*)\}/.exec(names);
    const listed = braces?.[1].split(",").map((name) => name.trim().replace(/^type /, "").split(" as ")[0]).filter((
      name,
    ) => name !== "");
    add(specifier, listed ?? ["*"]);
  }
  for (const [, specifier] of text.matchAll(/^import "([.#][^"]+\.ts)";/gm)) add(specifier, []);
  // A thread is started, or a command is chosen, only after the importing file has been loaded.
  for (const [, specifier] of text.matchAll(/import\("([.#][^"]+\.ts)"\)/g)) add(specifier, ["*"]);
  for (const [, specifier] of text.matchAll(/new URL\("(\.[^"]+\.ts)", import\.meta\.url\)/g)) {
    // An entry is started as its own process, so the importing file does not load it.
    if (directoryOf(importPath(path, specifier)) !== ".") add(specifier, []);
  }
  return imports.filter(({ from }) => from !== path);
}

/** Import cycles, with imports of types: one line for each file that imports itself through other files. */
function importCycles(imports: ReadonlyMap<string, readonly Import[]>): string[] {
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
 * Imports of Node's modules by files that programs and threads load when they start: each costs 20 to 40 ms and 4 to 6
 * MB. lib/os/node_builtin.ts loads these modules when they are needed. Execution modules are checked too, because
 * `sys.doc` loads all of them.
 */
function nodeImports(sources: readonly Source[]): string[] {
  const atStart = (path: string) => /^(lib|modules)\/|^[^/]+$/.test(path);
  return sources.filter(({ path }) => atStart(path)).flatMap(({ path, text }) =>
    [...text.matchAll(/^(?:import|export) (?!type )[^;]*?"(node:[^"]+)";/gm)].map(([, module]) =>
      `node: ${path} imports ${module} before it is needed`
    )
  );
}

function directoryOf(path: string): string {
  return path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : ".";
}

/**
 * The room of a file; it may be missing in the list. A module of several files is a folder in the room of its family:
 * `modules/states/file/mod.ts`.
 */
function roomOf(path: string): string {
  if (FLOOR_OF.has(path)) return path;
  return directoryOf(path).replace(/^(modules\/\w+)\/\w+$/, "$1");
}

/**
 * The floor of a file's room; `undefined` if the room is in none. The tests of a room are in the folder of the same
 * name below `tests/`, and their floor is above all others.
 */
function floorOf(path: string): Floor | undefined {
  const room = roomOf(path);
  const tested = room.replace(/^tests\/(?!modules\/)/, "tests/lib/").replace(/^tests\//, "");
  return FLOOR_OF.get(room) ?? (room.startsWith("tests/") && FLOOR_OF.has(tested) ? TESTS : undefined);
}

/** Whether a file on floor `own` may import one on `other`. */
function isBelow(other: Floor, own: Floor): boolean {
  return other.box === own.box ? other.inside < own.inside : other.floor < own.floor;
}

/** Imports from another folder of the tree that do not begin with the prefix of the tree. */
function longPaths(sources: readonly Source[]): string[] {
  return sources.flatMap(({ path, text }) => {
    const specifiers = [...text.matchAll(/^(?:import|export) [^;]*?from "(\.[^"]+\.ts)";/gm)].map(([, name]) => name);
    return specifiers.flatMap((specifier) => {
      const target = importPath(path, specifier);
      const isLong = directoryOf(target) !== directoryOf(path) && /^(lib|modules|scripts|tests)\//.test(target);
      return isLong && directoryOf(path) !== "."
        ? [`path: ${path} imports ${specifier}: write ${TREE_PREFIX}${target}`]
        : [];
    });
  });
}

/**
 * Imports of `modules` by files of `lib` that put nothing together, and files that may import them and no longer do.
 * `lib` gets its plugins in tables, so that nothing below a program depends on which plugins there are.
 */
function pluginImports(imports: ReadonlyMap<string, readonly Import[]>, composition: readonly string[] = []): string[] {
  const ofModules = [...imports].filter(([path]) => path.startsWith("lib/"))
    .map(([path, own]) => ({ path, modules: own.filter(({ from }) => from.startsWith("modules/")) }))
    .filter(({ modules }) => modules.length > 0);
  const importers = ofModules.map(({ path }) => path);
  return [
    ...ofModules.filter(({ path }) => !composition.includes(path)).flatMap(({ path, modules }) =>
      modules.map(({ from }) => `plugins: ${path} imports ${from}: take it from a file of COMPOSITION`)
    ),
    ...composition.filter((path) => !importers.includes(path))
      .map((path) => `known, and no longer so: ${path} imports from modules`),
  ];
}

function filesWithoutRoom(sources: readonly Source[]): string[] {
  return sources.filter(({ path }) => floorOf(path) === undefined).map(({ path }) => `room: ${path} is in no room`);
}

/** Imports from rooms that are not on a lower floor. Files in no room are reported elsewhere. */
function upwardImports(imports: ReadonlyMap<string, readonly Import[]>): string[] {
  return [...imports].flatMap(([path, ownImports]) => {
    const own = floorOf(path);
    const other = ownImports.filter(({ from }) => roomOf(from) !== roomOf(path));
    return [...new Set(other.map(({ from }) => from))].filter((from) => {
      const floor = floorOf(from);
      return own !== undefined && floor !== undefined && !isBelow(floor, own);
    }).map((from) => `${path} imports ${from}`);
  });
}

/** The functions, classes and constants that a file exports: some other file should use them. */
function exportsOf({ path, text }: Source): string[] {
  // The exports of a plugin are its functions; a text in a test may contain the source of a module; a simulation loads
  // its replacements by an import map.
  if (path.startsWith("tests/simulation/replacements/")) return [];
  if (/^modules\/(?!grains\/)\w+\/(?:(?!_)[^/]*|\w+\/mod\.ts)$|_test\.ts$/.test(path)) return [];
  return [...text.matchAll(/^export (?:async )?(?:function\*?|class|abstract class|const) (\w+)/gm)].map(([, name]) =>
    name
  );
}

/** The files that import a name, by `FILE NAME`. */
function usersOf(imports: ReadonlyMap<string, readonly Import[]>): Map<string, string[]> {
  const users = new Map<string, string[]>();
  for (const [path, ownImports] of imports) {
    for (const { from, names } of ownImports) {
      for (const name of names) users.set(`${from} ${name}`, [...users.get(`${from} ${name}`) ?? [], path]);
    }
  }
  return users;
}

/** Exports that neither another file nor an exported type of the same file names. */
function unusedExports(sources: readonly Source[], imports: ReadonlyMap<string, readonly Import[]>): string[] {
  const users = usersOf(imports);
  return sources.flatMap((source) =>
    exportsOf(source)
      .filter((name) => !users.has(`${source.path} ${name}`) && !users.has(`${source.path} *`))
      .filter((name) => !new RegExp(`(?:typeof|extends) ${name}\\b`).test(source.text))
      .map((name) => `unused: ${source.path} exports ${name}`)
  );
}

/** Exports of the product that neither its other files nor the rest of their own file name. */
function exportsForTests(sources: readonly Source[], imports: ReadonlyMap<string, readonly Import[]>): string[] {
  const users = usersOf(imports);
  const product = sources.filter(({ path }) => !/^(tests|scripts)\//.test(path));
  return product.flatMap((source) =>
    exportsOf(source).filter((name) => {
      const by = [...users.get(`${source.path} ${name}`) ?? [], ...users.get(`${source.path} *`) ?? []];
      const code = source.text.replaceAll(/\/\*\*[^]*?\*\/|^\s*\/\/.*$/gm, "");
      const named = [...code.matchAll(new RegExp(`\\b${name}\\b`, "g"))].length;
      return by.length > 0 && by.every((path) => path.startsWith("tests/")) && named === 1;
    }).map((name) => `${source.path} exports ${name}`)
  );
}

/**
 * The names that several files of the product export, with these files: a reader who meets such a name must look at the
 * imports. The functions of plugins have Salt's names, and do not count.
 */
function sharedNames(sources: readonly Source[]): Map<string, string[]> {
  const files = new Map<string, string[]>();
  for (const { path, text } of sources) {
    // A module's file, of which every export is a function of the plugin.
    if (/^(?:tests|scripts)\/|^modules\/(?!grains\/)[^/]+\/(?!_)[^/]+$/.test(path)) continue;
    const names = [...text.matchAll(
      /^export (?:async )?(?:function\*?|(?:abstract )?class|interface|type|const) (\w+)/gm,
    )].filter(([all, name]) => !(path.startsWith("modules/") && all.startsWith("export const") && /^[a-z]/.test(name)))
      .map(([, name]) => name);
    for (const name of new Set(names)) files.set(name, [...files.get(name) ?? [], path]);
  }
  return new Map([...files].filter(([, paths]) => paths.length > 1).sort(([a], [b]) => a < b ? -1 : 1));
}

function newSharedNames(sources: readonly Source[], known: readonly string[] = []): string[] {
  const shared = sharedNames(sources);
  return [
    ...[...shared].filter(([name]) => !known.includes(name))
      .map(([name, paths]) => `name: ${name} is exported by ${paths.join(" and ")}; one of them needs a longer name`),
    ...known.filter((name) => !shared.has(name)).map((name) => `known, and no longer so: ${name} is exported twice`),
  ];
}

/** Every source file below `root`. */
function readTree(root: string): Source[] {
  // The samples for authors of modules are in no room: they import no file of the project, and docs/modules.md uses
  // them.
  return sourceFiles(root, ".ts").filter((path) => !path.startsWith("docs/samples/")).map((path) => ({
    path,
    text: Deno.readTextFileSync(`${root}/${path}`),
  }));
}

if (import.meta.main) {
  const sources = readTree(decodeURIComponent(new URL("..", import.meta.url).pathname).replace(/\/$/, ""));
  const problems = [
    ...emptyRooms(sources),
    ...structureProblems(sources, {
      upwardImports: UPWARD,
      composition: Object.keys(COMPOSITION),
      forTests: FOR_TESTS,
      sharedNames: SHARED_NAMES,
    }),
  ];
  for (const problem of problems) Deno.stdout.writeSync(new TextEncoder().encode(`${problem}\n`));
  Deno.exit(problems.length > 0 ? 1 : 0);
}
