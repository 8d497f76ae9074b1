/**
 * The filters of Salt's serializer extension that write values as YAML, JSON, XML or Python, and read them.
 * Source: Salt 3008.3, `salt/utils/jinja.py` SerializerExtension, tojson; docs.python.org, "json".
 * @module
 */

import { JsonError, YamlError } from "#lib/errors.ts";
import { TemplateModule } from "#lib/jinja/core/template_module.ts";
import { dictOf } from "./dict_of.ts";
import { pythonError } from "#lib/python/errors.ts";
import { isTruthy, lengthOf, textOf, typeNameOf } from "#lib/python/kinds.ts";
import { Markup } from "#lib/python/markup.ts";
import { native } from "#lib/python/native.ts";
import type { Kwargs, Obj, Run } from "#lib/python/object.ts";
import { toPlain } from "#lib/python/plain.ts";
import { reprOf, strOf } from "#lib/python/repr.ts";
import { strictUtf8 } from "#lib/text/strict_utf8.ts";
import { isMap, type Value } from "#lib/values/value.ts";
import { ValueSet } from "#lib/values/tuple.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { pformat } from "#lib/values/pformat.ts";
import { strip } from "#lib/values/python_text.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import { dumpYaml } from "#lib/yaml/dump.ts";
import { jsonText } from "./json_text.ts";
import { handlingUndefined } from "./undefined_inside.ts";
import { xmlText } from "./xml_text.ts";
import { yamlText } from "./yaml_words.ts";
import { runtimeError } from "#lib/jinja/core/errors.ts";

/** The characters that may not be in HTML, which `tojson` escapes. */
const UNSAFE: Readonly<Record<string, string>> = { "<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "'": "\\u0027" };

/** The options of Python's `json.dumps` that `tojson` takes. */
const JSON_OPTIONS: ReadonlySet<string> = new Set(["sort_keys", "ensure_ascii"]);

function tojson(value: Obj, indent: Value, options: Kwargs): string {
  for (const name of options.keys()) {
    if (!JSON_OPTIONS.has(name)) {
      throw pythonError("TypeError", `JSONEncoder.__init__() got an unexpected keyword argument '${name}'`);
    }
  }
  const layout = {
    indent,
    sortKeys: isTruthy(options.get("sort_keys") ?? false),
    ascii: isTruthy(options.get("ensure_ascii") ?? true),
  };
  return jsonText(toPlain(value), layout).replace(/[<>&']/g, (char) => UNSAFE[char]);
}

function yamlMarkup(obj: Obj, flow: boolean): Markup {
  return new Markup(strip(dumpYaml(toPlain(obj), { flow, aliases: true, ordered: true })));
}

/** The width at which pprint breaks a line. */
const WIDTH = 80;

function pythonText(obj: Obj): string {
  const line = reprOf(obj);
  // Text that fits on one line keeps tuples and sets; otherwise the writer sorts the keys of dicts.
  const plain = Array.isArray(obj) || obj instanceof Map || lengthOfText(line) > WIDTH;
  return strip(plain ? pformat(toPlain(obj)) : line);
}

function lengthOfText(text: string): number {
  return lengthOf(text);
}

/** The text to read: a module's is what it printed. */
function sourceText(value: Obj): string | undefined {
  if (value instanceof TemplateModule) return strOf(value);
  return value instanceof Uint8Array ? new TextDecoder().decode(value) : textOf(value);
}

function readYaml(value: Obj): Obj {
  const text = sourceText(value);
  if (text === undefined) throw pythonError("TypeError", "a string or stream input is required");
  try {
    const value = loadYaml(text, "<unicode string>");
    return /[*!]/.test(text) ? decodeValue(value, 0) : value;
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw runtimeError(`Encountered error loading yaml: ${yamlText(error, text)}`);
  }
}

/** The maximum depth of a document that contains itself. */
const DEEPEST = 500;

/** A copy as Salt's `data.decode` makes it: what an alias stands for is another object then, and bytes are text. */
function decodeValue(value: Value, depth: number): Value {
  if (depth > DEEPEST) throw pythonError("RecursionError", "maximum recursion depth exceeded");
  if (value instanceof Uint8Array) {
    const text = strictUtf8(value);
    if (text === undefined) {
      throw pythonError("UnicodeError", "'utf-8' codec can't decode bytes: invalid start byte");
    }
    return text;
  }
  if (value instanceof ValueSet) return new ValueSet(value);
  if (Array.isArray(value)) return value.map((item) => decodeValue(item, depth + 1));
  if (!isMap(value)) return value;
  return new Map(Array.from(value, ([key, item]) => [decodeValue(key, depth + 1), decodeValue(item, depth + 1)]));
}

function readJson(value: Obj): Obj {
  const text = sourceText(value);
  const refuse = () => runtimeError(`Unable to load json from ${strOf(value)}`);
  if (text === undefined) throw refuse();
  try {
    return parseJson(text);
  } catch (error) {
    throw error instanceof JsonError ? refuse() : error;
  }
}

/** A filter whose arguments are looked through for what is undefined. */
function structureFilter(name: string, run: Run): [string, Run] {
  return [name, handlingUndefined(run)];
}

/** The filters by name. */
export const SERIALIZER_FILTERS: ReadonlyMap<string, Run> = new Map<string, Run>([
  structureFilter(
    "tojson",
    native(
      "tojson",
      ["val", ["indent", null], "**kwargs"],
      ([value, indent], { kwargs }) => tojson(value, toPlain(indent), kwargs),
    ),
  ),
  structureFilter(
    "json",
    native("format_json", ["value", ["sort_keys", true], ["indent", null]], ([value, sortKeys, indent]) => {
      return new Markup(
        jsonText(toPlain(value), { sortKeys: isTruthy(sortKeys), indent: toPlain(indent), ascii: false }),
      );
    }),
  ),
  structureFilter(
    "yaml",
    native("format_yaml", ["value", ["flow_style", true]], ([value, flow]) => yamlMarkup(value, isTruthy(flow))),
  ),
  structureFilter("xml", native("format_xml", ["value"], ([value]) => new Markup(xmlText(toPlain(value))))),
  structureFilter("python", native("format_python", ["value"], ([value]) => new Markup(pythonText(value)))),
  structureFilter("load_yaml", native("load_yaml", ["value"], ([value]) => readYaml(value))),
  structureFilter("load_json", native("load_json", ["value"], ([value]) => readJson(value))),
  structureFilter(
    "load_text",
    native("load_text", ["value"], ([value]) => value instanceof TemplateModule ? strOf(value) : value),
  ),
  structureFilter(
    "dict_to_sls_yaml_params",
    native("dict_to_sls_yaml_params", ["value", ["flow_style", false]], ([value, flow]) => {
      if (!(value instanceof Map)) {
        throw pythonError("AttributeError", `'${typeNameOf(value)}' object has no attribute 'items'`);
      }
      return yamlMarkup(Array.from(value, (pair) => dictOf([pair])), isTruthy(flow));
    }),
  ),
]);
