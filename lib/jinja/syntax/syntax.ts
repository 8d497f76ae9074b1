/**
 * The syntax of templates: the marks of tags, and the handling of white space around them. Source: jinja2 3.1,
 * "Environment".
 * @module
 */

/** Jinja's options of the syntax. */
export interface SyntaxOptions {
  readonly blockStart: string;
  readonly blockEnd: string;
  readonly variableStart: string;
  readonly variableEnd: string;
  readonly commentStart: string;
  readonly commentEnd: string;
  /** The prefix of line statements; `null`: there are none. */
  readonly lineStatementPrefix: string | null;
  /** The prefix of line comments; `null`: there are none. */
  readonly lineCommentPrefix: string | null;
  /** Whether a line end after a block's tag is removed. */
  readonly trimBlocks: boolean;
  /** Whether blanks before a block's tag, from the start of its line, are removed. */
  readonly lstripBlocks: boolean;
  readonly keepTrailingNewline: boolean;
  /** The replacement for every line end of the template. */
  readonly newlineSequence: string;
}

/** Jinja's defaults. */
export const DEFAULT_SYNTAX: SyntaxOptions = {
  blockStart: "{%",
  blockEnd: "%}",
  variableStart: "{{",
  variableEnd: "}}",
  commentStart: "{#",
  commentEnd: "#}",
  lineStatementPrefix: null,
  lineCommentPrefix: null,
  trimBlocks: false,
  lstripBlocks: false,
  keepTrailingNewline: false,
  newlineSequence: "\n",
};
