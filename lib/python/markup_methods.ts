/**
 * The methods of Markup: those of str, but other texts are escaped and the results are Markup.
 * Source: markupsafe 3.0, observed.
 * @module
 */

import { escapeHtml, stripTags, unescapeHtml } from "#lib/text/html.ts";
import { toList } from "./iterate.ts";
import { textOf } from "./kinds.ts";
import { Markup } from "./markup.ts";
import { native } from "./native.ts";
import type { Obj, Run } from "./object.ts";
import { formatString } from "./str_format.ts";
import { joinTexts, STR_METHODS } from "./str_methods.ts";
import { sequenceLike } from "#lib/values/tuple.ts";

function mark(obj: Obj): Obj {
  if (typeof obj === "string") return new Markup(obj);
  return Array.isArray(obj) ? sequenceLike(obj, obj.map(mark)) : obj;
}

function escape(obj: Obj): Obj {
  return typeof obj === "string" ? escapeHtml(obj) : obj;
}

/** The method with a marked result. The argument that becomes part of the text is escaped. */
function wrap(name: string, run: Run): [string, Run] {
  const added = ADDED.get(name);
  return [name, (args, kwargs, context) => {
    const given = added === undefined ? args : args.map((arg, i) => i === added ? escape(arg) : arg);
    const result = run(given, kwargs, context);
    return result instanceof Promise ? result.then(mark) : mark(result);
  }];
}

/** Which argument becomes part of the text; 0 is the text itself. */
const ADDED: ReadonlyMap<string, number> = new Map([["replace", 2], ["ljust", 2], ["rjust", 2], ["center", 2]]);

/** The methods, by name; the first argument of each is the Markup. */
export const MARKUP_METHODS: ReadonlyMap<string, Run> = new Map<string, Run>([
  ...Array.from(STR_METHODS, ([name, run]) => wrap(name, run)),
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
      ([self, items]) => new Markup(joinTexts(textOf(self) ?? "", toList(items).map(escape))),
    ),
  ],
  [
    "striptags",
    native("striptags", ["self"], ([self]) => stripTags(textOf(self) ?? "")),
  ],
  ["unescape", native("unescape", ["self"], ([self]) => unescapeHtml(textOf(self) ?? ""))],
]);
