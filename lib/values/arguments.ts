/**
 * The words of a command line as a function's arguments, and arguments as they travel in a load's `arg`.
 *
 * `name=value` is a keyword argument; values are YAML, except where YAML would lose or bend what was typed. Knows nothing
 * of functions: whether one takes an argument is `lib/plugins/call.ts`'s matter.
 * Source: Salt's utils/args.py (`parse_input`, `yamlify_arg`, `condition_input`) and minion.py (`load_args_and_kwargs`).
 * @module
 */

import { strip } from "./python_text.ts";
import { isInt, isMap, type Value, type ValueMap } from "./value.ts";
import { loadYaml } from "./yaml.ts";

/** Positional and keyword arguments. */
export interface CallArgs {
  /** In the order given. */
  args: Value[];
  /** By name; of two with one name the last counts. */
  kwargs: ValueMap;
}

/** What {@linkcode parseCliArgs} may be told. */
export interface CliArgsOptions {
  /** Names of keyword arguments whose values are text and nothing else (`--no-parse`). */
  readonly noParse?: readonly string[];
}

/** The key that marks the map of keyword arguments in a load's `arg`. */
const KWARG_MARK = "__kwarg__";

// Python's \w is a letter, a number of any kind or "_"; its "$" also stands before a final line end.
const KWARG = /^([\p{L}\p{Nl}\p{No}_][\p{L}\p{N}_.-]*)=(?!=)([^\n]*)\n?$/u;

/** The arguments that `words` of a command line stand for. */
export function parseCliArgs(words: readonly string[], options: CliArgsOptions = {}): CallArgs {
  const args: Value[] = [];
  const kwargs: ValueMap = new Map();
  for (const word of words) {
    const keyword = KWARG.exec(word);
    if (keyword === null) args.push(jidAsText(yamlifyArg(word)));
    else kwargs.set(keyword[1], options.noParse?.includes(keyword[1]) ? keyword[2] : yamlifyArg(keyword[2]));
  }
  return { args, kwargs };
}

/** A load's `arg`: the positional arguments, then, if there are any keyword arguments, one map that holds them. */
export function toWireArgs(args: readonly Value[], kwargs: ValueMap): Value[] {
  const arg = args.map(jidAsText);
  if (kwargs.size > 0) arg.push(new Map<Value, Value>([[KWARG_MARK, true], ...kwargs]));
  return arg;
}

/**
 * The arguments that a load's `arg` stands for, as a minion reads it. A string `name=value` among them is a keyword
 * argument with a YAML value; every other string has been read by who sent it, and is left alone.
 */
export function fromWireArgs(arg: readonly Value[]): CallArgs {
  const args: Value[] = [];
  const kwargs: ValueMap = new Map();
  for (const item of arg) {
    const keyword = typeof item === "string" ? KWARG.exec(item) : null;
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

/** What the typed `word` means: the value of the YAML in it, or the word itself where Salt does not trust YAML with it. */
export function yamlifyArg(word: string): Value {
  const stripped = strip(word);
  if (stripped === "" || stripped === "---" || stripped === "...") return word;
  // YAML would read nothing at all.
  if (word === "!" || word === "|") return word;
  // YAML would read 1_000 as a thousand.
  if (/^[0-9_]+$/.test(stripped) && word.includes("_")) return word;
  if (/[\t\r\n]/.test(word)) return word;
  if (word === "None") return null;
  let value: Value;
  try {
    value = loadYaml(word);
  } catch {
    return word;
  }
  // "#" starts a comment in YAML: only what is plainly a structure or a number may do without its comment.
  if (word.includes("#")) return typeof value === "string" || value === null ? word : value;
  if (isMap(value)) return word.startsWith("{") ? value : word;
  if (Array.isArray(value)) return word.startsWith("[") ? value : word;
  if (value instanceof Uint8Array) return word;
  return value;
}

/** An int that looks like a job id, as text: 20 digits do not fit msgpack's ints. */
function jidAsText(value: Value): Value {
  return isInt(value) && String(value).length === 20 ? String(value) : value;
}
