/**
 * The error of a template that cannot be parsed.
 * @module
 */

import { TemplateError } from "./template_error.ts";

/**
 * A template that cannot be read.
 * @param place Where.
 */
export function syntaxError(
  message: string,
  place: { readonly line: number; readonly column: number },
  type: "TemplateSyntaxError" | "TemplateAssertionError" | "SyntaxError" = "TemplateSyntaxError",
): TemplateError {
  const error = new TemplateError("syntax", type, message);
  error.frames.push({ line: place.line, column: place.column, statementLine: place.line });
  return error;
}
