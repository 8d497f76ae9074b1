/**
 * YAML documents that are a mapping of words, as most configuration files are: `name: value` at the start of a line,
 * and comments. They are read without the YAML parser, which takes longer to load than such a file to read. Any other
 * document is left to it.
 * @module
 */

import { resolvePlainScalar } from "./scalar.ts";
import type { ValueMap } from "#lib/values/value.ts";

/** A mapping, and the line (from 1) of each of its keys. */
export interface PlainMapping {
  readonly value: ValueMap;
  readonly lines: Map<string, number>;
}

/** Neither key nor value contains a character with a special meaning in YAML, and the value does not begin with one. */
const PAIR = /^([A-Za-z_][A-Za-z0-9_]*): +([A-Za-z0-9_/][A-Za-z0-9_./+-]*) *$/;
/** A comment in ASCII, or nothing. */
const NOTHING = /^(?:#[\t\x20-\x7e]*)?$/;

/**
 * Reads a document of words.
 * @returns `undefined` if it may be anything else: a list, a quoted text, an error.
 */
export function plainMapping(text: string): PlainMapping | undefined {
  const value: ValueMap = new Map();
  const lines = new Map<string, number>();
  for (const [i, line] of text.split("\n").entries()) {
    if (NOTHING.test(line)) continue;
    const [, key, word] = PAIR.exec(line) ?? [];
    if (key === undefined || value.has(key) || resolvePlainScalar(key) !== key) return undefined;
    const resolved = resolvePlainScalar(word);
    if (resolved === undefined) return undefined;
    value.set(key, resolved);
    lines.set(key, i + 1);
  }
  return { value, lines };
}
