/**
 * The lines around an error, with a mark, as Salt shows them.
 * Source: Salt 3008.3, `salt/utils/stringutils.py` get_context.
 * @module
 */

import { splitLines } from "#lib/text/split_lines.ts";

/** Lines that are shown before and after. */
const AROUND = 5;
const MARK = "    <======================";

/** The lines around `line` (from 1) between two lines `---`; the whole text, as it is, if it has no such line. */
export function excerptOf(text: string, line: number): string {
  const lines = splitLines(text);
  if (line > lines.length) return text;
  const start = Math.max(0, line - AROUND - 1), end = Math.min(lines.length, line + AROUND);
  const excerpt = lines.slice(start, end).map((each, i) => start + i === line - 1 ? each + MARK : each);
  if (start > 0) excerpt.unshift("[...]");
  if (end < lines.length) excerpt.push("[...]");
  return ["---", ...excerpt, "---"].join("\n");
}
