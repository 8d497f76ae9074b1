/**
 * The text of a YAML document and its lines: finds the line of an offset and makes errors. Knows no syntax but line
 * breaks and document markers.
 * @module
 */

import { YamlError } from "#lib/errors.ts";

/** Maximum number of lines that {@linkcode YamlSource.indent} moves: each makes its caller parse again. */
const MAX_INDENTED_LINES = 1_000;
/** Maximum number of names that {@linkcode YamlSource.separate} ends, for the same reason. */
const MAX_SEPARATED = 100;

/** A source text that finds the line of an offset. */
export class YamlSource {
  #text: string;
  /** More spaces than any indentation in this document can need. */
  readonly #widest: number;
  #lineStarts: number[] | undefined;
  /** Number of spaces that {@linkcode indent} has added, by line. */
  readonly #padding = new Map<number, number>();
  /** The offsets of the spaces that {@linkcode separate} has added, by line, from the line's start without padding. */
  readonly #separated = new Map<number, number[]>();
  #separations = 0;

  /** @param file The name of the source in errors. */
  constructor(text: string, readonly file: string) {
    this.#text = text;
    this.#widest = 2 * text.length + 8;
  }

  /** The document, with the spaces that {@linkcode indent} added. */
  get text(): string {
    return this.#text;
  }

  /** The line of `offset`, from 1. */
  line(offset: number): number {
    this.#lineStarts ??= [0, ...Array.from(this.#text.matchAll(/\r\n?|\n/g), (end) => end.index + end[0].length)];
    let line = 0;
    let beyond = this.#lineStarts.length;
    while (beyond - line > 1) {
      const middle = (line + beyond) >> 1;
      if (this.#lineStarts[middle] <= offset) line = middle;
      else beyond = middle;
    }
    return line + 1;
  }

  /** The line and column of `offset`, from 1, in the text as it was given. */
  place(offset: number): { readonly line: number; readonly column: number } {
    const line = this.line(offset);
    const before = this.#text.slice(this.#lineStarts?.[line - 1], offset);
    const padding = this.#padding.get(line) ?? 0;
    const spaces = this.#separated.get(line)?.filter((at) => at + padding < before.length).length ?? 0;
    return { line, column: Math.max(0, [...before].length - padding - spaces) + 1 };
  }

  /**
   * Adds a space at `offset`, which is behind the name of an anchor or alias.
   * @returns False if it cannot, because the number of calls is limited.
   */
  separate(offset: number): boolean {
    if (++this.#separations > MAX_SEPARATED) return false;
    const line = this.line(offset);
    const column = offset - (this.#lineStarts?.[line - 1] ?? 0) - (this.#padding.get(line) ?? 0);
    this.#separated.set(line, [...this.#separated.get(line) ?? [], column]);
    this.#text = `${this.#text.slice(0, offset)} ${this.#text.slice(offset)}`;
    this.#lineStarts = undefined;
    return true;
  }

  /** An error `problem` at `offset`. */
  error(problem: string, offset: number): YamlError {
    const { line, column } = this.place(offset);
    return new YamlError(problem, this.file, line, column);
  }

  /**
   * Indents the line at `offset`, further with each call.
   * @returns False if it cannot: document markers do not move, and the number of calls is limited.
   */
  indent(offset: number): boolean {
    const line = this.line(offset);
    const start = this.#lineStarts?.[line - 1] ?? 0;
    const before = this.#padding.get(line) ?? 0;
    const spaces = before || 8;
    if (/^(?:---|\.\.\.)(?!\S)/.test(this.#text.slice(start, start + 4))) return false;
    if (spaces > this.#widest || this.#padding.size >= MAX_INDENTED_LINES) return false;
    this.#text = this.#text.slice(0, start) + " ".repeat(spaces) + this.#text.slice(start);
    this.#padding.set(line, before + spaces);
    this.#lineStarts = undefined;
    return true;
  }
}
