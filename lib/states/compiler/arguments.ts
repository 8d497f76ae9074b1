/**
 * The stage `arguments`: arguments that a state's function does not take. Salt detects them while the states run, and
 * then does not return the results of those that have run.
 * @module
 */

import { type Chunk, field } from "./chunks.ts";
import type { CompileError } from "./compile_error.ts";
import { stateRuns } from "./high.ts";
import type { Places } from "./place.ts";
import type { Place } from "#lib/errors.ts";
import { moduleOfFunction } from "#lib/plugins/docs.ts";
import { COMMON_ARGUMENTS, INTERNAL_KEYWORDS } from "./requisites.ts";
import { nearestName } from "#lib/text/nearest_name.ts";
import { isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** The arguments that a function takes. */
export interface StateSignature {
  readonly parameters: readonly string[];
  /**
   * The effect of any other argument. `used`: the function reads it. `unused`: it has no effect. `refused`: the call
   * fails. `unchecked`: as `used`, and a misspelt requisite is ignored as in Salt.
   */
  readonly others: "used" | "unused" | "refused" | "unchecked";
}

/** The input of the check. */
export interface DeclaredArguments {
  readonly chunks: readonly Chunk[];
  readonly high: ValueMap;
  readonly places: Places;
  /** The arguments of a function; `undefined` if it does not exist: that is reported when it runs. */
  signature(fun: string): StateSignature | undefined;
}

/** Words near to an argument of every state that are the arguments of some function which takes any. */
const ORDINARY_WORDS: ReadonlySet<string> = new Set([
  ...["prereq_any", "force_reload_modules", "create", "required", "older", "border", "text", "dest", "rest", "lock"],
]);

/**
 * The argument that was probably meant by one which a function does not declare; `undefined`: none, or the function may
 * use it.
 * @param ofCall More arguments that are not for the function.
 */
export function meantArgument(
  written: string,
  { parameters, others }: StateSignature,
  ofCall: readonly string[] = [],
): string | undefined {
  if (others === "unchecked") return undefined;
  const common = ORDINARY_WORDS.has(written) ? [] : [...COMMON_ARGUMENTS, ...ofCall];
  return nearestName(written, others === "used" ? common : [...parameters, ...common]);
}

/** Whether an argument is for the compiler, or one that the function declares. */
export function isKnownArgument(name: Value, { parameters }: StateSignature): boolean {
  return INTERNAL_KEYWORDS.has(name) || name === NAME_ORDER || parameters.includes(str(name));
}

/** Fields that `names` adds to chunks until they are sorted. */
const NAME_ORDER = "name_order";

/** The unknown arguments of all chunks; those of one ID with several names are reported once. */
export function unknownArguments({ chunks, high, places, signature }: DeclaredArguments): CompileError[] {
  const errors: CompileError[] = [];
  const reported = new Set<string>();
  const judges = new Map<string, ((name: Value) => Judgement) | undefined>();
  for (const chunk of chunks) {
    const fun = `${field(chunk, "state")}.${field(chunk, "fun")}`;
    if (!judges.has(fun)) judges.set(fun, judgeOf(signature(fun)));
    const judge = judges.get(fun);
    if (judge === undefined) continue;
    for (const name of chunk.keys()) {
      const judgement = judge(name);
      if (judgement === "accepted") continue;
      const text = `unknown argument \`${str(name)}\` of ${fun} in state '${field(chunk, "__id__")}' in SLS ` +
        `'${field(chunk, "__sls__")}'`;
      if (reported.has(text)) continue;
      reported.add(text);
      const { near } = judgement;
      errors.push({
        text,
        own: true,
        place: placeOf(name, chunk, high, places) ?? places.of(chunk),
        ...near !== undefined && { hint: `Did you mean ${near}?` },
      });
    }
  }
  return errors;
}

/** Whether an argument is accepted, or the one that was probably meant. */
type Judgement = "accepted" | { readonly near: string | undefined };

/**
 * Judges the arguments of one function, each name once: a tree has thousands of states of a few functions.
 * @returns `undefined` if they are not checked.
 */
function judgeOf(known: StateSignature | undefined): ((name: Value) => Judgement) | undefined {
  if (known === undefined || known.others === "unchecked") return undefined;
  const judged = new Map<Value, Judgement>();
  return (name) => {
    let judgement = judged.get(name);
    if (judgement === undefined) judged.set(name, judgement = judge(name, known));
    return judgement;
  };
}

function judge(name: Value, known: StateSignature): Judgement {
  if (isKnownArgument(name, known)) return "accepted";
  const near = meantArgument(str(name), known);
  // Existing trees pass such functions the arguments of other functions of their module, without harm.
  return near === undefined && known.others !== "refused" ? "accepted" : { near };
}

/**
 * The functions that do not exist, if their module does not exist for another host or in the tree either. Reported once
 * per state.
 */
export function missingFunctions({ chunks, high, places, known, otherModules }: {
  readonly chunks: readonly Chunk[];
  readonly high: ValueMap;
  readonly places: Places;
  /** All functions of the host. */
  readonly known: ReadonlySet<string>;
  /** Modules that do not load on this host, and those in the tree. */
  readonly otherModules: ReadonlySet<string>;
}): CompileError[] {
  const errors = new Map<string, CompileError>();
  const modules = new Set([...known].map(moduleOfFunction));
  for (const chunk of chunks) {
    const fun = `${field(chunk, "state")}.${field(chunk, "fun")}`;
    const module = moduleOfFunction(fun);
    if (known.has(fun) || otherModules.has(module)) continue;
    // A name with a blank is an argument without its colon, which is said already, with its own place.
    if (/\s/.test(fun)) continue;
    const near = nearestName(fun, known);
    const id = field(chunk, "__id__");
    const body = high.get(id);
    const key = isMap(body)
      ? [...body.keys()].find((key) => moduleOfFunction(str(key)) === field(chunk, "state"))
      : undefined;
    errors.set(`${id}\n${fun}`, {
      text: `State '${fun}' was not found in SLS '${field(chunk, "__sls__")}'`,
      place: (isMap(body) && key !== undefined ? places.key(body, key) : undefined) ?? places.of(chunk),
      ...near !== undefined
        ? { hint: `Did you mean ${near}?` }
        : !modules.has(module) && { hint: `There is no state module ${module}` },
    });
  }
  return [...errors.values()];
}

/** Where the argument is written. */
function placeOf(name: Value, chunk: Chunk, high: ValueMap, places: Places): Place | undefined {
  const body = high.get(chunk.get("__id__") ?? null);
  const runs = [...isMap(body) ? stateRuns(body) : []].filter(([state]) => state === chunk.get("state"));
  const argument = runs.flatMap(([, run]) => run).filter(isMap).find((argument) => argument.has(name));
  return argument && places.key(argument, name);
}
