/**
 * Jinja's filters for HTML, URLs and JSON.
 * Source: jinja2 3.1, "List of Builtin Filters".
 * @module
 */

import { dumpJson } from "#lib/values/json.ts";
import type { Value } from "#lib/values/value.ts";
import { sortBy } from "#lib/python/compare.ts";
import { pythonError } from "#lib/python/errors.ts";
import { isIterable, toList, unpackItems } from "#lib/python/iterate.ts";
import { indexOf, isTruthy, textOf, typeNameOf } from "#lib/python/kinds.ts";
import { escapeHtml, stripTags } from "#lib/text/html.ts";
import { Markup } from "#lib/python/markup.ts";
import { native } from "#lib/python/native.ts";
import { type Obj, PyObject, type Run } from "#lib/python/object.ts";
import { reprOf, strOf } from "#lib/python/repr.ts";
import { escapeValue } from "./autoescape.ts";
import { filterArgumentError } from "./errors.ts";
import { Undefined } from "./undefined.ts";
import { urlize } from "#lib/text/urlize.ts";

const UTF8 = new TextEncoder();

/**
 * Percent-encodes the characters that are not allowed in a URL.
 * @param forQuery Whether a blank is `+` and a slash is escaped too.
 */
function quoteUrl(value: Obj, forQuery: boolean): string {
  const bytes = value instanceof Uint8Array ? value : UTF8.encode(strOf(value));
  let out = "";
  for (const byte of bytes) {
    const char = String.fromCharCode(byte);
    if (/[\w.~-]/.test(char) || (char === "/" && !forQuery)) out += char;
    else out += forQuery && char === " " ? "+" : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return out;
}

function urlEncode(value: Obj): string {
  if (textOf(value) !== undefined || !isIterable(value)) return quoteUrl(value, false);
  const pairs = value instanceof Map ? [...value] : toList(value).map((pair) => unpackItems(pair, 2));
  return pairs.map(([key, item]) => `${quoteUrl(key, true)}=${quoteUrl(item, true)}`).join("&");
}

function xmlAttributes(value: Obj, autospace: boolean): string {
  if (!(value instanceof Map)) {
    if (value instanceof PyObject) value.checkOperand();
    throw pythonError("AttributeError", `'${typeNameOf(value)}' object has no attribute 'items'`);
  }
  const attributes: string[] = [];
  for (const [key, item] of value) {
    if (item === null || item instanceof Undefined) continue;
    if (/[\s/>=]/.test(strOf(key))) {
      throw pythonError("ValueError", `Invalid character in attribute name: ${reprOf(key)}`);
    }
    attributes.push(`${escapeValue(key).text}="${escapeValue(item).text}"`);
  }
  const text = attributes.join(" ");
  return autospace && text !== "" ? ` ${text}` : text;
}

/** Deeper structures are refused. */
const DEEPEST = 500;

/**
 * Converts to a JSON value.
 * @throws {TemplateError} TypeError for other types.
 */
function toJsonValue(obj: Obj, sortKeys: boolean, depth: number = DEEPEST): Value {
  if (depth === 0) throw pythonError("ValueError", "Circular reference detected");
  const text = textOf(obj);
  if (text !== undefined) return text;
  if (Array.isArray(obj)) return obj.map((item) => toJsonValue(item, sortKeys, depth - 1));
  if (obj instanceof Map) {
    const entries = sortKeys ? sortBy(Array.from(obj, (item) => ({ key: item[0], item })), false) : [...obj];
    return new Map(
      entries.map(([key, item]): [Value, Value] => [jsonKey(key), toJsonValue(item, sortKeys, depth - 1)]),
    );
  }
  if (obj instanceof PyObject || obj instanceof Uint8Array) {
    throw pythonError("TypeError", `Object of type ${typeNameOf(obj)} is not JSON serializable`);
  }
  return obj;
}

function jsonKey(key: Obj): Value {
  const text = textOf(key);
  if (text !== undefined) return text;
  if (key instanceof PyObject || Array.isArray(key) || key instanceof Map || key instanceof Uint8Array) {
    throw pythonError("TypeError", `keys must be str, int, float, bool or None, not ${typeNameOf(key)}`);
  }
  return key;
}

const IN_HTML: Readonly<Record<string, string>> = { "<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "'": "\\u0027" };

/** Jinja's filters for HTML, by name; `args[0]` is the value. */
export const HTML_FILTERS: ReadonlyMap<string, Run> = new Map<string, Run>([
  ["e", native("escape", ["s"], ([value]) => escapeValue(value))],
  ["escape", native("escape", ["s"], ([value]) => escapeValue(value))],
  ["forceescape", native("do_forceescape", ["value"], ([value]) => new Markup(escapeHtml(strOf(value))))],
  ["safe", native("do_mark_safe", ["value"], ([value]) => new Markup(strOf(value)))],
  ["striptags", native("do_striptags", ["value"], ([value]) => stripTags(strOf(value)))],
  [
    "tojson",
    native("do_tojson", ["value", ["indent", null]], ([value, indent]) => {
      const text = dumpJson(toJsonValue(value, true), indent === null ? {} : { indent: indexOf(indent) });
      return new Markup(text.replace(/[<>&']/g, (char) => IN_HTML[char]));
    }),
  ],
  ["urlencode", native("do_urlencode", ["value"], ([value]) => urlEncode(value))],
  [
    "urlize",
    native(
      "do_urlize",
      ["value", ["trim_url_limit", null], ["nofollow", false], ["target", null], ["rel", null], [
        "extra_schemes",
        null,
      ]],
      ([value, limit, nofollow, target, rel, schemes], { context }) => {
        const rels = new Set([
          ...(textOf(rel) ?? "").split(/\s+/),
          ...isTruthy(nofollow) ? ["nofollow"] : [],
          "noopener",
        ]);
        rels.delete("");
        const extra = schemes === null ? [] : toList(schemes).map(strOf);
        for (const scheme of extra) {
          if (!/^[\w.+-]{2,}:\/{0,2}$/.test(scheme)) {
            throw filterArgumentError(`${reprOf(scheme)} is not a valid URI scheme prefix.`);
          }
        }
        const text = urlize(escapeValue(value).text, {
          limit: limit === null ? undefined : indexOf(limit),
          rel: [...rels].sort().join(" "),
          target: textOf(target),
          schemes: extra,
        });
        return context.autoescape ? new Markup(text) : text;
      },
    ),
  ],
  [
    "xmlattr",
    native("do_xmlattr", ["d", ["autospace", true]], ([value, autospace], { context }) => {
      const text = xmlAttributes(value, isTruthy(autospace));
      return context.autoescape ? new Markup(text) : text;
    }),
  ],
]);
