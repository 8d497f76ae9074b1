/**
 * A master's row among the members of its cluster: made at its first start, taken again at each.
 * @module
 */

import type { Client } from "pg";
import { PreflightError } from "#lib/errors.ts";
import { inTransaction, lockUntilEnd } from "#lib/stores/transaction.ts";
import { VERSION } from "#lib/version.ts";
import type { ClusterIdentity } from "./postgres_cluster.ts";

/** The level of what masters tell each other. */
const CLUSTER_PROTOCOL = 1;

/** A master that starts. */
export interface MemberApplicant {
  /** Its name in the cluster. */
  readonly name: string;
  /** Its address, for the operator. */
  readonly address: string;
  readonly leaseMs: number;
  /** What it was at its last start, as its own disk says. */
  readonly last: ClusterIdentity | undefined;
  /** The number of this run. */
  readonly incarnation: number;
}

/** Another master of that name lives. */
export class NameTakenError extends PreflightError {
  override name = "NameTakenError";
  /** Its last sign of life, which changes while it lives. */
  readonly seen: string;
  /** Milliseconds until it counts as gone. */
  readonly leftMs: number;

  constructor(message: string, { seen, leftMs }: { readonly seen: string; readonly leftMs: number }) {
    super(message);
    this.seen = seen;
    this.leftMs = leftMs;
  }
}

/**
 * Takes the row of this name.
 * @throws {NameTakenError} If another master has it.
 */
export function register(client: Client, schema: string, applicant: MemberApplicant): Promise<ClusterIdentity> {
  return inTransaction(client, async () => {
    await lockUntilEnd(client, `salt members ${schema}`);
    const { name, address, leaseMs, last } = applicant;
    const { rows: [found] } = await client.query<{
      readonly origin: number;
      readonly incarnation: string;
      readonly address: string;
      readonly left: string;
      readonly seen: string;
    }>(
      `select origin, incarnation, address, extract(epoch from until - now()) * 1000 as left, seen::text as seen
       from ${schema}.masters where name = $1`,
      [name],
    );
    const known = Number(found?.incarnation ?? 0), leftMs = Number(found?.left ?? 0);
    if (found !== undefined && leftMs > 0 && known !== last?.incarnation) {
      throw new NameTakenError(
        `id: another live master of the cluster, at ${found.address}, has the name ${name}: set id to another name on one of the two`,
        { seen: found.seen, leftMs },
      );
    }
    const incarnation = Math.max(applicant.incarnation, known + 1);
    const origin = found?.origin ?? await freeOrigin(client, schema, last?.origin);
    await client.query(
      `insert into ${schema}.masters (origin, name, address, version, protocol, incarnation, seen, until, since)
       values ($1, $2, $3, $4, $5, $6, now(), now() + $7 * interval '1 ms', now())
       on conflict (origin) do update set address = excluded.address, version = excluded.version,
         protocol = excluded.protocol, incarnation = excluded.incarnation, seen = excluded.seen,
         until = excluded.until, since = excluded.since`,
      [origin, name, address, VERSION, CLUSTER_PROTOCOL, incarnation, leaseMs],
    );
    return { origin, incarnation };
  });
}

/** The number that it had if nobody has it, else the next one. Numbers of masters that were forgotten stay theirs. */
async function freeOrigin(client: Client, schema: string, last: number | undefined): Promise<number> {
  const { rows } = await client.query<{ readonly origin: number }>(`select origin from ${schema}.masters`);
  const taken = rows.map(({ origin }) => origin);
  return last !== undefined && !taken.includes(last) ? last : Math.max(0, ...taken) + 1;
}
