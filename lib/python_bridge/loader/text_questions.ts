/**
 * Questions of plugins that need no host: YAML for a Python without PyYAML, and the texts of outputters.
 * @module
 */

import { formatNested } from "#lib/output/nested.ts";
import { dumpYaml } from "#lib/yaml/dump.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import type { PythonQuestion } from "#lib/python_bridge/link/session.ts";
import { dumpJson } from "#lib/values/json.ts";
import { truthy, type Value } from "#lib/values/value.ts";
import { PythonQuestionFields } from "./question_fields.ts";

/** The answer; `undefined` if it is another question. */
export function answerTexts({ what, fields }: PythonQuestion): { readonly value: Value } | undefined {
  const given = new PythonQuestionFields(fields);
  switch (what) {
    case "format":
      return { value: format(given.value("value"), given.text("out")) };
    case "yaml_load":
      return { value: loadYaml(given.text("text"), "<unicode string>") };
    case "yaml_dump":
      return { value: dumpYaml(given.value("value"), { flow: truthy(given.value("flow")) ? "leaves" : false }) };
    default:
      return undefined;
  }
}

function format(value: Value, out: string): string {
  if (out === "json") return dumpJson(value, { indent: 4 });
  return formatNested(value, { color: false });
}
