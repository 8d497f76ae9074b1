/**
 * Python's `textwrap`: fills a paragraph to a width.
 * Source: docs.python.org, "textwrap" (Python 3.11, default options).
 * @module
 */

const LETTER = "[\\p{L}\\p{Nl}\\p{No}_]";
const WORD = "[\\p{L}\\p{N}_]";
const WORD_OR_PUNCTUATION = `(?:${WORD}|[!"'&.,?])`;

const BLANK = "[ \\t\\n\\v\\f\\r]";
const NO_BLANK = "[^ \\t\\n\\v\\f\\r]";

/** The parts if words are not cut after hyphens. */
const WORDS = new RegExp(`${BLANK}+|${NO_BLANK}+`, "gu");

let parts: RegExp | undefined;

/**
 * The parts that a line may be cut between: blanks, dashes between words, and words up to a hyphen. Made at the first
 * call, as V8 needs 1 ms for its classes of characters, and few starts wrap a text.
 */
function partsPattern(): RegExp {
  return parts ??= new RegExp(
    `${BLANK}+` +
      `|(?<=${WORD_OR_PUNCTUATION})-{2,}(?=${WORD})` +
      `|${NO_BLANK}+?(?:` +
      `-(?:(?<=${LETTER}{2}-)|(?<=${LETTER}-${LETTER}-))(?=${LETTER}-?${LETTER})` +
      `|(?=${BLANK}|$)` +
      `|(?<=${WORD_OR_PUNCTUATION})(?=-{2,}${WORD})` +
      `)`,
    "gu",
  );
}

/** The layout of {@linkcode fillText}. */
export interface Fill {
  /** Maximum characters of a line, the indentation included. */
  readonly width: number;
  /** The prefix of each line. */
  readonly indent: string;
}

/** `text` as lines of at most `fill.width` characters; white space, line ends too, separates words. */
export function fillText(text: string, { width, indent }: Fill): string {
  const plain = expandTabs(text).replace(/[\t\n\v\f\r]/g, " ");
  const lines = wrapText(plain, { width: width - indent.length, breakLongWords: true, breakOnHyphens: true });
  return lines.map((line) => indent + line).join("\n");
}

/** How {@linkcode wrapText} cuts. */
export interface Wrap {
  /** Maximum characters of a line. */
  readonly width: number;
  /** Whether a word that is too long for a line is cut. */
  readonly breakLongWords: boolean;
  /** Whether a word may be cut after its hyphens. */
  readonly breakOnHyphens: boolean;
}

/** The lines of a text, of which no character is changed; blanks at their ends are left out. */
export function wrapText(text: string, { width, breakLongWords, breakOnHyphens }: Wrap): string[] {
  const match = text.match(breakOnHyphens ? partsPattern() : WORDS) ?? [];
  const parts = Array.from(match, (part) => new Part(part)).reverse();
  const lines: string[] = [];
  while (parts.length > 0) {
    if (parts.at(-1)?.blank && lines.length > 0) parts.pop();
    const line: string[] = [];
    let used = 0;
    for (let next = parts.at(-1); next !== undefined && used + next.length <= width; next = parts.at(-1)) {
      used += next.length;
      line.push(next.take(next.length));
      parts.pop();
    }
    const long = parts.at(-1);
    if (long !== undefined && long.length > width) {
      if (breakLongWords) line.push(long.cut(width < 1 ? 1 : width - used, breakOnHyphens));
      else if (line.length === 0) {
        line.push(long.take(long.length));
        parts.pop();
      }
    }
    if (line.at(-1)?.trim() === "") line.pop();
    if (line.length > 0) lines.push(line.join(""));
  }
  return lines;
}

/** The rest of a part: its characters, as Python counts them. */
class Part {
  readonly blank: boolean;
  readonly #chars: readonly string[];
  #start = 0;

  constructor(text: string) {
    this.blank = text.trim() === "";
    this.#chars = [...text];
  }

  get length(): number {
    return this.#chars.length - this.#start;
  }

  /** Takes characters off the beginning. */
  take(count: number): string {
    const text = this.#chars.slice(this.#start, this.#start + count).join("");
    this.#start += count;
    return text;
  }

  /** Takes off what fits into `room` characters: up to the last hyphen there, if something else is before it. */
  cut(room: number, afterHyphen: boolean): string {
    const head = this.#chars.slice(this.#start, this.#start + room);
    const hyphen = head.lastIndexOf("-");
    const words = afterHyphen && hyphen > 0 && head.slice(0, hyphen).some((char) => char !== "-");
    return this.take(words ? hyphen + 1 : room);
  }
}

/**
 * Python's `expandtabs()`: a tab ends at the next column that is a multiple of 8; a line end begins the columns again.
 */
function expandTabs(text: string): string {
  if (!text.includes("\t")) return text;
  let column = 0;
  let out = "";
  for (const char of text) {
    if (char === "\t") {
      const blanks = 8 - column % 8;
      out += " ".repeat(blanks);
      column += blanks;
    } else {
      out += char;
      column = char === "\n" || char === "\r" ? 0 : column + 1;
    }
  }
  return out;
}
