/**
 * Finds jobs by their functions and targets, the newest first, as postgres_search.ts does: what is common is among the
 * newest jobs, and what is rare is found by the values that a column has.
 * @module
 */

import type { StatementSync } from "node:sqlite";
import { compareStrings } from "#lib/values/value.ts";
import type { PageQuery, PageRow } from "./rows.ts";

/** The newest jobs that are looked at first. */
const NEWEST = 5_000;
/** Characters of a value in its index. */
const INDEXED = 200;

const FUN = `substr(fun, 1, ${INDEXED})`, TGT = `substr(tgt, 1, ${INDEXED})`;

/** The statements that make the indexes. */
export const SEARCH_INDEXES = `create index if not exists jobs_fun on jobs (${FUN}, jid);
create index if not exists jobs_tgt on jobs (${TGT}, jid);
`;

type Prepare = (sql: string) => StatementSync;

/** Jobs that may be those of a query, the newest first. */
export function searchJobs(prepare: Prepare, query: PageQuery): PageRow[] {
  const { fun, target, count } = query;
  const searches = fun.length + target.length > 0;
  const newest = searches ? `(select * from jobs where ${rangeOf(query)} order by jid desc limit ${NEWEST})` : "jobs";
  const jobs = jobsOf(prepare, newest, query);
  if (!searches || jobs.length >= count) return jobs;
  const [value, patterns] = fun.length > 0 ? [FUN, fun] : [TGT, target];
  const rare = namesOf(prepare, value, patterns).flatMap((name) => jobsOf(prepare, "jobs", query, { value, name }));
  return rare.sort((a, b) => compareStrings(b.jid, a.jid)).slice(0, count);
}

/** The jobs of a table, or of its rows with one value. */
function jobsOf(
  prepare: Prepare,
  table: string,
  query: PageQuery,
  of?: { readonly value: string; readonly name: string },
): PageRow[] {
  const { before, from, to, fun, target, count } = query;
  const conditions = [
    rangeOf(query),
    ...of === undefined ? [] : [`${of.value} = :name`],
    ...fun.length === 0 ? [] : [`(instr(fun, char(10)) or ${anyLike("fun", fun)})`],
    ...target.length === 0 ? [] : [`(tgt = '' or ${anyLike("tgt", target)})`],
  ];
  const patterns = [...fun.map((like, i) => [`fun${i}`, like]), ...target.map((like, i) => [`tgt${i}`, like])];
  const given = Object.entries({ before, from, to, name: of?.name ?? null }).filter(([, value]) => value !== null);
  return prepare(`select jid, load from ${table} where ${conditions.join(" and ")} order by jid desc limit :count`)
    .all({ ...Object.fromEntries([...patterns, ...given]), count })
    .map(({ jid, load }) => ({ jid: String(jid), load: load instanceof Uint8Array ? load : new Uint8Array() }));
}

/** The values of a column that may match patterns: those of several functions, and of targets that are no text, too. */
function namesOf(prepare: Prepare, value: string, patterns: readonly string[]): string[] {
  const match = prepare(
    `select 1 where :name = '' or instr(:name, char(10)) or length(:name) = ${INDEXED} or ${
      patterns.map((_, i) => `:name like :name${i} escape '\\'`).join(" or ")
    }`,
  );
  const given = Object.fromEntries(patterns.map((like, i) => [`name${i}`, like]));
  const first = prepare(`select ${value} as name from jobs where ${value} >= '' order by ${value} limit 1`);
  const next = prepare(`select ${value} as name from jobs where ${value} > ? order by ${value} limit 1`);
  const names: string[] = [];
  for (let row = first.get(); row !== undefined; row = next.get(row.name)) {
    const name = String(row.name);
    if (match.get({ name, ...given }) !== undefined) names.push(name);
  }
  return names;
}

function rangeOf({ before, from, to }: PageQuery): string {
  return [
    "length(load) > 0",
    ...before === null ? [] : ["jid < :before"],
    ...from === null ? [] : ["jid >= :from"],
    ...to === null ? [] : ["jid <= :to"],
  ].join(" and ");
}

function anyLike(column: string, patterns: readonly string[]): string {
  return patterns.map((_, i) => `${column} like :${column}${i} escape '\\'`).join(" or ");
}
