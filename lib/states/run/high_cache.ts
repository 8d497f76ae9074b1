/**
 * The high data of the last run, `<cachedir>/highstate.cache.p`: a run with `cache: True` runs them again and fetches
 * no SLS file. Source: Salt 3008.3, `salt/modules/state.py`, `BaseHighState.call_highstate` of `salt/state.py`.
 * @module
 */

import { CommandError, messageOf } from "#lib/errors.ts";
import { readFileIfExists, removeIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { compareStrings, isMap, str, truthy, type ValueMap } from "#lib/values/value.ts";
import type { ApplyCall } from "./prepared.ts";

const END = ".cache.p";

function pathOf({ context, kwargs }: ApplyCall): string {
  const name = str(kwargs.get("cache_name") ?? "highstate");
  if (name.includes("/")) throw new CommandError(`cache_name: '${name}' is no file name`);
  return `${context.opts.cachedir}/${name}${END}`;
}

/** The cached high data for a call with `cache: True`; `undefined` for other calls, or if there are none. */
export function cachedHigh(call: ApplyCall): ValueMap | undefined {
  if (!truthy(call.kwargs.get("cache"))) return undefined;
  const bytes = readFileIfExists(pathOf(call));
  const high = bytes === undefined ? undefined : decode(bytes, "disk");
  return isMap(high) ? high : undefined;
}

/** Keeps high data for later calls. A failure is logged: the run continues. */
export function keepHigh(high: ValueMap, call: ApplyCall): void {
  try {
    Deno.mkdirSync(call.context.opts.cachedir, { recursive: true });
    writeFileAtomic(pathOf(call), encode(high, "disk"), { mode: 0o600 });
  } catch (error) {
    call.context.log("error", `The high data are not kept: ${messageOf(error)}`);
  }
}

/**
 * Removes the cached high data.
 * @returns The names of the files.
 */
export function clearHigh(cachedir: string): string[] {
  const names = [...Deno.readDirSync(cachedir)].filter(({ name, isFile }) => isFile && name.endsWith(END))
    .map(({ name }) => name).sort(compareStrings);
  for (const name of names) removeIfExists(`${cachedir}/${name}`);
  return names;
}
