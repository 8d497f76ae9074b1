/**
 * Templates of returners, over the fields of a return: Jinja without files and functions.
 * @module
 */

import { Environment } from "#lib/jinja/core/environment.ts";
import { JINJA_FILTERS } from "#lib/jinja/core/filters.ts";
import { Language } from "#lib/jinja/core/language.ts";
import { JINJA_TESTS } from "#lib/jinja/core/tests.ts";
import { str, type Value, type ValueMap } from "#lib/values/value.ts";

let language: Language | undefined;

/**
 * Renders a template with the fields of a return as variables.
 * @throws {TemplateError} If it is wrong, or names a field that the return does not have.
 */
export async function renderReturn(template: string, ret: ValueMap): Promise<string> {
  language ??= new Language({ options: {}, filters: JINJA_FILTERS, tests: JINJA_TESTS, tags: new Map() });
  const environment = new Environment(language, { globals: new Map(), undefined: "strict" });
  const variables = new Map<string, Value>([...ret].map(([name, value]) => [str(name), value]));
  return await environment.fromString(template).render(variables);
}
