/**
 * Translates the arguments of a container or a network, and says of all that are wrong why.
 * Source: Salt 3006.28 `salt/utils/dockermod/__init__.py` (`translate_input`).
 * @module
 */

import { CommandError, InvocationError } from "#lib/errors.ts";
import { formatNested } from "#lib/output/nested.ts";
import { isDictList, repackDictList } from "./dict_list.ts";
import { map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { type InputOptions, splitParts } from "./input_values.ts";

/** How the arguments of one kind of thing are translated. */
export interface Translator {
  /** Other names of arguments. */
  readonly aliases: Readonly<Record<string, string>>;
  /** By an argument's name, what makes it the engine's value. */
  readonly arguments: Readonly<Record<string, (value: Value, options: InputOptions) => Value>>;
  /** Arguments whose lists of maps stay lists. */
  readonly lists?: readonly string[];
  /** Puts arguments together, before aliases are replaced. */
  merge?(given: ValueMap): void;
  /** Changes what follows from several arguments; `invalid` gets the reasons of those that it refuses. */
  finish?(given: ValueMap, options: InputOptions, invalid: ValueMap): void;
}

/** How a caller wants its arguments translated. */
export interface TranslationOptions {
  readonly skip_translate: Value;
  readonly ignore_collisions: boolean;
  readonly validate_ip_addrs: boolean;
}

/** An error with details, which its text has. */
export class DetailedError extends CommandError {
  override name = "DetailedError";
  constructor(message: string, readonly details: Value, options?: ErrorOptions) {
    const begin = /[.?!]$/.test(message) ? message : `${message}.`;
    super(`${begin} Additional info follows:\n\n${formatNested(details, { color: false }).trimEnd()}`, options);
  }
}

/**
 * Translates arguments.
 * @throws {DetailedError} With the reasons: `invalid` by argument, and `collisions`.
 */
export function translateInput(
  translator: Translator,
  kwargs: ValueMap,
  { skip_translate, ignore_collisions, validate_ip_addrs }: TranslationOptions,
): ValueMap {
  const given = new Map(kwargs);
  if (skip_translate === true) return given;
  const options: InputOptions = { validateIps: validate_ip_addrs, skipped: skippedOf(skip_translate) };
  const invalid: ValueMap = new Map();
  const { aliases } = translator;
  for (const [key, value] of kwargs) {
    const name = Object.hasOwn(aliases, str(key)) ? aliases[str(key)] : str(key);
    if (options.skipped.includes(name)) continue;
    const isRepacked = isDictList(value) && !(translator.lists ?? []).includes(str(key));
    const plain = isRepacked ? repackDictList(value) ?? new Map() : value;
    try {
      const translate = Object.hasOwn(translator.arguments, name) ? translator.arguments[name] : undefined;
      given.set(key, translate === undefined ? plain : translate(plain, options));
    } catch (error) {
      if (!(error instanceof InvocationError)) throw error;
      given.delete(key);
      invalid.set(key, error.message);
    }
  }
  translator.merge?.(given);
  const collisions = replaceAliases(given, aliases);
  translator.finish?.(given, options, invalid);
  const details = map({
    ...invalid.size > 0 && { invalid },
    ...collisions.length > 0 && !ignore_collisions && { collisions },
  });
  if (details.size > 0) throw new DetailedError("Failed to translate input", details);
  return given;
}

function skippedOf(given: Value): string[] {
  if (given === null || given === false || given === "") return [];
  return Array.isArray(given) ? given.map(str) : splitParts(str(given));
}

/** @returns Which arguments were given by both names. */
function replaceAliases(given: ValueMap, aliases: Readonly<Record<string, string>>): string[] {
  const collisions: string[] = [];
  for (const [alias, name] of Object.entries(aliases)) {
    const value = given.get(alias);
    if (value === undefined) continue;
    given.delete(alias);
    if (given.has(name)) collisions.push(`'${alias}' is an alias for '${name}', they cannot both be used`);
    else given.set(name, value);
  }
  return collisions;
}
