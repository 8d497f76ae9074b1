/**
 * How Salt prints dicts and lists in templates: a dict whose values are texts of several lines stays readable to YAML.
 * Source: Salt 3008.3, `salt/utils/jinja.py` PrintableDict, SerializerExtension.finalizer.
 * @module
 */

import { textOf } from "#lib/python/kinds.ts";
import { Markup } from "#lib/python/markup.ts";
import type { Obj, ObjMap } from "#lib/python/object.ts";
import { reprOf, strOf, within } from "#lib/python/repr.ts";
import { Tuple, ValueSet } from "#lib/values/tuple.ts";
import { YamlWriter } from "#lib/yaml/writer.ts";

/** The output of a template for a printed value: dicts and lists as text, other values unchanged. */
export function printable(obj: Obj): Obj {
  if (obj instanceof Map) return mapText(obj, strOf);
  return Array.isArray(obj) && !(obj instanceof ValueSet) ? insideText(obj) : obj;
}

/** @param scalar Writes values that are neither texts nor collections. */
function mapText(map: ObjMap, scalar: (obj: Obj) => string): string {
  const entry = ([key, value]: [Obj, Obj]): string => {
    if (value instanceof Map) return `${reprOf(key)}: ${mapText(value, scalar)}`;
    return `${reprOf(key)}: ${textOf(value) === undefined ? insideText(value, scalar) : valueText(value)}`;
  };
  return within(map, () => `{${Array.from(map, entry).join(", ")}}`, "{...}");
}

/** The text of an item of a list. */
function insideText(obj: Obj, scalar: (obj: Obj) => string = reprOf): string {
  if (obj instanceof Map) return mapText(obj, reprOf);
  const items = (list: readonly Obj[]) => list.map((item) => insideText(item)).join(", ");
  if (obj instanceof Tuple) {
    return within(obj, () => `(${items(obj)}${obj.length === 1 ? "," : ""})`, "(...)");
  }
  if (Array.isArray(obj) && !(obj instanceof ValueSet)) return within(obj, () => `[${items(obj)}]`, "[...]");
  return scalar(obj);
}

/** A text as the value of a dict: in YAML's double quotes if it has lines or tabs, else as Python writes it. */
function valueText(obj: Obj): string {
  const text = textOf(obj) ?? "";
  if (obj instanceof Markup || !/[\n\r\t]/.test(text)) return reprOf(obj);
  const writer = new YamlWriter();
  writer.doubleQuoted(text, false);
  return writer.text;
}
