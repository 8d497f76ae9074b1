/**
 * Values as XML, as Salt's filter `xml` writes them: a map's texts and numbers are attributes, its maps and lists are
 * elements. Source: Salt 3008.3, `salt/utils/jinja.py` format_xml; Python 3.11's `minidom` for the layout.
 * @module
 */

import { TemplateError } from "#lib/jinja/syntax/template_error.ts";
import { isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { ValueSet } from "#lib/values/tuple.ts";

interface Element {
  readonly tag: string;
  readonly attributes: readonly (readonly [string, string])[];
  readonly text: string;
  readonly children: readonly Element[];
}

/**
 * The document whose root element is the last key of `value`.
 * @throws {TemplateError} For what is not a map.
 */
export function xmlText(value: Value): string {
  const roots = isMap(value) ? elementsOf(value) : [];
  const root = roots.at(-1);
  if (root === undefined) throw refuse();
  return `<?xml version="1.0" ?>\n${write(root, "")}`;
}

function refuse(): TemplateError {
  return new TemplateError("runtime", "TemplateRuntimeError", "Value is not a dict or list. Cannot render as XML");
}

function isNested(value: Value): value is Value[] | ValueMap {
  return Array.isArray(value) || isMap(value);
}

function elementsOf(map: ValueMap): Element[] {
  return [...map].flatMap(([tag, value]) => elements(str(tag), value));
}

/** An element for the value, and one for each item of a list. */
function elements(tag: string, value: Value): Element[] {
  if (value instanceof ValueSet) throw refuse();
  if (Array.isArray(value)) return value.flatMap((item) => elements(tag, item));
  if (value === null || value instanceof Uint8Array) throw refuse();
  if (!isMap(value)) return [{ tag, attributes: [], text: str(value), children: [] }];
  const entries = [...value];
  return [{
    tag,
    attributes: entries.filter(([, item]) => !isNested(item)).map(([name, item]) => [str(name), str(item)] as const),
    text: "",
    children: entries.flatMap(([name, item]) => isNested(item) ? elements(str(name), item) : []),
  }];
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function escape(text: string): string {
  return text.replace(/[&<>"]/g, (char) => ENTITIES[char]);
}

function write({ tag, attributes, text, children }: Element, indent: string): string {
  const begin = `${indent}<${tag}${attributes.map(([name, value]) => ` ${name}="${escape(value)}"`).join("")}`;
  if (children.length > 0) {
    return `${begin}>\n${children.map((child) => write(child, `${indent} `)).join("")}${indent}</${tag}>\n`;
  }
  return text === "" ? `${begin}/>\n` : `${begin}>${escape(text)}</${tag}>\n`;
}
