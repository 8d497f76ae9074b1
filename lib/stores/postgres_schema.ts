/**
 * The schema of jobs in PostgreSQL: its tables, its number, and the partitions, which are ranges of jids and so of
 * time. Old jobs go with their partition; one that an operator made up the id of lies in the default partition.
 * @module
 */

import type { Client } from "pg";
import { clusterTables } from "./cluster_tables.ts";
import { searchIndexes } from "./postgres_search.ts";
import { DatabaseRefusalError } from "./postgres_connection.ts";
import { inTransaction, lockUntilEnd } from "./transaction.ts";

/** The number of the schema in PostgreSQL; 2 has the tables of a cluster, 3 the indexes of a search for jobs. */
export const POSTGRES_SCHEMA = 3;
/** The oldest version of the schema whose masters work with this one. */
const OLDEST_READER = 1;

/** The tables that are partitioned by the jid. */
const PARTITIONED = ["jobs", "returns", "acks", "outputs"] as const;

const HOUR_MS = 3_600_000, DAY_MS = 24 * HOUR_MS;
/** Up to this time jobs are kept in partitions of an hour, in seconds. */
const HOURLY_SECONDS = 2 * 86_400;
/** Digits of a jid that name its hour, and its day. */
const HOUR_DIGITS = 10, DAY_DIGITS = 8;

function tables(schema: string): string {
  return `
create table ${schema}.meta (schema int, oldest_reader int, made timestamptz);
create table ${schema}.jobs (jid text collate "C", fun text[], tgt text, tgt_type text, usr text, minions text[],
  origin smallint, load bytea not null, hidden text, ended timestamptz, nocache bool not null default false,
  live bool not null default false, made timestamptz not null default now(), primary key (jid)) partition by range (jid);
create table ${schema}.returns (jid text collate "C", minion text collate "C", retcode int, success bool,
  stored timestamptz default now(), body bytea not null, primary key (jid, minion)) partition by range (jid);
create table ${schema}.acks (jid text collate "C", minion text, state text, at timestamptz, primary key (jid, minion))
  partition by range (jid);
create table ${schema}.outputs (jid text collate "C", minion text, n int, body bytea, primary key (jid, minion, n))
  partition by range (jid);
create table ${schema}.batches (jid text primary key, active bool, state bytea);
${
    PARTITIONED.map((table) => `create table ${schema}.${table}_default partition of ${schema}.${table} default;`).join(
      "\n",
    )
  }
insert into ${schema}.meta values (1, ${OLDEST_READER}, now());`;
}

/** How long jobs are kept; 0: for ever. */
interface Retention {
  readonly keepSeconds: number;
  readonly nowMs: number;
}

/** The statements that make each number of the schema of the one before. They only add. */
function upgrades(schema: string): readonly string[] {
  return [tables(schema), clusterTables(schema), searchIndexes(schema)];
}

/**
 * Makes the tables if they are not there, or adds those that are new, and the partitions of the next day.
 * @throws {DatabaseRefusalError} If the schema is of a newer version.
 */
export async function makeSchema(client: Client, schema: string, retention: Retention): Promise<void> {
  await inTransaction(client, async () => {
    await lockUntilEnd(client, schemaLock(schema));
    const { rows } = await client.query(`select 1 from pg_namespace where nspname = $1`, [schema]);
    // Without this question a user who may not create schemas could not use one that is there.
    if (rows.length === 0) await client.query(`create schema ${schema}`);
    const stored = await schemaNumber(client, schema);
    if (stored === undefined || stored.schema < POSTGRES_SCHEMA) {
      for (const step of upgrades(schema).slice(stored?.schema ?? 0)) await client.query(step);
      await client.query(`update ${schema}.meta set schema = $1`, [POSTGRES_SCHEMA]);
    } else if (stored.oldestReader > POSTGRES_SCHEMA) {
      throw new DatabaseRefusalError(
        `The schema ${schema} of the database has the number ${stored.schema}, of a newer version; this version knows ${POSTGRES_SCHEMA}: install the newer version on this master, or set postgresql.schema to another one`,
        schema,
      );
    }
  });
  await makePartitions(client, schema, retention);
}

/** The number of the schema, and of the oldest one that may work with it; `undefined`: there are no tables. */
export async function schemaNumber(
  client: Client,
  schema: string,
): Promise<{ readonly schema: number; readonly oldestReader: number } | undefined> {
  const { rows: [is] } = await client.query<{ readonly there: string | null }>(`select to_regclass($1) as there`, [
    `${schema}.meta`,
  ]);
  if (is?.there === null || is === undefined) return undefined;
  const { rows: [row] } = await client.query<{ readonly schema: number; readonly oldest_reader: number }>(
    `select schema, oldest_reader from ${schema}.meta`,
  );
  return row && { schema: row.schema, oldestReader: row.oldest_reader };
}

