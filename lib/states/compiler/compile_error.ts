/**
 * Errors in a tree of SLS files: Salt's text, and additional hints.
 * @module
 */

import { type Place, placeText } from "#lib/errors.ts";
import { withDetails } from "#lib/protocol/error_details.ts";

/** One error of a compilation. */
export interface CompileError {
  /** Salt's text. */
  readonly text: string;
  /** The place of the mistake, if known. */
  readonly place?: Place;
  /** A hint: the nearest existing name, or the chain of a cycle. */
  readonly hint?: string;
  /** Whether it repeats an earlier error: Salt reports it twice. */
  readonly repeats?: boolean;
  /** Whether Salt's text quotes the lines of the file itself. */
  readonly quoted?: boolean;
  /** Whether the text is ours: Salt does not detect this mistake, or not at this point. */
  readonly own?: boolean;
}

/** Details of a file that cannot be rendered. */
export interface RenderMistake {
  readonly place?: Place;
  /** Whether the message quotes the lines around the mistake. */
  readonly quoted?: boolean;
  /** More details from the renderer: the including file, the nearest name. */
  readonly hint?: string;
  /** Whether the renderer itself failed. */
  readonly isFailure?: boolean;
}

/** A file that cannot be rendered. Its message is that of the renderer, as Salt has it. */
export class SlsRenderError extends Error {
  override name = "SlsRenderError";

  constructor(message: string, readonly mistake: RenderMistake, options?: ErrorOptions) {
    super(message, options);
  }
}

/** Number of lines before and after the line of the error in an excerpt. */
const AROUND = 2;

/**
 * Formats an error for people: Salt's text, then its details. A text without them is exactly Salt's.
 * @param source The text of a file; `undefined` if it is not available.
 */
export function errorText(error: CompileError, source?: (file: string) => string | undefined): string {
  return withDetails(error.text, errorDetails(error, source));
}

/**
 * What people are told besides Salt's text: the hint, then the place with an excerpt of the file; empty: nothing.
 * @param source The text of a file; `undefined` if it is not available.
 */
export function errorDetails(
  error: CompileError,
  source: (file: string) => string | undefined = () => undefined,
): string {
  const parts: string[] = [];
  if (error.hint !== undefined) parts.push(error.hint);
  if (error.place !== undefined) {
    parts.push(placeText(error.place));
    if (error.quoted !== true) {
      parts.push(...excerpt(error.place, error.place.file === undefined ? undefined : source(error.place.file)));
    }
  }
  return parts.join("\n");
}

function excerpt({ line }: Place, source: string | undefined): string[] {
  const lines = source?.split("\n") ?? [];
  if (line > lines.length) return [];
  const first = Math.max(0, line - 1 - AROUND);
  const shown = lines.slice(first, line + AROUND);
  const marked = shown.map((text, i) => first + i === line - 1 ? `${text}    <======================` : text);
  return ["---", ...marked, "---"];
}
