/**
 * The tokens of a template, and how messages name them.
 * Source: jinja2 3.1, "lexer".
 * @module
 */

import type { Float } from "#lib/values/value.ts";

/** Jinja's names of tokens. */
export type TokenType =
  | OperatorType
  | "float"
  | "integer"
  | "name"
  | "string"
  | "block_begin"
  | "block_end"
  | "variable_begin"
  | "variable_end"
  | "data"
  | "eof";

/** The tokens of operators. */
export type OperatorType =
  | "add"
  | "assign"
  | "colon"
  | "comma"
  | "div"
  | "dot"
  | "eq"
  | "floordiv"
  | "gt"
  | "gteq"
  | "lbrace"
  | "lbracket"
  | "lparen"
  | "lt"
  | "lteq"
  | "mod"
  | "mul"
  | "ne"
  | "pipe"
  | "pow"
  | "rbrace"
  | "rbracket"
  | "rparen"
  | "semicolon"
  | "sub"
  | "tilde";

/** One token. */
export interface TemplateToken {
  readonly type: TokenType;
  /** Its text; for strings and numbers the value. */
  readonly value: string | number | bigint | Float;
  /** From 1. */
  readonly line: number;
  readonly column: number;
}

/** The operators by their texts. */
export const TOKEN_OPERATORS: ReadonlyMap<string, OperatorType> = new Map([
  ["+", "add"],
  ["-", "sub"],
  ["/", "div"],
  ["//", "floordiv"],
  ["*", "mul"],
  ["%", "mod"],
  ["**", "pow"],
  ["~", "tilde"],
  ["[", "lbracket"],
  ["]", "rbracket"],
  ["(", "lparen"],
  [")", "rparen"],
  ["{", "lbrace"],
  ["}", "rbrace"],
  ["==", "eq"],
  ["!=", "ne"],
  [">", "gt"],
  [">=", "gteq"],
  ["<", "lt"],
  ["<=", "lteq"],
  ["=", "assign"],
  [".", "dot"],
  [":", "colon"],
  ["|", "pipe"],
  [",", "comma"],
  [";", "semicolon"],
]);

const DESCRIPTIONS: ReadonlyMap<string, string> = new Map([
  ...Array.from(TOKEN_OPERATORS, ([text, type]): [string, string] => [type, text]),
  ["block_begin", "begin of statement block"],
  ["block_end", "end of statement block"],
  ["variable_begin", "begin of print statement"],
  ["variable_end", "end of print statement"],
  ["data", "template data / text"],
  ["eof", "end of template"],
]);

/** The name of a token in messages. */
export function describeToken({ type, value }: TemplateToken): string {
  return type === "name" ? String(value) : DESCRIPTIONS.get(type) ?? type;
}

/** The name of an expected token in messages: a type, or `name:endif`. */
export function describeExpected(expected: string): string {
  if (expected.startsWith("name:")) return expected.slice("name:".length);
  return DESCRIPTIONS.get(expected) ?? expected;
}

/** Whether a token is the expected one: a type, or `name:endif`. */
export function isToken(token: TemplateToken, expected: string): boolean {
  if (token.type === expected) return true;
  return token.type === "name" && expected.startsWith("name:") && token.value === expected.slice("name:".length);
}
