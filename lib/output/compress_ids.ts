/**
 * `state_compress_ids`: combines the states of one ID that had the same result, with their number, the earliest start
 * and the sum of the durations.
 * Source: Salt's highstate outputter.
 * @module
 */

import { mapOf } from "#lib/values/dict.ts";
import { SEPARATOR } from "./state_return.ts";
import { compare, float, isMap, str, toNumber, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { roundHalfEven } from "./rounding.ts";

/** Marks the tag of combined states. */
const MARK = "state_compressed_";

/** Combines the states of every minion in `data`; returns `data` itself if a part of it has another form. */
export function compressIds(data: ValueMap): ValueMap {
  const hosts: [Value, Value][] = [];
  for (const [host, states] of data) {
    const compressed = isMap(states) ? compressHost(states) : undefined;
    if (compressed === undefined) return data;
    hosts.push([host, compressed]);
  }
  return mapOf(hosts);
}

/** Number of states of `tag`: the ID of combined states ends in `(3)`. */
export function compressedCount(tag: readonly string[]): number {
  if (!tag[2]?.startsWith(MARK)) return 1;
  return Number(/\((\d+)\)$/.exec(tag[1])?.[1] ?? 1);
}

interface State {
  readonly tag: readonly string[];
  readonly info: ValueMap;
  /** Fields that are the same in combined states. */
  readonly group: string;
}

function compressHost(states: ValueMap): ValueMap | undefined {
  const read: State[] = [];
  const sizes = new Map<string, number>();
  for (const [name, info] of states) {
    if (typeof name !== "string" || !isMap(info)) return undefined;
    const tag = name.split(SEPARATOR);
    const parts = ["__id__", "__sls__", "result"].map((field) => info.get(field));
    if (tag.length < 3 || parts.includes(undefined)) return undefined;
    const group = [tag[0], ...parts.map((part) => str(part ?? null))].join("_");
    sizes.set(group, (sizes.get(group) ?? 0) + 1);
    read.push({ tag, info, group });
  }
  const compressed = new Map<string, ValueMap>();
  for (const { tag, info, group } of read) {
    const size = sizes.get(group) ?? 1;
    if (size === 1) {
      compressed.set(tag.join(SEPARATOR), info);
      continue;
    }
    const [id, sls, result] = ["__id__", "__sls__", "result"].map((field) => str(info.get(field) ?? null));
    const name = [tag[0], `${id} (${size})`, `${MARK}${sls}_${id}_${result}`, ...tag.slice(3)].join(SEPARATOR);
    const before = compressed.get(name);
    const joined = before === undefined ? info : join(before, info);
    if (joined === undefined) return undefined;
    compressed.set(name, joined);
  }
  return mapOf([...compressed]);
}

function join(first: ValueMap, next: ValueMap): ValueMap | undefined {
  const durations = [next, first].map((info) => toNumber(info.get("duration")));
  const starts = [next, first].map((info) => info.get("start_time"));
  const numbers = [next, first].map((info) => info.get("__run_num__"));
  if ([...durations, ...starts, ...numbers].includes(undefined)) return undefined;
  const chunk = mapOf([...first]);
  chunk.set("__run_num__", smallest(numbers));
  chunk.set("duration", float(roundHalfEven(Number(durations[0]) + Number(durations[1]), 3)));
  chunk.set("start_time", smallest(starts));
  const changes = joinChanges(first, next);
  if (changes !== undefined) chunk.set("changes", changes);
  return chunk;
}

function smallest(values: readonly (Value | undefined)[]): Value {
  return values.map((value) => value ?? null).sort(compare)[0];
}

/** The changes of both by the states' names, if the second has some. */
function joinChanges(first: ValueMap, next: ValueMap): ValueMap | undefined {
  const added = next.get("changes");
  if (!truthy(added)) return undefined;
  const before = first.get("changes");
  const compressed = isMap(before) ? before.get("compressed changes") : undefined;
  const own: [Value, Value][] = !truthy(before)
    ? []
    : isMap(compressed)
    ? [...compressed]
    : [[first.get("name") ?? null, before ?? null]];
  return mapOf([["compressed changes", mapOf([...own, [next.get("name") ?? null, added ?? null]])]]);
}
