/**
 * Requests for runs that the minion's administrator must start: `state.request` runs the states in test mode and keeps
 * the call in `<cachedir>/req_state.p`, `state.run_request` runs them. Source: Salt 3008.3, `request`, `check_request`,
 * `clear_request` of `salt/modules/state.py`.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { readFileIfExists, removeIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** A call that waits. */
export interface StateRequest {
  readonly mods: Value;
  readonly kwargs: ValueMap;
}

function pathIn(cachedir: string): string {
  return `${cachedir}/req_state.p`;
}

/**
 * The stored requests by name, or one of them.
 * @throws {CommandError} If there is nothing of that name.
 */
export function readRequests(cachedir: string, name: string | null): Value {
  const bytes = readFileIfExists(pathIn(cachedir));
  const stored = bytes === undefined ? undefined : decode(bytes, "disk");
  const all = mapOrEmpty(stored);
  if (name === null || name === "" || bytes === undefined) return all;
  const requests = all.get(name);
  if (requests !== undefined) return requests;
  throw new CommandError(`There is no request '${name}'`);
}

/** Keeps a call with what its run in test mode returned. */
export function keepRequest(cachedir: string, name: string, stored: StateRequest & { readonly returned: Value }): void {
  const all = readRequests(cachedir, null);
  const { mods, kwargs, returned } = stored;
  const own = new Map([...kwargs].filter(([key]) => !str(key).startsWith("__pub_")));
  const request = map({ test_run: returned, mods, kwargs: own });
  write(cachedir, new Map([...isMap(all) ? all : [], [name, request]]));
}

/**
 * Removes a request, or all.
 * @returns Whether a request was removed.
 */
export function removeRequest(cachedir: string, name: string | null): boolean {
  if (name === null || name === "") {
    removeIfExists(pathIn(cachedir));
    return true;
  }
  const all = readRequests(cachedir, null);
  if (!isMap(all) || !all.delete(name)) return readFileIfExists(pathIn(cachedir)) === undefined;
  write(cachedir, all);
  return true;
}

/** The waiting call of a name; `undefined` if there is none. */
export function requestNamed(cachedir: string, name: string): StateRequest | undefined {
  const all = readRequests(cachedir, null);
  const stored = isMap(all) ? all.get(name) : undefined;
  const kwargs = isMap(stored) ? stored.get("kwargs") : undefined;
  return isMap(stored) && isMap(kwargs) ? { mods: stored.get("mods") ?? null, kwargs } : undefined;
}

function write(cachedir: string, all: ValueMap): void {
  Deno.mkdirSync(cachedir, { recursive: true });
  writeFileAtomic(pathIn(cachedir), encode(all, "disk"), { mode: 0o600 });
}