/** Masters that start at once make the tables one after the other. */
function schemaLock(schema: string): string {
  return `salt schema ${schema}`;
}

/** Makes the partitions of the next day that are missing. */
export async function makePartitions(client: Client, schema: string, { keepSeconds, nowMs }: Retention): Promise<void> {
  const hourly = keepSeconds > 0 && keepSeconds <= HOURLY_SECONDS;
  const [step, digits] = hourly ? [HOUR_MS, HOUR_DIGITS] : [DAY_MS, DAY_DIGITS];
  const there = new Set((await partitionsOf(client, schema, "jobs")).map(({ name }) => name));
  const first = Math.floor(nowMs / step) * step;
  for (let ms = first; ms <= nowMs + DAY_MS; ms += step) {
    const [from, to] = [ms, ms + step].map((at) => digitsOf(at, digits));
    if (there.has(`jobs_${from}`)) continue;
    await inTransaction(client, async () => {
      await lockUntilEnd(client, schemaLock(schema));
      for (const table of PARTITIONED) {
        await client.query(
          `create table if not exists ${schema}.${table}_${from} partition of ${schema}.${table} for values from ('${from}') to ('${to}')`,
        );
      }
    }).catch((error) => {
      // It overlaps one of another length, or the default partition has jobs of that time: they stay there.
      if (!["42P17", "23514"].includes(String(error.code))) throw error;
    });
  }
}

/** A partition of a table. */
interface Partition {
  readonly name: string;
  /** The digits with which its jids begin; empty for the default partition. */
  readonly prefix: string;
}

/** The partitions of a table, the oldest first. */
export async function partitionsOf(client: Client, schema: string, table: string): Promise<Partition[]> {
  const { rows } = await client.query<{ readonly name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = to_regclass($1) order by c.relname`,
    [`${schema}.${table}`],
  );
  return rows.map(({ name }) => ({ name, prefix: /^\w+_(\d{8,10})$/.exec(name)?.[1] ?? "" }));
}

/**
 * Removes what is older than `keepSeconds`: partitions as a whole, and rows of the default partitions.
 * @returns The number of jobs.
 */
export async function removeOld(client: Client, schema: string, { keepSeconds, nowMs }: Retention): Promise<number> {
  const oldestMs = nowMs - keepSeconds * 1000;
  let removed = 0;
  for (const { prefix } of await partitionsOf(client, schema, "jobs")) {
    if (prefix === "" || endOf(prefix) > oldestMs) continue;
    await inTransaction(client, async () => {
      await client.query("set local lock_timeout = '2s'");
      const { rows: [count] } = await client.query<{ readonly n: string }>(
        `select count(*) as n from ${schema}.jobs_${prefix}`,
      );
      for (const table of PARTITIONED) await client.query(`drop table if exists ${schema}.${table}_${prefix}`);
      removed += Number(count?.n ?? 0);
    });
  }
  const oldest = new Date(oldestMs).toISOString();
  const { rows } = await client.query<{ readonly jid: string }>(
    `delete from ${schema}.jobs_default where made < $1 returning jid`,
    [oldest],
  );
  const jids = rows.map(({ jid }) => jid);
  for (const table of ["returns_default", "acks_default", "outputs_default", "batches"]) {
    await client.query(`delete from ${schema}.${table} where jid = any($1::text[])`, [jids]);
  }
  await client.query(`delete from ${schema}.returns_default where stored < $1`, [oldest]);
  await client.query(`delete from ${schema}.batches where jid < $1`, [digitsOf(oldestMs, 20)]);
  return removed + jids.length;
}

/** The end of the time of a partition, in milliseconds. */
function endOf(prefix: string): number {
  const [y, m, d, h] = [[0, 4], [4, 6], [6, 8], [8, 10]].map(([from, to]) => Number(prefix.slice(from, to) || "0"));
  return Date.UTC(y, m - 1, d, h) + (prefix.length === HOUR_DIGITS ? HOUR_MS : DAY_MS);
}

/** The first digits of a jid of that time. */
function digitsOf(ms: number, digits: number): string {
  return new Date(ms).toISOString().replace(/\D/g, "").padEnd(20, "0").slice(0, digits);
}
