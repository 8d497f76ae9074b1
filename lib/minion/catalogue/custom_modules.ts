/**
 * The custom modules of a minion, and what their files declare. Loads none of them: custom code runs in its own
 * processes (module_process.ts), with the permissions that the file's text declares.
 * @module
 */

import { OWN_BEACONS_PREFIX } from "#lib/plugins/own_beacon.ts";
import { type DeclaredPermissions, declaredPermissions } from "#lib/plugins/declared_permissions.ts";
import { userFiles } from "#lib/plugins/loader.ts";
import { moduleDirectories } from "#lib/plugins/module_directories.ts";
import {
  type CustomFamily,
  hasPath,
  hasProgram,
  pluginLimits,
  RENDERERS_PREFIX,
  RETURNERS_PREFIX,
  STATES_PREFIX,
} from "./catalogue.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import { refusal, type Virtual } from "#lib/plugins/virtual.ts";
import { str, type ValueMap } from "#lib/values/value.ts";
import { joinPermissions, permissionKey, type Permissions } from "#lib/plugins/permissions.ts";

/**
 * The module of a function: `test` for `test.ping`, `states/app` for the state function `states/app.installed`,
 * `renderers/x` for `renderers/x.render`.
 */
export function moduleOf(fun: string): string {
  const dot = fun.indexOf(".");
  return dot < 0 ? fun : fun.slice(0, dot);
}

/** The combined declarations of the functions of one job. */
export interface JobDeclaration {
  /** The custom modules of the job, sorted. */
  readonly modules: readonly string[];
  /** The union of their functions' permissions. */
  readonly permissions: Permissions;
  /** The `permissionKey` of each function. */
  readonly declared: Readonly<Record<string, string>>;
}

function filesOf({ extension_modules, module_dirs }: MinionOpts, family: CustomFamily): Map<string, string> {
  const directories = moduleDirectories({ extensionModules: extension_modules, moduleDirs: module_dirs }, family);
  return new Map(directories.flatMap((directory) => [...userFiles(directory)]));
}

/** The virtual name for which the option `providers` names the file. */
function providedName(file: string, { providers }: MinionOpts): string | undefined {
  for (const [name, provider] of providers) if (str(provider) === file) return str(name);
  return undefined;
}

/** The custom modules at the time of construction. */
export class CustomModules {
  readonly #renamed: Readonly<Record<string, string>>;
  readonly #refusals: ReadonlyMap<string, string>;
  /** What their files declare, by name. */
  readonly #declarations = new Map<string, FileDeclarations>();

