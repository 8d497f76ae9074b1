/**
 * The statements that write rows of jobs: any number of rows each. Bytes of all rows travel as one binary parameter,
 * of which each row takes its slice: that costs a third of an array of bytes, which travels as hexadecimal text. Rows
 * are in order, so that two masters with the same rows cannot wait for each other.
 * @module
 */

import { joinBytes } from "#lib/values/join_bytes.ts";
import type { AckWrite, JobWrite, ReturnWrite } from "./rows.ts";

/** The statement for returns; gives those that are new. */
export function RETURNS_SQL(schema: string): string {
  return `insert into ${schema}.returns (jid, minion, retcode, success, body)
select j, m, r, s, substring($7::bytea from o for l)
from unnest($1::text[], $2::text[], $3::int[], $4::bool[], $5::int[], $6::int[]) as x(j, m, r, s, o, l)
order by 1, 2 on conflict do nothing returning jid, minion`;
}

/** The parameters of {@linkcode RETURNS_SQL}. */
export function returnParameters(writes: readonly ReturnWrite[]): unknown[] {
  const { offsets, lengths, bytes } = slices(writes.map(({ body }) => body));
  return [
    writes.map(({ jid }) => jid),
    writes.map(({ id }) => id),
    writes.map(({ retcode }) => retcode),
    writes.map(({ success }) => success),
    offsets,
    lengths,
    bytes,
  ];
}

/**
 * The statement for jobs; gives each with whether it is new.
 * @param keeps Whether a load that is there stays.
 */
export function JOBS_SQL(schema: string, keeps: boolean): string {
  const takes = keeps ? "(excluded.load <> '' and j.load = '')" : "(excluded.load <> '')";
  const taken = (column: string) => `${column} = case when ${takes} then excluded.${column} else j.${column} end`;
  return `insert into ${schema}.jobs as j (jid, fun, tgt, tgt_type, usr, minions, load, hidden, ended, nocache, live)
select x.jid, case when x.fun is null then null else array(select jsonb_array_elements_text(x.fun::jsonb)) end, x.tgt,
  x.tgt_type, x.usr, case when x.minions is null then null else array(select jsonb_array_elements_text(x.minions::jsonb)) end,
  substring($13::bytea from x.o for x.l), x.hidden, x.ended::timestamptz, x.nocache, x.live
from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::bool[],
  $10::bool[], $11::int[], $12::int[]) as x(jid, fun, tgt, tgt_type, usr, minions, hidden, ended, nocache, live, o, l)
order by 1
on conflict (jid) do update set ${["load", "fun", "tgt", "tgt_type", "usr"].map(taken).join(", ")},
  minions = case when excluded.minions is null then j.minions
    else array(select distinct unnest(coalesce(j.minions, '{}') || excluded.minions)) end,
  hidden = coalesce(excluded.hidden, j.hidden), ended = coalesce(excluded.ended, j.ended),
  nocache = j.nocache or excluded.nocache, live = j.live or excluded.live
returning jid, made = now() as made`;
}

/** The parameters of {@linkcode JOBS_SQL}. */
export function jobParameters(writes: readonly JobWrite[]): unknown[] {
  const { offsets, lengths, bytes } = slices(writes.map(({ load }) => load ?? new Uint8Array()));
  return [
    writes.map(({ jid }) => jid),
    writes.map(({ fun }) => fun === undefined ? null : JSON.stringify(fun.map(storable))),
    writes.map(({ tgt }) => tgt === undefined ? null : storable(tgt)),
    writes.map(({ tgtType }) => tgtType === undefined ? null : storable(tgtType)),
    writes.map(({ user }) => user === undefined ? null : storable(user)),
    writes.map(({ minions }) => minions === undefined ? null : JSON.stringify([...new Set(minions)].map(storable))),
    writes.map(({ hidden }) => hidden === undefined ? null : storable(hidden)),
    writes.map(({ ended }) => ended === undefined ? null : momentOf(ended)),
    writes.map(({ nocache = false }) => nocache),
    writes.map(({ live = false }) => live),
    offsets,
    lengths,
    bytes,
  ];
}

/** The statement for acknowledgements; of jobs that are not there nothing is stored. */
export function ACKS_SQL(schema: string): string {
  return `insert into ${schema}.acks (jid, minion, state, at)
select x.jid, x.minion, x.state, to_timestamp(x.at / 1000.0)
from unnest($1::text[], $2::text[], $3::text[], $4::float8[]) as x(jid, minion, state, at)
where exists (select 1 from ${schema}.jobs j where j.jid = x.jid)
order by 1, 2 on conflict (jid, minion) do update set state = excluded.state, at = excluded.at`;
}

/** The parameters of {@linkcode ACKS_SQL}. */
export function ackParameters(writes: readonly AckWrite[]): unknown[] {
  return [
    writes.map(({ jid }) => jid),
    writes.map(({ id }) => id),
    writes.map(({ state }) => state),
    writes.map(({ atMs }) => atMs),
  ];
}

/** All bytes in one, and where each begins, from 1. */
export function slices(parts: readonly Uint8Array[]): { offsets: number[]; lengths: number[]; bytes: Uint8Array } {
  let at = 1;
  const offsets = parts.map(({ length }) => (at += length) - length);
  return { offsets, lengths: parts.map(({ length }) => length), bytes: joinBytes(parts) };
}

/** A text that a column takes: PostgreSQL has none with a NUL, nor with half of a pair. The load has it whole. */
function storable(text: string): string {
  return text.replaceAll("\0", "\ufffd").toWellFormed();
}

/** The time of a jid as a text with its zone. */
function momentOf(jid: string): string {
  const [y, m, d, h, min, s, us] = [[0, 4], [4, 6], [6, 8], [8, 10], [10, 12], [12, 14], [14, 20]]
    .map(([from, to]) => jid.slice(from, to));
  return `${y}-${m}-${d} ${h}:${min}:${s}.${us}+00`;
}
