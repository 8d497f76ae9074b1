/**
 * State module `file`: which backups of a directory stay.
 * Source: Salt 3008.3 `salt/states/file.py` retention_schedule.
 * @module
 */

import { InvocationError } from "#lib/errors.ts";
import { expandUser } from "#lib/os/disk_paths.ts";
import { joinPath } from "#lib/os/paths.ts";
import { isDirectory } from "#lib/os/file_kind.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn } from "#lib/plugins/state_module.ts";
import { strftime } from "#lib/text/strftime.ts";
import { type ClockTime, strptime } from "#lib/text/strptime.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { compareStrings, isMap, map, str, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";

/** Names by the parts of their times, the largest part first. */
interface TimeTree {
  readonly below: Map<number, TimeTree | string>;
}

function put(tree: TimeTree, parts: readonly number[], name: string): void {
  const [part, ...rest] = parts;
  if (rest.length === 0) {
    tree.below.set(part, name);
    return;
  }
  const subtree = tree.below.get(part);
  const next: TimeTree = typeof subtree === "object" ? subtree : { below: new Map() };
  tree.below.set(part, next);
  put(next, rest, name);
}

/** The name with the first time. */
function firstOf(tree: TimeTree | string): string {
  if (typeof tree === "string") return tree;
  const smallest = Math.min(...tree.below.keys());
  return firstOf(tree.below.get(smallest) ?? "");
}

/** The first name of each of the last `max` parts that are `depth` levels deep. */
function firstOfEach(tree: TimeTree | string, depth: number, max: number): Set<string> {
  if (depth <= 0 || typeof tree === "string") return new Set([firstOf(tree)]);
  const names = new Set<string>();
  for (const [, next] of [...tree.below].sort(([a], [b]) => b - a)) {
    if (names.size >= max) break;
    for (const name of firstOfEach(next, depth - 1, max - names.size)) names.add(name);
  }
  return names;
}

/** How deep the rules look: year, month, day, hour, and the time itself. */
const DEPTHS: Readonly<Record<string, number>> = {
  first_of_year: 1,
  first_of_month: 2,
  first_of_day: 3,
  first_of_hour: 4,
  most_recent: 5,
};

/**
 * The names that a schedule keeps.
 * @throws {InvocationError} For a rule that there is not.
 */
function retainedOf(times: ReadonlyMap<string, ClockTime>, retain: ValueMap): Set<string> {
  const byDay: TimeTree = { below: new Map() }, byWeek: TimeTree = { below: new Map() };
  for (const [name, { year, month, day, hour, seconds }] of times) {
    const noon = new Date(year, month - 1, day, 12);
    put(byDay, [year, month, day, hour, seconds], name);
    put(byWeek, [year, Number(strftime(noon, "%V")), (noon.getDay() + 6) % 7, seconds], name);
  }
  const retained = new Set<string>();
  for (const [rule, count] of [...retain].map(([key, value]): [string, Value] => [str(key), value])) {
    const max = count === "all" ? Infinity : Math.trunc(toNumber(count) ?? Number(str(count)));
    if (Number.isNaN(max)) throw new InvocationError(`How many of ${rule}? '${str(count)}' is no number`);
    if (rule !== "first_of_week" && !Object.hasOwn(DEPTHS, rule)) {
      const rules = [...Object.keys(DEPTHS), "first_of_week"].join(", ");
      throw new InvocationError(`There is no rule '${rule}'; there are ${rules}`);
    }
    const firsts = rule === "first_of_week"
      // Salt keeps one week more than it is told.
      ? firstOfEach(byWeek, 2, max + 1)
      : firstOfEach(byDay, DEPTHS[rule], max);
    for (const name of firsts) retained.add(name);
  }
  return retained;
}

/** A file's time of change on this host's clock; `undefined` if it is gone. */
async function changeTime(path: string, context: StateContext): Promise<ClockTime | undefined> {
  const stats = await context.call("file.lstat", [path]);
  const seconds = isMap(stats) ? toNumber(stats.get("st_mtime")) : undefined;
  if (seconds === undefined) return undefined;
  const time = new Date(seconds * 1000);
  return {
    year: time.getFullYear(),
    month: time.getMonth() + 1,
    day: time.getDate(),
    hour: time.getHours(),
    seconds,
  };
}

function descending(names: Iterable<string>): string[] {
  return [...names].sort((a, b) => compareStrings(b, a));
}

export const retention_schedule: ModuleFunction<StateContext> = stateFn({
  doc: `Remove the files of a directory that a schedule does not keep.

name
    The absolute path of the directory.

retain
    How many to keep, a number or \`all\`, by rule: most_recent, first_of_hour, first_of_day, first_of_week, first_of_month,
    first_of_year.

strptime_format
    The format of names, from which the times are read; files with other names stay. Default: the modification times are used.

timezone
    Ignored: times are those of the host.`,
  params: { name: p.str(), retain: p.dict(), strptime_format: p.str(null), timezone: p.any(null) },
  run: async ({ name: givenName, retain, strptime_format: format }, context) => {
    const name = expandUser(givenName);
    if (name === "") return failState(name, "Must provide name to file.retention_schedule");
    if (!isDirectory(name)) return failState(name, "Name provided to file.retention must be a directory");
    const files = await context.call("file.readdir", [name]);
    const times = new Map<string, ClockTime>(), ignored: string[] = [];
    for (const file of listOrEmpty(files).map(str)) {
      const time = format
        ? strptime(file, format)
        : file === "." || file === ".."
        ? undefined
        : await changeTime(joinPath(name, file), context);
      if (time === undefined) ignored.push(file);
      else times.set(file, time);
    }
    const retained = retainedOf(times, retain);
    const deleted = descending([...times.keys()].filter((file) => !retained.has(file)));
    const ret = startResult(name);
    if (deleted.length > 0) {
      ret.changes = map({ retained: descending(retained), deleted, ignored: descending(ignored) });
    }
    if (context.test) {
      const comment = `${deleted.length} backups would have been removed from ${name}.\n`;
      return { ...ret, result: deleted.length > 0 ? null : true, comment };
    }
    for (const file of deleted) await context.call("file.remove", [joinPath(name, file)]);
    return { ...ret, comment: `${deleted.length} backups were removed from ${name}.\n` };
  },
});