  /**
   * Reads the directories `extension_modules` and `module_dirs`.
   * @param grains The minion's, which say which modules serve; without them all do.
   */
  constructor(opts: MinionOpts, grains?: () => ValueMap) {
    const { disable_modules, whitelist_modules } = opts;
    const files = filesOf(opts, "modules");
    const refusals = new Map<string, string>();
    const renamed: Record<string, string> = {};
    for (const [file, path] of files) {
      const text = new FileDeclarations(path);
      const name = providedName(file, opts) ?? text.virtual.name ?? file;
      const isOne = (names: readonly string[]) => names.includes(file) || names.includes(name);
      if (isOne(disable_modules) || (whitelist_modules.length > 0 && !isOne(whitelist_modules))) continue;
      const reason = grains && refusal(text.virtual, { grains, hasPath, hasProgram });
      if (reason !== undefined) {
        refusals.set(file, reason);
        continue;
      }
      if (name !== file) renamed[file] = name;
      // Of several files, as in the loader, the one of that name is the module, else the first.
      if (name !== file && this.#declarations.has(name)) continue;
      this.#declarations.set(name, text);
    }
    const others = [
      ["states", STATES_PREFIX],
      ["renderers", RENDERERS_PREFIX],
      ["returners", RETURNERS_PREFIX],
      ["beacons", OWN_BEACONS_PREFIX],
    ] as const;
    const { disableModules, whitelistStateModules } = pluginLimits(opts);
    const isLoaded = (name: string) =>
      !disableModules.includes(name) &&
      (whitelistStateModules.length === 0 || !name.startsWith(STATES_PREFIX) ||
        whitelistStateModules.includes(name.slice(STATES_PREFIX.length)));
    const customModules = others.flatMap(([family, prefix]) =>
      [...filesOf(opts, family)].map(([file, path]) => [prefix + file, path] as const)
    ).filter(([name]) => isLoaded(name));
    for (const [name, path] of customModules) {
      const text = new FileDeclarations(path);
      const reason = grains && refusal(text.virtual, { grains, hasPath, hasProgram });
      if (reason !== undefined) {
        refusals.set(name, reason);
        continue;
      }
      this.#declarations.set(name, text);
    }
    this.#renamed = renamed;
    this.#refusals = refusals;
  }

  /** Their names; a state module's is `states/NAME`, a renderer's `renderers/NAME`. */
  get names(): string[] {
    return [...this.#declarations.keys()];
  }

  /** The modules whose files are called otherwise, by the file's name. */
  get renamed(): Readonly<Record<string, string>> {
    return this.#renamed;
  }

  /** The files whose modules do not serve this host, with the reason. */
  get refusals(): ReadonlyMap<string, string> {
    return this.#refusals;
  }

  /** Whether one of these functions belongs to a custom module. */
  concerns(funs: readonly string[]): boolean {
    return this.#declarations.size > 0 && funs.some((fun) => this.#declarations.has(moduleOf(fun)));
  }

  /**
   * The declarations of these functions; built-in ones are skipped.
   * @throws {TypeError} If a declaration in a file's text cannot be read.
   */
  declaration(funs: readonly string[]): JobDeclaration {
    const declared: [string, Permissions][] = [];
    const modules = new Set<string>();
    for (const fun of funs) {
      const module = moduleOf(fun);
      const file = this.#declarations.get(module);
      if (file === undefined) continue;
      modules.add(module);
      declared.push([fun, file.of(fun.slice(module.length + 1))]);
    }
    return {
      modules: [...modules].sort(),
      permissions: joinPermissions(declared.map(([, permissions]) => permissions)),
      declared: Object.fromEntries(declared.map(([fun, permissions]) => [fun, permissionKey(permissions)])),
    };
  }
}

/** What the text of one file declares. */
export class FileDeclarations {
  readonly #functions: ReadonlyMap<string, DeclaredPermissions>;
  readonly #path: string;
  /** The names of all exports; `undefined` if the text does not show them. */
  readonly exports: ReadonlySet<string> | undefined;
  /** Where the module serves, and its name there. */
  readonly virtual: Virtual;

  /** Reads the file. A file that cannot be read declares nothing; loading it will give the reason. */
  constructor(path: string) {
    this.#path = path;
    try {
      const { functions, exports, virtual } = declaredPermissions(Deno.readTextFileSync(path));
      this.#functions = functions;
      this.exports = exports;
      this.virtual = "virtual" in virtual
        ? virtual.virtual
        : { serves: [{ grains: { "": [] }, otherwise: `${virtual.problem} of ${path}` }] };
    } catch (error) {
      const unreadable = error instanceof SyntaxError || error instanceof Deno.errors.NotFound ||
        error instanceof Deno.errors.PermissionDenied;
      if (!unreadable) throw error;
      this.#functions = new Map();
      this.virtual = {};
    }
  }

  /**
   * The permissions of one function.
   * @throws {TypeError} If the declaration cannot be read.
   */
  of(name: string): Permissions {
    const declared = this.#functions.get(name);
    if (declared === undefined) return "none";
    if ("problem" in declared) {
      throw new TypeError(`${declared.problem} of ${this.#path}; permissions are literals in the text of the file`);
    }
    return declared.permissions;
  }

  /** One sentence for each declaration that cannot be read. */
  get problems(): string[] {
    return [...this.#functions.values()].flatMap((one) => "problem" in one ? [`${one.problem} of ${this.#path}`] : []);
  }

  /** The readable declarations, by function. */
  get readable(): ReadonlyMap<string, Permissions> {
    return new Map(
      [...this.#functions].flatMap(([name, one]) => "permissions" in one ? [[name, one.permissions]] : []),
    );
  }
}
