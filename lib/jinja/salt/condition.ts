/**
 * Conditions that states give as Python expressions. They are read as expressions of Jinja, which has Python's
 * operators, values and methods; what Jinja does not have (lambda, comprehensions, imports) is an error.
 * @module
 */

import { Environment } from "#lib/jinja/core/environment.ts";
import { JINJA_FILTERS } from "#lib/jinja/core/filters.ts";
import { Language } from "#lib/jinja/core/language.ts";
import { JINJA_TESTS } from "#lib/jinja/core/tests.ts";
import { isIterable, toList } from "#lib/python/iterate.ts";
import { isTruthy, typeNameOf } from "#lib/python/kinds.ts";
import { pythonError } from "#lib/python/errors.ts";
import { native } from "#lib/python/native.ts";
import { Func, type Obj, type Run } from "#lib/python/object.ts";
import { strOf } from "#lib/python/repr.ts";
import type { Value } from "#lib/values/value.ts";

/** Python's `x is None` and its like, which Jinja writes in small letters. */
const CONSTANT_TESTS = [["None", "none"], ["True", "true"], ["False", "false"]] as const;

let language: Language | undefined;

function conditionLanguage(): Language {
  const tests = new Map<string, Run>(JINJA_TESTS);
  for (const [python, jinja] of CONSTANT_TESTS) {
    const test = JINJA_TESTS.get(jinja);
    if (test !== undefined) tests.set(python, test);
  }
  return language ??= new Language({ options: {}, filters: JINJA_FILTERS, tests, tags: new Map() });
}

function listOf(obj: Obj): Obj[] {
  if (!isIterable(obj)) throw pythonError("TypeError", `object of type '${typeNameOf(obj)}' has no len()`);
  return toList(obj);
}

const BUILT_IN: readonly (readonly [string, (obj: Obj) => Obj])[] = [
  ["len", (obj) => listOf(obj).length],
  ["str", strOf],
  ["bool", isTruthy],
  ["any", (obj) => listOf(obj).some(isTruthy)],
  ["all", (obj) => listOf(obj).every(isTruthy)],
];

/**
 * Whether a condition holds with these variables.
 * @throws {TemplateError} If it is not an expression, or fails.
 */
export async function conditionHolds(condition: string, variables: ReadonlyMap<string, Value>): Promise<boolean> {
  const globals = new Map<string, Obj>(
    BUILT_IN.map(([name, run]) => [name, new Func(name, native(name, ["obj"], ([obj]) => run(obj)))]),
  );
  const environment = new Environment(conditionLanguage(), { globals, undefined: "strict" });
  const template = environment.fromString(`{% if (${condition}) %}1{% endif %}`);
  return await template.render(variables) === "1";
}
