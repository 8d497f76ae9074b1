/**
 * How the fleet differs from its states, day by day: each minion plans its states on a schedule, and the master keeps
 * of each return the outcome and the names of the states that differ, for a month. The job cache forgets sooner.
 * @module
 */

import { removeIfExists, statIfExists } from "#lib/os/atomic_file.ts";
import { listDirectory, type StoreLog } from "#lib/os/store_files.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { JsonError } from "#lib/errors.ts";
import { isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** The name of the scheduled job whose returns are kept. */
const DRIFT_JOB = "drift";

/** Days that are kept, today among them. */
export const DRIFT_DAYS = 31;

/** How a minion was found: `ok`, as its states say; `differs`; `failed`: a state or the plan failed. */
export type DriftOutcome = "ok" | "differs" | "failed";

/** A minion on one day. */
export interface DriftEntry {
  readonly id: string;
  /** When, in milliseconds since the epoch. */
  readonly atMs: number;
  readonly outcome: DriftOutcome;
  /** The states that differ or failed: `file.managed /etc/motd`. */
  readonly states: readonly string[];
}

const OUTCOMES: readonly Value[] = ["ok", "differs", "failed"];
const DAY_MS = 86_400_000;
/** Bytes of a day's file: a minion that floods the master fills no disk. */
const MAX_BYTES = 64 << 20;
/** States of one return that are named, and the longest name, in UTF-16 units. */
const MAX_STATES = 100, MAX_NAME = 200;
const FILE = /^(\d{4}-\d\d-\d\d)\.jsonl$/;

/** The directory of the days. */
export function driftDirectory(cachedir: string): string {
  return `${cachedir}/drift`;
}

/** The day of a moment, in UTC: `2026-11-29`. */
function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** The days until that of `nowMs`, the oldest first. */
export function driftDays(days: number, nowMs: number = Date.now()): string[] {
  return Array.from({ length: days }, (_, i) => dayOf(nowMs - (days - 1 - i) * DAY_MS));
}

/** What a return of the scheduled job says; `undefined` for a return of anything else. */
export function driftOf(load: ValueMap): Pick<DriftEntry, "outcome" | "states"> | undefined {
  if (load.get("schedule") !== DRIFT_JOB) return undefined;
  const returned = load.get("return") ?? null;
  // A text or a list of them: the states could not be read.
  if (!isMap(returned)) return { outcome: "failed", states: [] };
  let hasFailed = false;
  const states: string[] = [];
  for (const [key, state] of returned) {
    const parts = str(key).split("_|-");
    if (!isMap(state) || parts.length !== 4) continue;
    const result = state.get("result");
    if (result === true) continue;
    hasFailed ||= result === false;
    if (states.length < MAX_STATES) states.push(`${parts[0]}.${parts[3]} ${parts[2]}`.slice(0, MAX_NAME));
  }
  return { outcome: hasFailed ? "failed" : states.length > 0 ? "differs" : "ok", states };
}

/**
 * Keeps an entry. Several processes may do so at a time. On a new day, what is older than a month goes.
 * @returns Whether it is kept: a day's file has a bound.
 * @throws What writing throws.
 */
export function keepDrift(directory: string, entry: DriftEntry, log: StoreLog): boolean {
  Deno.mkdirSync(directory, { recursive: true, mode: 0o700 });
  const path = `${directory}/${dayOf(entry.atMs)}.jsonl`;
  const size = statIfExists(path)?.size;
  if (size === undefined) removeOldDays(directory, entry.atMs, log);
  if ((size ?? 0) > MAX_BYTES) return false;
  using file = Deno.openSync(path, { append: true, create: true, mode: 0o600 });
  file.lockSync(true);
  const { id, atMs, outcome, states } = entry;
  file.writeSync(new TextEncoder().encode(`${JSON.stringify({ id, atMs, outcome, states })}\n`));
  return true;
}

function removeOldDays(directory: string, nowMs: number, log: StoreLog): void {
  const [oldest] = driftDays(DRIFT_DAYS, nowMs);
  for (const { name } of listDirectory(directory, log)) {
    const day = FILE.exec(name)?.[1];
    if (day !== undefined && day < oldest) removeIfExists(`${directory}/${name}`);
  }
}

/**
 * The entries of one day: of each minion the last one.
 * @param day As {@linkcode driftDays} names it.
 */
export async function readDrift(directory: string, day: string): Promise<ReadonlyMap<string, DriftEntry>> {
  const entries = new Map<string, DriftEntry>();
  let text: string;
  try {
    text = await Deno.readTextFile(`${directory}/${day}.jsonl`);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return entries;
    throw error;
  }
  for (const line of text.split("\n")) {
    const entry = parseEntry(line);
    if (entry !== undefined) entries.set(entry.id, entry);
  }
  return entries;
}

/** An entry of a line; a line that a power failure cut off is none. */
function parseEntry(line: string): DriftEntry | undefined {
  if (line === "") return undefined;
  let value: Value;
  try {
    value = parseJson(line);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return undefined;
  }
  if (!isMap(value)) return undefined;
  const [id, atMs, outcome, states] = ["id", "atMs", "outcome", "states"].map((name) => value.get(name));
  if (typeof id !== "string" || typeof atMs !== "number" || !isOutcome(outcome) || !Array.isArray(states)) {
    return undefined;
  }
  return { id, atMs, outcome, states: states.map(str) };
}

function isOutcome(value: Value | undefined): value is DriftOutcome {
  return value !== undefined && OUTCOMES.includes(value);
}
