/**
 * Jinja's errors, and the places in templates that an error has passed.
 * @module
 */

import { TemplateError, type TemplateFrame } from "#lib/jinja/syntax/template_error.ts";
import type { PythonError } from "#lib/errors.ts";
import { pythonError } from "#lib/python/errors.ts";

/** Jinja's TemplateRuntimeError. */
export function runtimeError(message: string): TemplateError {
  return new TemplateError("runtime", "TemplateRuntimeError", message);
}

/** Jinja's FilterArgumentError. */
export function filterArgumentError(message: string): TemplateError {
  return new TemplateError("filterArgument", "FilterArgumentError", message);
}

/** The frames of errors that are not Jinja's. */
const FRAMES = new WeakMap<object, TemplateFrame[]>();

/** Maximum number of frames that are kept: an error in a deep recursion has hundreds. */
const MAX_FRAMES = 50;

/**
 * The places in templates that `error` has passed, innermost first: of errors of Jinja, of Python's operations,
 * and of functions of the host.
 */
export function framesOf(error: unknown): readonly TemplateFrame[] {
  if (error instanceof TemplateError) return error.frames;
  return typeof error === "object" && error !== null ? FRAMES.get(error) ?? [] : [];
}

/**
 * Records that `error` has passed `frame`.
 * @returns The error to throw on: the end of the stack becomes Python's.
 */
export function atFrame(error: unknown, frame: TemplateFrame): unknown {
  const cause = error instanceof RangeError ? fromEngine(error) : error;
  if (typeof cause !== "object" || cause === null) return cause;
  const frames = cause instanceof TemplateError ? cause.frames : FRAMES.get(cause) ?? [];
  if (frames.length < MAX_FRAMES) frames.push(frame);
  if (!(cause instanceof TemplateError)) FRAMES.set(cause, frames);
  return cause;
}

/** Converts an error of the JavaScript engine: too deep, too long, too large. */
function fromEngine(error: RangeError): PythonError {
  return error.message.includes("call stack")
    ? pythonError("RecursionError", "maximum recursion depth exceeded")
    : pythonError("MemoryError", error.message);
}
