/**
 * The stage `verify`: checks the form of high data, and reports all errors.
 * Source: Salt 3008.3, `_verify_high` of `salt/state.py`.
 * @module
 */

import type { CompileError } from "./compile_error.ts";
import { firstKey, firstPair, isReserved, renderedRepr, renderedText, slsOf } from "./high.ts";
import type { Origin, Places } from "./place.ts";
import { REQUISITE_KEYWORDS } from "./requisites.ts";
import { isMap, str, typeName, type Value, type ValueMap } from "#lib/values/value.ts";

/** All mistakes in the form of `high`. */
export function verifyHigh(high: ValueMap, places: Places): CompileError[] {
  const errors: CompileError[] = [];
  for (const [id, body] of high) {
    if (isReserved(id)) continue;
    if (typeof id !== "string") {
      const text = `ID '${str(id)}' in SLS '${slsOf(body)}' is not formed as a string, but is type ${typeName(id)}. ` +
        "It may need to be quoted.";
      errors.push({ text, place: places.of(body) });
    }
    if (!isMap(body)) {
      const text = `The type ${str(id)} in ${renderedText(body)} is not formatted as a dictionary`;
      errors.push({ text, repeats: true });
      continue;
    }
    errors.push(...verifyBody(str(id), body, places));
  }
  return errors;
}

/** The ID, its SLS, and a function that makes its errors. */
interface Verified {
  readonly id: string;
  readonly sls: string;
  readonly places: Places;
}

function* verifyBody(id: string, body: ValueMap, places: Places): Generator<CompileError> {
  const sls = slsOf(body);
  const state: Verified = { id, sls, places };
  for (const [module, run] of body) {
    if (Array.isArray(run) && typeof module === "string") {
      if (!module.startsWith("__")) yield* verifyRun(state, module, run);
      continue;
    }
    if (typeof module === "string" && module.startsWith("__")) continue;
    const place = places.key(body, module) ?? places.of(body);
    if (typeof module !== "string") {
      const text = `State '${str(module)}' of ID '${id}' in SLS '${sls}' is not formed as a string, ` +
        `but is type ${typeName(module)}. It may need to be quoted.`;
      yield { text, place };
    } else if (run === null) {
      const text = `ID '${id}' in SLS '${sls}' contains a short declaration (${module}) with a trailing colon. ` +
        "When not passing any arguments to a state, the colon must be omitted.";
      yield { text, place };
    } else {
      yield { text: `State '${id}' in SLS '${sls}' is not formed as a list`, place };
    }
  }
}

function* verifyRun(known: Verified, module: string, run: Value[]): Generator<CompileError> {
  const { id, sls, places } = known;
  const functions = module.includes(".") ? [module.slice(module.indexOf(".") + 1)] : [];
  for (const [i, argument] of run.entries()) {
    if (typeof argument === "string") {
      functions.push(argument);
      if (argument.trim().includes(" ")) {
        const text = `The function "${argument}" in state "${id}" in SLS "${sls}" has whitespace, a function with ` +
          'whitespace is not supported, perhaps this is an argument that is missing a ":"';
        yield { text, place: places.item(run, i) ?? places.of(run) };
      }
    } else if (isMap(argument)) {
      yield* verifyArgument(known, argument);
    }
  }
  if (functions.length === 1) return;
  const place = places.of(run);
  if (functions.length === 0) yield { text: `No function declared in state '${id}' in SLS '${sls}'`, place };
  if (functions.length > 1) {
    const text = `Too many functions declared in state '${id}' in SLS '${sls}'. Please choose one of the following: ` +
      functions.join(", ");
    yield { text, place };
  }
}

function* verifyArgument(known: Verified, argument: ValueMap): Generator<CompileError> {
  const { id, sls, places } = known;
  const [key, value] = firstPair(argument) ?? [];
  if (key === undefined || value === undefined || (key !== "names" && !REQUISITE_KEYWORDS.has(key))) return;
  // A place is searched only when it is shown: that takes as long as reading the file.
  const place = () => places.of(argument);
  if (key === "names" && !Array.isArray(value)) {
    yield {
      text: `The 'names' argument in state '${id}' in SLS '${sls}' needs to be formed as a list`,
      place: place(),
    };
  }
  if (key === "names") return;
  if (!Array.isArray(value)) {
    yield {
      text: `The ${str(key)} statement in state '${id}' in SLS '${sls}' needs to be formed as a list`,
      place: place(),
    };
    return;
  }
  for (const [i, requisite] of value.entries()) {
    if (typeof requisite !== "string") yield* verifyRequisite(known, requisite, () => places.item(value, i) ?? place());
  }
  if (argument.size !== 1) {
    yield { text: `Multiple dictionaries defined in argument of state '${id}' in SLS '${sls}'`, place: place() };
  }
}

function* verifyRequisite(
  { id, sls }: Verified,
  requisite: Value,
  place: Origin,
): Generator<CompileError> {
  const key = firstKey(requisite);
  if (!isMap(requisite) || requisite.size !== 1 || key === undefined) {
    const text = `Requisite declaration ${renderedText(requisite)} in state ${id} in SLS ${sls} ` +
      "is not formed as a single key dictionary";
    yield { text, place: place() };
    return;
  }
  const module = str(key);
  if (module.includes(".")) {
    const text = `Invalid requisite type '${module}' in state '${id}', in SLS '${sls}'. Requisite types must not ` +
      `contain dots, did you mean '${module.slice(0, module.indexOf("."))}'?`;
    yield { text, place: place() };
  }
  const wanted = requisite.get(key) ?? null;
  if (Array.isArray(wanted) || isMap(wanted)) {
    const text = `Illegal requisite "${renderedRepr(wanted)}" in SLS "${sls}", please check your syntax.\n`;
    yield { text, place: place() };
  }
}
