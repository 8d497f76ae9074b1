/**
 * Reads the words of a command line as a function's arguments, and reads and writes the `arg` of a load. `name=value`
 * is a keyword argument. Values are read as YAML, except where YAML would change what the user typed. Knows nothing of
 * functions: `lib/plugins/call.ts` checks whether a function takes an argument.
 * Source: Salt's `salt/utils/args.py` (`parse_input`, `yamlify_arg`, `condition_input`) and `salt/minion.py`
 * (`load_args_and_kwargs`).
 * @module
 */

import { strip } from "#lib/values/python_text.ts";
import { asList } from "#lib/values/shape.ts";
import { isInt, isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { loadYaml } from "./load.ts";
import { MAX_ALIASED } from "./nodes.ts";

/** Positional and keyword arguments. */
export interface CallArgs {
  /** In the given order. */
  args: Value[];
  /** By name. If a name is given twice, the last value counts. */
  kwargs: ValueMap;
}

/** Arguments as they are run, and whether their sender could have meant others. */
export interface ReadArgs extends CallArgs {
  /** Why they could be read in another way: a name given twice, or a mark that is not True. Absent if they cannot. */
  readonly ambiguity?: string;
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
 * Reads a load's `arg`: a minion runs a function with the result, and a master checks the rules of users with it. A
 * string `name=value` becomes a keyword argument with a YAML value. All other strings stay as they are: the sender has
 * parsed them already. Fields of the publication are dropped: a caller must not claim another identity, which
 * `x509.sign_remote_certificate` would trust.
 */
export function fromWireArgs(arg: readonly Value[]): ReadArgs {
  const args: Value[] = [];
  const wireArgs = new NamedArgs();
  for (const item of arg) {
    const keyword = typeof item === "string" ? keywordIn(item) : null;
    if (keyword !== null) wireArgs.set(keyword[1], yamlifyArg(keyword[2]));
    else if (isMap(item) && item.has(KWARG_MARK)) {
      if (item.get(KWARG_MARK) === true) wireArgs.setMarked(item);
      else args.push(wireArgs.withoutMark(item));
    } else args.push(item);
  }
  for (const name of [...wireArgs.kwargs.keys()]) if (isPublication(name)) wireArgs.kwargs.delete(name);
  return wireArgs.read(args);
}

/**
 * Reads the arguments of a function that runs on the master: `arg` as it is, and the keyword arguments of all `maps`,
 * which may have the mark.
 */
export function fromNamedArgs(args: readonly Value[], maps: readonly ValueMap[]): ReadArgs {
  const wireArgs = new NamedArgs();
  for (const item of maps) wireArgs.setMarked(item);
  return wireArgs.read([...args]);
}

/** Keyword arguments that are being read. The last value of a name counts. */
class NamedArgs {
  readonly kwargs: ValueMap = new Map();
  #ambiguity: string | undefined;

  set(name: Value, value: Value): void {
    if (this.kwargs.has(name)) this.#ambiguity ??= `the argument ${str(name)} is given twice`;
    this.kwargs.set(name, value);
  }

  /** Sets what is in a map that has the mark, or needs none. */
  setMarked(item: ValueMap): void {
    for (const [name, value] of this.withoutMark(item)) this.set(name, value);
  }

  /** A copy without the mark. */
  withoutMark(item: ValueMap): ValueMap {
    if (item.has(KWARG_MARK) && item.get(KWARG_MARK) !== true) this.#ambiguity ??= `${KWARG_MARK} is not True`;
    const rest = new Map(item);
    rest.delete(KWARG_MARK);
    return rest;
  }

  read(args: Value[]): ReadArgs {
    const { kwargs } = this;
    return this.#ambiguity === undefined ? { args, kwargs } : { args, kwargs, ambiguity: this.#ambiguity };
  }
}

/** Whether a keyword is a field that Salt adds to the publication, not an argument of the caller. */
export function isPublication(key: Value): boolean {
  return typeof key === "string" && key.startsWith("__pub_");
}

/** The arguments of function number `at` of a compound job, whose `arg` has those of each function. */
export function compoundArgs(arg: readonly Value[], at: number): readonly Value[] {
  return asList(arg[at] ?? []);
}

/**
 * The value of the typed `word`: read as YAML, or the word itself where Salt does not use YAML, and where it is no YAML
 * that may be read: also if its aliases stand for more than 100,000 values.
 */
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
    value = loadYaml(word, "<string>", { maxAliased: MAX_ALIASED.argument });
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
