/**
 * The rows of minions' data in the database of a cluster: one for each bank and name, with the master that wrote it
 * last and that write's number. Numbers come from one sequence of the database and are written in order by the one
 * connection of each master, so a reader that remembers a number for each master misses nothing.
 * @module
 */

import type { Client } from "pg";
import { slices } from "#lib/stores/postgres_writes.ts";
import { lockUntilEnd } from "#lib/stores/transaction.ts";

/** The banks of minions' data that masters share; besides them, `tokens`. */
export const DATA_BANKS = ["grains", "pillar", "mine"] as const;

/** One of {@linkcode DATA_BANKS}. */
export type DataBank = typeof DATA_BANKS[number];

/** Everything that masters share so. */
export type SharedBank = DataBank | "tokens";

/** What is written. */
export interface BankWrite {
  readonly bank: SharedBank;
  /** The id of a minion; of a token its digest. */
  readonly name: string;
  /** `undefined`: it is gone. */
  readonly body: Uint8Array | undefined;
}

/** What was read. */
export interface BankRow {
  readonly bank: string;
  readonly name: string;
  /** `undefined`: it is gone. */
  readonly body: Uint8Array | undefined;
  readonly seq: number;
}

const OVERWRITE = `do update set body = excluded.body, at = excluded.at, origin = excluded.origin, seq = excluded.seq
  where b.body is distinct from excluded.body`;

/** Whose rows are written, and over what. */
interface BankWriter {
  readonly schema: string;
  readonly origin: number;
  /** Whether what is there stays. */
  readonly keepsOthers: boolean;
}

/**
 * Writes rows, each of another bank or name, in a transaction; those that are there already in the same form stay.
 * Several processes of a master may write.
 * @returns How many have changed.
 */
export async function saveBankRows(
  client: Client,
  writes: readonly BankWrite[],
  { schema, origin, keepsOthers }: BankWriter,
): Promise<number> {
  // Numbers of one master are committed in their order, whichever of its processes writes.
  await lockUntilEnd(client, `salt bank ${schema} ${origin}`);
  const { offsets, bytes } = slices(writes.map(({ body }) => body ?? new Uint8Array()));
  // A row that nobody has is not made to say that it is gone. In order, so that two masters cannot wait for each other.
  const { rowCount } = await client.query(
    `insert into ${schema}.bank as b (bank, minion, body, at, origin, seq)
     select x.bank, x.name, case when x.l is null then null else substring($5::bytea from x.o for x.l) end, now(), $6,
       nextval('${schema}.bank_seq')
     from unnest($1::text[], $2::text[], $3::int[], $4::int[]) as x(bank, name, o, l)
     where x.l is not null or exists (select 1 from ${schema}.bank c where c.bank = x.bank and c.minion = x.name)
     order by x.bank, x.name
     on conflict (bank, minion) ${keepsOthers ? "do nothing" : OVERWRITE}`,
    [
      writes.map(({ bank }) => bank),
      writes.map(({ name }) => name),
      offsets,
      writes.map(({ body }) => body?.length ?? null),
      bytes,
      origin,
    ],
  );
  return rowCount ?? 0;
}

/** The masters that have written rows, and the last number of the database. */
export async function bankOrigins(
  client: Client,
  schema: string,
): Promise<{ readonly origins: readonly number[]; readonly last: number }> {
  const { rows } = await client.query<{ readonly origin: number }>(
    // Each next origin by the index, not all rows.
    `with recursive o(origin) as (
       (select origin from ${schema}.bank order by origin limit 1)
       union all select (select origin from ${schema}.bank b where b.origin > o.origin order by origin limit 1) from o
       where o.origin is not null)
     select origin from o where origin is not null`,
  );
  const { rows: [number] } = await client.query<{ readonly last: string }>(
    `select last_value as last from ${schema}.bank_seq`,
  );
  return { origins: rows.map(({ origin }) => origin), last: Number(number?.last ?? 0) };
}

/** The next rows of a master. */
export async function readBankRows(
  client: Client,
  { origin, above, limit }: { readonly origin: number; readonly above: number; readonly limit: number },
  schema: string,
): Promise<BankRow[]> {
  const { rows } = await client.query<RawBankRow>(
    `select bank, minion, body, seq from ${schema}.bank where origin = $1 and seq > $2 order by seq limit $3`,
    [origin, above, limit],
  );
  return rows.map(bankRow);
}

/** Those of the named rows that another master wrote after the given times, in milliseconds. */
export async function readNewerBankRows(
  client: Client,
  notes: readonly { readonly kind: string; readonly name: string; readonly notedMs: number }[],
  { origin, schema }: { readonly origin: number; readonly schema: string },
): Promise<BankRow[]> {
  const { rows } = await client.query<RawBankRow>(
    `select b.bank, b.minion, b.body, b.seq from ${schema}.bank b
     join unnest($1::text[], $2::text[], $3::float8[]) as x(bank, name, noted)
       on b.bank = x.bank and b.minion = x.name and b.origin <> $4 and b.at > to_timestamp(x.noted / 1000)`,
    [notes.map(({ kind }) => kind), notes.map(({ name }) => name), notes.map(({ notedMs }) => notedMs), origin],
  );
  return rows.map(bankRow);
}

interface RawBankRow {
  readonly bank: string;
  readonly minion: string;
  readonly body: Uint8Array | null;
  readonly seq: string;
}

function bankRow({ bank, minion, body, seq }: RawBankRow): BankRow {
  return { bank, name: minion, body: body === null ? undefined : new Uint8Array(body), seq: Number(seq) };
}

/** The next rows in the order of banks and names, whichever master wrote them. */
export async function readAllBankRows(
  client: Client,
  { after, limit }: { readonly after: Pick<BankRow, "bank" | "name">; readonly limit: number },
  schema: string,
): Promise<BankRow[]> {
  const { rows } = await client.query<RawBankRow>(
    `select bank, minion, body, seq from ${schema}.bank where (bank, minion) > ($1, $2) and seq > 0 order by bank, minion limit $3`,
    [after.bank, after.name, limit],
  );
  return rows.map(bankRow);
}

/** Removes the rows of minions' data, whose masters learn of it by their keys. */
export async function removeBankRows(client: Client, schema: string, minions: readonly string[]): Promise<void> {
  if (minions.length === 0) return;
  await client.query(`delete from ${schema}.bank where minion = any($1::text[]) and bank <> 'tokens'`, [minions]);
}

/** Removes rows that have said for that long that something is gone. */
export async function removeOldBankRows(client: Client, schema: string, seconds: number): Promise<void> {
  await client.query(
    `delete from ${schema}.bank where body is null and at < now() - $1 * interval '1 second'`,
    [seconds],
  );
}
