/**
 * A function call written as in Python: `module.function(a, "b, c", key=[1, 2])`. Every argument is a text.
 * Source: Salt 3008.3, `parse_function` of `salt/utils/args.py`, on Python's `shlex.shlex` in POSIX mode.
 * @module
 */

import { InvocationError } from "#lib/errors.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";

/** A call that was read. */
export interface ParsedCall {
  readonly fun: string;
  readonly args: Value[];
  readonly kwargs: ValueMap;
}

const CLOSING: Readonly<Record<string, string>> = { "[": "]", "{": "}", "(": ")" };

/**
 * Reads a call; what comes after it is skipped. `undefined` if it is none.
 * @throws {InvocationError} A quote is not closed, or nothing follows a backslash.
 */
export function parseCall(text: string): ParsedCall | undefined {
  const tokens = tokensOf(text);
  const open = tokens.indexOf("(");
  if (open <= 0) return undefined;
  return argumentsOf(tokens.slice(0, open).join(""), tokens.slice(open + 1));
}

function argumentsOf(fun: string, tokens: readonly string[]): ParsedCall | undefined {
  const args: Value[] = [];
  const kwargs: ValueMap = new Map();
  const brackets: string[] = [];
  let word: string[] = [];
  let key: string | undefined;
  for (const token of tokens) {
    const isOutside = brackets.length === 0;
    if (token in CLOSING) {
      word.push(token);
      brackets.push(token);
    } else if (isOutside && (token === "," || token === ")")) {
      if (key !== undefined && key !== "") kwargs.set(key, word.join(""));
      else if (word.length > 0) args.push(word.join(""));
      if (token === ")") return { fun, args, kwargs };
      key = undefined;
      word = [];
    } else if (token === "]" || token === "}" || token === ")") {
      const last = brackets.pop();
      if (last === undefined || CLOSING[last] !== token) return undefined;
      word.push(token);
    } else if (token === "=" && isOutside) {
      key = word.join("");
      word = [];
    } else {
      word.push(token);
    }
  }
  return undefined;
}

/** The tokens of a text: words, quoted texts, and every other mark alone. */
function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  let word: string | undefined;
  const end = () => {
    if (word !== undefined) tokens.push(word);
    word = undefined;
  };
  for (let at = 0; at < text.length; at++) {
    const mark = text[at];
    if (mark === '"' || mark === "'") {
      let inner = "";
      for (at++; at < text.length && text[at] !== mark; at++) {
        // In both kinds of quotes a backslash keeps a quote or another one.
        if (text[at] === "\\" && (text[at + 1] === mark || text[at + 1] === "\\")) at++;
        inner += text[at];
      }
      if (at >= text.length) throw new InvocationError("No closing quotation");
      word = (word ?? "") + inner;
    } else if (mark === "\\") {
      if (++at >= text.length) throw new InvocationError("No escaped character");
      word = (word ?? "") + text[at];
    } else if (/\s/.test(mark)) end();
    else if (mark === "#") {
      // A comment to the end of the line.
      end();
      while (at < text.length && text[at] !== "\n") at++;
    } else if (/[\w\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u00ff]/.test(mark)) word = (word ?? "") + mark;
    else {
      end();
      tokens.push(mark);
    }
  }
  end();
  return tokens;
}
