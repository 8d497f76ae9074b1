/**
 * The requisites `listen` and `listen_in`: after all states, `mod_watch` of those that listen to one that changed
 * something. Source: Salt 3008.3, `State.call_listen` of `salt/state.py`.
 * @module
 */

import { type Chunk, chunkTag, field } from "#lib/states/compiler/chunks.ts";
import { REQUISITE_KEYWORDS } from "#lib/states/compiler/requisites.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** The calls after the states, and the `listen` items that match nothing. */
export interface Listening {
  /** Chunks of `mod_watch`, in their order. */
  readonly chunks: readonly Chunk[];
  /** Results of requisites that name no state, by tag; without `__run_num__`. */
  readonly errors: ReadonlyMap<string, ValueMap>;
}

/** A chunk that listens, and its targets. */
interface Listener {
  readonly state: Value;
  /** IDs or names that it may have. */
  readonly called: Value;
  readonly to: readonly Value[];
}

/** Finds the states that listen to a state with changes in `results`. */
export function findListening(chunks: readonly Chunk[], results: ReadonlyMap<string, ValueMap>): Listening {
  const listeners = listenersOf(chunks);
  if (listeners.length === 0) return { chunks: [], errors: new Map() };
  const index = new ChunkIndex(chunks);
  const errors = new Map<string, ValueMap>();
  const byTag = new Map<string, Chunk>();
  for (const { state, called, to } of listeners) {
    for (const [module, name] of to.flatMap((one) => targetsOf(one, chunks))) {
      const watched = index.find(module, name);
      if (watched.length === 0) {
        addError(errors, module, name);
        continue;
      }
      if (!watched.some((chunk) => truthy(results.get(chunkTag(chunk))?.get("changes")))) continue;
      const own = index.find(state, called);
      if (own.length === 0) addError(errors, state, called);
      for (const chunk of own.map(modWatchOf)) {
        const tag = chunkTag(chunk);
        if (!byTag.has(tag)) byTag.set(tag, chunk);
      }
    }
  }
  return { chunks: [...byTag.values()], errors };
}

/** The chunks by state module, and by ID and name. */
class ChunkIndex {
  readonly #chunks = new Map<Value, Map<Value, Chunk[]>>();

  constructor(chunks: readonly Chunk[]) {
    // A chunk that is in the list twice, for `prereq`, is called once.
    for (const chunk of new Set(chunks)) {
      const [module, id, name] = [chunk.get("state") ?? null, chunk.get("__id__") ?? null, chunk.get("name") ?? null];
      for (const key of new Set([module, id, name])) this.#add(module, key, chunk);
    }
  }

  #add(module: Value, key: Value, chunk: Chunk): void {
    const keys = this.#chunks.get(module) ?? new Map<Value, Chunk[]>();
    this.#chunks.set(module, keys);
    const chunks = keys.get(key);
    if (chunks === undefined) keys.set(key, [chunk]);
    else chunks.push(chunk);
  }

  find(module: Value, called: Value): readonly Chunk[] {
    return this.#chunks.get(module)?.get(called) ?? [];
  }
}

function listenersOf(chunks: readonly Chunk[]): Listener[] {
  const listeners: Listener[] = [];
  for (const chunk of new Set(chunks)) {
    const [state, id] = [chunk.get("state") ?? null, chunk.get("__id__") ?? null];
    const [listen, listenIn] = [chunk.get("listen"), chunk.get("listen_in")];
    if (Array.isArray(listen)) listeners.push({ state, called: id, to: listen });
    for (const item of listOrEmpty(listenIn)) {
      for (const [module, called] of targetsOf(item, chunks)) {
        listeners.push({ state: module, called, to: [map({ [str(state)]: id })] });
      }
    }
  }
  return listeners;
}

/** The state module and the ID or name that an item of `listen` means; an unknown bare ID matches nothing. */
function targetsOf(item: Value, chunks: readonly Chunk[]): (readonly [Value, Value])[] {
  if (isMap(item)) return [...item];
  const named = chunks.find((chunk) => chunk.get("__id__") === item || chunk.get("name") === item);
  return named === undefined ? [] : [[named.get("state") ?? null, named.get("__id__") ?? null]];
}

/** The chunk of `mod_watch` that is run for one that listens. */
function modWatchOf(chunk: Chunk): Chunk {
  const own = new Map(chunk);
  own.set("sfun", chunk.get("fun") ?? null).set("fun", "mod_watch").set("__id__", `listener_${field(chunk, "__id__")}`);
  for (const key of own.keys()) if (REQUISITE_KEYWORDS.has(key)) own.delete(key);
  return own;
}

function addError(errors: Map<string, ValueMap>, module: Value, called: Value): void {
  const [state, name] = [str(module), str(called)];
  const tag = `Listen_Error_|-listen_${name}_|-listen_${state}_|-Listen_Error`;
  const comment = `Referenced state ${state}: ${name} does not exist`;
  errors.set(tag, map({ comment, name: `listen_${state}:${name}`, result: false, changes: {} }));
}
