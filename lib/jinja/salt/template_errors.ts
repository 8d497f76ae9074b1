/**
 * Errors of templates in Salt's words, with additions: the column, the including files, the name that was probably
 * meant. Source: Salt 3008.3, `salt/utils/templates.py` render_jinja_tmpl.
 * @module
 */

import {
  CommandError,
  InvocationError,
  JobEndedError,
  messageOf,
  type Place,
  PythonError,
  RenderError,
} from "#lib/errors.ts";
import { TemplateError, type TemplateFrame } from "#lib/jinja/syntax/template_error.ts";
import { framesOf } from "#lib/jinja/core/errors.ts";
import { nearestName } from "#lib/text/nearest_name.ts";
import { excerptOf } from "./excerpt.ts";

/** Details of the failed rendering. */
export interface Failed {
  /** The text that was rendered. */
  readonly text: string;
  /** The environment whose files templates load; empty: those beside the template. */
  readonly saltenv: string;
  /** The name of its file in the places of errors. */
  readonly file?: string;
  /** The names in the state tree of the files that were loaded, by their paths. */
  readonly names: ReadonlyMap<string, string>;
  /** The text of a loaded file. */
  readonly textOf: (path: string) => string;
}

/** Converts the error that stopped the template. */
export function renderErrorOf(error: unknown, failed: Failed): unknown {
  // The end of a job is not an error of its template.
  if (error instanceof JobEndedError) return error;
  const frames = framesOf(error);
  const [innermost, ...outer] = frames.map((frame) => placeOf(frame, failed));
  const words = salt(error);
  const detail = { place: innermost, chain: outer, hint: hintOf(error, failed.saltenv) };
  const options = { cause: error };
  const [frame] = frames;
  if (frame === undefined) return new RenderError(words, detail, options);
  const line = frame.statementLine;
  if (frame.path !== undefined) {
    const excerpt = excerptOf(failed.textOf(frame.path), line);
    return new RenderError(`${words}\n${frame.path}(${line}):\n${excerpt}`, detail, options);
  }
  return new RenderError(`${words}; line ${line}`, { ...detail, excerpt: excerptOf(failed.text, line) }, options);
}

function placeOf({ path, line, column }: TemplateFrame, { file, names }: Failed): Place {
  const name = path === undefined ? file : names.get(path) ?? path;
  return { ...name === undefined ? {} : { file: name }, line, column };
}

/** Salt's words for an error, without the place. */
function salt(error: unknown): string {
  const message = error instanceof RenderError ? error.text : messageOf(error);
  if (error instanceof TemplateError) {
    if (error.kind === "undefined") return `Jinja variable ${message}`;
    if (error.kind !== "notFound") return `Jinja syntax error: ${message}`;
  }
  const called = error instanceof CommandError || (error instanceof InvocationError && error.usage === undefined);
  if (called) return `Problem running salt function in Jinja template: ${message}`;
  // An error that the template raised is shown with its class, as in the last line of Salt's traceback.
  const raised = error instanceof PythonError && error.type === "TemplateError";
  return raised ? `Jinja error: ${message}\nTemplateError: ${message}` : `Jinja error: ${message}`;
}

function hintOf(error: unknown, saltenv: string): string | undefined {
  if (!(error instanceof TemplateError)) return undefined;
  if (error.type === "TemplateNotFound") {
    const where = saltenv === "" ? "beside the template" : `in the environment '${saltenv}'`;
    return `No file '${error.message}' was found ${where}`;
  }
  if (error.missing === undefined) return undefined;
  const nearest = nearestName(error.missing.name, error.missing.among());
  return nearest === undefined ? undefined : `Did you mean '${nearest}'?`;
}
