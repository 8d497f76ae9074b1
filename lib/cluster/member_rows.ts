/**
 * What the database knows of the masters of a cluster and their leases, for the operator.
 * @module
 */

import type { Client } from "pg";

/** A master of the cluster. */
export interface MemberRow {
  readonly name: string;
  /** Whether it has given a sign of life in the time of a lease. */
  readonly alive: boolean;
  readonly address: string;
  readonly version: string;
  /** The level of what it tells others. */
  readonly protocol: number;
  /** When it was started: ISO 8601. */
  readonly since: string;
  /** Minions that are connected to it. */
  readonly minions: number;
  /** How long its last sign of life took, in milliseconds. */
  readonly lagMs: number;
  /** Records in its outbox. */
  readonly outbox: number;
}

/** Who does one of the things that one master at a time does. */
export interface LeaseRow {
  readonly name: string;
  /** The master that has it or had it last. */
  readonly master: string | null;
  /** Whether it has it now. */
  readonly held: boolean;
  /** When it ends unless it is renewed: ISO 8601. */
  readonly until: string;
}

const ISO = `'YYYY-MM-DD"T"HH24:MI:SS"Z"'`;

/** All masters, in the order of their names. */
export async function membersOf(client: Client, schema: string): Promise<MemberRow[]> {
  const { rows } = await client.query<MemberRow>(
    `select name, until > now() as alive, address, version, protocol,
       to_char(since at time zone 'UTC', ${ISO}) as since, case when until > now() then minions else 0 end as minions,
       lag_ms as "lagMs", outbox
     from ${schema}.masters where name is not null order by name collate "C"`,
  );
  return rows;
}

/** All leases that were ever held, in the order of their names. */
export async function leasesOf(client: Client, schema: string): Promise<LeaseRow[]> {
  const { rows } = await client.query<LeaseRow>(
    `select l.name, m.name as master, l.until > now() as held, to_char(l.until at time zone 'UTC', ${ISO}) as until
     from ${schema}.leases l left join ${schema}.masters m on m.origin = l.origin order by l.name`,
  );
  return rows;
}

/**
 * Forgets a master that is gone. Its number stays taken, as what it wrote has it.
 * @returns What it was: `unknown` and `alive` are not forgotten.
 */
export async function forgetMember(
  client: Client,
  schema: string,
  name: string,
): Promise<"forgotten" | "alive" | "unknown"> {
  const { rows: [row] } = await client.query<{ readonly alive: boolean }>(
    `select until > now() as alive from ${schema}.masters where name = $1 for update`,
    [name],
  );
  if (row === undefined) return "unknown";
  if (row.alive) return "alive";
  await client.query(`update ${schema}.masters set name = null where name = $1`, [name]);
  return "forgotten";
}
