/**
 * The stage `chunks`: a low chunk for every state module and name of an ID. A chunk is the map that
 * `state.show_low_sls` shows: `{state, name, __sls__, __env__, __id__, <arguments>, order, fun}`. Source: Salt 3008.3,
 * `State.compile_high_data` of `salt/state.py`.
 * @module
 */

import { firstPair, isReserved, stateRuns } from "./high.ts";
import type { Places } from "./place.ts";
import { isAmong, isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** One call of a state function. */
export type Chunk = ValueMap;

/** The chunks of `high`, in its order. */
export function makeChunks(high: ValueMap, places: Places): Chunk[] {
  const chunks: Chunk[] = [];
  for (const [id, body] of high) {
    if (isReserved(id) || !isMap(body)) continue;
    for (const [state, run] of stateRuns(body)) {
      const chunk: Chunk = new Map([["state", state], ["name", id]]);
      for (const key of ["__sls__", "__env__", "__sls_included_from__"]) {
        const value = body.get(key);
        if (value !== undefined) chunk.set(key, value);
      }
      chunk.set("__id__", id);
      for (const made of runsByName(chunk, run)) {
        places.note(made, run);
        chunks.push(made);
      }
    }
  }
  return chunks;
}

/** The chunk with the arguments of `run`: one for each of its `names`, or the single one. None without a function. */
function* runsByName(chunk: Chunk, run: readonly Value[]): Generator<Chunk> {
  const names: Value[] = [];
  let fun: string | undefined;
  for (const argument of run) {
    if (typeof argument === "string") fun ??= argument;
    if (isMap(argument)) { for (const [key, value] of argument) take(chunk, names, key, value); }
  }
  if (fun === undefined) return;
  if (names.length === 0) yield new Map(chunk).set("fun", fun);
  for (const [i, entry] of names.entries()) {
    const live = new Map(chunk);
    rename(live, entry);
    yield live.set("name_order", i + 1).set("fun", fun);
  }
}

function take(chunk: Chunk, names: Value[], key: Value, value: Value): void {
  if (key === "names") {
    if (!Array.isArray(value)) return;
    for (const name of value) if (!isAmong(name, names)) names.push(name);
  } else if (key === "name" && typeof value !== "string") {
    chunk.set("name", chunk.get("__id__") ?? null);
  } else if (key !== "state") {
    chunk.set(key, value);
  }
}

/** Gives the chunk the name of an entry of `names`: text, or `{name: [{argument: value}, …]}`. */
function rename(chunk: Chunk, entry: Value): void {
  const [name, own] = isMap(entry) ? firstPair(entry) ?? [] : [entry];
  chunk.set("name", name ?? null);
  if (!Array.isArray(own)) return;
  for (const argument of own) if (isMap(argument)) { for (const [key, value] of argument) chunk.set(key, value); }
}

/** The key of a chunk in the graph and in the returns: `state_|-ID_|-name_|-function`. */
export function chunkTag(chunk: Chunk): string {
  return `${field(chunk, "state")}_|-${field(chunk, "__id__")}_|-${field(chunk, "name")}_|-${field(chunk, "fun")}`;
}

/** A field of a chunk as text. */
export function field(chunk: Chunk, key: string): string {
  return str(chunk.get(key) ?? null);
}
