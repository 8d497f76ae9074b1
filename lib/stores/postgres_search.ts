/**
 * The statements that find jobs by their functions and targets, the newest first. What is common is among the newest
 * jobs; for what is rare the values that a column has are looked at one after the other, by an index, and the jobs of
 * those that match are taken: so a search among a million jobs reads few of them.
 * @module
 */

import { likePrefix } from "./like.ts";
import type { PageQuery } from "./rows.ts";

/** The newest jobs that are looked at first. */
const NEWEST = 5_000;
/** Characters of a value in its index: the whole would be more than an index takes. */
const INDEXED = 200;

const FUN = `left(fun[1], ${INDEXED}) collate "C"`, TGT = `left(tgt, ${INDEXED}) collate "C"`;

/** The statements that make the indexes. */
export function searchIndexes(schema: string): string {
  return `
create index jobs_fun on ${schema}.jobs ((${FUN}), jid);
create index jobs_funs on ${schema}.jobs (jid) where cardinality(fun) > 1;
create index jobs_tgt on ${schema}.jobs ((${TGT}), jid);`;
}

/** A statement and its parameters. */
export interface JobSearchStatement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** Parameters of all statements: $1 to $6. */
const RANGE =
  "load <> '' and ($1::text is null or jid < $1) and ($2::text is null or jid >= $2) and ($3::text is null or jid <= $3)";
const FUN_FITS =
  "(cardinality($4::text[]) = 0 or fun[1] like any ($4) or cardinality(fun) > 1 and exists (select 1 from unnest(fun) f where f like any ($4)))";
/** A target that is no text is looked at by the caller. */
const TGT_FITS = "(cardinality($5::text[]) = 0 or tgt = '' or tgt like any ($5))";
const NEWEST_FIRST = "order by jid desc limit $6";

/** The statement that finds what is common; without a search it finds all. */
export function newestJobs(schema: string, query: PageQuery): JobSearchStatement {
  const { fun, target } = query;
  const jobs = fun.length + target.length === 0
    ? `${schema}.jobs where ${RANGE}`
    : `(select jid, load, fun, tgt from ${schema}.jobs where ${RANGE} order by jid desc limit ${NEWEST}) newest where true`;
  return {
    sql: `select jid, load from ${jobs} and ${FUN_FITS} and ${TGT_FITS} ${NEWEST_FIRST}`,
    parameters: parametersOf(query),
  };
}

/** The statement that finds all, also what is rare; `undefined` if the other one does. */
export function rareJobs(schema: string, query: PageQuery): JobSearchStatement | undefined {
  const { fun, target } = query;
  if (fun.length + target.length === 0) return undefined;
  const [patterns, value, place] = fun.length > 0 ? [fun, FUN, "$4"] : [target, TGT, "$5"];
  const jobs = `${schema}.jobs`;
  const next = (from: string) => `(select ${value} as f from ${jobs} where ${value} ${from} order by ${value} limit 1)`;
  const several = `union all (select jid, load from ${jobs} where cardinality(fun) > 1
    and not coalesce(fun[1] like any ($4), false) and ${RANGE} and ${FUN_FITS} and ${TGT_FITS} ${NEWEST_FIRST})`;
  return {
    sql: `with recursive found(prefix, f) as (
  select p.prefix, ${next(">= p.prefix")} from unnest($7::text[]) as p(prefix)
  union all select found.prefix, ${next("> found.f")} from found where starts_with(found.f, found.prefix)
), names as (
  select distinct f from found where starts_with(f, prefix) and (f = '' or f like any (${place}) or length(f) = ${INDEXED})
)
select jid, load from (
  (select job.jid, job.load from names cross join lateral (
    select jid, load from ${jobs} where ${value} = names.f and ${RANGE} and ${FUN_FITS} and ${TGT_FITS} ${NEWEST_FIRST}
  ) job)
  ${fun.length > 0 ? several : ""}
) jobs ${NEWEST_FIRST}`,
    // A target that is no text is stored as an empty one.
    parameters: [...parametersOf(query), [...patterns.map(indexedPrefix), ...fun.length > 0 ? [] : [""]]],
  };
}

/** What an index has of the values that a pattern matches. */
function indexedPrefix(like: string): string {
  return [...likePrefix(like)].slice(0, INDEXED).join("");
}

function parametersOf({ before, from, to, fun, target, count }: PageQuery): unknown[] {
  return [before, from, to, fun, target, count];
}
