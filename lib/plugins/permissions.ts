/**
 * What a module's function may reach of its host, as its declaration says it: Deno's permissions, which the runtime enforces
 * for the worker that the function runs in. What is not declared is not given.
 *
 * Knows no workers and no modules. Source: docs.deno.com, "Security and permissions"; `deno.permissions` of Web Workers.
 * @module
 */

import { compareStrings } from "../values/value.ts";

/** One of Deno's permissions; not `import`: a module's files are all that is ever loaded. */
export type PermissionName = "env" | "ffi" | "net" | "read" | "run" | "sys" | "write";

const NAMES: readonly PermissionName[] = ["env", "ffi", "net", "read", "run", "sys", "write"];

/**
 * Some of Deno's permissions: `true` for the whole of one, or the paths, hosts, programs or names that it is for. A path
 * may begin with an option of the minion in braces: `{cachedir}/jobs`.
 */
export type PermissionSet = Readonly<Partial<Record<PermissionName, true | readonly string[]>>>;

/**
 * What a function may do beyond computing and asking its minion: nothing, everything that the minion may, or a few things.
 * `run` comes to everything: a program that is started is bound by nothing of this. So does Linux's `/proc`, which Deno
 * lets only those read who may do everything.
 */
export type Permissions = "none" | "all" | PermissionSet;

/** The declaration that a user's module has. @throws {TypeError} If it is none. */
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
    const listed = Array.isArray(what) && what.every((item) => typeof item === "string");
    if (what !== true && !listed) throw new TypeError(`${place}.${name} is neither true nor a list of strings`);
    set[name] = what;
  }
  return set;
}

function isPermissionName(name: string): name is PermissionName {
  return NAMES.some((known) => known === name);
}

/** A name for the set: the same for declarations that come to the same. */
export function permissionKey(permissions: Permissions): string {
  if (typeof permissions === "string") return permissions;
  const parts = NAMES.flatMap((name) => {
    const what = permissions[name];
    if (what === undefined || (what !== true && what.length === 0)) return [];
    return [what === true ? name : `${name}=${JSON.stringify([...new Set(what)].sort(compareStrings))}`];
  });
  return parts.length === 0 ? "none" : parts.join(" ");
}

/** What several functions declare between them. */
export function joinPermissions(all: readonly Permissions[]): Permissions {
  if (all.includes("all")) return "all";
  const joined: Partial<Record<PermissionName, true | readonly string[]>> = {};
  for (const set of all) {
    if (typeof set === "string") continue;
    for (const name of NAMES) {
      const [have, more] = [joined[name], set[name]];
      if (more !== undefined) joined[name] = have === true || more === true ? true : [...have ?? [], ...more];
    }
  }
  return joined;
}

/**
 * What a worker is started with whose functions declare `permissions`.
 * @param options.opts The minion's options, for paths that name one.
 * @param options.modules Directories of the user's modules: every worker may read those.
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

/** `{cachedir}/x` with the option's value. @throws {TypeError} If there is no such option, or it is no text. */
function expand(path: string, opts: object): string {
  return path.replace(/^\{(\w+)\}/, (_all, name: string) => {
    const value: unknown = Object.hasOwn(opts, name) ? Reflect.get(opts, name) : undefined;
    if (typeof value !== "string" || value === "") throw new TypeError(`there is no option "${name}" with a path`);
    return value;
  });
}
