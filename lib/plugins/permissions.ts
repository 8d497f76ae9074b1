/**
 * The permissions that a module's function declares: Deno's permissions, enforced by the runtime for the function's
 * worker. Without a declaration nothing is allowed. Knows no workers and no modules. Source: docs.deno.com, "Security
 * and permissions"; `deno.permissions` of Web Workers.
 * @module
 */

import { compareStrings } from "#lib/values/value.ts";

/** A permission of Deno; not `import`: only the module's files are loaded. */
export type PermissionName = "env" | "ffi" | "net" | "read" | "run" | "sys" | "write";

const NAMES: readonly PermissionName[] = ["env", "ffi", "net", "read", "run", "sys", "write"];

/**
 * Permissions of Deno: `true` for all of one kind, or the allowed paths, hosts, programs or names. A path may begin
 * with an option of the minion in braces: `{cachedir}/jobs`.
 */
export type PermissionSet = Readonly<Partial<Record<PermissionName, true | readonly string[]>>>;

/**
 * The permissions of a function, besides computing and sending requests to its minion: none, all of the minion, or
 * some. `run` amounts to everything, because a started program is not restricted. So does Linux's
 * `/proc`, which Deno lets only code with all permissions read.
 */
export type Permissions = "none" | "all" | PermissionSet;

/** The permissions to find programs in PATH, which some modules need to check whether they load. */
export const SEARCH_PATH: Permissions = { env: ["PATH"], read: true, sys: ["uid", "gid"] };

/**
 * Checks the declaration of a user's module.
 * @throws {TypeError} If it is invalid.
 */
export function parsePermissions(given: unknown, place: string): Permissions {
  if (given === undefined || given === "none") return "none";
  if (given === "all") return "all";
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new TypeError(`${place} is neither "none", nor "all", nor an object`);
  }
  const set: Partial<Record<PermissionName, true | readonly string[]>> = {};
  for (const [name, what] of Object.entries(given)) {
    if (!isPermissionName(name)) throw new TypeError(`${place}.${name} is none of ${NAMES.join(", ")}`);
    if (what === undefined || what === false) continue;
    const isList = Array.isArray(what) && what.every((item) => typeof item === "string");
    if (what !== true && !isList) throw new TypeError(`${place}.${name} is neither true nor a list of strings`);
    set[name] = what;
  }
  return set;
}

function isPermissionName(name: string): name is PermissionName {
  return NAMES.some((known) => known === name);
}

/** Whether code with these permissions may start and signal any program: it may do everything that its user may. */
export function mayStartAnything(permissions: Permissions): boolean {
  return permissions === "all" || (typeof permissions === "object" && permissions.run === true);
}

/** A key for the set: equal for equivalent declarations. */
export function permissionKey(permissions: Permissions): string {
  if (typeof permissions === "string") return permissions;
  const parts = NAMES.flatMap((name) => {
    const what = permissions[name];
    if (what === undefined || (what !== true && what.length === 0)) return [];
    return [what === true ? name : `${name}=${JSON.stringify([...new Set(what)].sort(compareStrings))}`];
  });
  return parts.length === 0 ? "none" : parts.join(" ");
}

/** The union of several functions' permissions. */
export function joinPermissions(all: readonly Permissions[]): Permissions {
  if (all.includes("all")) return "all";
  const permissions: Partial<Record<PermissionName, true | readonly string[]>> = {};
  for (const set of all) {
    if (typeof set === "string") continue;
    for (const name of NAMES) {
      const [have, more] = [permissions[name], set[name]];
      if (more !== undefined) permissions[name] = have === true || more === true ? true : [...have ?? [], ...more];
    }
  }
  return permissions;
}

/**
 * The Deno permissions of a worker for functions that declare `permissions`.
 * @param options.opts The minion's options, for paths with an option.
 * @param options.modules Directories of user modules, which every worker may read.
 */
export function workerPermissions(
  permissions: Permissions,
  options: { readonly opts: object; readonly modules: readonly string[] },
): Deno.PermissionOptions {
  if (permissions === "all") return "inherit";
  const set = permissions === "none" ? {} : permissions;
  const given: Deno.PermissionOptionsObject = {};
  for (const name of NAMES) {
    const what = set[name];
    if (what !== undefined) given[name] = what === true ? true : what.map((path) => expand(path, options.opts));
  }
  if (given.read !== true) given.read = [...Array.isArray(given.read) ? given.read : [], ...options.modules];
  return given;
}

/**
 * Replaces `{cachedir}` in a path by the option's value.
 * @throws {TypeError} If there is no such option, or it is no text.
 */
function expand(path: string, opts: object): string {
  return path.replace(/^\{(\w+)\}/, (_all, name: string) => {
    const value: unknown = Object.hasOwn(opts, name) ? Reflect.get(opts, name) : undefined;
    if (typeof value !== "string" || value === "") throw new TypeError(`there is no option "${name}" with a path`);
    return value;
  });
}
