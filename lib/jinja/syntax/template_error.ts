/**
 * Errors of templates: Jinja's exceptions, with the places that they have passed.
 * @module
 */

import { PythonError } from "#lib/errors.ts";

/** One place that an error in a template has passed: innermost a macro or an included file, then what called it. */
export interface TemplateFrame {
  /** The template's name as it was loaded; `undefined` for one that was given as text. */
  readonly name?: string;
  /** The file it was read from, if any. */
  readonly path?: string;
  /** Line and column, from 1, of the part of the expression that failed. */
  readonly line: number;
  readonly column: number;
  /** The line that Python's Jinja names: that of the statement or the printed expression. */
  readonly statementLine: number;
}

/** What kind of error of a template: Jinja's classes. */
export type TemplateErrorKind =
  | "syntax"
  | "undefined"
  | "security"
  | "runtime"
  | "notFound"
  | "filterArgument";

/** A template is wrong, or failed while it was rendered. The message is Jinja's, without the place. */
export class TemplateError extends PythonError {
  override name = "TemplateError";
  /** Where it happened, innermost first. */
  readonly frames: TemplateFrame[] = [];
  /** For an undefined name: it, and the names that there were. */
  missing?: { readonly name: string; readonly among: () => string[] };
  /** @param type The name of Jinja's class: `UndefinedError`. */
  constructor(readonly kind: TemplateErrorKind, type: string, message: string) {
    super(type, message);
  }
}
