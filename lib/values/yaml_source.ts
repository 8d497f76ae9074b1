/**
 * The text of a YAML document and its lines: where an offset lies, the error at an offset.
 * Knows no syntax but the line break and the marker of a document.
 * @module
 */

import { YamlError } from "../errors.ts";

/** How many lines {@linkcode YamlSource.indent} moves: each costs its caller another parse. */
const MAX_INDENTED_LINES = 1_000;

/** A source text that can say where an offset lies. */
export class YamlSource {
  #text: string;
  /** More spaces than any indentation within this document can ask for. */
  readonly #widest: number;
  #lineStarts: number[] | undefined;
  /** How many spaces {@linkcode indent} has put before which lines. */
  readonly #padding = new Map<number, number>();

  /**
   * A source to read from.
   * @param text The document.
   * @param file What errors call it.
   */
  constructor(text: string, readonly file: string) {
    this.#text = text;
    this.#widest = 2 * text.length + 8;
  }

  /** The document, with what {@linkcode indent} added. */
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

  /** The error `problem` at `offset`. */
  error(problem: string, offset: number): YamlError {
    const line = this.line(offset);
    const before = this.#text.slice(this.#lineStarts?.[line - 1], offset);
    return new YamlError(
      problem,
      this.file,
      line,
      Math.max(0, [...before].length - (this.#padding.get(line) ?? 0)) + 1,
    );
  }

  /**
   * Moves the line at `offset` to the right, further each time.
   * @returns Whether it could: a document's marker keeps its place, and there is an end to it.
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
