/**
 * The expression by which states look for a text in a file, whatever white space it has there. Source: Salt 3008.3,
 * `salt/utils/stringutils.py` build_whitespace_split_regex; docs.python.org, "shlex", the rules that are not POSIX's.
 * @module
 */

import { InvocationError } from "#lib/errors.ts";
import { escapeRegex } from "#lib/regex/escape.ts";
import { splitLines } from "#lib/text/split_lines.ts";

const SPACE = "(?:[\\s]+)?";

/**
 * An expression that matches the lines of `text` with other white space between their words, and more of it around
 * them.
 * @throws {InvocationError} If the text has both kinds of quotes, and a double one is not closed.
 */
export function whitespaceRegex(text: string): string {
  const quote = quoteIn(text);
  const lines = splitLines(text).map((line) => SPACE + wordsOf(line, quote).map(escapeRegex).join(SPACE) + SPACE);
  return `(?m)^${lines.join("")}$`;
}

/** The quote that keeps white space together: the one that is not an apostrophe of the text; empty if there is none. */
function quoteIn(text: string): string {
  if (text.includes(`'\\"`)) return "";
  if (text.includes("'")) return '"';
  return text.includes('"') ? "'" : "";
}

/** The words of a line. A quote that begins a word ends it when it comes again; both stay. */
function wordsOf(line: string, quote: string): string[] {
  const words: string[] = [];
  let rest = line;
  for (;;) {
    rest = rest.replace(/^[ \t\r\n]+/, "");
    if (rest === "") return words;
    const end = quote !== "" && rest.startsWith(quote) ? rest.indexOf(quote, 1) + 1 : endOfWord(rest);
    if (end === 0) throw new InvocationError("No closing quotation");
    words.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
}

function endOfWord(text: string): number {
  const end = text.search(/[ \t\r\n]/);
  return end < 0 ? text.length : end;
}
