/**
 * Errors in a tree of SLS files: Salt's words, and additional hints.
 * @module
 */

import { type Place, placeText } from "./place.ts";

/** One error of a compilation. */
export interface CompileError {
  /** Salt's text. */
  readonly text: string;
  /** Where the mistake is, if that is known. */
  readonly place?: Place;
  /** More help: the nearest name that exists, or the chain of a circle. */
  readonly hint?: string;
  /** Whether an earlier error says the same: Salt reports it twice. */
  readonly repeats?: boolean;
  /** Whether Salt's text quotes the lines of the file itself. */
  readonly quoted?: boolean;
  /** Whether the text is ours: Salt does not find this mistake, or not here. */
  readonly own?: boolean;
}

/** Details of a file that cannot be rendered. */
export interface RenderMistake {
  readonly place?: Place;
  /** Whether the message quotes the lines around the mistake. */
  readonly quoted?: boolean;
  /** What the renderer knows besides: who includes the file, the nearest name. */
  readonly hint?: string;
}

/** A file that cannot be rendered. Its message is that of the renderer, as Salt has it. */
export class SlsRenderError extends Error {
  override name = "SlsRenderError";

  constructor(message: string, readonly mistake: RenderMistake, options?: ErrorOptions) {
    super(message, options);
  }
}

/** How many lines an excerpt shows before and after the one that is meant. */
const AROUND = 2;

/**
 * An error as it is shown: Salt's words first, then the hint, then the place with an excerpt of the file. A text without
 * additions is Salt's to the last byte.
 * @param source The text of a file; `undefined` if it is not at hand.
 */
export function errorText(error: CompileError, source: (file: string) => string | undefined = () => undefined): string {
  const parts: string[] = [];
  if (error.hint !== undefined) parts.push(error.hint);
  if (error.place !== undefined) {
    parts.push(placeText(error.place));
    if (error.quoted !== true) {
      parts.push(...excerpt(error.place, error.place.file === undefined ? undefined : source(error.place.file)));
    }
  }
  return parts.length === 0 ? error.text : [error.text.replace(/\n+$/, ""), ...parts].join("\n");
}

function excerpt({ line }: Place, source: string | undefined): string[] {
  const lines = source?.split("\n") ?? [];
  if (line > lines.length) return [];
  const first = Math.max(0, line - 1 - AROUND);
  const shown = lines.slice(first, line + AROUND);
  const marked = shown.map((text, i) => first + i === line - 1 ? `${text}    <======================` : text);
  return ["---", ...marked, "---"];
}
