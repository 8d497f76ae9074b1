/**
 * Shell patterns as in Salt's targets, key globs and searches: `*`, `?`, `[seq]`, `[!seq]`, without quoting. Not
 * translated to a regular expression: the matcher takes at most pattern × text steps. Knows nothing of ids or paths.
 * Source: docs.python.org, "fnmatch" (`fnmatchcase`).
 * @module
 */

import { codePoints } from "#lib/values/code_points.ts";
import { countStep } from "#lib/values/stop_word.ts";

/** One character of a set, or a range of them, ends included. */
type Range = readonly [low: number, high: number];

/** A star, any one character, one given character, or one of a set. */
type Token =
  | { readonly kind: "star" }
  | { readonly kind: "any" }
  | { readonly kind: "char"; readonly code: number }
  | { readonly kind: "set"; readonly negated: boolean; readonly ranges: readonly Range[] };

/** Whether the whole `text` matches `pattern`, with case. Use {@linkcode compileGlob} for more than a few texts. */
export function matchesGlob(pattern: string, text: string): boolean {
  return compileGlob(pattern)(text);
}

/** Compiles `pattern` into a test for texts. */
export function compileGlob(pattern: string): (text: string) => boolean {
  if (!/[*?[]/.test(pattern)) return (text) => text === pattern;
  const tokens = parse(codePoints(pattern));
  if (tokens.length === 1 && tokens[0].kind === "star") return () => true;
  return (text) => run(tokens, codePoints(text));
}

/** The `texts` that match `pattern`, in their order. */
export function filterGlob(pattern: string, texts: readonly string[]): string[] {
  return texts.filter(compileGlob(pattern));
}

/** Whether `text` has a character that is special in a pattern. */
export function isGlob(text: string): boolean {
  return /[*?[]/.test(text);
}

const STAR = 0x2a, QUESTION = 0x3f, OPEN = 0x5b, CLOSE = 0x5d, NOT = 0x21, HYPHEN = 0x2d;

function parse(pattern: readonly number[]): Token[] {
  const tokens: Token[] = [];
  const lastClose = pattern.lastIndexOf(CLOSE);
  for (let i = 0; i < pattern.length; i++) {
    const code = pattern[i];
    if (code === STAR) {
      if (tokens.at(-1)?.kind !== "star") tokens.push({ kind: "star" });
    } else if (code === QUESTION) {
      tokens.push({ kind: "any" });
    } else if (code === OPEN) {
      const negated = pattern[i + 1] === NOT;
      const start = i + (negated ? 2 : 1);
      // A bracket right at the start belongs to the set; it does not end it.
      const from = start + (pattern[start] === CLOSE ? 1 : 0);
      const end = from > lastClose ? -1 : pattern.indexOf(CLOSE, from);
      if (end < 0) {
        tokens.push({ kind: "char", code });
      } else {
        tokens.push({ kind: "set", negated, ranges: parseSet(pattern.slice(start, end)) });
        i = end;
      }
    } else {
      tokens.push({ kind: "char", code });
    }
  }
  return tokens;
}

/** The ranges between the brackets. A reversed range is empty. */
function parseSet(members: readonly number[]): Range[] {
  const ranges: Range[] = [];
  for (let i = 0; i < members.length; i++) {
    if (members[i + 1] === HYPHEN && i + 2 < members.length) {
      ranges.push([members[i], members[i + 2]]);
      i += 2;
    } else {
      ranges.push([members[i], members[i]]);
    }
  }
  return ranges;
}

function accepts(token: Token, code: number): boolean {
  if (token.kind === "char") return token.code === code;
  if (token.kind === "set") return token.ranges.some(([low, high]) => code >= low && code <= high) !== token.negated;
  return true;
}

/** Backtracks to the last star only: an earlier star cannot match where the last one does not. */
function run(tokens: readonly Token[], text: readonly number[]): boolean {
  let t = 0, starToken = -1, starText = 0;
  for (let i = 0; i < text.length;) {
    countStep();
    const token: Token | undefined = tokens[t];
    if (token?.kind === "star") {
      starToken = t++;
      starText = i;
    } else if (token !== undefined && accepts(token, text[i])) {
      t++;
      i++;
    } else if (starToken >= 0) {
      t = starToken + 1;
      i = ++starText;
    } else {
      return false;
    }
  }
  while (t < tokens.length && tokens[t].kind === "star") t++;
  return t === tokens.length;
}
