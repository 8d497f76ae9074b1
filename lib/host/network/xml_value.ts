/**
 * XML as a value of maps and lists, without attributes.
 * Source: Salt 3008.3, `salt/utils/xmlutil.py` (`to_dict`), `salt/utils/http.py`.
 * @module
 */

import { parseXml, type XmlElement } from "#lib/text/xml.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";

/**
 * The value of an XML document in `http.query`: a list of its root's children.
 * @throws {SyntaxError} If it is invalid.
 */
export function xmlValue(text: string): Value[] {
  return parseXml(text).children.map(toMap);
}

/** Without the prefix of its name space. */
function nameOf({ name }: XmlElement): string {
  return name.slice(name.indexOf(":") + 1);
}

function textOf({ text }: XmlElement): string | null {
  return text === "" ? null : text;
}

/**
 * An element as a map; elements with the same name form a list, in which those without children keep their names, as in
 * Salt.
 */
function toMap(element: XmlElement): ValueMap {
  if (element.children.length === 0) return new Map([[nameOf(element), textOf(element)]]);
  const children: ValueMap = new Map();
  for (const child of element.children) {
    const name = nameOf(child);
    const existing = children.get(name);
    if (existing === undefined) children.set(name, child.children.length > 0 ? toMap(child) : textOf(child));
    else if (Array.isArray(existing)) existing.push(toMap(child));
    else children.set(name, [existing, toMap(child)]);
  }
  return children;
}
