/**
 * The stage `requisite_in`: `require_in` and similar keywords become requisites of the named states; `use` and `use_in`
 * copy arguments.
 *
 * As in Salt, every item of such a list adds to the states of all items before it too, so that a list of two gives the
 * first of them the requisite twice; and an unknown bare ID is skipped. Source: Salt 3008.3, `State.requisite_in` of
 * `salt/state.py`.
 * @module
 */

import { moduleOfFunction } from "#lib/plugins/docs.ts";
import type { CompileError } from "./compile_error.ts";
import { applyExtends, findName, type IdAndState, idsAndNames, idsOfSls } from "./extend.ts";
import { declaredModules, firstKey, firstPair, slsOf, stateRuns } from "./high.ts";
import { nearestName } from "#lib/text/nearest_name.ts";
import { listUnder } from "#lib/values/shape.ts";
import type { Origin, Places } from "./place.ts";
import { NOT_USED, REQUISITE_IN_KEYWORDS } from "./requisites.ts";
import { isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** The names of requisites that are disabled by the options. */
export type Disabled = ReadonlySet<unknown>;

/** Applies all of them to `high`. */
export function applyRequisitesIn(high: ValueMap, places: Places, disabled: Disabled = new Set()): CompileError[] {
  const making = new Extensions(high, places);
  for (const [id, body] of high) {
    if (!isMap(body)) continue;
    for (const [state, run] of stateRuns(body)) {
      for (const argument of run) {
        const [key, items] = isMap(argument) ? firstPair(argument) ?? [] : [];
        if (typeof key !== "string" || !REQUISITE_IN_KEYWORDS.has(key) || disabled.has(key)) continue;
        const from: Source = { id, body, state, key, argument };
        if (isMap(items)) { for (const [module, name] of items) making.single(from, str(module), name); }
        if (Array.isArray(items)) making.list(from, items);
      }
    }
  }
  high.set("__extend__", making.extensions());
  return [...making.errors, ...applyExtends(high, places, { strict: true })];
}

/** The argument that adds to others: of a state module of an ID. */
interface Source {
  readonly id: Value;
  readonly body: ValueMap;
  readonly state: string;
  /** `require_in`, `use`, … */
  readonly key: string;
  readonly argument: Value;
}

class Extensions {
  readonly #high: ValueMap;
  readonly #places: Places;
  /** Extensions by ID, in the order in which they were first needed. */
  readonly #bodies: ValueMap = new Map();
  readonly errors: CompileError[] = [];

  constructor(high: ValueMap, places: Places) {
    this.#high = high;
    this.#places = places;
  }

  /** As a list of `extend` declarations. */
  extensions(): Value[] {
    return [...this.#bodies].map(([id, body]) => new Map([[id, body]]));
  }

  /** An item of a map: `require_in: {pkg: nginx}`. */
  single(from: Source, module: string, name: Value): void {
    const requisite = requisiteOf(from.key);
    const place = () => this.#places.of(from.argument);
    if (module.includes(".")) {
      const text = `Invalid requisite in ${requisite}: ${module} for ${str(name)} in SLS '${slsOf(from.body)}'. ` +
        `Requisites must not contain dots, did you mean '${moduleOfFunction(module)}'?`;
      this.errors.push({ text, place: place() });
    }
    this.#add(from, [name, moduleOfFunction(module)], place);
  }

  /** A list: `require_in: [{pkg: nginx}, other_id]`. */
  list(from: Source, items: Value[]): void {
    let targets: IdAndState[] = [];
    for (const [i, item] of items.entries()) {
      const place = () => this.#places.item(items, i) ?? this.#places.of(from.argument);
      const named = isMap(item) ? firstPair(item) : this.#bare(item);
      if (named === undefined) continue;
      const [module, name] = [str(named[0]), named[1]];
      if (module === "sls") targets = idsOfSls(name, this.#high);
      else targets = [...targets, [name, module]];
      if (module.includes(".")) {
        const text = `Invalid requisite in ${requisiteOf(from.key)}: ${module} for ${str(name)}, in SLS ` +
          `'${slsOf(from.body)}'. Requisites must not contain dots, did you mean '${moduleOfFunction(module)}'?`;
        this.errors.push({ text, place: place() });
      }
      for (const target of targets) {
        if (from.key === "use_in") this.#useIn(from, target);
        else if (from.key === "use") this.#use(from, target);
        else this.#add(from, target, place);
      }
    }
  }

  /** Resolves an item without a state module: an ID, or a state of that name. */
  #bare(item: Value): [Value, Value] | undefined {
    const body = this.#high.get(item);
    if (body !== undefined) {
      const first = declaredModules(body).next();
      return first.done ? undefined : [first.value[0], item];
    }
    for (const [id, other] of this.#high) {
      for (const [state, run] of stateRuns(other)) {
        if (run.some((argument) => isMap(argument) && argument.get("name") === item)) return [state, id];
      }
    }
    return undefined;
  }

  /** Adds the requisite to the extension of the target. */
  #add(from: Source, [id, state]: IdAndState, place: Origin): void {
    const requisite = requisiteOf(from.key);
    const body = this.#body(id);
    const run = listUnder(body, state);
    body.set("__env__", from.body.get("__env__") ?? "base");
    body.set("__sls__", from.body.get("__sls__") ?? "base");
    this.#places.note(body, place);
    const requirement: ValueMap = new Map([[from.state, from.id]]);
    this.#places.note(requirement, place);
    let isAdded = false;
    for (const argument of run) {
      if (firstKey(argument) !== requisite || !isMap(argument)) continue;
      const list = argument.get(requisite);
      if (Array.isArray(list)) list.push(requirement);
      isAdded = true;
    }
    if (!isAdded) run.push(new Map([[requisite, [requirement]]]));
  }

  #body(id: Value): ValueMap {
    const body = this.#bodies.get(id);
    if (isMap(body)) return body;
    const made: ValueMap = new Map();
    this.#bodies.set(id, made);
    return made;
  }

  /** Copies this state's arguments to the target. */
  #useIn(from: Source, [name, state]: IdAndState): void {
    for (const [id, module] of findName(name, state, { high: this.#high, strict: true })) {
      const own = this.#arguments(from.id, from.state);
      listUnder(this.#body(id), module).push(...this.#lacking(own, this.#arguments(id, state)));
    }
  }

  /** Copies the target's arguments to this state. */
  #use(from: Source, [name, state]: IdAndState): void {
    for (const [id, module] of findName(name, state, { high: this.#high, strict: true })) {
      const own = this.#arguments(from.id, from.state);
      listUnder(this.#body(from.id), from.state).push(...this.#lacking(this.#arguments(id, module), own));
    }
  }

  #arguments(id: Value, state: string): ValueMap[] {
    const body = this.#high.get(id);
    const run = isMap(body) ? body.get(state) : undefined;
    return Array.isArray(run) ? run.filter((argument) => isMap(argument)).filter(({ size }) => size === 1) : [];
  }

  /** The arguments that may be copied and that the receiver lacks. */
  #lacking(declared: readonly ValueMap[], own: readonly ValueMap[]): ValueMap[] {
    const keys = new Set(own.map(firstKey));
    return declared.filter((argument) => !keys.has(firstKey(argument)) && !NOT_USED.has(firstKey(argument)));
  }
}

/** `require` of `require_in`. */
function requisiteOf(key: string): string {
  return key.split("_", 1)[0];
}

/**
 * The items of `require_in` and similar keywords that match nothing, which Salt skips without a message.
 * @param high Before {@linkcode applyRequisitesIn}.
 */
export function ignoredRequisitesIn(high: ValueMap, places: Places): CompileError[] {
  const warnings: CompileError[] = [];
  const names = idsAndNames(high);
  for (const [id, body] of high) {
    for (const [, run] of stateRuns(body)) {
      for (const argument of run) {
        const [key, items] = isMap(argument) ? firstPair(argument) ?? [] : [];
        if (typeof key !== "string" || !REQUISITE_IN_KEYWORDS.has(key) || !Array.isArray(items)) continue;
        for (const [i, item] of items.entries()) {
          if (isMap(item) || names.has(item)) continue;
          const near = nearestName(str(item), [...names].filter((name) => typeof name === "string"));
          warnings.push({
            text: `The ${key} of ID '${str(id)}' in SLS '${slsOf(body)}' names '${str(item)}', which nothing is called`,
            place: places.item(items, i) ?? places.of(argument),
            ...(near !== undefined && { hint: `Did you mean '${near}'?` }),
          });
        }
      }
    }
  }
  return warnings;
}
