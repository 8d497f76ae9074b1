/**
 * The tokens of a JavaScript or TypeScript source, as far as reading a declaration needs them: words, strings without
 * interpolation, punctuators, and others. Knows only the grammar that distinguishes a regular expression from a
 * division.
 * Source: ECMA-262, "Lexical Grammar".
 * @module
 */

/** One token. */
export interface SourceToken {
  /**
   * `string`: its `text` is what is between the quotes, unescaped. `other`: numbers, templates, regular expressions.
   */
  readonly kind: "word" | "string" | "punctuator" | "other";
  /** As in the source; for strings the unescaped content. */
  readonly text: string;
  /** From 1. */
  readonly line: number;
  /** Whether a line ends between the token before and this one. */
  readonly afterLine: boolean;
}

const NUMBER = /\.?\d(?:[eE][+-]|[\w.])*/y;
/** Longer ones first. `<` and `>` are single tokens, because types use them too. */
const PUNCTUATOR =
  /\.\.\.|=>|[=!]==?|&&=?|\|\|=?|\?\?=?|\?\.(?!\d)|\*\*=?|\+\+|--|[-+*/%&|^]=|[{}()[\];,<>+\-*/%&|^!~?:=.]/y;
const SPACE = /(?:\s|\/\/[^\n\r\u2028\u2029]*|\/\*[^]*?\*\/)+/y;
const REGEX = /\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/uy;
const STRING = /'(?:\\[^]|[^'\\\n])*'|"(?:\\[^]|[^"\\\n])*"/y;

/** After these words a slash begins a regular expression. */
const BEFORE_EXPRESSION: ReadonlySet<string> = new Set(
  "return typeof case in of new delete void throw do else instanceof yield await extends default".split(" "),
);

/**
 * The tokens of `source`, in order.
 * @throws {SyntaxError} With the line, for what is not a token or does not end.
 */
export function sourceTokens(source: string): SourceToken[] {
  return new TokenReader(source).readAll();
}

class TokenReader {
  readonly #source: string;
  readonly #tokens: SourceToken[] = [];
  /** For each open template: the number of open braces in its current expression. */
  readonly #templates: number[] = [];
  // In each reader, as V8 reads its classes for 0.5 ms, and most starts read no sources.
  readonly #word = /[\p{ID_Start}$_#@][\p{ID_Continue}$\u200c\u200d]*/uy;
  #at: number;
  #line = 1;
  #afterLine = true;

  constructor(source: string) {
    this.#source = source;
    this.#at = source.startsWith("#!") ? source.indexOf("\n") >>> 0 : 0;
  }

  readAll(): SourceToken[] {
    while (this.#at < this.#source.length) {
      const space = this.#match(SPACE);
      if (space !== undefined) this.#skip(space);
      else this.#read();
    }
    if (this.#templates.length > 0) this.#fail();
    return balance(this.#tokens);
  }

  #read(): void {
    const first = this.#source[this.#at];
    if (this.#source.startsWith("/*", this.#at)) this.#fail(); // an unclosed comment
    if (first === "`" || this.#endsExpression(first)) return this.#readTemplate();
    const string = this.#match(STRING);
    if (string !== undefined) return this.#push("string", string, unescape(string));
    const word = this.#match(this.#word);
    if (word !== undefined) return this.#push("word", word);
    const other = this.#match(NUMBER) ?? (first === "/" && this.#beforeExpression() ? this.#match(REGEX) : undefined);
    if (other !== undefined) return this.#push("other", other);
    this.#push("punctuator", this.#match(PUNCTUATOR) ?? this.#fail());
  }

  /** Counts the braces of a template's expression. Whether this one ends the expression. */
  #endsExpression(character: string): boolean {
    const open = this.#templates.length - 1;
    if (open < 0) return false;
    if (character === "}" && this.#templates[open] === 0) {
      this.#templates.pop();
      return true;
    }
    if (character === "{") this.#templates[open]++;
    if (character === "}") this.#templates[open]--;
    return false;
  }

  /**
   * Reads from a backquote, or from the brace that ends an expression, to the next `${` or the end of the template.
   */
  #readTemplate(): void {
    const source = this.#source;
    let end = this.#at + 1;
    while (end < source.length && source[end] !== "`" && !source.startsWith("${", end)) {
      end += source[end] === "\\" ? 2 : 1;
    }
    if (end >= source.length) this.#fail();
    const hasExpression = source[end] === "$";
    this.#push("other", source.slice(this.#at, end + (hasExpression ? 2 : 1)));
    if (hasExpression) this.#templates.push(0);
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.#source)?.[0];
  }

  #push(kind: SourceToken["kind"], source: string, text = source): void {
    this.#tokens.push({ kind, text, line: this.#line, afterLine: this.#afterLine });
    this.#skip(source);
    this.#afterLine = false;
  }

  #skip(source: string): void {
    const breaks = source.split("\n").length - 1;
    this.#line += breaks;
    this.#at += source.length;
    this.#afterLine ||= breaks > 0;
  }

  /** Whether an expression may begin here: then a slash begins a regular expression. */
  #beforeExpression(): boolean {
    const before = this.#tokens.at(-1);
    if (before === undefined) return true;
    if (before.kind === "word") return BEFORE_EXPRESSION.has(before.text);
    if (before.kind === "other") return before.text.endsWith("${");
    return before.kind === "punctuator" && ![")", "]", "}", "++", "--"].includes(before.text);
  }

  #fail(): never {
    throw new SyntaxError(`line ${this.#line} cannot be read`);
  }
}

/** The content of a string literal with simple escapes; other literals keep their escapes, and match no name. */
function unescape(literal: string): string {
  return literal.slice(1, -1).replace(/\\(['"\\/])/g, "$1");
}

/** @throws {SyntaxError} If a bracket has no partner: then a token was read wrongly. */
function balance(tokens: SourceToken[]): SourceToken[] {
  const closing: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };
  const open: string[] = [];
  for (const { kind, text, line } of tokens) {
    if (kind !== "punctuator") continue;
    if (Object.hasOwn(closing, text)) open.push(closing[text]);
    else if (")]}".includes(text) && open.pop() !== text) throw new SyntaxError(`line ${line} closes what is not open`);
  }
  if (open.length > 0) throw new SyntaxError("a bracket is not closed");
  return tokens;
}
