/**
 * Jobs as the `jobs` runner shows them: Salt's headings for the fields of a load, and the filters of `list_jobs`. Does
 * not know where jobs are stored.
 * Source: the results of Salt 3008.3 `salt/runners/jobs.py` and `salt/utils/jid.py`.
 * @module
 */

import { InvocationError } from "#lib/errors.ts";
import { MONTHS } from "#lib/text/calendar.ts";
import { splitInput } from "#lib/values/split_input.ts";
import { compileGlob } from "#lib/text/glob.ts";
import { jidToStartTime } from "#lib/protocol/jid.ts";
import { asList, listOrEmpty } from "#lib/values/shape.ts";
import { compareStrings, equals, isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** Conditions of {@linkcode jobFilter}; a job must meet all that are given. */
export interface JobSearch {
  /** Keys and values, of which the job's metadata must have at least one pair. */
  readonly metadata?: Value;
  /** Globs, as a list or separated by commas; one must match a function of the job. */
  readonly fun?: Value;
  /** Globs; one must match the job's target, or an item of it. */
  readonly target?: Value;
  /** A time; jobs that began earlier are left out. */
  readonly startTime?: string | null;
  /** A time; jobs that began later are left out. */
  readonly endTime?: string | null;
}

/** Whether a search has a condition. */
export function hasSearch({ metadata, fun, target, startTime, endTime }: JobSearch): boolean {
  return [metadata, fun, target].some(truthy) || !!startTime || !!endTime;
}

/** The metadata of a job that only shows something: a page of the console asks by itself, or a GET of the API. */
export const QUESTION: ValueMap = map({ question: true });

/** Whether a job is such a question. Lists of jobs have it; it is no minion's last job. */
export function isQuestion(load: ValueMap): boolean {
  const metadata = metadataOf(load);
  return isMap(metadata) && metadata.get("question") === true;
}

/** The minions that a job is for, sorted: those that its target matches, and those of a list that are not accepted. */
export function jobMinions(load: ValueMap | undefined): string[] {
  const stored = load?.get("Minions");
  const wanted = load?.get("tgt_type") === "list" ? load.get("tgt") : undefined;
  const listed = typeof wanted === "string" ? wanted.split(",") : listOrEmpty(wanted);
  const ids = [...listOrEmpty(stored), ...listed].filter((id) => typeof id === "string" && id !== "");
  return [...new Set(ids.map((id) => str(id)))].sort(compareStrings);
}

/**
 * One job under Salt's headings, without `StartTime`.
 * @param load From the job cache; with `Minions` if they are to be shown.
 */
export function formatJob(load: ValueMap | undefined): ValueMap {
  if (load === undefined || load.size === 0) {
    return new Map([["Error", "Cannot contact returner or no job with this jid"]]);
  }
  const arg = load.get("arg") ?? [];
  const fields: ValueMap = new Map<Value, Value>()
    .set("Function", load.get("fun") ?? "unknown-function")
    .set("Arguments", asList(arg))
    .set("Target", load.get("tgt") ?? "unknown-target")
    .set("Target-type", load.get("tgt_type") ?? "list")
    .set("User", load.get("user") ?? "root");
  const metadata = metadataOf(load);
  if (metadata !== undefined) fields.set("Metadata", metadata);
  const minions = load.get("Minions");
  if (minions !== undefined) fields.set("Minions", minions);
  return fields;
}

/** One job under Salt's headings, with `StartTime` at the end. */
export function formatStartedJob(jid: string, load: ValueMap | undefined): ValueMap {
  return formatJob(load).set("StartTime", jidToStartTime(jid));
}

/** The metadata of a job: its own, that of the publish's options, or that of its keyword arguments. */
function metadataOf(load: ValueMap): Value | undefined {
  const own = load.get("metadata");
  if (own !== undefined) return own;
  const kwargs = load.get("kwargs");
  if (isMap(kwargs) && kwargs.has("metadata")) return kwargs.get("metadata");
  const arg = load.get("arg");
  if (!Array.isArray(arg)) return undefined;
  return arg.find((item): item is ValueMap => isMap(item) && item.get("__kwarg__") === true && item.has("metadata"))
    ?.get("metadata");
}

/**
 * A test by `search` for a job under Salt's headings and its jid.
 * @throws {InvocationError} For an invalid time, or metadata that is not a map.
 */
export function jobFilter(search: JobSearch): (jid: string, job: ValueMap) => boolean {
  const tests: ((jid: string, job: ValueMap) => boolean)[] = [];
  const { metadata, fun, target, startTime, endTime } = search;
  if (truthy(metadata)) {
    if (!isMap(metadata)) throw new InvocationError("search_metadata must be a dictionary");
    const pairs = [...metadata];
    tests.push((_, job) => {
      const of = job.get("Metadata");
      return isMap(of) && pairs.some(([key, value]) => {
        const entry = of.get(key);
        return entry !== undefined && equals(entry, value);
      });
    });
  }
  for (const [globs, heading] of [[target, "Target"], [fun, "Function"]] as const) {
    if (!truthy(globs)) continue;
    const matchers = splitInput(globs ?? null).map(compileGlob);
    tests.push((_, job) => {
      const value = job.get(heading) ?? [];
      const texts = asList(value).map(str);
      return texts.some((text) => matchers.some((matches) => matches(text)));
    });
  }
  if (startTime) {
    const earliest = parseTime(startTime);
    tests.push((jid) => jid.slice(0, 20) >= earliest);
  }
  if (endTime) {
    const latest = parseTime(endTime);
    tests.push((jid) => jid.slice(0, 20) <= latest);
  }
  return (jid, job) => tests.every((test) => test(jid, job));
}

const DATES: readonly RegExp[] = [
  /^(?<y>\d{4})-(?<m>\d{1,2})-(?<d>\d{1,2})(?:$|[\sT]+)/i,
  /^(?<y>\d{4})\/(?<m>\d{1,2})\/(?<d>\d{1,2})(?:$|\s+)/,
  /^(?<m>\d{1,2})\/(?<d>\d{1,2})\/(?<y>\d{4})(?:$|\s+)/,
  /^(?<y>\d{4})(?<m>\d\d)(?<d>\d\d)(?:$|[\sT]+)/i,
  /^(?<y>\d{4}),?\s+(?<m>[a-z]+)\.?\s+(?<d>\d{1,2})(?:$|,?\s+)/i,
  /^(?<m>[a-z]+)\.?\s+(?<d>\d{1,2}),?\s+(?<y>\d{4})(?:$|,?\s+)/i,
  /^(?<d>\d{1,2})\.?\s+(?<m>[a-z]+)\.?,?\s+(?<y>\d{4})(?:$|,?\s+)/i,
];
const TIME =
  /^(?<h>\d{1,2})(?::?(?<min>\d\d)(?::?(?<s>\d\d)(?:[.,](?<f>\d{1,9}))?)?)?\s*(?<half>[ap]m)?\s*(?<zone>z|utc|[+-]\d\d(?::?\d\d)?)?$/i;

/**
 * A time as the twenty digits of a jid: `2015, Mar 16 19:00` (as `StartTime` is shown), `2015-03-16 19:00:01.5`, `16
 * Mar 2015`, `03/16/2015 7:00 pm`, `20150316`, a jid, or a time of today. UTC, like jids.
 * @throws {InvocationError} If it is invalid.
 */
export function parseTime(words: string): string {
  const text = words.trim();
  if (/^\d{14,20}$/.test(text)) return text.padEnd(20, "0");
  const date = DATES.map((form) => form.exec(text)).find((time) => time !== null) ?? undefined;
  const rest = text.slice(date?.[0].length ?? 0).trim();
  const time = TIME.exec(rest);
  const refusal = new InvocationError(`Cannot read the time "${words}"`);
  if (date === undefined && time === null || rest !== "" && time === null) throw refusal;

  const now = new Date();
  const { y, m, d } = date?.groups ?? {};
  const month = m === undefined ? now.getUTCMonth() : monthNumber(m);
  const { h = "0", min = "0", s = "0", f = "", half, zone } = time?.groups ?? {};
  // A plain number after a date is not accepted as a time of day.
  if (time !== null && min === "0" && half === undefined && !/[:T]/i.test(text)) throw refusal;
  let hour = Number(h);
  if (half !== undefined) {
    if (hour < 1 || hour > 12) throw refusal;
    hour = hour % 12 + (half.toLowerCase() === "pm" ? 12 : 0);
  }
  const day = y === undefined ? now.getUTCDate() : Number(d);
  const year = y === undefined ? now.getUTCFullYear() : Number(y);
  const ms = Date.UTC(year, month, day, hour, Number(min), Number(s));
  const rolled = new Date(ms).getUTCDate() !== day || hour > 23 || Number(min) > 59 || Number(s) > 59;
  if (month < 0 || rolled) throw refusal;
  const digits = new Date(ms - zoneMinutes(zone) * 60_000).toISOString().replace(/[^0-9]/g, "").slice(0, 14);
  return digits + f.slice(0, 6).padEnd(6, "0");
}

function monthNumber(word: string): number {
  if (/^\d/.test(word)) return Number(word) >= 1 && Number(word) <= 12 ? Number(word) - 1 : -1;
  const lower = word.toLowerCase();
  return MONTHS.map((month) => month.toLowerCase())
    .findIndex((month) => month === lower || month.slice(0, 3) === lower);
}

function zoneMinutes(zone: string | undefined): number {
  const parts = /^([+-])(\d\d):?(\d\d)?$/.exec(zone ?? "");
  if (parts === null) return 0;
  return (parts[1] === "-" ? -1 : 1) * (Number(parts[2]) * 60 + Number(parts[3] ?? 0));
}
