/**
 * What `stateconf` changes in high data: full names in place of those that begin with a dot, an order by requires, and
 * the states that stand for the begin and the end of a file.
 * Source: Salt 3008.3, `salt/renderers/stateconf.py`.
 * @module
 */

import { RenderError } from "#lib/errors.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import {
  bodyOf,
  type ChangedPlaces,
  type DeclaredState,
  MalformedHigh,
  namedItems,
  needList,
  needMap,
  needName,
  NO_IDS,
  requisitesOf,
  stateModuleOf,
  statesOf,
} from "./_stateconf_high.ts";
import { absoluteId, absoluteSls } from "./_stateconf_names.ts";

/** The state that gives a file its variables, and its module. */
export const STATE_FUNCTION = "stateconf.set", STATE_MODULE = "stateconf";

const START = ".start", GOAL = ".goal";
const TREE_KEYS: ReadonlySet<string> = new Set(["include", "exclude"]);
const BEFORE = ["require", "watch", "listen", "onchanges", "onfail"];
/** Requisites of states before, and of states after. */
const REQUIRE: ReadonlySet<string> = new Set(BEFORE);
const REQUIRE_IN: ReadonlySet<string> = new Set(BEFORE.map((name) => `${name}_in`));
/** Requisites whose names may be relative. */
const REQUISITES: ReadonlySet<string> = new Set([...REQUIRE, ...REQUIRE_IN, "use", "use_in"]);

/** `id: pkg.installed` becomes `id: {pkg.installed: []}`. */
export function expandShortStates(high: ValueMap): void {
  for (const [id, body] of high) if (typeof body === "string") high.set(id, new Map([[body, []]]));
}

/** Makes the relative names in `include` and `exclude` absolute. */
export function expandTreeNames(high: ValueMap, sls: string, saltenv: string): void {
  if (high.has("include")) {
    const includes = needList(high.get("include"));
    for (const [i, one] of includes.entries()) {
      const [env, name] = isMap(one) ? [...one][0] ?? [null, null] : [saltenv, one];
      if (needName(name).startsWith(".")) includes[i] = new Map([[env, absoluteSls(needName(name), sls)]]);
    }
  }
  if (!high.has("exclude")) return;
  for (const one of needList(high.get("exclude"))) {
    const name = isMap(one) ? one.get("sls") : undefined;
    if (isMap(one) && typeof name === "string" && name.startsWith(".")) one.set("sls", absoluteSls(name, sls));
  }
}

/** A state as requisites name it. */
function tagOf(id: Value, state: string): string {
  return `${str(id)}:${stateModuleOf(state)}`;
}

/** Requisites that `extend` adds to states of the files of a run, by {@linkcode tagOf}. */
export class ExtendedRequisites {
  readonly before = new Map<string, string[]>();
  readonly after = new Map<string, string[]>();

  /** Adds those of `extend` in a file. */
  add(extend: ValueMap): void {
    for (const { id, args } of statesOf(extend, TREE_KEYS)) {
      for (const [keys, kept] of [[REQUIRE, this.before], [REQUIRE_IN, this.after]] as const) {
        for (const { key, value } of requisitesOf(args, keys)) {
          const tag = tagOf(id, needName(key));
          kept.set(tag, [...kept.get(tag) ?? [], tagOf(value, needName(key))]);
        }
      }
    }
  }
}

/**
 * Adds to each state that it requires the one before it.
 * @throws {RenderError} If a state requires one that stands below it.
 */
export function orderByRequires(high: ValueMap, extended: ExtendedRequisites, places: ChangedPlaces): void {
  const named = [...statesOf(high, TREE_KEYS)];
  const withNames = named.find(({ id, args }) => id !== "extend" && !namedItems(args, NAMES).next().done);
  if (withNames !== undefined) {
    throw new RenderError(
      `'names' declaration(found in state id: ${withNames.id}) is not supported with implicitly ordered states! ` +
        "A loop of the template can make one state for each name.",
    );
  }
  const states = named.filter(({ id }) => id !== "extend");
  const after = new Set(states.map(({ id, state }) => tagOf(id, state))), before = new Set<string>();
  if (high.has("extend")) extended.add(bodyOf(high, "extend"));
  let previous: DeclaredState | undefined;
  for (const one of states) {
    const tag = tagOf(one.id, one.state);
    if (!after.delete(tag)) throw new MalformedHigh(`${tag} stands here twice`);
    refuse(one, { keys: REQUIRE, more: extended.before, forbidden: after, where: "after" });
    refuse(one, { keys: REQUIRE_IN, more: extended.after, forbidden: before, where: "before" });
    if (previous !== undefined) requireFirst(one, previous, places);
    before.add(tag);
    previous = one;
  }
}

