/**
 * Top files of pillar: merges them, and selects a minion's part. Source: Salt 3008.3 `salt/pillar/__init__.py`
 * merge_tops, sort_top_targets, top_matches; `salt/matchers/confirm_top.py`.
 * @module
 */

import { PillarTopError } from "#lib/errors.ts";
import { isFloat, isInt, isMap, str, toNumber, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** A rendered top file, and its environment. */
export interface TopFile {
  readonly saltenv: string;
  readonly top: Value;
}

/** All top files as one. */
export interface MergedTop {
  /** By environment and target: maps with `match`, then names of SLS. */
  readonly targets: ReadonlyMap<Value, ReadonlyMap<Value, Value[]>>;
  /** The SLS that may be missing, by environment. */
  readonly ignored: ReadonlyMap<Value, ReadonlySet<string>>;
}

/** The entry of a target in one top file. */
interface Entry {
  readonly matches: Value[];
  readonly sls: string[];
  readonly order: number;
  readonly ignoresMissing: boolean;
}

/** An empty result, for top files that cannot be read. */
export const NO_TOP: MergedTop = { targets: new Map(), ignored: new Map() };

/**
 * Merges top files; if two contain the same target, the later one is used.
 * @throws {PillarTopError} If one of them does not have the form of a top file.
 */
export function mergePillarTops(tops: readonly TopFile[]): MergedTop {
  const merged = new Map<Value, Map<Value, Entry>>();
  const ignored = new Map<Value, Set<string>>();
  for (const { top } of tops) {
    if (!isMap(top)) throw new PillarTopError("a top file is not a map");
    for (const [saltenv, targets] of top) {
      if (saltenv === "include") continue;
      const known = merged.get(saltenv) ?? new Map<Value, Entry>();
      for (const [target, items] of targetsOf(targets)) {
        const entry = readEntry(items);
        known.set(target, entry);
        merged.set(saltenv, known);
        if (!entry.ignoresMissing) continue;
        const missing = ignored.get(saltenv) ?? new Set();
        for (const sls of entry.sls) missing.add(sls);
        ignored.set(saltenv, missing);
      }
    }
  }
  return { targets: new Map([...merged].map(([saltenv, entries]) => [saltenv, sortEntries(entries)])), ignored };
}

function sortEntries(entries: ReadonlyMap<Value, Entry>): Map<Value, Value[]> {
  const inOrder = [...entries].sort(([, a], [, b]) => a.order - b.order);
  return new Map(inOrder.map(([target, { matches, sls }]) => [target, [...matches, ...sls]]));
}

/** The targets of an environment. An empty text or list is not a target, as Python iterates it. */
function targetsOf(targets: Value): ValueMap {
  if (isMap(targets)) return targets;
  if (targets === "" || (Array.isArray(targets) && targets.length === 0)) return new Map();
  throw new PillarTopError("the targets of an environment are not a map");
}

function readEntry(items: Value): Entry {
  const sls = new Set<string>();
  const matches: Value[] = [];
  let order = 0, ignoresMissing = false;
  for (const item of iterateItems(items)) {
    if (typeof item === "string") sls.add(item);
    if (!isMap(item)) continue;
    if (item.has("match")) matches.push(item);
    if (item.has("order")) order = orderOf(item.get("order") ?? null);
    if (truthy(item.get("ignore_missing"))) ignoresMissing = true;
  }
  return { matches, sls: [...sls], order, ignoresMissing };
}

/** As Python iterates it: of a map its keys, of a text its characters. */
function iterateItems(items: Value): Iterable<Value> {
  if (Array.isArray(items)) return items;
  if (isMap(items)) return items.keys();
  if (typeof items === "string") return items;
  throw new PillarTopError("the entry of a target is not a list");
}

function orderOf(order: Value): number {
  if (typeof order === "string") return /^\s*[+-]?\d+(_\d+)*\s*$/.test(order) ? Number(order.replaceAll("_", "")) : 0;
  const number = isInt(order) || isFloat(order) || typeof order === "boolean" ? toNumber(order) : undefined;
  if (number === undefined || !Number.isFinite(number)) throw new PillarTopError("an order is not a number");
  return Math.trunc(number);
}

/** Whether a target matches the minion. */
export type TopMatch = (target: Value, items: readonly Value[]) => boolean;

/**
 * The SLS of a minion by environment, in order, each once.
 * @param pillarenv If set, only of that environment.
 */
export function topMatches(
  { targets }: MergedTop,
  { pillarenv, matches }: { readonly pillarenv: string | null; readonly matches: TopMatch },
): Map<string, string[]> {
  const byMinion = new Map<string, string[]>();
  for (const [saltenv, entries] of targets) {
    if (pillarenv !== null && pillarenv !== "" && saltenv !== pillarenv) continue;
    for (const [target, items] of entries) {
      if (!matches(target, items)) continue;
      const name = str(saltenv);
      const earlier = byMinion.get(name) ?? [];
      for (const item of items) if (typeof item === "string" && !earlier.includes(item)) earlier.push(item);
      byMinion.set(name, earlier);
    }
  }
  return byMinion;
}

/** The environments, those of `env_order` first. */
export function inEnvOrder(
  tops: ReadonlyMap<string, string[]>,
  envOrder: readonly string[],
): [saltenv: string, sls: readonly string[]][] {
  const first = envOrder.filter((saltenv) => tops.has(saltenv));
  const rest = [...tops.keys()].filter((saltenv) => !first.includes(saltenv));
  return [...first, ...rest].map((saltenv) => [saltenv, tops.get(saltenv) ?? []]);
}
