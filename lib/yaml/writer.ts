/**
 * Writes YAML text: indentation, indicators, and one scalar in each style, folded where libyaml folds. Knows columns
 * and characters; nothing of values or types, or of which style to choose.
 * Source: libyaml 0.2.5's emitter (behaviour).
 * @module
 */

/** A scalar is folded at the first single space after this column. */
const WIDTH = 80;

/** The escapes in double quotes, by character. */
export const ESCAPES: Readonly<Record<string, string>> = {
  "\0": "0",
  "\x07": "a",
  "\b": "b",
  "\t": "t",
  "\n": "n",
  "\v": "v",
  "\f": "f",
  "\r": "r",
  "\x1b": "e",
  '"': '"',
  "\\": "\\",
  "\x85": "N",
  "\u2028": "L",
  "\u2029": "P",
};

/** Whether `char` is a line break in YAML 1.1. */
export function isBreak(char: string): boolean {
  return char === "\n" || char === "\r" || char === "\x85" || char === "\u2028" || char === "\u2029";
}

/** Whether libyaml writes `char` as it is: not tabs, U+0085 and characters beyond the Basic Multilingual Plane. */
export function isPrintable(char: string): boolean {
  return char === "\n" || (char >= " " && char <= "~") ||
    (char.length === 1 && ((char >= "\xa0" && char <= "\ud7ff") || (char >= "\ue000" && char <= "\ufffd")) &&
      char !== "\ufeff");
}

/** Writes a YAML text from top to bottom. */
export class YamlWriter {
  #out = "";
  #column = 0;
  #indent = -1; // -1: outside of every node
  readonly #step: number;
  readonly #indents: number[] = [];
  /** Whether the last character written is white space. */
  #whitespace = true;
  /** Whether the line so far has only indentation and indicators that count as such (`-`, `?`). */
  #indention = true;

  /** Whether all but ASCII is escaped. */
  readonly ascii: boolean;

  /** @param step Columns for each level. */
  constructor(step = 2, { ascii = false }: { readonly ascii?: boolean } = {}) {
    this.#step = step;
    this.ascii = ascii;
  }

  /** The text written so far. */
  get text(): string {
    return this.#out;
  }

  /** Whether the line has only indentation and the indicators `-`, `?` and an explicit `:` so far. */
  get atIndention(): boolean {
    return this.#indention;
  }

  /**
   * Indents one level.
   * @param options `flow`: for the continuation lines of a scalar or of what is in brackets; `indentless`: a list stays
   * in the column of its key.
   */
  increaseIndent(options: { flow?: boolean; indentless?: boolean } = {}): void {
    this.#indents.push(this.#indent);
    if (this.#indent < 0) this.#indent = options.flow ? this.#step : 0;
    else if (!options.indentless) this.#indent += this.#step;
  }

  /** Returns to the indentation before the matching {@linkcode increaseIndent}. */
  decreaseIndent(): void {
    this.#indent = this.#indents.pop() ?? -1;
  }

  /** Begins a line at the current indentation, unless the line is still empty. */
  newLine(): void {
    const indent = Math.max(0, this.#indent);
    if (!this.#indention || this.#column > indent || (this.#column === indent && !this.#whitespace)) this.#break("\n");
    if (this.#column < indent) this.#put(" ".repeat(indent - this.#column));
    this.#whitespace = true;
    this.#indention = true;
  }

  /** Begins a line if this one is full: between what is in brackets. */
  foldLine(): void {
    if (this.#column > WIDTH) this.newLine();
  }

  /**
   * Writes `-`, `?`, `:`, a bracket or a tag. `spaced`: with a space before it. `indention`: a block may follow on the
   * line. `opens`: what follows needs no space before it.
   */
  indicator(text: string, options: { spaced?: boolean; indention?: boolean; opens?: boolean } = {}): void {
    if (options.spaced && !this.#whitespace) this.#put(" ");
    this.#put(text);
    this.#whitespace = options.opens === true;
    this.#indention &&= options.indention === true;
  }

  /** Writes `text` without quotes. `fold` allows line breaks in it. */
  plain(text: string, fold: boolean): void {
    if (!this.#whitespace) this.#put(" ");
    const chars = [...text];
    let spaces = false;
    chars.forEach((char, i) => {
      if (char === " " && fold && !spaces && this.#column > WIDTH && chars[i + 1] !== " ") this.newLine();
      else this.#put(char);
      spaces = char === " ";
    });
    this.#endScalar();
  }

  /** Writes `text` in single quotes. `fold` allows additional line breaks. */
  singleQuoted(text: string, fold: boolean): void {
    this.indicator("'", { spaced: true });
    const chars = [...text];
    let spaces = false;
    let breaks = false;
    chars.forEach((char, i) => {
      if (char === " ") {
        const inside = i > 0 && i < chars.length - 1;
        if (fold && !spaces && this.#column > WIDTH && inside && chars[i + 1] !== " ") this.newLine();
        else this.#put(char);
        spaces = true;
      } else if (isBreak(char)) {
        if (!breaks && char === "\n") this.#break("\n");
        this.#break(char);
        this.#indention = true;
        breaks = true;
      } else {
        if (breaks) this.newLine();
        this.#put(char === "'" ? "''" : char);
        this.#indention = false;
        spaces = false;
        breaks = false;
      }
    });
    if (breaks) this.newLine();
    this.indicator("'");
    this.#endScalar();
  }

  /** Writes `text` in double quotes, with escapes. `fold` allows line breaks in it. */
  doubleQuoted(text: string, fold: boolean): void {
    this.indicator('"', { spaced: true });
    const chars = [...text];
    let spaces = false;
    chars.forEach((char, i) => {
      if (char === " ") {
        if (fold && !spaces && this.#column > WIDTH && i > 0 && i < chars.length - 1) {
          this.newLine();
          if (chars[i + 1] === " ") this.#put("\\");
        } else this.#put(char);
        spaces = true;
      } else {
        this.#put(escape(char, this.ascii));
        spaces = false;
      }
    });
    this.indicator('"');
    this.#endScalar();
  }

  /** Writes `text` as a literal block. It must end in exactly one newline, and no line may start with a space. */
  literal(text: string): void {
    this.indicator("|", { spaced: true });
    this.#break("\n");
    this.#indention = true;
    this.#whitespace = true;
    for (const line of text.slice(0, -1).split("\n")) {
      this.newLine();
      this.#put(line);
      this.#break("\n");
    }
  }

  #endScalar(): void {
    this.#whitespace = false;
    this.#indention = false;
  }

  #put(text: string): void {
    this.#out += text;
    this.#column += text.length;
  }

  #break(char: string): void {
    this.#out += char;
    this.#column = 0;
  }
}

function escape(char: string, ascii: boolean): string {
  if (Object.hasOwn(ESCAPES, char)) return `\\${ESCAPES[char]}`;
  if (isPrintable(char) && !(ascii && char > "\x7e")) return char;
  if (char === "\xa0") return "\\_";
  return numericEscape(char);
}

/** A character by its number, as in double quotes: `\x07`, `\u2028`, `\U0001F600`. */
export function numericEscape(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  const hex = (width: number) => code.toString(16).toUpperCase().padStart(width, "0");
  return code <= 0xff ? `\\x${hex(2)}` : code <= 0xffff ? `\\u${hex(4)}` : `\\U${hex(8)}`;
}
