/**
 * The value of a string literal of a template: Python's escapes. Source: docs.python.org, "String and Bytes literals";
 * jinja2 3.1, which reads literals by way of ASCII.
 * @module
 */

import { CONTROL_ESCAPES } from "#lib/values/control_escapes.ts";

const SIMPLE: Readonly<Record<string, string>> = { ...CONTROL_ESCAPES, "\n": "", "'": "'", '"': '"' };

const DIGITS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/** The characters after a backslash. Surrogates from two escapes form one character. */
const ESCAPE = /\\([0-7]{1,3}|[xuU][\da-fA-F]*|N\{[^}]*\}|[^])/gu;

/** A character that is not ASCII, as Python writes it in ASCII. */
function escapeCode(code: number): string {
  if (code < 0x100) return `x${code.toString(16).padStart(2, "0")}`;
  return code < 0x10000 ? `u${code.toString(16).padStart(4, "0")}` : `U${code.toString(16).padStart(8, "0")}`;
}

/**
 * The text of a literal without its quotes.
 * @param fail Called with Python's message for an invalid escape.
 */
export function unescapeLiteral(literal: string, fail: (message: string) => never): string {
  if (!literal.includes("\\")) return literal;
  return literal.replace(ESCAPE, (whole, what: string) => {
    const simple = Object.hasOwn(SIMPLE, what) ? SIMPLE[what] : undefined;
    if (simple !== undefined) return simple;
    if (/^[0-7]/.test(what)) return String.fromCodePoint(parseInt(what, 8));
    if (what.startsWith("N")) {
      return what === "N" ? fail("malformed \\N character escape") : fail("unknown Unicode character name");
    }
    const kind = what[0];
    if (!Object.hasOwn(DIGITS, kind)) return what < "\x80" ? whole : `\\${escapeCode(what.codePointAt(0) ?? 0)}`;
    const count = DIGITS[kind];
    if (what.length <= count) return fail(`truncated \\${kind}${"X".repeat(count)} escape`);
    const code = parseInt(what.slice(1, count + 1), 16);
    if (code > 0x10ffff) return fail("illegal Unicode character");
    return String.fromCodePoint(code) + what.slice(count + 1);
  });
}
