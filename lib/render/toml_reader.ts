/**
 * TOML's library, loaded when it is needed. It makes plain objects: names such as `1` come first in a map, in their
 * order as numbers. Source: npm:smol-toml; toml.io, version 1.0.
 * @module
 */

import type { TomlValue } from "smol-toml";
import { float, int, type Value } from "#lib/values/value.ts";

/** Where a text is not TOML, from 1. */
export interface TomlProblem {
  readonly message: string;
  readonly line: number;
  readonly column: number;
}

/** The table that `text` holds, or what is wrong with it. Dates and times are texts. */
export async function readToml(text: string): Promise<{ readonly value: Value } | { readonly problem: TomlProblem }> {
  const { parse, TomlError } = await import("smol-toml");
  try {
    return { value: valueOf(parse(text, { integersAsBigInt: true })) };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    // The library's message continues with lines of the source.
    const message = error.message.split("\n", 1)[0];
    return { problem: { message, line: error.line, column: error.column } };
  }
}

function valueOf(made: TomlValue): Value {
  if (typeof made === "bigint") return int(made);
  if (typeof made === "number") return float(made);
  if (typeof made === "string" || typeof made === "boolean") return made;
  if (made instanceof Date) return made.toISOString();
  if (Array.isArray(made)) return made.map(valueOf);
  return new Map(Object.entries(made).map(([key, item]) => [key, valueOf(item)]));
}
