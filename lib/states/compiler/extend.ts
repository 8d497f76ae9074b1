/**
 * The stage `extend`: applies `extend` declarations to their IDs.
 * Source: Salt 3008.3, `State.reconcile_extend` and `find_name` of `salt/state.py`.
 * @module
 */

import type { CompileError } from "./compile_error.ts";
import { declaredModules, firstKey, isReserved, slsOf, stateRuns } from "./high.ts";
import { nearestName } from "#lib/text/nearest_name.ts";
import type { Places } from "./place.ts";
import { REQUISITE_KEYWORDS } from "./requisites.ts";
import { isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** An ID and a state module of it. */
export type IdAndState = readonly [id: Value, state: string];

/** The IDs of an SLS, with each of their state modules. */
export function idsOfSls(sls: Value, high: ValueMap): IdAndState[] {
  const ids: IdAndState[] = [];
  for (const [id, body] of high) {
    if (isMap(body) && body.get("__sls__") === sls) {
      for (const [state] of declaredModules(body)) ids.push([id, state]);
    }
  }
  return ids;
}

/** What a requisite can call the states: their IDs, and the values of their argument `name`. */
export function idsAndNames(high: ValueMap): Set<Value> {
  const names = new Set<Value>();
  for (const [id, body] of high) {
    names.add(id);
    for (const [, run] of stateRuns(body)) {
      for (const argument of run) if (isMap(argument) && argument.has("name")) names.add(argument.get("name") ?? null);
    }
  }
  return names;
}

/**
 * Finds the IDs for `name`: the ID itself, else every one with an argument of that value.
 * @param strict Whether the ID itself must have the state module.
 */
export function findName(
  name: Value,
  state: string,
  { high, strict }: { high: ValueMap; strict: boolean },
): IdAndState[] {
  const own = high.get(name);
  if (own !== undefined && (!strict || (isMap(own) && own.has(state)))) return [[name, state]];
  const ids: IdAndState[] = [];
  for (const [id, body] of high) {
    if (!isMap(body)) continue;
    if (state === "sls") {
      const first = firstKey(body);
      if (body.get("__sls__") === name && typeof first === "string") ids.push([id, first]);
      continue;
    }
    const run = body.get(state);
    if (!Array.isArray(run)) continue;
    for (const argument of run) {
      if (isMap(argument) && argument.size === 1 && argument.values().next().value === name) ids.push([id, state]);
    }
  }
  return ids;
}

/**
 * Removes `__extend__` from `high` and applies it.
 * @param strict As {@linkcode findName}.
 */
export function applyExtends(high: ValueMap, places: Places, { strict = false } = {}): CompileError[] {
  const extensions = high.get("__extend__");
  if (!Array.isArray(extensions)) return [];
  high.delete("__extend__");
  const errors: CompileError[] = [];
  for (const extension of extensions) {
    if (!isMap(extension)) {
      errors.push({ text: "Extension value is not a dictionary" });
      continue;
    }
    for (const [name, body] of extension) {
      const error = isMap(body)
        ? extendOne({ name, body, strict }, high, places)
        : { text: `Extension name '${str(name)}' is not a dictionary` };
      if (error !== undefined) errors.push(error);
    }
  }
  return errors;
}

interface Extension {
  readonly name: Value;
  readonly body: ValueMap;
  readonly strict: boolean;
}

function extendOne({ name, body, strict }: Extension, high: ValueMap, places: Places): CompileError | undefined {
  const first = [...body.keys()].find((key): key is string => typeof key === "string" && !isReserved(key));
  if (first === undefined) {
    const text = `Extension name '${str(name)}' in SLS '${slsOf(body)}' names no state`;
    return { text, place: places.of(body) };
  }
  let id = name;
  const existing = high.get(name);
  if (!isMap(existing) || !existing.has(first)) {
    const ids = findName(name, first, { high, strict });
    if (ids.length !== 1) return unknownId(name, body, high, places);
    id = ids[0][0];
  }
  if (isExcluded(body, high)) return undefined;
  const target = high.get(id);
  if (!isMap(target)) return unknownId(name, body, high, places);
  for (const [state, run] of stateRuns(body)) extendState(target, state, run, places);
  return undefined;
}

function unknownId(name: Value, body: ValueMap, high: ValueMap, places: Places): CompileError {
  const id = str(name), sls = slsOf(body);
  const env = str(body.get("__env__") ?? "base");
  const texts = [...idsAndNames(high)].filter((key) => typeof key === "string" && !isReserved(key)).map(str);
  const near = nearestName(id, texts);
  return {
    text: `Cannot extend ID '${id}' in '${env}:${sls}'. It is not part of the high state.\n` +
      "This is likely due to a missing include statement or an incorrectly typed ID.\n" +
      `Ensure that a state with an ID of '${id}' is available\nin environment '${env}' and to SLS '${sls}'`,
    place: places.of(body),
    ...(near !== undefined && near !== id && { hint: `Did you mean ${high.has(near) ? "the ID " : ""}'${near}'?` }),
  };
}

/** Whether the SLS that extends is excluded by its exact name. */
function isExcluded(body: ValueMap, high: ValueMap): boolean {
  const excludes = high.get("__exclude__");
  if (!Array.isArray(excludes)) return false;
  const sls = body.get("__sls__");
  return excludes.some((exclude) => sls !== undefined && (isMap(exclude) ? exclude.get("sls") : exclude) === sls);
}

function extendState(target: ValueMap, state: string, run: Value[], places: Places): void {
  const own = target.get(state);
  if (!Array.isArray(own)) {
    if (own === undefined) target.set(state, run);
    return;
  }
  // With a YAML alias both may be the same list.
  for (const argument of [...run]) if (!replaceArgument(own, argument, places)) own.push(argument);
}

/**
 * Replaces the argument of the same name with `argument`, or joins both.
 * @returns Whether there was one.
 */
function replaceArgument(own: Value[], argument: Value, places: Places): boolean {
  let replaced = false;
  const key = firstKey(argument);
  for (let i = 0; i < own.length; i++) {
    const present = own[i];
    if (typeof argument === "string" && typeof present === "string") {
      own[i] = argument;
      replaced = true;
    } else if (isMap(argument) && isMap(present) && key !== undefined) {
      const ownKey = firstKey(present);
      if (ownKey === key) {
        if (REQUISITE_KEYWORDS.has(key)) joinRequisites(present, argument, key, places);
        else own[i] = argument;
        replaced = true;
      }
      if (key === "name" && ownKey === "names") own[i] = argument;
    }
  }
  return replaced;
}

function joinRequisites(known: ValueMap, argument: ValueMap, key: Value, places: Places): void {
  const present = known.get(key), more = argument.get(key);
  if (Array.isArray(present) && Array.isArray(more)) {
    more.forEach((item, i) => {
      if (!isMap(item)) return;
      const place = places.item(more, i);
      places.note(item, () => place);
    });
    present.push(...more);
  } else if (Array.isArray(present)) {
    // A requisite that is not a list: verification reports this item.
    known.set(key, more ?? null);
  }
}
