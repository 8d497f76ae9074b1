/**
 * The functions of the module `grains` that change grains: the new value of a grain, and what is stored. Source: the
 * functions `set`, `append`, `remove`, `setvals` of Salt 3008.3 `salt/modules/grains.py`.
 * @module
 */

import { isBrokenGrainsFile, readGrainsFile, writeGrainsFile } from "#lib/programs/grains_file.ts";
import { messageOf } from "#lib/errors.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { asList } from "#lib/values/shape.ts";
import { traverse } from "#lib/yaml/traverse.ts";
import { equals, isAmong, isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** How a grain is set. */
export interface SettingOptions {
  /** Whether a grain that is set to None is removed. Default: false. */
  readonly destructive?: boolean;
  /** Whether the pillar is refreshed with the grains. Default: true. */
  readonly refreshPillar?: boolean;
}

/**
 * Sets grains in the file and for this job, and has the minion load its grains again.
 * @returns The grains, or what failed.
 */
export async function setGrains(given: ValueMap, context: JobContext, options: SettingOptions = {}): Promise<Value> {
  const { opts, grains } = context;
  let saved: ValueMap;
  try {
    saved = readGrainsFile(opts.config_dir);
  } catch (error) {
    if (isBrokenGrainsFile(error)) return `Unable to read existing grains file: ${error.message}`;
    throw error;
  }
  for (const [key, value] of given) {
    for (const where of [saved, grains]) {
      if (value === null && options.destructive === true) where.delete(key);
      else where.set(key, value);
    }
  }
  try {
    writeGrainsFile(opts.config_dir, saved);
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) throw error;
    const reason = messageOf(error);
    context.log("error", `Unable to write to grains file at ${opts.config_dir}/grains. Check permissions. ${reason}`);
  }
  if (opts.file_client !== "local") {
    await context.call("saltutil.refresh_grains", [], map({ refresh_pillar: options.refreshPillar ?? true }));
  }
  return given;
}

/** How a grain is found. */
export interface PathOptions extends SettingOptions {
  readonly delimiter: string;
  /** Whether a list or a map may be replaced. */
  readonly force?: boolean;
}

/**
 * Sets the grain at a path.
 * @returns Salt's map of `comment`, `changes` and `result`.
 */
export async function setGrain(
  key: string,
  value: Value,
  context: JobContext,
  { delimiter, force = false, destructive = false }: PathOptions,
): Promise<ValueMap> {
  const refuse = (comment: string, result = false) => map({ comment, changes: {}, result });
  const { grains } = context;
  const existing = traverse(grains, key, delimiter);
  if (existing !== undefined && equals(existing, value) && (value !== null || !destructive)) {
    return refuse("Grain is already set", true);
  }
  if (existing !== null && existing !== undefined && !force) {
    if (isContainer(existing)) {
      return refuse(`The key '${key}' exists but is a dict or a list. Use 'force=True' to overwrite.`);
    }
    if (isContainer(value)) {
      return refuse(`The key '${key}' exists and the given value is a dict or a list. Use 'force=True' to overwrite.`);
    }
  }
  let [top, inner] = [key, value];
  for (let at = top.lastIndexOf(delimiter); at >= 0; at = top.lastIndexOf(delimiter)) {
    const rest = top.slice(at + delimiter.length);
    top = top.slice(0, at);
    const around = grainAt(top, context, delimiter, new Map());
    const changed = put(around, rest, inner, { force, destructive });
    if (changed === undefined) {
      return refuse(
        `The key '${top}' value is '${str(around)}', which is different from the provided key '${rest}'. ` +
          "Use 'force=True' to overwrite.",
      );
    }
    inner = changed;
  }
  const done = await setGrains(new Map([[top, inner]]), context, { destructive });
  return isMap(done) ? map({ comment: "", changes: done, result: true }) : refuse(str(done));
}

/** `around` with `value` at `key`; `undefined` if it holds something else that may not be replaced. */
function put(
  around: Value,
  key: string,
  value: Value,
  { force, destructive }: { readonly force: boolean; readonly destructive: boolean },
): Value | undefined {
  if (isMap(around)) {
    if (value === null && destructive) around.delete(key);
    else around.set(key, value);
    return around;
  }
  if (Array.isArray(around)) {
    let found = false;
    for (const [i, item] of around.entries()) {
      if (item === key) around[i] = new Map([[key, value]]);
      else if (isMap(item) && item.has(key)) item.set(key, value);
      else continue;
      found = true;
    }
    if (!found) around.push(new Map([[key, value]]));
    return around;
  }
  return around === key || force ? new Map([[key, value]]) : undefined;
}

/**
 * Appends to the list at a path.
 * @returns The grains that are set, or why none is.
 */
export async function appendToGrain(
  key: string,
  value: Value,
  context: JobContext,
  { delimiter, convert }: { readonly delimiter: string; readonly convert: boolean },
): Promise<Value> {
  let list = grainAt(key, context, delimiter, []);
  if (convert && !Array.isArray(list)) list = list === null ? [] : [list];
  if (!Array.isArray(list)) return `The key ${key} is not a valid list`;
  if (isAmong(value, list)) return `The val ${str(value)} was already in the list ${key}`;
  list.push(...asList(value));
  return await setList(key, list, context, delimiter);
}

/**
 * Removes a value from the list at a path.
 * @returns The grains that are set, or why none is.
 */
export async function removeFromGrain(
  key: string,
  value: Value,
  context: JobContext,
  { delimiter }: { readonly delimiter: string },
): Promise<Value> {
  const list = grainAt(key, context, delimiter, []);
  if (!Array.isArray(list)) return `The key ${key} is not a valid list`;
  const at = list.findIndex((item) => equals(item, value));
  if (at < 0) return `The val ${str(value)} was not in the list ${key}`;
  list.splice(at, 1);
  return await setList(key, list, context, delimiter);
}

/** Sets the list at a path; of what is around it, only maps are kept. */
async function setList(key: string, list: Value[], context: JobContext, delimiter: string): Promise<Value> {
  let [top, inner]: [string, Value] = [key, list];
  for (let at = top.lastIndexOf(delimiter); at >= 0; at = top.lastIndexOf(delimiter)) {
    const rest = top.slice(at + delimiter.length);
    top = top.slice(0, at);
    const outer = grainAt(top, context, delimiter, new Map());
    if (isMap(outer)) outer.set(rest, inner);
    inner = outer;
  }
  return await setGrains(new Map([[top, inner]]), context);
}

/** A copy of what is at a path, to be changed; `fallback` if there is nothing. */
function grainAt(key: string, { grains }: JobContext, delimiter: string, fallback: Value): Value {
  const grain = traverse(grains, key, delimiter);
  return grain === undefined ? fallback : copyOf(grain);
}

function copyOf(value: Value): Value {
  if (Array.isArray(value)) return value.map(copyOf);
  return isMap(value) ? new Map([...value].map(([key, item]) => [key, copyOf(item)])) : value;
}

function isContainer(value: Value): boolean {
  return Array.isArray(value) || isMap(value);
}
