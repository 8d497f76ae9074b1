/**
 * The notation of values in the corpora, described in `corpus/README.md`.
 * @module
 */

import { float, int, type Value } from "#lib/values/value.ts";

/** A value in this notation: `"i:1"`, `["L", "s:a"]`, `["M", ["s:key", "null"]]`. */
export type Typed = string | [string, ...(Typed | number)[]];

/** Decodes `typed`. */
export function fromTyped(typed: Typed): Value {
  if (typeof typed === "string") return scalar(typed);
  const [kind, ...rest] = typed;
  if (kind === "many") return many(String(rest[0]), Number(rest[1]));
  const parts = rest.filter((part) => typeof part !== "number");
  if (kind === "L") return parts.map(fromTyped);
  if (kind !== "M") throw new TypeError(`"${kind}" is no kind of value`);
  return new Map(parts.map((pair): [Value, Value] => {
    const [key, value] = Array.isArray(pair) ? pair : [];
    if (key === undefined || value === undefined || typeof value === "number") {
      throw new TypeError(`${pair} is no pair`);
    }
    return [fromTyped(key), fromTyped(value)];
  }));
}

const FLOATS: Record<string, number> = { inf: Infinity, "-inf": -Infinity, nan: NaN };

function scalar(typed: string): Value {
  if (typed === "null") return null;
  const text = typed.slice(2);
  switch (typed.slice(0, 2)) {
    case "b:":
      return text === "true";
    case "i:":
      return int(BigInt(text));
    case "f:":
      return float(FLOATS[text] ?? Number(text));
    case "s:":
      return text;
    case "y:":
      return Uint8Array.from(text, (char) => char.charCodeAt(0));
    default:
      throw new TypeError(`"${typed}" is no value`);
  }
}

function many(kind: string, count: number): Value {
  switch (kind) {
    case "text":
      return "x".repeat(count);
    case "wide":
      return "é".repeat(count);
    case "bytes":
      return new Uint8Array(count).fill(0xff);
    case "list":
      return new Array(count).fill(null);
    default:
      return new Map(Array.from({ length: count }, (_, i) => [i, null]));
  }
}

/** The cases of a corpus. */
export async function readCorpus<Case>(name: string): Promise<Case[]> {
  return JSON.parse(await Deno.readTextFile(new URL(`../corpus/${name}`, import.meta.url)));
}
