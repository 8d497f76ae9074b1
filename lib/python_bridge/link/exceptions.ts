/**
 * Exceptions of Python as errors of this program, and the reverse. The class survives the way through both, so that a
 * plugin can catch what another one has raised.
 * @module
 */

import {
  CommandError,
  CommandNotFoundError,
  InvocationError,
  messageOf,
  PluginError,
  RenderError,
  UnavailableError,
} from "#lib/errors.ts";
import { isMap, str, type Value } from "#lib/values/value.ts";
import type { PythonException, Refusal } from "./messages.ts";

/** The exceptions of Python that were made errors, for the way back. */
const ORIGINALS = new WeakMap<Error, PythonException>();

/** The error for an exception. */
export function errorOf(exception: PythonException): Error {
  const error = classedError(exception);
  ORIGINALS.set(error, exception);
  return error;
}

function classedError({ kind, bases, text, trace, info, short, usage }: PythonException): Error {
  const is = (name: string) => bases.includes(name);
  if (is("CommandNotFoundError")) return new CommandNotFoundError(text);
  if (is("CommandExecutionError")) {
    if (info === undefined) return new CommandError(text);
    const changes = isMap(info) ? info.get("changes") : undefined;
    return new CommandError(text, { info: { message: short ?? text, ...changes !== undefined && { changes } } });
  }
  if (is("UnsendableError")) return new CommandError(text);
  if (is("SaltInvocationError")) {
    return new InvocationError(text, undefined, usage === undefined ? {} : { docstring: usage });
  }
  if (is("TypeError") && usage !== undefined) return new InvocationError(text, usage, { isVerbatim: true });
  return new PluginError(kind, text, trace);
}

/** The error, or if it was an exception, one that shows its traceback: a state that raises shows it. */
export function traced(error: unknown): unknown {
  const original = error instanceof Error ? ORIGINALS.get(error) : undefined;
  return original === undefined ? error : new PluginError(original.kind, original.text, original.trace);
}

/** The error as an exception to raise in Python. */
export function pythonRefusal(error: unknown): Refusal {
  const original = error instanceof Error ? ORIGINALS.get(error) : undefined;
  const { info = null, short = "" } = original ?? factsOf(error);
  return { class: original?.kind ?? className(error), text: original?.text ?? textOf(error), info, short };
}

function factsOf(error: unknown): { readonly info?: Value; readonly short?: string } {
  if (!(error instanceof CommandError) || error.info === undefined) return {};
  return { info: error.message, short: str(error.info.message) };
}

function textOf(error: unknown): string {
  if (error instanceof UnavailableError) return error.fun;
  if (error instanceof RenderError) return error.text;
  return messageOf(error);
}

function className(error: unknown): string {
  if (error instanceof CommandNotFoundError) return "CommandNotFoundError";
  if (error instanceof CommandError) return "CommandExecutionError";
  if (error instanceof InvocationError) return error.usage === undefined ? "SaltInvocationError" : "TypeError";
  if (error instanceof UnavailableError) return "KeyError";
  if (error instanceof RenderError) return "SaltRenderError";
  return error instanceof PluginError ? error.kind : "Exception";
}
