/**
 * Loads the families of plugins: execution modules, runners and grains. A built-in module is imported when one of its
 * functions is first needed. User modules come from a directory and replace built-in modules of the same name. Knows no
 * module.
 *
 * A user's file needs no import of ours: it exports plain functions, or objects with `run` and optional `doc`,
 * `params`, `varArgs`, `varKwargs` and `permissions`, which are checked here.
 * @module
 */

import { messageOf } from "../errors.ts";
import { isParameterType, type ModuleFunction, type Parameter } from "./module.ts";
import { parsePermissions } from "./permissions.ts";
import { compareStrings, toValue, type Value } from "../values/value.ts";

/** One function of a family. */
export interface FamilyEntry<C> {
  /** The full name, `test.ping`. */
  readonly name: string;
  /** The function itself. */
  readonly fun: ModuleFunction<C>;
}

/** The functions of one family of plugins. */
export interface Family<C> {
  /** The function called `name` (`test.ping`), if it exists. */
  get(name: string): Promise<ModuleFunction<C> | undefined>;
  /** All functions, sorted by name; loads every module. */
  all(): Promise<readonly FamilyEntry<C>[]>;
  /** The modules that failed to load so far, with the reason. */
  problems(): ReadonlyMap<string, string>;
}

/**
 * Built-in modules by name. Written as literal `() => import("./test.ts")`, so that `deno compile` finds them.
 */
export type ModuleTable = Readonly<Record<string, () => Promise<object>>>;

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
  /** Called once for each broken module, with the file and the reason. */
  readonly warn?: (message: string) => void;
}

type Functions<C> = ReadonlyMap<string, ModuleFunction<C>>;

/** Loads the modules in `table` and in the user's directories. */
export function loadFamily<C>(table: ModuleTable, options: FamilyOptions = {}): Family<C> {
  const sources = new Map<string, () => Promise<object>>(Object.entries(table));
  const paths = new Map<string, string>();
  for (const directory of options.directories ?? []) {
    for (const [name, path] of userFiles(directory)) {
      if (options.userOnly?.includes(name) ?? true) paths.set(name, path);
    }
  }
  for (const [name, path] of paths) sources.set(name, () => importFile(path));
  for (const name of options.disabled ?? []) sources.delete(name);
  if (options.only?.length) {
    for (const name of sources.keys()) if (!options.only.includes(name)) sources.delete(name);
  }

  const loaded = new Map<string, Promise<Functions<C>>>();
  const problems = new Map<string, string>();

  const load = (module: string): Promise<Functions<C>> | undefined => {
    const known = loaded.get(module);
    if (known !== undefined) return known;
    const source = sources.get(module);
    if (source === undefined) return undefined;
    const functions = source().then((exports) => functionsOf<C>(exports)).catch((error: unknown) => {
      const text = messageOf(error);
      // A syntax error has several lines, a log message one.
      const reason = `${paths.get(module) ?? module}: ${text.replace(/\s*\n[\s|]*/g, " ")}`;
      problems.set(module, reason);
      options.warn?.(`Cannot load the module '${module}' of ${reason}`);
      return new Map<string, ModuleFunction<C>>();
    });
    loaded.set(module, functions);
    return functions;
  };

  return {
    async get(name) {
      const dot = name.indexOf(".");
      return dot < 0 ? undefined : (await load(name.slice(0, dot)))?.get(name.slice(dot + 1));
    },
    async all() {
      const modules = await Promise.all([...sources.keys()].map(async (module) => {
        const functions = await load(module);
        return [...functions ?? []].map(([name, fun]) => ({ name: `${module}.${name}`, fun }));
      }));
      return modules.flat().sort((a, b) => compareStrings(a.name, b.name));
    },
    problems: () => problems,
  };
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
    const module = /^([A-Za-z][A-Za-z0-9_]*)\.(ts|js)$/.exec(entry.name)?.[1];
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

/** The functions that a module exports, by Salt's names. */
function functionsOf<C>(exports: object): Functions<C> {
  const functions = new Map<string, ModuleFunction<C>>();
  for (const [exported, candidate] of Object.entries(exports)) {
    if (exported.startsWith("_") || exported === "default") continue;
    const fun = asFunction<C>(candidate, exported);
    if (fun !== undefined) functions.set(exported.replace(/_$/, ""), fun);
  }
  return functions;
}

function asFunction<C>(candidate: unknown, name: string): ModuleFunction<C> | undefined {
  if (isPlainFunction(candidate)) return ofPlainFunction<C>(candidate);
  if (typeof candidate !== "object" || candidate === null || !("run" in candidate)) return undefined;
  const { run, doc, params, varArgs, varKwargs, outputter, permissions } = candidate as Record<string, unknown>;
  if (typeof run !== "function") throw new TypeError(`${name}.run is not a function`);
  if (doc !== undefined && typeof doc !== "string") throw new TypeError(`${name}.doc is not a string`);
  return {
    doc: doc ?? "",
    params: asParameters(params, name),
    ...asVariable(varArgs, `${name}.varArgs`) && { varArgs: String(varArgs) },
    ...asVariable(varKwargs, `${name}.varKwargs`) && { varKwargs: String(varKwargs) },
    ...asVariable(outputter, `${name}.outputter`) && { outputter: String(outputter) },
    permissions: parsePermissions(permissions, `${name}.permissions`),
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
      const given: unknown = "default" in declared ? declared.default : undefined;
      return [
        parameter,
        given === undefined ? { type: declared.type } : { type: declared.type, default: toValue(given) },
      ];
    }),
  );
}

function asVariable(given: unknown, place: string): boolean {
  if (given !== undefined && typeof given !== "string") throw new TypeError(`${place} is not a string`);
  return given !== undefined;
}
