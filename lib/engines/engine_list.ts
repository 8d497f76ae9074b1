/**
 * Reads the option `engines`. Source: Salt 3008.3 `salt/engines/__init__.py`.
 * @module
 */

import { truncateRepr } from "#lib/text/truncate.ts";
import { isMap, type Value, type ValueMap } from "#lib/values/value.ts";

/** The engine that is not a plugin: a part of the master, and of the minion. */
const REACTOR_ENGINE = "reactor";

/** Maximum number of engines of a master or minion. */
const MAX_ENGINES = 64;
/** The option of an engine that names its module; default: the name of the engine. */
const MODULE_OPTION = "engine_module";

/** One engine. */
export interface EngineEntry {
  /** Its name, which no other engine of the list has. */
  readonly name: string;
  /** The name of its module. */
  readonly module: string;
  /** The arguments of its `start`. */
  readonly options: ValueMap;
}

/** What the option says, and what is wrong with it, in words. */
export interface EngineList {
  readonly entries: readonly EngineEntry[];
  readonly mistakes: readonly string[];
}

/** Reads `engines`: a list of names and of maps from one name to options, or a map. The reactor is left out. */
export function readEngines(option: Value): EngineList {
  const mistakes: string[] = [];
  const entries = new Map<string, EngineEntry>();
  for (const { place, name, options, mistake } of namedEngines(option)) {
    if (name === REACTOR_ENGINE) continue;
    const entry = mistake ?? readEntry(name, options);
    if (typeof entry === "string") mistakes.push(`${place}: ${entry}`);
    else if (entries.has(entry.name)) mistakes.push(`${place}: there are two engines with the name ${entry.name}`);
    else if (entries.size >= MAX_ENGINES) mistakes.push(`${place}: there are more than ${MAX_ENGINES} engines`);
    else entries.set(entry.name, entry);
  }
  return { entries: [...entries.values()], mistakes };
}

/** An entry as it is written. */
interface NamedEngine {
  readonly place: string;
  readonly name: Value;
  readonly options: Value;
  readonly mistake?: string;
}

function namedEngines(option: Value): NamedEngine[] {
  if (option === null) return [];
  if (isMap(option)) return [...option].map(([name, options]) => ({ place: "engines", name, options }));
  if (!Array.isArray(option)) {
    const mistake = `it is neither a list nor a map: ${truncateRepr(option)}`;
    return [{ place: "engines", name: null, options: null, mistake }];
  }
  return option.map((item, at) => {
    const place = `engines, entry ${at + 1}`;
    if (!isMap(item)) return { place, name: item, options: null };
    const [[name, options] = [null, null]] = item;
    return {
      place,
      name,
      options,
      ...item.size !== 1 && { mistake: `it is no map of one name: ${truncateRepr(item)}` },
    };
  });
}

function readEntry(name: Value, given: Value): EngineEntry | string {
  if (!isName(name)) return `it is no name: ${truncateRepr(name)}`;
  if (given !== null && !isMap(given)) return `the options of ${name} are no map: ${truncateRepr(given)}`;
  const options: ValueMap = new Map(given ?? []);
  const module = options.get(MODULE_OPTION) ?? name;
  options.delete(MODULE_OPTION);
  if (!isName(module)) return `${MODULE_OPTION} of ${name} is no name: ${truncateRepr(module)}`;
  return { name, module, options };
}

function isName(name: Value): name is string {
  return typeof name === "string" && /^\w[\w.-]{0,99}$/.test(name);
}
