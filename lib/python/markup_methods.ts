/**
 * The methods of Markup: those of str, whose other texts are escaped and whose results are marked.
 * Source: markupsafe 3.0, observed.
 * @module
 */

import { toList } from "./iterate.ts";
import { textOf } from "./kinds.ts";
import { escapeHtml, Markup } from "./markup.ts";
import { native } from "./native.ts";
import type { Obj, Run } from "./object.ts";
import { formatString } from "./str_format.ts";
import { joinTexts, STR_METHODS } from "./str_methods.ts";
import { Tuple } from "./tuple.ts";

function marked(obj: Obj): Obj {
  if (typeof obj === "string") return new Markup(obj);
  if (Array.isArray(obj)) return obj.map(marked);
  return obj instanceof Tuple ? new Tuple(obj.items.map(marked)) : obj;
}

function escaped(obj: Obj): Obj {
  return typeof obj === "string" ? escapeHtml(obj) : obj;
}

/** The method with a marked result. @param escapes Whether its arguments are escaped. */
function wrapped(name: string, run: Run, escapes: boolean): [string, Run] {
  return [name, (args, kwargs, context) => {
    const result = run([args[0], ...escapes ? args.slice(1).map(escaped) : args.slice(1)], kwargs, context);
    return result instanceof Promise ? result.then(marked) : marked(result);
  }];
}

const ESCAPING: ReadonlySet<string> = new Set(["replace", "ljust", "rjust", "center"]);

/** The methods, by name; the first argument of each is the Markup. */
export const MARKUP_METHODS: ReadonlyMap<string, Run> = new Map<string, Run>([
  ...Array.from(STR_METHODS, ([name, run]) => wrapped(name, run, ESCAPING.has(name))),
  [
    "format",
    (args, kwargs, context) =>
      new Markup(formatString(textOf(args[0]) ?? "", { args: args.slice(1), kwargs, context, escape: escapeHtml })),
  ],
  [
    "join",
    native(
      "join",
      ["self", "iterable"],
      ([self, items]) => new Markup(joinTexts(textOf(self) ?? "", toList(items).map(escaped))),
    ),
  ],
  [
    "striptags",
    native("striptags", ["self"], ([self]) => stripTags(textOf(self) ?? "")),
  ],
  ["unescape", native("unescape", ["self"], ([self]) => unescapeHtml(textOf(self) ?? ""))],
]);

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };

/** Texts of entities: numbers, and the few names that HTML itself needs. */
function unescapeHtml(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|(\w+));/g, (whole, decimal, hex, name) => {
    if (name !== undefined) return Object.hasOwn(ENTITIES, name) ? ENTITIES[name] : whole;
    const code = decimal === undefined ? parseInt(hex, 16) : Number(decimal);
    return code > 0x10ffff ? whole : String.fromCodePoint(code);
  });
}

/** The text without tags and comments, its white space made single blanks. */
export function stripTags(text: string): string {
  const bare = withoutBetween(withoutBetween(text, "<!--", "-->"), "<", ">");
  return unescapeHtml(bare.split(/\s+/).filter((word) => word !== "").join(" "));
}

function withoutBetween(text: string, open: string, close: string): string {
  let out = "";
  let at = 0;
  while (true) {
    const start = text.indexOf(open, at);
    const end = start < 0 ? -1 : text.indexOf(close, start);
    if (end < 0) return out + text.slice(at);
    out += text.slice(at, start);
    at = end + close.length;
  }
}
