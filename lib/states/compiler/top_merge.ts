/**
 * The top files of several environments merged into one top: `{environment: {target: [SLS names and options]}}`.
 * Source: Salt 3008.3, `BaseHighState._merge_tops_*` of `salt/state.py`.
 * @module
 */

import { isAmong, isMap, type Value, type ValueMap } from "#lib/values/value.ts";

/** Targets with their SLS names, by environment. One whose name is not a text is left for verification. */
export type Top = Map<Value, ValueMap>;

/**
 * The top files of each environment: its own, and those that it includes. An environment without a file has an empty
 * map.
 */
export type TopFiles = ReadonlyMap<string, readonly ValueMap[]>;

/** Options for merging. */
export interface TopMerging {
  /** `top_file_merging_strategy`: `merge`, `same` or `merge_all`; any other merges as `merge`. */
  readonly strategy: string;
  /** `default_top`: with `same`, the environment whose top file serves those without one. */
  readonly defaultTop: string;
}

/** A top file in which an environment has no targets, as Salt names it. */
export class TopRenderError extends Error {
  override name = "TopRenderError";
}

/**
 * Merges top files.
 * @throws {TopRenderError} If the section of an environment is not a map.
 */
export function mergeTops(files: TopFiles, { strategy, defaultTop }: TopMerging): Top {
  if (strategy === "same") return mergeSame(files, defaultTop);
  if (strategy === "merge_all") return mergeAll(files);
  return mergeBaseFirst(files);
}

/** All sections of base's files; for other environments only their own section, if base has none for them. */
function mergeBaseFirst(files: TopFiles): Top {
  const top: Top = new Map();
  for (const file of files.get("base") ?? []) for (const [env, targets] of sections(file)) put(top, env, targets);
  for (const [own, others] of files) {
    if (own === "base") continue;
    for (const file of others) {
      for (const [env, targets] of sections(file)) if (env === own && !top.has(env)) put(top, env, targets);
    }
  }
  return top;
}

/**
 * For every environment only its own section; one without a file uses its section in the default environment's file.
 */
function mergeSame(files: TopFiles, defaultTop: string): Top {
  const top: Top = new Map();
  for (const [own, ownFiles] of files) {
    const isEmpty = ownFiles.every(({ size }) => size === 0);
    for (const file of isEmpty ? files.get(defaultTop) ?? [] : ownFiles) {
      for (const [env, targets] of sections(file)) if (env === own) put(top, env, targets);
    }
  }
  return top;
}

/** All sections of all files; the SLS names of one target are joined. */
function mergeAll(files: TopFiles): Top {
  const top: Top = new Map();
  for (const file of [...files.values()].flat()) {
    for (const [env, targets] of sections(file)) {
      if (!isMap(targets)) throw noTargets();
      const byTarget: ValueMap = top.get(env) ?? new Map();
      for (const [target, names] of targets) byTarget.set(target, joinNames(byTarget.get(target), names));
      if (targets.size > 0) top.set(env, byTarget);
    }
  }
  return top;
}

function* sections(file: ValueMap): Generator<[Value, Value]> {
  for (const [env, targets] of file) if (env !== "include") yield [env, targets];
}

function put(top: Top, env: Value, targets: Value): void {
  if (!isMap(targets)) throw noTargets();
  if (targets.size === 0) return;
  const byTarget: ValueMap = top.get(env) ?? new Map();
  for (const [target, names] of targets) byTarget.set(target, names);
  top.set(env, byTarget);
}

/** One matcher, then the names of both without repeats. */
function joinNames(known: Value | undefined, more: Value): Value {
  if (known === undefined) return more;
  if (!Array.isArray(known) || !Array.isArray(more)) throw noTargets();
  const matcher = more.findLast(isMap) ?? known.findLast(isMap);
  const merged: Value[] = matcher === undefined ? [] : [matcher];
  merged.push(...known.filter((item) => typeof item === "string"));
  const before = [...merged];
  merged.push(...more.filter((item) => typeof item === "string" && !isAmong(item, before)));
  return merged;
}

function noTargets(): TopRenderError {
  return new TopRenderError("Unable to render top file. No targets found.");
}