const NAMES: ReadonlySet<string> = new Set(["names"]);

/** Refuses requisites that contradict the order of the file. */
function refuse({ id, state, args }: DeclaredState, { keys, more, forbidden, where }: {
  readonly keys: ReadonlySet<string>;
  readonly more: ReadonlyMap<string, readonly string[]>;
  readonly forbidden: ReadonlySet<string>;
  readonly where: string;
}): void {
  const tag = tagOf(id, state);
  const own = [...requisitesOf(args, keys)].map(({ key, value }) => tagOf(value, needName(key)));
  const wrong = [...own, ...more.get(tag) ?? []].find((other) => forbidden.has(other));
  if (wrong === undefined) return;
  throw new RenderError(
    `State(${tag}) can't ${[...keys].join("/")} a state(${wrong}) defined ${where} it!`,
  );
}

/** Adds a requisite at the begin of a state's `require`. */
function requireFirst({ args }: DeclaredState, { id, state }: DeclaredState, places: ChangedPlaces): void {
  const requisite = map({ [stateModuleOf(state)]: id });
  const first = namedItems(args, REQUIRE_ONLY).next();
  if (first.done === true) needList(args).push(map({ require: [requisite] }));
  else places.prepend(needList(first.value.value), requisite);
}

const REQUIRE_ONLY: ReadonlySet<string> = new Set(["require"]);

/**
 * Adds the state `.start`, which the first state of the file requires.
 * @throws {RenderError} If the file has one, or no state.
 */
export function addStart(high: ValueMap): void {
  if (high.has(START)) throw new RenderError(`Can't generate start state(${START})! The same state id already exists!`);
  if (high.size === 0) return;
  const first = [...high].find(([id]) => !NO_IDS.has(needName(id)) && !needName(id).startsWith("__"));
  if (first === undefined) throw new RenderError("Can't determine the first state in the sls file!");
  const [id, body] = first;
  const state = needMap(body).keys().next();
  if (state.done === true) throw new MalformedHigh(`${str(id)} is empty`);
  const requisite = new Map<Value, Value>([[stateModuleOf(needName(state.value)), id]]);
  high.set(START, map({ [STATE_FUNCTION]: [map({ require_in: [requisite] })] }));
}

/**
 * Adds the state `.goal`, which requires all states of the file.
 * @throws {RenderError} If the file has one.
 */
export function addGoal(high: ValueMap): void {
  if (high.has(GOAL)) throw new RenderError(`Can't generate goal state(${GOAL})! The same state id already exists!`);
  const states = [...statesOf(high, NO_IDS)].filter(({ body }) => !body.has("__sls__"));
  const require = states.map(({ id, state }) => map({ [stateModuleOf(state)]: id }));
  high.set(GOAL, map({ [STATE_FUNCTION]: [map({ require })] }));
}

/**
 * Gives IDs that begin with a dot, and what names them, their full names: `web.site::conf` for `.conf` in `web.site`.
 * @throws {RenderError} If the file has an ID of that name too.
 */
export function nameInFull(high: ValueMap, sls: string, places: ChangedPlaces, isExtend = false): void {
  if (high.has("extend") && !isExtend) nameInFull(bodyOf(high, "extend"), sls, places, true);
  for (const { args } of statesOf(high, TREE_KEYS)) {
    for (const { item, key, value } of requisitesOf(args, REQUISITES)) {
      if (needName(value).startsWith(".")) item.set(key, absoluteId(needName(value), sls));
    }
  }
  for (const [key, body] of [...high]) {
    const id = needName(key);
    if (!id.startsWith(".")) continue;
    const full = absoluteId(id, sls);
    if (high.has(full)) {
      throw new RenderError(`Can't rename state id(${id}) into ${full} because the later already exists!`);
    }
    for (const [state, args] of bodyOf(high, id)) {
      if (stateModuleOf(needName(state)) !== STATE_MODULE) name(args, id, places);
    }
    high.delete(id);
    high.set(full, body);
    places.renamed(high, id, full);
  }
}

/** Without an argument `name` it is the ID without its dot. */
function name(args: Value, id: string, places: ChangedPlaces): void {
  const list = needList(args);
  const isNamed = list.some((one) => isMap(one) && one.keys().next().value === "name");
  if (!isNamed) places.prepend(list, map({ name: id.slice(1) }));
}
