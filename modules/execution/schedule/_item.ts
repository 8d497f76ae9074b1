/**
 * Makes the entry of a job of keyword arguments.
 * Source: Salt 3008.3 `salt/modules/schedule.py` build_schedule_item.
 * @module
 */

import { InvocationError, ScheduleEntryError } from "#lib/errors.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { readDateText } from "#lib/schedule/date_text.ts";
import { readEntry, readSettings } from "#lib/schedule/entry.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** An entry, or why it cannot be. */
export type BuiltItem = { readonly entry: ValueMap } | { readonly problem: string };

const UNITS = ["seconds", "minutes", "hours", "days"];

/** The keys that are taken as they are, in the order in which Salt writes them. */
const TAKEN = [
  ...["range", "when", "once", "once_fmt", "cron", "returner", "after", "return_config", "return_kwargs", "until"],
  ...["run_on_start", "skip_during_range", "run_after_skip_range", "dry_run", "timezone", "missed"],
];

/** The text for times that exclude each other; `undefined`: there are none. `what`: the function's own words. */
export function timeConflict(
  kwargs: ValueMap,
  what: { readonly prefix: string; readonly with: string },
): string | undefined {
  if (UNITS.some((unit) => kwargs.has(unit)) && (kwargs.has("when") || kwargs.has("cron"))) {
    return `${what.prefix}Unable to use "seconds", "minutes", "hours", or "days" with ${what.with}.`;
  }
  if (kwargs.has("when") && kwargs.has("cron")) return 'Unable to use "when" and "cron" options together.  Ignoring.';
  return undefined;
}

/**
 * Makes an entry.
 * @throws {InvocationError} If there is no function.
 */
export function buildItem(name: string, kwargs: ValueMap, context: JobContext): BuiltItem {
  if (name === "") return { problem: "Job name is required." };
  const fun = kwargs.get("function");
  if (typeof fun !== "string") throw new InvocationError("A scheduled job needs a function: function=test.ping");
  const conflict = timeConflict(kwargs, { prefix: "", with: '"when" or "cron" options' });
  if (conflict !== undefined) return { problem: conflict };
  const entry = map({ function: fun });
  const take = (key: string, as = key) => {
    const value = kwargs.get(key);
    if (value !== undefined) entry.set(as, value);
  };
  for (const key of [...UNITS, "return_job", "metadata"]) take(key);
  const args = kwargs.get("job_args") ?? kwargs.get("args"), given = kwargs.get("job_kwargs") ?? kwargs.get("kwargs");
  if (args !== undefined && !Array.isArray(args)) {
    return { problem: "job_args is not a list. please correct and try again." };
  }
  if (given !== undefined && !isMap(given)) {
    return { problem: "job_kwargs is not a dict. please correct and try again." };
  }
  if (args !== undefined) entry.set("args", args);
  if (given !== undefined) entry.set("kwargs", given);
  entry.set("maxrunning", kwargs.get("maxrunning") ?? 1);
  entry.set("name", kwargs.get("name") ?? name);
  entry.set("enabled", kwargs.get("enabled") ?? true);
  entry.set("jid_include", kwargs.get("jid_include") ?? true);
  const splay = kwargs.get("splay");
  if (splay !== undefined && splay !== null) entry.set("splay", orderedSplay(splay));
  for (const key of TAKEN) take(key);
  const problem = whenProblem(entry.get("when") ?? null, context) ?? entryProblem(name, entry, context);
  return problem === undefined ? { entry } : { problem };
}

/** `start` before `end`, as Salt writes it. */
function orderedSplay(splay: Value): Value {
  if (!isMap(splay)) return splay;
  const rest = [...splay].filter(([key]) => key !== "start" && key !== "end");
  return new Map([...map({ start: splay.get("start"), end: splay.get("end") }), ...rest]);
}

function whenProblem(when: Value, context: JobContext): string | undefined {
  for (const item of Array.isArray(when) ? when : when === null ? [] : [when]) {
    const meant = named(item, context) ?? item;
    if (typeof meant !== "string" || readDateText(meant) === undefined) {
      return `Schedule item ${str(item)} for "when" in invalid.`;
    }
  }
  return undefined;
}

/** Why the minion could not run it. Without a time it is accepted, as in Salt. */
function entryProblem(name: string, entry: ValueMap, context: JobContext): string | undefined {
  const hasTime = [...UNITS, "when", "cron", "once"].some((key) => entry.has(key));
  if (!hasTime) return undefined;
  try {
    readEntry(name, entry, readSettings(new Map()), {
      id: context.opts.id,
      whens: (item) => named(item, context),
      nowMs: Date.now(),
    });
    return undefined;
  } catch (error) {
    if (error instanceof ScheduleEntryError) return error.message;
    throw error;
  }
}

/** A date that pillar or grains name. */
function named(name: Value, { pillar, grains }: JobContext): Value | undefined {
  for (const source of [pillar, grains]) {
    const whens = source.get("whens");
    if (isMap(whens) && whens.has(name)) return whens.get(name);
  }
  return undefined;
}
