/**
 * The keyword arguments of functions that change a host, checked before a job is published: on Python minions a
 * misspelt one counts for nothing, without a message, so that `tset=True` applies for real.
 * Source: the tables that {@linkcode TABLES} names.
 * @module
 */

import { UsageError } from "#lib/errors.ts";
import { beaconsKeywords } from "./beacon_keywords.ts";
import { scheduleKeywords } from "#lib/schedule/call_keywords.ts";
import { stateKeywords } from "#lib/states/run/call_keywords.ts";
import { didYouMean } from "#lib/text/nearest_name.ts";
import { isMap, str, type Value } from "#lib/values/value.ts";

/**
 * By module: all keywords of a function, its parameters among them; `undefined` for functions that are checked only
 * where they run.
 */
const TABLES: Readonly<Record<string, (fun: string) => readonly string[] | undefined>> = {
  state: stateKeywords,
  schedule: scheduleKeywords,
  beacons: beaconsKeywords,
};

/**
 * Checks a job before it is published.
 * @throws {UsageError} If a function of a module of {@linkcode TABLES} is given a keyword that it does not have.
 */
export function checkPublishedKeywords({ fun, arg }: { readonly fun: Value; readonly arg: readonly Value[] }): void {
  const calls: readonly (readonly [Value, Value])[] = Array.isArray(fun)
    ? fun.map((name, i) => [name, arg[i] ?? []] as const)
    : [[fun, [...arg]]];
  for (const [given, words] of calls) {
    const name = str(given), module = name.split(".", 1)[0];
    const keywords = Object.hasOwn(TABLES, module) ? TABLES[module](name) : undefined;
    if (keywords === undefined || !Array.isArray(words)) continue;
    for (const word of words) if (isMap(word) && word.get("__kwarg__") === true) check(name, word, keywords);
  }
}

function check(name: string, given: ReadonlyMap<Value, Value>, keywords: readonly string[]): void {
  for (const keyword of [...given.keys()].map(str)) {
    if (keyword.startsWith("__") || keywords.includes(keyword)) continue;
    throw new UsageError(
      `${name} takes no argument '${keyword}'${didYouMean(keyword, keywords) || "."} Nothing was sent.`,
    );
  }
}
