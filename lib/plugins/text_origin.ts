/**
 * Where the characters of a text come from: the file itself, or the places of the templates that made them.
 * @module
 */

import type { Place } from "#lib/errors.ts";

/** A part of a text that a template wrote. */
export interface WrittenPiece {
  /** Where it begins in the text (UTF-16 units). */
  readonly offset: number;
  readonly place: Place;
  /** Whether the file contains it unchanged, so that the place advances with its characters. */
  readonly literal: boolean;
}

/** Finds the place in a file that wrote the text at a line and column. */
export class TextOrigin {
  readonly text: string;
  /** In the order of their offsets; `undefined`: the text is the file. */
  readonly #pieces: readonly WrittenPiece[] | undefined;
  readonly #file: string | undefined;
  #lineStarts: readonly number[] | undefined;

  private constructor(text: string, file: string | undefined, pieces: readonly WrittenPiece[] | undefined) {
    this.text = text;
    this.#file = file;
    this.#pieces = pieces;
  }

  /** For a file, or a text without a file. */
  static ofFile(text: string, file?: string): TextOrigin {
    return new TextOrigin(text, file, undefined);
  }

  /**
   * For the output of a template.
   * @param pieces In the order of their offsets.
   */
  static ofPieces(text: string, pieces: readonly WrittenPiece[]): TextOrigin {
    return new TextOrigin(text, undefined, pieces);
  }

  /** The place that wrote what is at a line and column of the text, both from 1. */
  place(line: number, column: number): Place | undefined {
    if (this.#pieces === undefined) return { ...this.#file === undefined ? {} : { file: this.#file }, line, column };
    const offset = this.#offset(line, column);
    const piece = this.#pieceAt(this.#pieces, offset);
    if (piece === undefined) return undefined;
    if (!piece.literal) return piece.place;
    const before = this.text.slice(piece.offset, offset);
    const lines = before.split("\n");
    const moved = [...lines[lines.length - 1]].length;
    return {
      ...piece.place,
      line: piece.place.line + lines.length - 1,
      column: lines.length > 1 ? moved + 1 : (piece.place.column ?? 1) + moved,
    };
  }

  #pieceAt(pieces: readonly WrittenPiece[], offset: number): WrittenPiece | undefined {
    let from = 0, to = pieces.length;
    while (to - from > 1) {
      const middle = (from + to) >> 1;
      if (pieces[middle].offset <= offset) from = middle;
      else to = middle;
    }
    return pieces[from];
  }

  #offset(line: number, column: number): number {
    this.#lineStarts ??= [0, ...Array.from(this.text.matchAll(/\r\n?|\n/g), (end) => end.index + end[0].length)];
    let offset = this.#lineStarts[line - 1] ?? this.text.length;
    for (let i = 1; i < column && offset < this.text.length; i++) {
      offset += (this.text.codePointAt(offset) ?? 0) > 0xffff ? 2 : 1;
    }
    return offset;
  }
}
