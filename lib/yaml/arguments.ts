/**
 * Reads the words of a command line as a function's arguments, and reads and writes the `arg` of a load. `name=value`
 * is a keyword argument. Values are read as YAML, except where YAML would change what the user typed. Knows nothing of
 * functions: `lib/plugins/call.ts` checks whether a function takes an argument.
 * Source: Salt's utils/args.py (`parse_input`, `yamlify_arg`, `condition_input`) and minion.py
 * (`load_args_and_kwargs`).
 * @module
 */

import { strip } from "../values/python_text.ts";
import { isInt, isMap, type Value, type ValueMap } from "../values/value.ts";
import { loadYaml } from "./load.ts";

/** Positional and keyword arguments. */
export interface CallArgs {
  /** In the given order. */
  args: Value[];
  /** By name. If a name is given twice, the last value counts. */
  kwargs: ValueMap;
}

/** Options of {@linkcode parseCliArgs}. */
export interface CliArgsOptions {
  /** Names of keyword arguments whose values stay text (`--no-parse`). */
  readonly noParse?: readonly string[];
}

/** The key that marks the map of keyword arguments in a load's `arg`. */
const KWARG_MARK = "__kwarg__";

/** The name and the value of `name=value`. V8 reads the classes of characters for 0.3 ms, at the first call. */
function keywordIn(word: string): RegExpExecArray | null {
  // Python's \w is a letter, a number of any kind or "_"; its "$" also is before a final line end.
  return /^([\p{L}\p{Nl}\p{No}_][\p{L}\p{N}_.-]*)=(?!=)([^\n]*)\n?$/u.exec(word);
}

/** Parses `words` of a command line into arguments. */
export function parseCliArgs(words: readonly string[], options: CliArgsOptions = {}): CallArgs {
  const args: Value[] = [];
  const kwargs: ValueMap = new Map();
  for (const word of words) {
    const keyword = keywordIn(word);
    if (keyword === null) args.push(jidAsText(yamlifyArg(word)));
    else kwargs.set(keyword[1], options.noParse?.includes(keyword[1]) ? keyword[2] : yamlifyArg(keyword[2]));
  }
  return { args, kwargs };
}

/** Builds a load's `arg`: the positional arguments, then one map with the keyword arguments, if there are any. */
export function toWireArgs(args: readonly Value[], kwargs: ValueMap): Value[] {
  const arg = args.map(jidAsText);
  if (kwargs.size > 0) arg.push(new Map<Value, Value>([[KWARG_MARK, true], ...kwargs]));
  return arg;
}

/**
 * Reads a load's `arg` as a minion does. A string `name=value` becomes a keyword argument with a YAML value. All other
 * strings stay as they are: the sender has parsed them already.
 */
export function fromWireArgs(arg: readonly Value[]): CallArgs {
  const args: Value[] = [];
  const kwargs: ValueMap = new Map();
  for (const item of arg) {
    const keyword = typeof item === "string" ? keywordIn(item) : null;
    if (keyword !== null) kwargs.set(keyword[1], yamlifyArg(keyword[2]));
    else if (isMap(item) && item.has(KWARG_MARK)) {
      const rest = new Map(item);
      rest.delete(KWARG_MARK);
      if (item.get(KWARG_MARK) !== true) args.push(rest);
      else for (const [name, value] of rest) kwargs.set(name, value);
    } else args.push(item);
  }
  return { args, kwargs };
}

/** The value of the typed `word`: read as YAML, or the word itself where Salt does not use YAML. */
export function yamlifyArg(word: string): Value {
  const stripped = strip(word);
  if (stripped === "" || stripped === "---" || stripped === "...") return word;
  // YAML would read None.
  if (word === "!" || word === "|") return word;
  // YAML would read 1_000 as 1000.
  if (/^[0-9_]+$/.test(stripped) && word.includes("_")) return word;
  if (/[\t\r\n]/.test(word)) return word;
  if (word === "None") return null;
  let value: Value;
  try {
    value = loadYaml(word);
  } catch {
    return word;
  }
  // "#" starts a comment in YAML, so only structures and numbers may lose what follows it.
  if (word.includes("#")) return typeof value === "string" || value === null ? word : value;
  if (isMap(value)) return word.startsWith("{") ? value : word;
  if (Array.isArray(value)) return word.startsWith("[") ? value : word;
  if (value instanceof Uint8Array) return word;
  return value;
}

/** Turns an int that looks like a job id into text: 20 digits do not fit msgpack's ints. */
function jidAsText(value: Value): Value {
  return isInt(value) && String(value).length === 20 ? String(value) : value;
}
