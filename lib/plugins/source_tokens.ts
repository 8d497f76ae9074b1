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
  const tokens: SourceToken[] = [];
  /** For each open template: the number of open braces in its current expression. */
  const templates: number[] = [];
  let line = 1;
  let at = source.startsWith("#!") ? source.indexOf("\n") >>> 0 : 0;
  let afterLine = true;
  // Here, as V8 reads its classes for 0.5 ms, and most starts read no sources.
  const words = /[\p{ID_Start}$_#@][\p{ID_Continue}$\u200c\u200d]*/uy;

  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(source)?.[0];
  };
  const fail = (): never => {
    throw new SyntaxError(`line ${line} cannot be read`);
  };
  const push = (kind: SourceToken["kind"], taken: string, text = taken) => {
    tokens.push({ kind, text, line, afterLine });
    skip(taken);
    afterLine = false;
  };
  const skip = (taken: string) => {
    const breaks = taken.split("\n").length - 1;
    line += breaks;
    at += taken.length;
    afterLine ||= breaks > 0;
  };
  /**
   * Reads from a backquote, or from the brace that ends an interpolation, to the next `${` or the end of the template.
   */
  const template = () => {
    let end = at + 1;
    while (end < source.length && source[end] !== "`" && !source.startsWith("${", end)) {
      end += source[end] === "\\" ? 2 : 1;
    }
    if (end >= source.length) fail();
    const inserts = source[end] === "$";
    push("other", source.slice(at, end + (inserts ? 2 : 1)));
    if (inserts) templates.push(0);
  };

  while (at < source.length) {
    const space = match(SPACE);
    if (space !== undefined) {
      skip(space);
      continue;
    }
    const character = source[at];
    if (source.startsWith("/*", at)) fail(); // an unclosed comment
    if (character === "`") {
      template();
      continue;
    }
    const open = templates.length - 1;
    if (open >= 0 && character === "}" && templates[open] === 0) {
      templates.pop();
      template();
      continue;
    }
    if (open >= 0 && character === "{") templates[open]++;
    if (open >= 0 && character === "}") templates[open]--;
    const string = match(STRING);
    if (string !== undefined) {
      push("string", string, unescape(string));
      continue;
    }
    const word = match(words);
    if (word !== undefined) {
      push("word", word);
      continue;
    }
    const number = match(NUMBER);
    if (number !== undefined) {
      push("other", number);
      continue;
    }
    const regex = character === "/" && beginsExpression(tokens[tokens.length - 1]) ? match(REGEX) : undefined;
    if (regex !== undefined) {
      push("other", regex);
      continue;
    }
    push("punctuator", match(PUNCTUATOR) ?? fail());
  }
  if (templates.length > 0) fail();
  return balance(tokens);
}

function beginsExpression(before: SourceToken | undefined): boolean {
  if (before === undefined) return true;
  if (before.kind === "word") return BEFORE_EXPRESSION.has(before.text);
  if (before.kind === "other") return before.text.endsWith("${");
  return before.kind === "punctuator" && ![")", "]", "}", "++", "--"].includes(before.text);
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
