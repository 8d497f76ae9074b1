/**
 * The signs of life of a master, the leases that it takes and keeps, and who else lives: once in a quarter of
 * `cluster_lease`, by the clock of the database.
 * @module
 */

import type { Client } from "pg";
import { messageOf, PreflightError } from "#lib/errors.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { clearInterval, setInterval, type Timer } from "#lib/os/timers.ts";
import { DatabaseAwayError } from "#lib/stores/postgres_connection.ts";
import { leaseClockMs, type LeaseFlags, LEASES } from "./lease_flags.ts";
import type { PostgresCluster } from "./postgres_cluster.ts";
import { type MemberApplicant, register } from "./registration.ts";

/** What a master tells of itself with each sign of life. */
export interface MemberFacts {
  /** Connected minions. */
  readonly minions: number;
  /** Records in its outbox. */
  readonly outbox: number;
}

/** The database of a cluster, for the signs of life. */
export type MembersDatabase = Pick<
  PostgresCluster,
  "schema" | "origin" | "incarnation" | "control" | "setPeers" | "whenUp"
>;

/** What {@linkcode ClusterMembers} is made of. */
export interface ClusterMembersParts {
  readonly cluster: MembersDatabase;
  readonly flags: LeaseFlags;
  readonly applicant: MemberApplicant;
  facts(): MemberFacts;
  readonly log: Logger;
}

/** Signs of life in the time of a lease. */
const BEATS = 4;
/** A lease counts as lost so long before others may take it, in milliseconds; of a short one a quarter. */
const MARGIN_MS = 1_000;

/** The membership of a running master. */
export class ClusterMembers {
  readonly #parts: ClusterMembersParts;
  readonly #timer: Timer;
  #beating: Promise<void> | undefined;
  #lagMs = 0;
  #held = new Set<string>();
  #said = "";

  constructor(parts: ClusterMembersParts) {
    this.#parts = parts;
    this.#timer = setInterval(() => void this.beat(), parts.applicant.leaseMs / BEATS);
    parts.cluster.whenUp(() => void this.beat());
  }

  /** The leases that it holds. */
  get held(): readonly string[] {
    return [...this.#held];
  }

  /** A sign of life now, unless one is under way. Never rejects. */
  beat(): Promise<void> {
    this.#beating ??= this.#beat().then(() => {
      this.#said = "";
    }, (error) => {
      // That the database is away is logged by whoever keeps the connection.
      if (!(error instanceof DatabaseAwayError)) this.#say(messageOf(error));
    }).finally(() => this.#beating = undefined);
    return this.#beating;
  }

  #say(text: string): void {
    if (text !== this.#said) this.#parts.log.critical(`The cluster: ${text}`);
    this.#said = text;
  }

  async #beat(): Promise<void> {
    const { cluster, flags, applicant } = this.#parts;
    const askedMs = leaseClockMs();
    const held = await cluster.control(async (client) => {
      if (!await this.#sign(client)) await this.#enter(client);
      const held = await this.#takeLeases(client);
      const peers = await livePeers(client, cluster);
      cluster.setPeers(peers);
      flags.masters = peers.size + 1;
      return held;
    });
    this.#lagMs = leaseClockMs() - askedMs;
    const endMs = askedMs + applicant.leaseMs - Math.min(MARGIN_MS, applicant.leaseMs / BEATS);
    for (const name of LEASES) flags.set(name, held.has(name) ? endMs : 0);
    this.#tell(held);
  }

  /** Logs which leases came and went. */
  #tell(held: Set<string>): void {
    const { log } = this.#parts;
    for (const name of held) if (!this.#held.has(name)) log.info(`This master holds the lease ${name}`);
    for (const name of this.#held) if (!held.has(name)) log.warning(`Another master holds the lease ${name}`);
    this.#held = held;
  }

  /** @returns Whether the row is this master's. */
  async #sign(client: Client): Promise<boolean> {
    const { cluster, applicant, facts } = this.#parts;
    const { minions, outbox } = facts();
    const { rowCount } = await client.query(
      `update ${cluster.schema}.masters set seen = now(), until = now() + $3 * interval '1 ms', name = $4, minions = $5,
         outbox = $6, lag_ms = $7 where origin = $1 and incarnation = $2`,
      [
        cluster.origin,
        cluster.incarnation,
        applicant.leaseMs,
        applicant.name,
        minions,
        outbox,
        Math.round(this.#lagMs),
      ],
    );
    return rowCount === 1;
  }

  /** Takes the row for a master that started while the database was away, or was forgotten meanwhile. */
  async #enter(client: Client): Promise<void> {
    const { cluster, applicant } = this.#parts;
    const { last = cluster } = applicant;
    const { origin, incarnation } = await register(client, cluster.schema, { ...applicant, last });
    if (origin === cluster.origin && incarnation === cluster.incarnation) return;
    throw new PreflightError("this master has another number by now, and must be started again");
  }

  async #takeLeases(client: Client): Promise<Set<string>> {
    const { cluster, applicant } = this.#parts;
    const { rows } = await client.query<{ readonly name: string }>(
      `insert into ${cluster.schema}.leases as l (name, origin, incarnation, until)
       select name, $1, $2, now() + $3 * interval '1 ms' from unnest($4::text[]) as x(name) order by name
       on conflict (name) do update set origin = excluded.origin, incarnation = excluded.incarnation,
         until = excluded.until
       where l.until < now() or (l.origin = excluded.origin and l.incarnation <= excluded.incarnation)
       returning name`,
      [cluster.origin, cluster.incarnation, applicant.leaseMs, [...LEASES]],
    );
    return new Set(rows.map(({ name }) => name));
  }

  /** Gives up the leases and the membership: others need not wait for their end. */
  async close(): Promise<void> {
    const { cluster, flags, log } = this.#parts;
    clearInterval(this.#timer);
    await this.#beating;
    for (const name of LEASES) flags.set(name, 0);
    try {
      await cluster.control(async (client) => {
        for (const table of ["leases", "masters"]) {
          await client.query(
            `update ${cluster.schema}.${table} set until = now() where origin = $1 and incarnation = $2`,
            [cluster.origin, cluster.incarnation],
          );
        }
      });
    } catch (error) {
      log.info(`The leases of this master run out by themselves: ${messageOf(error)}`);
    }
  }
}

async function livePeers(client: Client, { schema, origin }: MembersDatabase): Promise<Map<number, string>> {
  const { rows } = await client.query<{ readonly origin: number; readonly name: string }>(
    `select origin, name from ${schema}.masters where until > now() and origin <> $1 and name is not null`,
    [origin],
  );
  return new Map(rows.map((row) => [row.origin, row.name]));
}
