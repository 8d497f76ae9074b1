/**
 * Execution module `jinja`: what templates load: maps of formulas, and YAML and JSON files.
 * Source: the functions of Salt 3008.3 `salt/modules/jinja.py`.
 * @module
 */

import { InvocationError } from "#lib/errors.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Value } from "#lib/values/value.ts";

/**
 * A path between quotes of a template.
 * @throws {InvocationError} If it would end the quotes, or the tag.
 */
function quotedPath(path: string): string {
  if (/["\\\n\r]|[{%#]\}|\{[{%#]/.test(path)) throw new InvocationError(`Invalid path: ${JSON.stringify(path)}`);
  return `"${path}"`;
}

/** What a template makes. */
function rendered(template: string, context: JobContext): Promise<Value> {
  const given: [Value, Value][] = [["string", template], ["default_renderer", context.opts.renderer]];
  return context.call("slsutil.renderer", [], new Map(given));
}

export const load_map: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return a variable of a template, as a state file gets it by `{% from PATH import VALUE with context %}`.",
    "jinja.load_map myformula/map.jinja myformula",
  ),
  permissions: "all",
  params: { path: p.str(), value: p.str() },
  run({ path, value }, context) {
    if (!/^[A-Za-z_]\w*$/.test(value)) throw new InvocationError(`Invalid name: ${JSON.stringify(value)}`);
    return rendered(`{% from ${quotedPath(path)} import ${value} with context %}\n{{ ${value} | tojson }}\n`, context);
  },
});

/** A function that returns the data of a file, as a tag imports it. */
function importing(kind: "yaml" | "json"): ModuleFunction<JobContext> {
  return fn({
    doc: describe(
      `Return the data of a ${kind.toUpperCase()} file, as templates get it by \`import_${kind}\`.`,
      `jinja.import_${kind} myformula/foo.${kind}`,
    ),
    permissions: "all",
    params: { path: p.str() },
    run: ({ path }, context) =>
      rendered(`{% import_${kind} ${quotedPath(path)} as imported %}\n{{ imported | tojson }}\n`, context),
  });
}

export const import_yaml: ModuleFunction<JobContext> = importing("yaml");
export const import_json: ModuleFunction<JobContext> = importing("json");
