/**
 * Partitions of the table `events`: an hour each, or a day if events are kept for more than two days. Old events go
 * with their partition.
 * @module
 */

import type { Client } from "pg";

const HOUR_MS = 3_600_000, DAY_MS = 24 * HOUR_MS;
/** Up to this time events are kept in partitions of an hour, in seconds. */
const HOURLY_SECONDS = 2 * 86_400;
/** Partitions that are made ahead. */
const AHEAD = 3;
/** The moment has rows in the default partition, or a partition of another length: they stay there. */
const TAKEN = ["42P17", "23514"];

/** How long events are kept. */
export interface EventRetention {
  readonly schema: string;
  readonly keepSeconds: number;
  readonly nowMs: number;
}

/**
 * Makes the partitions of the next time, and removes those that are too old.
 * @param client In no transaction: a statement that is refused would end it.
 */
export async function keepEventPartitions(client: Client, retention: EventRetention): Promise<void> {
  const { schema, keepSeconds, nowMs } = retention;
  const step = keepSeconds <= HOURLY_SECONDS ? HOUR_MS : DAY_MS, names = await partitionNames(client, schema);
  const first = Math.floor(nowMs / step) * step;
  for (let ms = first; ms < first + AHEAD * step; ms += step) {
    if (!names.includes(nameOf(ms, step))) await makePartition(client, schema, { ms, step });
  }
  const oldestMs = nowMs - keepSeconds * 1000;
  for (const name of names) {
    if (endOf(name) <= oldestMs) await client.query(`drop table if exists ${schema}.${name}`);
  }
  await client.query(`delete from ${schema}.events_default where at < to_timestamp($1 / 1000.0)`, [oldestMs]);
}

async function makePartition(
  client: Client,
  schema: string,
  { ms, step }: { readonly ms: number; readonly step: number },
): Promise<void> {
  const [from, to] = [ms, ms + step].map((at) => new Date(at).toISOString());
  try {
    await client.query(
      `create table if not exists ${schema}.${nameOf(ms, step)} partition of ${schema}.events
       for values from ('${from}') to ('${to}')`,
    );
  } catch (error) {
    if (!(error instanceof Error && "code" in error && TAKEN.includes(String(error.code)))) throw error;
  }
}

/** The names of the partitions with a time. */
async function partitionNames(client: Client, schema: string): Promise<string[]> {
  const { rows } = await client.query<{ readonly name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = $1::regclass`,
    [`${schema}.events`],
  );
  return rows.map(({ name }) => name).filter((name) => /^events_\d{8}(\d\d)?$/.test(name)).sort();
}

/** `events_2026112904`, or `events_20261129` for a day. */
function nameOf(ms: number, step: number): string {
  return `events_${new Date(ms).toISOString().replace(/\D/g, "").slice(0, step === HOUR_MS ? 10 : 8)}`;
}

function endOf(name: string): number {
  const digits = name.slice("events_".length);
  const [y, m, d, h] = [[0, 4], [4, 6], [6, 8], [8, 10]].map(([from, to]) => Number(digits.slice(from, to) || "0"));
  return Date.UTC(y, m - 1, d, h) + (digits.length === 10 ? HOUR_MS : DAY_MS);
}
