/**
 * State module `debconf`: the answers to the questions that Debian's packages ask when they are configured.
 * Source: Salt 3008.3 `salt/states/debconfmod.py`.
 * @module
 */

import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { equals, isMap, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [
    { grains: { os_family: ["Debian"] }, otherwise: "debconf state only runs on Debian systems" },
    { functions: ["debconf.show"], otherwise: "debconf module could not be loaded" },
  ],
};

export const set_file: ModuleFunction<StateContext> = stateFn({
  doc: `The answers in a file are set, in every run.

name
    A text, unique in the run.

source
    The file: a path or a URL (salt, http, https, ftp, file).

template
    The renderer that the file is passed through: jinja.

context
    A map of variables for the template.

defaults
    A map of variables for names that the context does not have.`,
  params: { name: p.any(), source: p.str(), template: p.str(null), context: p.any(null), defaults: p.any(null) },
  varKwargs: "kwargs",
  async run({ name, source, template, ...bound }, context, { kwargs }) {
    const variables: ValueMap = new Map();
    for (const [key, value] of Object.entries(bound)) {
      if (value !== null && !isMap(value)) {
        return failState(name, `${key === "context" ? "Context" : "Defaults"} must be formed as a dict`);
      }
      variables.set(key, value ?? new Map());
    }
    if (context.test) return { ...startResult(name, null), comment: "Debconf selections would have been set." };
    const isDone = template
      ? await context.call("debconf.set_template", [source, template], new Map([...variables, ...kwargs]))
      : await context.call("debconf.set_file", [source], kwargs);
    return truthy(isDone)
      ? { ...startResult(name), comment: "Debconf selections were set." }
      : failState(name, "Unable to set debconf selections from file.");
  },
});

/** An answer's type and value as debconf writes them. */
function answerOf(given: Value): { readonly type: string; readonly value: string } {
  const fields = mapOrEmpty(given);
  const [type, value] = [str(fields.get("type") ?? null), fields.get("value") ?? null];
  return { type, value: type === "boolean" ? truthy(value) ? "true" : "false" : str(value) };
}

export const set: ModuleFunction<StateContext> = stateFn({
  doc: `The answers to the questions of a package are set.

name
    The package.

data
    A map from a question to a map with the answer's \`type\` (string, boolean, select, multiselect, note, text,
    title, password) and its \`value\`.`,
  params: { name: p.str(), data: p.dict() },
  varKwargs: "kwargs",
  async run({ name, data }, context) {
    const settings = await context.call("debconf.show", [name]);
    const changes: ValueMap = new Map();
    let [result, comment]: [boolean | null, string] = [true, ""];
    for (const [question, given] of data) {
      const { type, value } = answerOf(given);
      const isSet = Array.isArray(settings) && settings.some((one) => equals(one, [question, type, value]));
      if (isSet) {
        if (comment === "") comment = "Unchanged answers: ";
        comment += `${str(question)} `;
      } else if (context.test) {
        result = null;
        changes.set(question, `New value: ${value}`);
      } else if (truthy(await context.call("debconf.set", [name, question, type, value]))) {
        changes.set(question, type === "password" ? "(password hidden)" : value);
      } else {
        result = false;
        comment = "Some settings failed to be applied.";
        changes.set(question, "Failed to set!");
      }
    }
    if (changes.size === 0) comment = "All specified answers are already set";
    return { name, result, comment, changes };
  },
});
