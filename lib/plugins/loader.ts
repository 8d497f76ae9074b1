/**
 * Loads the families of plugins: execution modules, runners and grains. A built-in module is imported when one of its
 * functions is first needed. User modules come from a directory and replace built-in modules of the same name. Knows no
 * module.
 *
 * A user's file needs no import of ours: it exports plain functions, or objects with `run` and optional `doc`,
 * `params`, `varArgs`, `varKwargs` and `permissions`, which are checked here.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { isParameterType, type ModuleFunction, type Parameter } from "./module.ts";
import { parsePermissions } from "./permissions.ts";
import { functionsRefusal, parseTexts, parseVirtual, refusal, type Virtual, type VirtualHost } from "./virtual.ts";
import { compareStrings, toValue, type Value } from "#lib/values/value.ts";

/** One function of a family. */
export interface FamilyEntry<C> {
  /** The full name, `test.ping`. */
  readonly name: string;
  readonly fun: ModuleFunction<C>;
}

/** The functions of one family of plugins for a context `C`; a module is loaded when it is first needed. */
export interface Functions<C> {
  /** The function called `name` (`test.ping`), if it exists. */
  get(name: string): Promise<ModuleFunction<C> | undefined>;
  /** All functions, sorted by name; loads every module. */
  all(): Promise<readonly FamilyEntry<C>[]>;
  /** Whether there is a module of this name that serves this host. */
  serves(module: string): Promise<boolean>;
  /** The modules that failed to load so far, with the reason. */
  problems(): ReadonlyMap<string, string>;
  /** The modules that did not load on this host so far, with the reason. */
  refusals(): ReadonlyMap<string, string>;
  /** The documentation of modules, where they have one besides that of their functions. */
  moduleDocs?(): Promise<ReadonlyMap<string, string | null>>;
}

/** One family of plugins: its functions, and its files. */
export interface Family<C> extends Functions<C> {
  /** The file that provides each module that serves, without `.ts`, by the module's name; loads every module. */
  providers(): Promise<ReadonlyMap<string, string>>;
}

/**
 * Built-in modules by name. Written as literal `() => import("./test.ts")`, so that `deno compile` finds them.
 */
export type ModuleTable = Readonly<Record<string, () => Promise<object>>>;

/** The built-in modules of a family, and Salt's that are not built. */
export interface BuiltInModules {
  readonly table: ModuleTable;
  /** The names of Salt's modules that are not built. */
  readonly notBuilt: ReadonlySet<string>;
}

/** The files of a family with a virtual name, by that name, in the order in which they are tried. */
export type VirtualNames = Readonly<Record<string, readonly string[]>>;

/** Further names of a family's built-in modules: the module of each. */
export type Aliases = Readonly<Record<string, string>>;

/** Options of {@linkcode loadFamily}. */
export interface FamilyOptions {
  /** Directories of `<module>.ts` and `<module>.js` files. A missing directory is empty; later ones have precedence. */
  readonly directories?: readonly string[];
  /** Modules to leave out. */
  readonly disabled?: readonly string[];
  /** If not empty, only these modules are loaded. */
  readonly only?: readonly string[];
  /** If set, only these user modules are loaded. */
  readonly userOnly?: readonly string[];
  /** The names of user modules whose files are called otherwise, by the file's name. */
  readonly renamed?: Readonly<Record<string, string>>;
  /** Further names of built-in modules. A user's module of such a name has precedence. */
  readonly aliases?: Aliases;
  /** The virtual names of built-in modules. */
  readonly virtualNames?: VirtualNames;
  /**
   * The facts for checking built-in modules' `virtual`. Without it all are loaded, and only the first of several is
   * used.
   */
  readonly host?: VirtualHost;
  /** Whether there is an execution function, which state modules may need. Without it none is needed. */
  readonly hasFunction?: (name: string) => Promise<boolean>;
  /** The option `providers`: the module to use, by virtual name, even if it would not load on this host. */
  readonly chosen?: ReadonlyMap<string, string>;
  /** Whether a plain function is a function of the family. Default: yes. */
  readonly plainFunctions?: boolean;
  /** Called once for each broken module, with the file and the reason. */
  readonly warn?: (message: string) => void;
}

