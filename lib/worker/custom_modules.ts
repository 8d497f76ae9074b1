/**
 * Which modules of a minion are not built in, and what their files declare. Loads none of them: code that is not ours runs in
 * processes of its own (module_process.ts), with the permissions that its file's text declares.
 * @module
 */

import { type Declared, declaredPermissions } from "../plugins/declared_permissions.ts";
import { userFiles } from "../plugins/loader.ts";
import { moduleDirectories } from "./catalogue.ts";
import type { MinionOpts } from "../config/options.ts";
import { joinPermissions, permissionKey, type Permissions } from "../plugins/permissions.ts";

/** The module of a function: `test` of `test.ping`. */
export function moduleOf(fun: string): string {
  const dot = fun.indexOf(".");
  return dot < 0 ? fun : fun.slice(0, dot);
}

/** What the functions of one job declare between them. */
export interface JobDeclaration {
  /** The modules of the job that are not built in, sorted. */
  readonly modules: readonly string[];
  /** What their functions declare between them. */
  readonly permissions: Permissions;
  /** What each of the functions declares: a `permissionKey`. */
  readonly declared: Readonly<Record<string, string>>;
}

/** The custom modules, as they were when this was made. */
export class CustomModules {
  readonly #paths: ReadonlyMap<string, string>;
  readonly #declarations = new Map<string, FileDeclarations>();

  /** Looks at the directories `extension_modules` and `module_dirs`. */
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

  /** Their names. */
  get names(): string[] {
    return [...this.#paths.keys()];
  }

  /** Whether one of these functions is of a custom module. */
  concerns(funs: readonly string[]): boolean {
    return this.#paths.size > 0 && funs.some((fun) => this.#paths.has(moduleOf(fun)));
  }

  /**
   * What these functions declare; built-in ones among them are left out.
   * @throws {TypeError} If the text of a file has a declaration that cannot be read.
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
  /** The names of all that the file exports; `undefined` if its text does not say. */
  readonly exports: ReadonlySet<string> | undefined;

  /** Reads the file; one that cannot be read declares nothing, and says why when it is loaded. */
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

  /** What it declares for one function. @throws {TypeError} If that cannot be read. */
  of(name: string): Permissions {
    const declared = this.#functions.get(name);
    if (declared === undefined) return "none";
    if ("problem" in declared) {
      throw new TypeError(`${declared.problem} of ${this.#path}; permissions are literals in the text of the file`);
    }
    return declared.permissions;
  }

  /** The declarations that cannot be read, a sentence each. */
  get problems(): string[] {
    return [...this.#functions.values()].flatMap((one) => "problem" in one ? [`${one.problem} of ${this.#path}`] : []);
  }

  /** The declarations that can be read, by function. */
  get readable(): ReadonlyMap<string, Permissions> {
    return new Map(
      [...this.#functions].flatMap(([name, one]) => "permissions" in one ? [[name, one.permissions]] : []),
    );
  }
}
