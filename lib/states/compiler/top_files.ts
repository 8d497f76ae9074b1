/**
 * The top files of all environments, with what they include, and the SLS names that they assign to this minion.
 * Source: Salt 3008.3, `BaseHighState.get_tops`, `get_top`, `top_matches` of `salt/state.py`.
 * @module
 */

import { type CompileError, SlsRenderError } from "./compile_error.ts";
import { Places } from "./place.ts";
import type { RenderedFile, TopSource } from "./source.ts";
import { filterGlob } from "#lib/text/glob.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { mergeTops, type Top, type TopMerging, TopRenderError } from "./top_merge.ts";
import { isAmong, isMap, typeName, type Value, type ValueMap } from "#lib/values/value.ts";

/** Options for reading and matching top files. */
export interface TopOptions extends TopMerging {
  /** The requested environment; without one, all are read. */
  readonly saltenv: string | undefined;
  /** `state_top_saltenv`: the one environment whose top file is read. */
  readonly stateTopSaltenv: string | undefined;
  /** Whether the names of `master_tops` come before those of top files. */
  readonly masterTopsFirst: boolean;
  /**
   * Whether a target matches the minion.
   * @param matcher `compound` unless the entry names another one.
   */
  matches(target: Value, matcher: string): boolean | Promise<boolean>;
}

/** A merged top, and the errors of the files. */
export interface ReadTop {
  readonly top: Top;
  readonly places: Places;
  /** Files that cannot be rendered: Salt logs them, and continues as if there were no top file at all. */
  readonly unreadable: readonly CompileError[];
}

/**
 * Reads and merges the top files.
 * @throws {TopRenderError} As {@linkcode mergeTops}; and with the strategy `same` if there is no `default_top`.
 */
export async function readTop(source: TopSource, options: TopOptions): Promise<ReadTop> {
  const places = new Places();
  const nothing = { top: new Map<Value, ValueMap>(), places };
  if (options.strategy === "same" && options.saltenv === undefined && options.defaultTop === "") {
    const text = "top_file_merging_strategy set to 'same', but no default_top configuration option was set";
    return { ...nothing, unreadable: [{ text }] };
  }
  const single = options.saltenv ?? options.stateTopSaltenv;
  const files = new Map<string, ValueMap[]>();
  try {
    for (const env of single === undefined ? await source.envs() : [single]) {
      files.set(env, [topData(await source.renderTop(env), env, places)]);
    }
    await readIncludes(files, source, places);
  } catch (error) {
    if (!(error instanceof SlsRenderError)) throw error;
    const text = `Unable to render top file: ${error.message}`;
    return { ...nothing, unreadable: [{ text, ...error.mistake }] };
  }
  return { top: mergeTops(files, options), places, unreadable: [] };
}

function topData(file: RenderedFile | undefined, env: string, places: Places): ValueMap {
  if (file === undefined || file.data === null) return new Map();
  if (file.positions !== undefined) places.add(file.positions);
  if (isMap(file.data)) return file.data;
  throw new TopRenderError(
    `Unable to render top file. The top file of saltenv '${env}' does not render to a dictionary, but to ${
      typeName(file.data)
    }.`,
  );
}

/**
 * Adds the files in the `include` of the first file of each environment. Includes of included files are not read, as in
 * Salt.
 */
async function readIncludes(files: Map<string, ValueMap[]>, source: TopSource, places: Places): Promise<void> {
  for (const [env, tops] of files) {
    const done = new Set<string>();
    for (const top of [...tops]) {
      const include = top.get("include");
      top.delete("include");
      for (const pattern of listOrEmpty(include)) {
        const names = typeof pattern === "string" ? filterGlob(pattern, await source.available(env)) : [];
        for (const name of names) {
          if (done.has(name)) continue;
          done.add(name);
          tops.push(topData(await source.render(name, env), env, places));
        }
      }
    }
  }
}

/** The SLS names of each environment for this minion, `master_tops` among them. */
export async function matchTop(top: Top, source: TopSource, options: TopOptions): Promise<Map<string, Value[]>> {
  const matches = new Map<string, Value[]>();
  const envs = new Set(["base", ...await source.envs()]);
  for (const [env, targets] of top) {
    if (typeof env !== "string" || (options.saltenv !== undefined && env !== options.saltenv)) continue;
    for (const [target, entry] of targets) {
      const items = typeof entry === "string" ? [entry] : entry;
      if (!Array.isArray(items)) continue;
      if (await options.matches(target, matcherOf(items))) addItems(matches, { env, items, envs });
    }
  }
  for (const [env, given] of await source.masterTops()) {
    const own = matches.get(env) ?? [];
    const [first, second] = options.masterTopsFirst ? [given, own] : [own, given];
    matches.set(env, [...first, ...second.filter((name) => !isAmong(name, first))]);
  }
  return matches;
}

/** The matcher of an entry; of several the last one. */
function matcherOf(items: readonly Value[]): string {
  let matcher = "compound";
  for (const item of items) {
    const matchName = isMap(item) ? item.get("match") : undefined;
    if (typeof matchName === "string") matcher = matchName;
  }
  return matcher;
}

interface Items {
  readonly env: string;
  readonly items: readonly Value[];
  readonly envs: ReadonlySet<string>;
}

function addItems(matches: Map<string, Value[]>, { env, items, envs }: Items): void {
  const listFor = (name: string): Value[] => {
    const list = matches.get(name) ?? [];
    matches.set(name, list);
    return list;
  };
  listFor(env);
  for (const item of items) {
    if (typeof item === "string") listFor(env).push(item);
    if (!isMap(item)) continue;
    // A map is a matcher, or an SLS of another environment: its last pair counts.
    const [other, sls] = [...item].at(-1) ?? [];
    if (typeof other === "string" && sls !== undefined && envs.has(other)) listFor(other).push(sls);
  }
}