/** A loaded module. */
interface Loaded<C> {
  readonly virtual: Virtual;
  /** Creates each function, once. */
  readonly functions: ReadonlyMap<string, () => ModuleFunction<C>>;
}

/** A loaded module: its file, and its exports. */
interface Served<C> extends Loaded<C> {
  readonly file: string;
}

/** Loads the modules in `table` and in the user's directories. */
export function loadFamily<C>(table: ModuleTable, options: FamilyOptions = {}): Family<C> {
  const family = new LoadingFamily<C>(findSources(table, options), options);
  // A plain object: a catalogue takes over its functions one by one.
  return {
    get: (name) => family.get(name),
    all: () => family.all(),
    serves: (module) => family.serves(module),
    problems: () => family.problems(),
    refusals: () => family.refusals(),
    providers: () => family.providers(),
  };
}

/** Where the modules of a family come from. */
interface Sources {
  /** The paths of user modules, by name. */
  readonly paths: ReadonlyMap<string, string>;
  /** What imports each file, by the file's name. */
  readonly imports: ReadonlyMap<string, () => Promise<object>>;
  /** The files of each virtual name, in the order in which they are tried. */
  readonly virtual: ReadonlyMap<string, readonly string[]>;
  /** The virtual name of each of these files. */
  readonly virtualOf: ReadonlyMap<string, string>;
}

/** The paths of the user's modules in the directories of `options`, by name. */
function userPaths(options: FamilyOptions): Map<string, string> {
  const paths = new Map<string, string>();
  const files = new Map((options.directories ?? []).flatMap((directory) => [...userFiles(directory)]));
  for (const [file, path] of files) {
    const name = options.renamed !== undefined && Object.hasOwn(options.renamed, file) ? options.renamed[file] : file;
    // Of several files with one name, the one that is called so is the module, else the first.
    if (name !== file && paths.has(name)) continue;
    if (options.userOnly?.includes(name) ?? true) paths.set(name, path);
  }
  return paths;
}

function findSources(table: ModuleTable, options: FamilyOptions): Sources {
  const paths = userPaths(options);
  const imports = new Map<string, () => Promise<object>>(Object.entries(table));
  // As in Salt, the further names stay with the built-in module if a user's replaces it.
  for (const [alias, module] of Object.entries(options.aliases ?? {})) {
    if (Object.hasOwn(table, module) && !options.disabled?.includes(module)) imports.set(alias, table[module]);
  }
  for (const [name, path] of paths) imports.set(name, () => importFile(path));
  // A module that a user's file, or a built-in one of that name, provides has no other providers, except those that
  // only add to it.
  const virtual = new Map(
    Object.entries(options.virtualNames ?? {}).filter(([name, files]) => files.includes(name) || !imports.has(name)),
  );
  const virtualOf = new Map([...virtual].flatMap(([name, files]) => files.map((file) => [file, name] as const)));
  for (const name of options.disabled ?? []) {
    if (!imports.delete(name) || virtual.get(name)?.includes(name)) virtual.delete(name);
  }
  if (options.only?.length) {
    const { only } = options;
    const isWanted = (name: string | undefined) => name !== undefined && only.includes(name);
    for (const [name, files] of virtual) if (!isWanted(name) && !files.some(isWanted)) virtual.delete(name);
    for (const name of imports.keys()) if (!isWanted(name) && !isWanted(virtualOf.get(name))) imports.delete(name);
  }
  return { paths, imports, virtual, virtualOf };
}

