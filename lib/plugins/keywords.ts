/**
 * Keyword arguments beyond a function's parameters, as Salt's modules take them by `**kwargs`.
 * Source: Salt 3008.3, `salt/utils/args.py` clean_kwargs, invalid_kwargs.
 * @module
 */

import { InvocationError } from "../errors.ts";
import { str, type ValueMap } from "../values/value.ts";

/** The keywords without the published fields among them, whose names begin with `__`. */
export function ownKeywords(kwargs: ValueMap): ValueMap {
  return new Map([...kwargs].filter(([key]) => typeof key !== "string" || !key.startsWith("__")));
}

/** @throws {InvocationError} If there are other keywords than the known ones. */
export function refuseOtherKeywords(kwargs: ValueMap, known: readonly string[] = []): void {
  const others = [...ownKeywords(kwargs)].filter(([key]) => !known.includes(str(key)));
  if (others.length === 0) return;
  const listed = others.map(([key, value]) => `${str(key)}=${str(value)}`).join(", ");
  throw new InvocationError(`The following keyword arguments are not valid: ${listed}`);
}
