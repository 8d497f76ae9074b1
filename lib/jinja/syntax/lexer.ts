/**
 * Cuts a template into tokens. Invalid text gives a failure after the tokens before it, so that the parser reports an
 * earlier mistake first, like Python's. Source: jinja2 3.1, "lexer".
 * @module
 */

import { escapeRegex } from "#lib/regex/escape.ts";
import type { TemplateError } from "./template_error.ts";
import { rstrip, SPACE } from "#lib/values/python_text.ts";
import { float, int, repr } from "#lib/values/value.ts";
import { syntaxError } from "./errors.ts";
import { unescapeLiteral } from "./string_literal.ts";
import type { SyntaxOptions } from "./syntax.ts";
import { type TemplateToken, TOKEN_OPERATORS, type TokenType } from "./tokens.ts";

/** The result of the lexer. */
export interface Lexed {
  readonly tokens: readonly TemplateToken[];
  /** The error that stopped it before the end. */
  readonly failure: TemplateError | undefined;
}

const SPACES = new RegExp(`[${SPACE}]+`, "y");
const BLANK = new RegExp(`^[${SPACE}]+$`);
const FLOAT = /(?<!\.)(?:\d+_)*\d+(?:(?:\.(?:\d+_)*\d+)?[eE][+-]?(?:\d+_)*\d+|\.(?:\d+_)*\d+)/y;
const INTEGER = /0[bB](?:_?[01])+|0[oO](?:_?[0-7])+|0[xX](?:_?[\da-fA-F])+|[1-9](?:_?\d)*|0(?:_?0)*/y;
const NAME = /[\p{L}\p{N}_\p{XID_Continue}]+/uy;
const IDENTIFIER = /^[\p{XID_Start}_]\p{XID_Continue}*$/u;
const STRING = /'[^'\\]*(?:\\[^][^'\\]*)*'|"[^"\\]*(?:\\[^][^"\\]*)*"/y;
const OPERATOR = /\*\*|\/\/|==|!=|>=|<=|[-+/*%~[\](){}<>=.:|,;]/y;

const CLOSING: Readonly<Record<string, string>> = { "{": "}", "(": ")", "[": "]" };

/** The kind of construct that begins at a mark in the text. */
type Opening = "raw" | "comment" | "block" | "variable" | "linestatement" | "linecomment";

/** The regular expressions for the marks of a syntax. */
interface Rules {
  /** The next mark. Each opening has a group, followed by a group for the sign after it. */
  readonly opening: RegExp;
  /** The opening of each group of {@linkcode opening}, and the number of the group with its sign. */
  readonly openings: readonly { readonly kind: Opening; readonly group: number; readonly sign: number }[];
  readonly blockEnd: RegExp;
  readonly variableEnd: RegExp;
  readonly lineEnd: RegExp;
  readonly commentEnd: RegExp;
  readonly rawEnd: RegExp;
}

const RULES = new WeakMap<SyntaxOptions, Rules>();

/** The rules of a syntax, made once for it. */
function rulesOf(syntax: SyntaxOptions): Rules {
  const rules = RULES.get(syntax);
  if (rules !== undefined) return rules;
  const made = makeRules(syntax);
  RULES.set(syntax, made);
  return made;
}

function makeRules(syntax: SyntaxOptions): Rules {
  const blockStart = escapeRegex(syntax.blockStart), blockEnd = escapeRegex(syntax.blockEnd);
  const variableEnd = escapeRegex(syntax.variableEnd), commentEnd = escapeRegex(syntax.commentEnd);
  const suffix = syntax.trimBlocks ? "\\n?" : "";
  const marks: { kind: Opening; length: number; name: string; source: string }[] = [
    {
      kind: "comment",
      name: "comment_begin",
      length: syntax.commentStart.length,
      source: escapeRegex(syntax.commentStart),
    },
    { kind: "block", name: "block_begin", length: syntax.blockStart.length, source: blockStart },
    {
      kind: "variable",
      name: "variable_begin",
      length: syntax.variableStart.length,
      source: escapeRegex(syntax.variableStart),
    },
  ];
  if (syntax.lineStatementPrefix !== null) {
    const prefix = escapeRegex(syntax.lineStatementPrefix);
    const length = syntax.lineStatementPrefix.length;
    marks.push({
      kind: "linestatement",
      name: "linestatement_begin",
      length,
      source: `(?<![^\\n])[ \\t\\v]*${prefix}`,
    });
  }
  if (syntax.lineCommentPrefix !== null) {
    const prefix = escapeRegex(syntax.lineCommentPrefix);
    const length = syntax.lineCommentPrefix.length;
    const source = `(?:(?<![^\\n])|(?<=[^${SPACE}]))(?:(?![\\r\\n])[${SPACE}])*${prefix}`;
    marks.push({ kind: "linecomment", name: "linecomment_begin", length, source });
  }
  // The longest mark first, as Jinja sorts them: of two of one length the later name.
  marks.sort((a, b) => b.length - a.length || (a.name < b.name ? 1 : -1));
  const raw = `(${blockStart}(-|\\+|)[${SPACE}]*raw[${SPACE}]*(?:-${blockEnd}[${SPACE}]*|${blockEnd}))`;
  const end = `(?:\\+${blockEnd}|-${blockEnd}[${SPACE}]*|${blockEnd}${suffix})`;
  return {
    opening: new RegExp([raw, ...marks.map(({ source }) => `(${source}(-|\\+|))`)].join("|"), "g"),
    openings: [{ kind: "raw" as const }, ...marks].map(({ kind }, i) => ({ kind, group: 2 * i + 1, sign: 2 * i + 2 })),
    blockEnd: new RegExp(end, "y"),
    variableEnd: new RegExp(`-${variableEnd}[${SPACE}]*|${variableEnd}`, "y"),
    lineEnd: new RegExp(`[${SPACE}]*(?:\\n|(?![^\\n]))`, "y"),
    commentEnd: new RegExp(`\\+${commentEnd}|-${commentEnd}[${SPACE}]*|${commentEnd}${suffix}`, "g"),
    rawEnd: new RegExp(`${blockStart}(-|\\+|)[${SPACE}]*endraw[${SPACE}]*${end}`, "g"),
  };
}

/** The tokens of `source`. */
export function lex(source: string, syntax: SyntaxOptions): Lexed {
  const lines = source.split(/\r\n|\r|\n/);
  if (!syntax.keepTrailingNewline && lines[lines.length - 1] === "") lines.pop();
  const lexer = new Lexer(lines.join("\n"), syntax, rulesOf(syntax));
  try {
    lexer.run();
    return { tokens: lexer.tokens, failure: undefined };
  } catch (error) {
    if (!(error instanceof Error) || lexer.failure !== error) throw error;
    return { tokens: lexer.tokens, failure: lexer.failure };
  }
}

class Lexer {
  readonly tokens: TemplateToken[] = [];
  failure: TemplateError | undefined;
  #at = 0;
  /** Whether the last token ended a line. */
  #lineStarting = true;
  /** The start and number of the line of {@linkcode place}: places are requested in order. */
  #line = 1;
  #lineStart = 0;
  #counted = 0;

  constructor(readonly source: string, readonly syntax: SyntaxOptions, readonly rules: Rules) {}

  run(): void {
    while (this.#at < this.source.length) this.#text();
  }

  #place(at: number): { line: number; column: number } {
    for (
      let next = this.source.indexOf("\n", this.#counted);
      next >= 0 && next < at;
      next = this.source.indexOf("\n", next + 1)
    ) {
      this.#line++;
      this.#lineStart = next + 1;
    }
    this.#counted = Math.max(at, this.#counted);
    return { line: this.#line, column: at - this.#lineStart + 1 };
  }

  #fail(message: string, at: number): never {
    this.failure = syntaxError(message, this.#place(at));
    throw this.failure;
  }

  #push(type: TokenType, value: TemplateToken["value"], at: number): void {
    this.tokens.push({ type, value, ...this.#place(at) });
  }

  #pushData(text: string, at: number): void {
    if (text === "") return;
    const { newlineSequence } = this.syntax;
    this.#push("data", newlineSequence === "\n" ? text : text.replaceAll("\n", () => newlineSequence), at);
  }

  /** Text up to the next mark, and the kind of the mark. */
  #text(): void {
    const { opening, openings } = this.rules;
    opening.lastIndex = this.#at;
    const match = opening.exec(this.source);
    if (match === null) {
      this.#pushData(this.source.slice(this.#at), this.#at);
      this.#moveTo(this.source.length);
      return;
    }
    const { kind, sign } = openings.find(({ group }) => match[group] !== undefined) ?? openings[0];
    const text = this.source.slice(this.#at, match.index);
    this.#pushData(this.#stripped(text, match[sign], kind !== "variable"), this.#at);
    this.#moveTo(match.index + match[0].length);
    if (kind === "raw") this.#raw();
    else if (kind === "comment") this.#comment();
    else if (kind === "linecomment") this.#lineComment();
    else this.#tag(kind, match.index);
  }

  /** The text before a tag without the white space that the tag or the options remove. */
  #stripped(text: string, sign: string, mayLstrip: boolean): string {
    if (sign === "-") return rstrip(text);
    if (sign === "+" || !this.syntax.lstripBlocks || !mayLstrip) return text;
    const lineStart = text.lastIndexOf("\n") + 1;
    if (lineStart === 0 && !this.#lineStarting) return text;
    return BLANK.test(text.slice(lineStart)) ? text.slice(0, lineStart) : text;
  }

  #moveTo(end: number): void {
    this.#lineStarting = end > 0 && this.source[end - 1] === "\n";
    this.#at = end;
  }

  #comment(): void {
    this.rules.commentEnd.lastIndex = this.#at;
    const end = this.rules.commentEnd.exec(this.source);
    if (end === null) {
      if (this.#at < this.source.length) this.#fail("Missing end of comment tag", this.#at);
      return;
    }
    this.#moveTo(end.index + end[0].length);
  }

  #lineComment(): void {
    const end = this.source.indexOf("\n", this.#at);
    this.#moveTo(end < 0 ? this.source.length : end);
  }

  #raw(): void {
    this.rules.rawEnd.lastIndex = this.#at;
    const end = this.rules.rawEnd.exec(this.source);
    if (end === null) {
      if (this.#at < this.source.length) this.#fail("Missing end of raw directive", this.#at);
      return;
    }
    this.#pushData(this.#stripped(this.source.slice(this.#at, end.index), end[1], true), this.#at);
    this.#moveTo(end.index + end[0].length);
  }

  #tag(kind: "block" | "variable" | "linestatement", begin: number): void {
    this.#push(kind === "variable" ? "variable_begin" : "block_begin", this.source.slice(begin, this.#at), begin);
    const { blockEnd, variableEnd, lineEnd } = this.rules;
    const end = kind === "variable" ? variableEnd : kind === "block" ? blockEnd : lineEnd;
    const open: string[] = [];
    while (true) {
      if (open.length === 0) {
        const ended = this.#match(end);
        if (ended !== undefined) {
          this.#push(kind === "variable" ? "variable_end" : "block_end", ended, this.#at);
          this.#moveTo(this.#at + ended.length);
          return;
        }
      }
      if (this.#at >= this.source.length) return;
      this.#expressionToken(open);
    }
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.source)?.[0];
  }

  /**
   * One token inside of a tag.
   * @param open The brackets that are to be closed, innermost last.
   */
  #expressionToken(open: string[]): void {
    const space = this.#match(SPACES);
    const at = this.#at;
    let text = space;
    if (text === undefined && (text = this.#match(FLOAT)) !== undefined) {
      this.#push("float", float(Number(text.replaceAll("_", ""))), at);
    } else if (text === undefined && (text = this.#match(INTEGER)) !== undefined) {
      this.#push("integer", readInt(text), at);
    } else if (text === undefined && (text = this.#match(NAME)) !== undefined) {
      if (!IDENTIFIER.test(text)) this.#fail("Invalid character in identifier", at);
      this.#push("name", text, at);
    } else if (text === undefined && (text = this.#match(STRING)) !== undefined) {
      this.#push("string", this.#literal(text, at), at);
    } else if (text === undefined && (text = this.#match(OPERATOR)) !== undefined) {
      this.#balance(text, open, at);
      this.#push(TOKEN_OPERATORS.get(text) ?? "semicolon", text, at);
    }
    if (text === undefined) {
      const char = String.fromCodePoint(this.source.codePointAt(at) ?? 0);
      this.#fail(`unexpected char ${repr(char)} at ${[...this.source.slice(0, at)].length}`, at);
    }
    this.#moveTo(at + text.length);
  }

  #literal(text: string, at: number): string {
    const inner = text.slice(1, -1);
    const { newlineSequence } = this.syntax;
    return unescapeLiteral(
      newlineSequence === "\n" ? inner : inner.replaceAll("\n", () => newlineSequence),
      (message) => this.#fail(message, at),
    );
  }

  #balance(operator: string, open: string[], at: number): void {
    if (Object.hasOwn(CLOSING, operator)) {
      open.push(CLOSING[operator]);
      return;
    }
    if (operator !== "}" && operator !== ")" && operator !== "]") return;
    const expected = open.pop();
    if (expected === undefined) this.#fail(`unexpected '${operator}'`, at);
    if (expected !== operator) this.#fail(`unexpected '${operator}', expected '${expected}'`, at);
  }
}

function readInt(text: string): number | bigint {
  return int(BigInt(text.replaceAll("_", "")));
}
