/**
 * The text that a template writes, and the source of its pieces.
 * @module
 */

import { checkText } from "#lib/python/errors.ts";

/** A place in a template. */
export interface Position {
  readonly line: number;
  readonly column: number;
  /** The line of its statement or printed expression, which Python's Jinja names. */
  readonly statementLine: number;
}

/** The name of a template. */
export interface SourceName {
  readonly name: string | undefined;
  readonly path: string | undefined;
}

/** The source of a piece of the text. */
export interface OutputPiece extends SourceName {
  /** Where it begins in the text, in UTF-16 units. */
  readonly offset: number;
  readonly line: number;
  readonly column: number;
  /** Whether the template contains it unchanged. */
  readonly literal: boolean;
}

export interface PieceOrigin {
  readonly source: SourceName;
  readonly at: Position;
  readonly literal: boolean;
}

/** The text that is written. */
export class Output {
  text = "";

  /** @param pieces Receives the sources of the parts of the text, if they are needed. */
  constructor(readonly pieces?: OutputPiece[]) {}

  /** Writes a piece. */
  write(text: string, { source, at, literal }: PieceOrigin): void {
    if (this.pieces !== undefined && text !== "") {
      const { name, path } = source;
      this.pieces.push({ offset: this.text.length, name, path, line: at.line, column: at.column, literal });
    }
    this.text += text;
    checkText(this.text.length);
  }
}
