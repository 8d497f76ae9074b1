/**
 * Keyword arguments beyond a function's parameters, as Salt's modules take them by `**kwargs`.
 * Source: Salt 3008.3, `salt/utils/args.py` clean_kwargs, invalid_kwargs.
 * @module
 */

import { InvocationError } from "#lib/errors.ts";
import { didYouMean, nearestName } from "#lib/text/nearest_name.ts";
import { str, type ValueMap } from "#lib/values/value.ts";
import type { Parameters } from "./module.ts";

/** The keywords without the published fields among them, whose names begin with `__`. */
export function ownKeywords(kwargs: ValueMap): ValueMap {
  return new Map([...kwargs].filter(([key]) => typeof key !== "string" || !key.startsWith("__")));
}

/** @throws {InvocationError} If there are other keywords than the known ones. */
export function refuseOtherKeywords(kwargs: ValueMap, known: readonly string[] = []): void {
  const others = [...ownKeywords(kwargs)].filter(([key]) => !known.includes(str(key)));
  if (others.length === 0) return;
  const words = others.map(([key, value]) => `${str(key)}=${str(value)}`).join(", ");
  throw new InvocationError(`The following keyword arguments are not valid: ${words}`);
}

/**
 * Refuses keywords that a function without `**kwargs` does not take.
 * @throws {InvocationError} With Salt's text, and the nearest parameter.
 */
export function refuseNoParameters(
  { params, varKwargs }: { readonly params: Parameters; readonly varKwargs?: string },
  kwargs: ValueMap,
): void {
  const names = Object.keys(params);
  const others = [...ownKeywords(kwargs).keys()].map(str).filter((key) => !names.includes(key));
  if (varKwargs !== undefined || others.length === 0) return;
  const hint = didYouMean(others.find((key) => nearestName(key, names) !== undefined) ?? others[0], names);
  try {
    refuseOtherKeywords(kwargs, names);
  } catch (error) {
    throw error instanceof InvocationError ? new InvocationError(`${error.message}${hint}`) : error;
  }
}

/**
 * Refuses keywords that an execution function which lists its own ones does not take.
 * @param name The function's full name, for the error text.
 * @throws {InvocationError} With the nearest argument.
 */
export function refuseUnknownKeywords(
  { params, keywords }: { readonly params: Parameters; readonly keywords?: readonly string[] },
  kwargs: ValueMap,
  name: string,
): void {
  if (keywords === undefined) return;
  const names = [...Object.keys(params), ...keywords];
  for (const key of ownKeywords(kwargs).keys()) {
    if (!names.includes(str(key))) throw noArgument(name, str(key), names);
  }
}

/**
 * Refuses keywords of an operator that look like misspelt ones of a function that takes any. `test` among the watched
 * ones, and not among the parameters, says that the function has no test mode: it is refused then, unless it is False.
 * @param name The function's full name, for the error text.
 * @throws {InvocationError} With the nearest argument.
 */
export function refuseMisspelt(
  { params, watchedKeywords }: { readonly params: Parameters; readonly watchedKeywords?: readonly string[] },
  kwargs: ValueMap,
  name: string,
): void {
  if (watchedKeywords === undefined) return;
  const names = [...Object.keys(params), ...watchedKeywords];
  for (const [key, value] of ownKeywords(kwargs)) {
    const meant = nearestName(str(key), names);
    if (meant === "test" && !Object.hasOwn(params, "test") && value !== false) {
      throw new InvocationError(`${name} has no test mode ('${str(key)}'); it did nothing`);
    }
    if (meant !== undefined && !names.includes(str(key))) throw noArgument(name, str(key), [meant]);
  }
}

/** The error of an argument that a function does not take, with the nearest of those that it takes. */
export function noArgument(name: string, argument: string, known: Iterable<string>): InvocationError {
  return new InvocationError(`${name} takes no argument '${argument}'${didYouMean(argument, known)}`);
}
