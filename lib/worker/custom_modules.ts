/**
 * The custom modules of a minion, and what their files declare. Loads none of them: custom code runs in its own
 * processes (module_process.ts), with the permissions that the file's text declares.
 * @module
 */

import { type Declared, declaredPermissions } from "../plugins/declared_permissions.ts";
import { userFiles } from "../plugins/loader.ts";
import { moduleDirectories } from "./catalogue.ts";
import type { MinionOpts } from "../config/options.ts";
import { joinPermissions, permissionKey, type Permissions } from "../plugins/permissions.ts";

/** The module of a function: `test` for `test.ping`. */
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

/** The custom modules at the time of construction. */
export class CustomModules {
  readonly #paths: ReadonlyMap<string, string>;
  readonly #declarations = new Map<string, FileDeclarations>();

  /** Reads the directories `extension_modules` and `module_dirs`. */
  constructor(opts: MinionOpts) {
    const { extension_modules, module_dirs, disable_modules, whitelist_modules } = opts;
    const directories = moduleDirectories({ extensionModules: extension_modules, moduleDirs: module_dirs });
    const paths = new Map(directories.flatMap((directory) => [...userFiles(directory)]));
    for (const name of paths.keys()) {
      const left = disable_modules.includes(name) ||
        (whitelist_modules.length > 0 && !whitelist_modules.includes(name));
      if (left) paths.delete(name);
    }
    this.#paths = paths;
  }

  get names(): string[] {
    return [...this.#paths.keys()];
  }

  /** Whether one of these functions belongs to a custom module. */
  concerns(funs: readonly string[]): boolean {
    return this.#paths.size > 0 && funs.some((fun) => this.#paths.has(moduleOf(fun)));
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
      const path = this.#paths.get(module);
      if (path === undefined) continue;
      modules.add(module);
      let file = this.#declarations.get(module);
      if (file === undefined) this.#declarations.set(module, file = new FileDeclarations(path));
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
  readonly #functions: ReadonlyMap<string, Declared>;
  readonly #path: string;
  /** The names of all exports; `undefined` if the text does not show them. */
  readonly exports: ReadonlySet<string> | undefined;

  /** Reads the file. A file that cannot be read declares nothing; loading it will give the reason. */
  constructor(path: string) {
    this.#path = path;
    try {
      const { functions, exports } = declaredPermissions(Deno.readTextFileSync(path));
      this.#functions = functions;
      this.exports = exports;
    } catch (error) {
      const unreadable = error instanceof SyntaxError || error instanceof Deno.errors.NotFound ||
        error instanceof Deno.errors.PermissionDenied;
      if (!unreadable) throw error;
      this.#functions = new Map();
    }
  }

  /** The permissions of one function. @throws {TypeError} If the declaration cannot be read. */
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
