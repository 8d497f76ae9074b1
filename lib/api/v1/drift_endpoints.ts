/**
 * How the fleet differs from its states, day by day: `/api/v1/drift`, and of one minion `/api/v1/minions/ID/drift`. The
 * days are those of the scheduled job `drift`: docs/console.md.
 * @module
 */

import type { ApiParts, ApiRequest, Methods, ValueReply } from "#lib/api/endpoints/endpoint.ts";
import { UserRights } from "#lib/api/endpoints/rights.ts";
import { ApiError } from "#lib/api/http/api_error.ts";
import { t } from "#lib/api/http/json_schema.ts";
import { DRIFT_DAYS, driftDays, driftDirectory, type DriftEntry, readDrift } from "#lib/jobs/drift_log.ts";
import { compareStrings, map, type Value, type ValueMap } from "#lib/values/value.ts";
import { numberOf } from "./pages.ts";

/** Days that are shown unless the query says another number. */
const DEFAULT_DAYS = 30;
/** States of a day, of all days, and minions that are named. */
const MAX_OF_DAY = 20, MAX_STATES = 50, MAX_MINIONS = 1_000;

const QUERY = { days: t.range(1, DRIFT_DAYS, `Default: ${DEFAULT_DAYS}.`) };
/** What each day of a minion is written as. */
const LETTERS = { ok: "=", differs: "!", failed: "x" } as const;
const NO_PLAN = ".";

/** The path `/api/v1/drift`. */
export const DRIFT: Methods = {
  GET: {
    summary: "How many minions differed from their states on each day, and in which, by the scheduled job drift.",
    needs: "session",
    rights: "see the minions; run the runner jobs.list_job",
    onlyJson: true,
    query: QUERY,
    answers: [{
      doc: "The days, in UTC, the oldest first.",
      schema: t.object({
        days: t.list(t.object({
          day: t.text(),
          planned: t.int("Minions that have planned their states."),
          differ: t.int(),
          failed: t.int("Minions on which a state or the plan failed."),
          states: t.list(
            t.object({ state: t.text(), minions: t.int() }),
            `The ${MAX_OF_DAY} that differed on most minions.`,
          ),
        })),
        states: t.list(
          t.object({ state: t.text(), minions: t.int(), days: t.int() }),
          `The ${MAX_STATES} that differed most often.`,
        ),
        minions: t.mapOf(
          t.text(),
          `Those that differed or failed, at most ${MAX_MINIONS}: a letter for each day, = as it should be, ! differs, x failed, . no plan.`,
        ),
        more: t.int("Such minions that are not named."),
      }),
    }],
    errors: [400],
    handle: showDrift,
  },
};

/** The path `/api/v1/minions/ID/drift`. */
export const MINION_DRIFT: Methods = {
  GET: {
    summary: "How a minion differed from its states on each day, by the scheduled job drift.",
    needs: "session",
    rights: "see the minion; run the runner jobs.list_job",
    onlyJson: true,
    query: QUERY,
    answers: [{
      doc: "The days with a plan, in UTC, the oldest first.",
      schema: t.object({
        id: t.text(),
        days: t.list(t.object({
          day: t.text(),
          at: t.number("Seconds since the epoch."),
          outcome: t.oneOf(["ok", "differs", "failed"]),
          states: t.list(t.text("A state that differs or failed.")),
        })),
      }),
    }],
    errors: [400],
    async handle(request, parts) {
      const rights = readerOf(request, parts);
      const { id } = request.params;
      if (!rights.minions().has(id)) throw new ApiError(404, "There is no such minion");
      const days: Value[] = [];
      for (const { day, entries } of await readDays(request, parts)) {
        const entry = entries.get(id);
        if (entry === undefined) continue;
        const { atMs, outcome, states } = entry;
        days.push(map({ day, at: atMs / 1000, outcome, states: [...states] }));
      }
      return { value: map({ id, days }) };
    },
  },
};

/** @throws {ApiError} 401 if the user may not see returns of others' jobs. */
function readerOf(request: ApiRequest, parts: ApiParts): UserRights {
  const rights = UserRights.of(request, parts);
  rights.checkMayRun("runner", "jobs.list_job");
  return rights;
}

interface ReadDay {
  readonly day: string;
  readonly entries: ReadonlyMap<string, DriftEntry>;
}

async function readDays({ query }: ApiRequest, { opts }: ApiParts): Promise<ReadDay[]> {
  const number = numberOf(query, "days", { min: 1, max: DRIFT_DAYS }) ?? DEFAULT_DAYS;
  const directory = driftDirectory(opts.cachedir);
  const read: ReadDay[] = [];
  for (const day of driftDays(number)) read.push({ day, entries: await readDrift(directory, day) });
  return read;
}

async function showDrift(request: ApiRequest, parts: ApiParts): Promise<ValueReply> {
  const seen = readerOf(request, parts).minions();
  const read = await readDays(request, parts);
  const letters = new Map<string, string[]>();
  const ofAll = new Map<string, { readonly ids: Set<string>; days: number }>();
  const days = read.map(({ day, entries }, index) => {
    const ofDay = new Map<string, number>();
    const visible = [...entries.values()].filter(({ id }) => seen.has(id));
    for (const { id, outcome, states } of visible) {
      const row = letters.get(id) ?? Array<string>(read.length).fill(NO_PLAN);
      row[index] = LETTERS[outcome];
      letters.set(id, row);
      for (const state of new Set(states)) {
        ofDay.set(state, (ofDay.get(state) ?? 0) + 1);
        const all = ofAll.get(state) ?? { ids: new Set(), days: 0 };
        all.ids.add(id);
        ofAll.set(state, all);
      }
    }
    for (const state of ofDay.keys()) {
      const all = ofAll.get(state);
      if (all !== undefined) all.days++;
    }
    const states = topOf([...ofDay].map(([state, minions]) => ({ state, minions })), MAX_OF_DAY);
    const number = (outcome: DriftEntry["outcome"]) => visible.filter((entry) => entry.outcome === outcome).length;
    return map({ day, planned: visible.length, differ: number("differs"), failed: number("failed"), states });
  });
  const states = topOf([...ofAll].map(([state, { ids, days }]) => ({ state, minions: ids.size, days })), MAX_STATES);
  const differing = [...letters].filter(([, row]) => row.some((letter) => letter === "!" || letter === "x"))
    .sort(([a], [b]) => compareStrings(a, b));
  const minions = new Map<Value, Value>(differing.slice(0, MAX_MINIONS).map(([id, row]) => [id, row.join("")]));
  return { value: map({ days, states, minions, more: Math.max(0, differing.length - MAX_MINIONS) }) };
}

/** The rows of the most minions, and days, first. */
function topOf(
  rows: readonly { readonly state: string; readonly minions: number; readonly days?: number }[],
  most: number,
): ValueMap[] {
  const sorted = [...rows].sort((a, b) =>
    b.minions - a.minions || (b.days ?? 0) - (a.days ?? 0) || compareStrings(a.state, b.state)
  );
  return sorted.slice(0, most).map((row) => map({ ...row }));
}
