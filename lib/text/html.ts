/**
 * HTML's escapes and tags, as markupsafe treats them.
 * Source: markupsafe 3.0, observed.
 * @module
 */

import { splitWhitespace } from "./split_lines.ts";

const ESCAPED: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  "'": "&#39;",
  '"': "&#34;",
};

/** `text` with the five characters of HTML replaced. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>'"]/g, (char) => ESCAPED[char]);
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };

/** Texts of entities: numbers, and the few names that HTML itself needs. */
export function unescapeHtml(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|(\w+));/g, (whole, decimal, hex, name) => {
    if (name !== undefined) return Object.hasOwn(ENTITIES, name) ? ENTITIES[name] : whole;
    const code = decimal === undefined ? parseInt(hex, 16) : Number(decimal);
    return code > 0x10ffff ? whole : String.fromCodePoint(code);
  });
}

/** The text without tags and comments, its white space made single blanks. */
export function stripTags(text: string): string {
  const bare = withoutBetween(withoutBetween(text, "<!--", "-->"), "<", ">");
  return unescapeHtml(splitWhitespace(bare).join(" "));
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
