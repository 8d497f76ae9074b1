/**
 * The variables that states `stateconf.set` of the files of one run give to templates.
 * Source: Salt 3008.3, `salt/renderers/stateconf.py` extract_state_confs.
 * @module
 */

import { isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { STATE_FUNCTION, STATE_MODULE } from "./_stateconf_changes.ts";
import { needList, needMap } from "./_stateconf_high.ts";

const REQUISITES = ["require", "watch", "listen", "onchanges", "onfail"];

/** What the files of a run have set so far. */
export class FileVariables {
  /** By the full name of the ID. */
  readonly #set = new Map<string, ValueMap>();
  /** What `extend` sets in files that are rendered later. */
  readonly #extended = new Map<string, ValueMap>();

  /** The variables for the file `sls`: its own without its name. */
  forFile(sls: string): ValueMap {
    const prefix = `${sls}::`;
    return new Map([...this.#set].map(([id, set]) => [id.startsWith(prefix) ? id.slice(prefix.length) : id, set]));
  }

  /** Takes the variables of high data in full names. */
  take(high: ValueMap, isExtend = false): void {
    for (const [key, body] of high) {
      const id = str(key);
      if (id === "extend" && !isExtend) {
        this.take(needMap(body), true);
        continue;
      }
      const args = argumentsOf(body);
      if (args === undefined) continue;
      const all = isExtend ? this.#extended : this.#set;
      const set: ValueMap = all.get(id) ?? new Map();
      all.set(id, set);
      for (const one of needList(args)) {
        if (isMap(one)) { for (const [name, value] of [...one].slice(0, 1)) set.set(name, value); }
      }
      if (!isExtend) this.#extend(id, set);
    }
  }

  #extend(id: string, set: ValueMap): void {
    const extended = this.#extended.get(id);
    if (extended === undefined) return;
    for (const name of REQUISITES) {
      const more = extended.get(name);
      if (more !== undefined) extended.set(name, [...needList(more), ...needList(set.get(name) ?? [])]);
    }
    for (const [name, value] of extended) set.set(name, value);
  }
}

/** The arguments of an ID's state `stateconf`. */
function argumentsOf(body: Value): Value | undefined {
  const states = isMap(body) ? body : undefined;
  return states?.get(STATE_MODULE) ?? states?.get(STATE_FUNCTION);
}