/** A family whose modules are loaded when they are first needed. */
class LoadingFamily<C> implements Family<C> {
  readonly #sources: Sources;
  readonly #options: FamilyOptions;
  readonly #loaded = new Map<string, Promise<Loaded<C> | undefined>>();
  readonly #problems = new Map<string, string>();
  readonly #refusals = new Map<string, string>();
  /** The virtual names whose chosen module does not exist, as the log said. */
  readonly #warned = new Set<string>();

  constructor(sources: Sources, options: FamilyOptions) {
    this.#sources = sources;
    this.#options = options;
  }

  async get(name: string): Promise<ModuleFunction<C> | undefined> {
    const dot = name.indexOf(".");
    const [module, fun] = [name.slice(0, dot), name.slice(dot + 1)];
    return dot < 0 ? undefined : (await this.#serving(module, fun))?.functions.get(fun)?.();
  }

  async all(): Promise<readonly FamilyEntry<C>[]> {
    const entries = (await this.#allServing()).flatMap(([module, { functions }]) =>
      [...functions].map(([name, fun]) => ({ name: `${module}.${name}`, fun: fun() }))
    );
    return entries.sort((a, b) => compareStrings(a.name, b.name));
  }

  async serves(module: string): Promise<boolean> {
    return (await this.#serving(module)) !== undefined;
  }

  problems(): ReadonlyMap<string, string> {
    return this.#problems;
  }

  refusals(): ReadonlyMap<string, string> {
    return this.#refusals;
  }

  async providers(): Promise<ReadonlyMap<string, string>> {
    const serving = (await this.#allServing()).filter(([, { functions }]) => functions.size > 0);
    return new Map(serving.map(([name, { file }]) => [name, file]));
  }

  #load(file: string): Promise<Loaded<C> | undefined> {
    const earlier = this.#loaded.get(file);
    if (earlier !== undefined) return earlier;
    const source = this.#sources.imports.get(file);
    if (source === undefined) return Promise.resolve(undefined);
    const { paths } = this.#sources;
    const module = source().then((exports) =>
      readModule<C>(exports, { plain: this.#options.plainFunctions ?? true, isChecked: paths.has(file) })
    ).catch(
      (error: unknown) => {
        const text = messageOf(error);
        // A syntax error has several lines, a log message one.
        const reason = `${paths.get(file) ?? file}: ${text.replace(/\s*\n[\s|]*/g, " ")}`;
        this.#problems.set(file, reason);
        this.#options.warn?.(`Cannot load the module '${file}' of ${reason}`);
        return undefined;
      },
    );
    this.#loaded.set(file, module);
    return module;
  }

  /**
   * The module that serves under a name.
   * @param wanted The wanted function. Default: all.
   */
  async #serving(name: string, wanted?: string): Promise<Served<C> | undefined> {
    const { virtual, virtualOf } = this.#sources;
    const chosen = this.#options.chosen?.get(name);
    if (chosen !== undefined && virtualOf.get(chosen) === name) {
      const module = await this.#load(chosen);
      return module && { ...module, file: chosen };
    }
    if (chosen !== undefined && virtual.has(name) && !this.#warned.has(name)) {
      this.#warned.add(name);
      this.#options.warn?.(`providers: there is no module '${chosen}' for '${name}', and the usual choice is made`);
    }
    const files = virtual.get(name);
    if (files !== undefined) return await this.#choose(name, files, wanted);
    const module = await this.#load(name);
    if (module === undefined) return undefined;
    const isRefused = await this.#refusalOf(module, name) !== undefined;
    // A file with a virtual name is called by that name alone.
    return isRefused || virtualOf.has(name) ? undefined : { ...module, file: name };
  }

  async #allServing(): Promise<[string, Served<C>][]> {
    const { imports, virtual, virtualOf } = this.#sources;
    const names = [...[...imports.keys()].filter((name) => !virtualOf.has(name)), ...virtual.keys()];
    const modules = await Promise.all(names.map(async (name) => [name, await this.#serving(name)] as const));
    return modules.flatMap(([name, module]): [string, Served<C>][] => module === undefined ? [] : [[name, module]]);
  }

  /**
   * Tries the files of a virtual name in order. If several load, the later ones add functions that the earlier ones do
   * not have, as in Salt's loader: for example the services of a Debian host on which systemd does not run.
   */
  async #choose(name: string, files: readonly string[], wanted: string | undefined): Promise<Served<C> | undefined> {
    const reasons: string[] = [];
    let served: Served<C> | undefined;
    for (const file of files) {
      const module = await this.#load(file);
      if (module === undefined) continue;
      const reason = await this.#refusalOf(module, file);
      if (reason !== undefined) {
        reasons.push(reason);
        continue;
      }
      served = served === undefined
        ? { ...module, file }
        : { ...served, functions: new Map([...module.functions, ...served.functions]) };
      if (this.#options.host === undefined || (wanted !== undefined && served.functions.has(wanted))) break;
    }
    if (served !== undefined) this.#refusals.delete(name);
    else if (reasons.length > 0) this.#refusals.set(name, reasons.join("; "));
    return served;
  }

  /** Why a built-in module does not serve. A user's module is checked before it is loaded, from its text. */
  async #refusalOf({ virtual }: Loaded<C>, file: string): Promise<string | undefined> {
    const { host, hasFunction } = this.#options;
    if (host === undefined || this.#sources.paths.has(file)) return undefined;
    const reason = refusal(virtual, host) ?? (hasFunction && await functionsRefusal(virtual, hasFunction));
    if (reason === undefined) this.#refusals.delete(file);
    else this.#refusals.set(file, reason);
    return reason;
  }
}

/** The name of the module that a user's file holds; `undefined` if it holds none. */
export function moduleNameOf(file: string): string | undefined {
  return /^([A-Za-z][A-Za-z0-9_]*)\.(ts|js)$/.exec(file)?.[1];
}

/** The paths of the user's files by module name. */
export function userFiles(directory: string): Map<string, string> {
  const files = new Map<string, string>();
  let entries: Deno.DirEntry[];
  try {
    entries = [...Deno.readDirSync(directory)].sort((a, b) => compareStrings(a.name, b.name));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return files;
    throw error;
  }
  for (const entry of entries) {
    const module = moduleNameOf(entry.name);
    if (module !== undefined && !entry.isDirectory) files.set(module, `${directory}/${entry.name}`);
  }
  return files;
}

/** Imports a file. Its modification time is part of the URL, so that a changed file is loaded again. */
async function importFile(path: string): Promise<object> {
  const { mtime } = await Deno.stat(path);
  const url = new URL(`file://${path.split("/").map(encodeURIComponent).join("/")}`);
  url.searchParams.set("changed", String(mtime?.getTime() ?? 0));
  const exports: unknown = await import(url.href);
  if (typeof exports !== "object" || exports === null) throw new TypeError("it exports nothing");
  return exports;
}

/**
 * The exports of a module: its functions by Salt's names, and `virtual`. Functions of a built-in module are checked
 * when they are requested, as most commands call one.
 * @param options.plain Whether plain functions are functions of the family.
 * @param options.isChecked Whether all functions are checked now.
 */
function readModule<C>(
  exports: object,
  { plain, isChecked }: { readonly plain: boolean; readonly isChecked: boolean },
): Loaded<C> {
  const functions = new Map<string, () => ModuleFunction<C>>();
  for (const [exported, candidate] of Object.entries(exports)) {
    if (exported.startsWith("_") || exported === "default" || exported === "virtual") continue;
    if (!plain && isPlainFunction(candidate)) {
      throw new TypeError(`${exported} is a plain function; it must be an object with "params" and "run"`);
    }
    if (!isFunction(candidate)) continue;
    let made: ModuleFunction<C> | undefined;
    const make = () => made ??= asFunction<C>(candidate, exported);
    if (isChecked) make();
    functions.set(exported.replace(/_$/, ""), make);
  }
  return { functions, virtual: "virtual" in exports ? parseVirtual(exports.virtual) : {} };
}

/** Whether an export seems to be a function of the family. */
function isFunction(candidate: unknown): candidate is object {
  return isPlainFunction(candidate) || typeof candidate === "object" && candidate !== null && "run" in candidate;
}

/** @throws {TypeError} If a part of it is of another type. */
function asFunction<C>(candidate: object, name: string): ModuleFunction<C> {
  if (isPlainFunction(candidate)) return ofPlainFunction<C>(candidate);
  const { run, doc, params, varArgs, keywordOnly, varKwargs, outputter, secret, permissions, resumable } =
    candidate as Record<string, unknown>;
  const { keywords, watchedKeywords, passesKeywords } = candidate as Record<string, unknown>;
  if (typeof run !== "function") throw new TypeError(`${name}.run is not a function`);
  if (doc !== undefined && typeof doc !== "string") throw new TypeError(`${name}.doc is not a string`);
  return {
    doc: doc ?? "",
    params: asParameters(params, name),
    ...asVariable(varArgs, `${name}.varArgs`) && { varArgs: String(varArgs) },
    ...keywordOnly === true && { keywordOnly },
    ...asVariable(varKwargs, `${name}.varKwargs`) && { varKwargs: String(varKwargs) },
    ...keywords !== undefined && { keywords: parseTexts(keywords, `${name}.keywords`) },
    ...watchedKeywords !== undefined && { watchedKeywords: parseTexts(watchedKeywords, `${name}.watchedKeywords`) },
    ...passesKeywords === true && { passesKeywords },
    ...asVariable(outputter, `${name}.outputter`) && { outputter: String(outputter) },
    ...secret === true && { secret },
    permissions: parsePermissions(permissions, `${name}.permissions`),
    ...resumable === true && { resumable },
    // The context's type is unknown at run time; the caller of loadFamily is responsible for it.
    run: (bound, context, rest) => run.call(candidate, bound, context, rest),
  };
}

/** A plain function gets the positional arguments; JavaScript's default values apply. */
function ofPlainFunction<C>(plain: (...args: Value[]) => unknown): ModuleFunction<C> {
  const doc: unknown = Object.hasOwn(plain, "doc") ? Reflect.get(plain, "doc") : undefined;
  const permissions: unknown = Object.hasOwn(plain, "permissions") ? Reflect.get(plain, "permissions") : undefined;
  const required = Array.from({ length: plain.length }, (_, i) => `arg${i + 1}`);
  return {
    doc: typeof doc === "string" ? doc : "",
    params: Object.fromEntries(required.map((parameter): [string, Parameter] => [parameter, { type: "any" }])),
    varArgs: "args",
    permissions: parsePermissions(permissions, `${plain.name}.permissions`),
    run: (bound, _context, rest) => plain(...required.map((parameter) => toValue(bound[parameter])), ...rest.args),
  };
}

function isPlainFunction(candidate: unknown): candidate is (...args: Value[]) => unknown {
  return typeof candidate === "function" && !/^class\b/.test(Function.prototype.toString.call(candidate));
}

function asParameters(params: unknown, name: string): Record<string, Parameter> {
  if (params === undefined) return {};
  if (typeof params !== "object" || params === null) throw new TypeError(`${name}.params is not an object`);
  return Object.fromEntries(
    Object.entries(params).map(([parameter, declared]: [string, unknown]): [string, Parameter] => {
      if (
        typeof declared !== "object" || declared === null || !("type" in declared) || !isParameterType(declared.type)
      ) {
        throw new TypeError(`${name}.params.${parameter}.type is none of any, str, int, float, bool, list, dict`);
      }
      const value: unknown = "default" in declared ? declared.default : undefined;
      return [
        parameter,
        value === undefined ? { type: declared.type } : { type: declared.type, default: toValue(value) },
      ];
    }),
  );
}

function asVariable(value: unknown, place: string): boolean {
  if (value !== undefined && typeof value !== "string") throw new TypeError(`${place} is not a string`);
  return value !== undefined;
}
