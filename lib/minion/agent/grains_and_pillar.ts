/**
 * What a minion and its jobs know: grains, and pillar of each of its masters. It says who compiles a pillar, and gives
 * new grains and pillars to those that use them.
 * @module
 */

import type { MinionOpts } from "#lib/config/options.ts";
import { isOneOfMany } from "#lib/config/master_entries.ts";
import { messageOf } from "#lib/errors.ts";
import { loadCoreGrains } from "#lib/minion/catalogue/catalogue.ts";
import { type HostData, pack } from "#lib/minion/worker/job_protocol.ts";
import type { TimeBudget } from "#lib/os/time_budget.ts";
import type { PillarQuery } from "#lib/plugins/job_context.ts";
import type { Logger } from "#lib/runtime/log.ts";
import type { ValueMap } from "#lib/values/value.ts";
import { loadGrains } from "./grains.ts";
import type { MasterConnection } from "#lib/minion/masters/master_connection.ts";
import { connectedMasters, isMasterTrouble, type Masters } from "#lib/minion/masters/masters.ts";
import { compilesOwnPillar, OwnPillar } from "./own_pillar.ts";
import { writePillarCache } from "./pillar_cache.ts";
import { pillarRequest } from "./pillar_request.ts";

/** The parts of {@linkcode GrainsAndPillar}. */
export interface GrainsAndPillarParts {
  readonly opts: MinionOpts;
  readonly log: Logger;
  /** The connections; `undefined`: there are none (yet). */
  masters(): Masters | undefined;
  /** Takes new grains and pillar for jobs, packed. */
  passHostData(hostData: HostData): void;
  /** Takes a new pillar of the minion's own. */
  passPillar(pillar: ValueMap): void;
}

/** The grains and pillars of one minion. */
export class GrainsAndPillar {
  readonly #parts: GrainsAndPillarParts;
  #ownPillar: OwnPillar | undefined;
  #grains: ValueMap = new Map();
  #pillar: ValueMap = new Map();

  constructor(parts: GrainsAndPillarParts) {
    this.#parts = parts;
  }

  get #masters(): Masters | undefined {
    return this.#parts.masters();
  }

  /** The grains that were computed last. */
  get grains(): ValueMap {
    return this.#grains;
  }

  /** The minion's own pillar; empty before the first. */
  get pillar(): ValueMap {
    return this.#pillar;
  }

  /** Both, packed. */
  get packed(): HostData {
    return { grains: pack(this.#grains), pillar: pack(this.#pillar) };
  }

  /** Computes the grains. */
  async loadGrains(): Promise<void> {
    const { opts } = this.#parts, log = this.#parts.log.named("salt.grains");
    this.#grains = await loadGrains(opts, { core: await loadCoreGrains(), warn: log.warning });
    log.debug(() => `Loaded ${this.#grains.size} grains`);
  }

  /** Computes the grains again, and sends them to the master with a pillar request. */
  async refreshGrains(): Promise<void> {
    await this.loadGrains();
    this.#passHostData();
    await this.refreshPillar();
  }

  /** If the master gives no pillar, or restarts meanwhile, the minion does not end. */
  async takeFirstPillar(connection?: MasterConnection): Promise<void> {
    try {
      if (connection === undefined) await this.refreshPillar();
      else await this.#refreshPillarOf(connection, {});
    } catch (error) {
      if (!isMasterTrouble(error)) throw error;
      this.#parts.log.error(`The pillar stays empty until it is refreshed: ${error.message}`);
    }
  }

  /** A newly compiled pillar, of the master that gave a job. */
  async pillarFor(query: PillarQuery, job?: ValueMap): Promise<ValueMap> {
    if (compilesOwnPillar(this.#parts.opts)) {
      return await this.#compiler().compile(pillarRequest(this.#parts.opts, this.#grains, query));
    }
    return await this.#requestPillar(connectedMasters(this.#masters).of(job), query);
  }

  async #requestPillar(connection: MasterConnection, query: PillarQuery): Promise<ValueMap> {
    return await connection.requestPillar(pillarRequest(this.#parts.opts, this.#grainsFor(connection), query));
  }

  /** The grains, of which one names the master. */
  #grainsFor(connection: MasterConnection): ValueMap {
    const { host } = connection.master;
    return this.#grains.get("master") === host ? this.#grains : new Map(this.#grains).set("master", host);
  }

  #compiler(): OwnPillar {
    return this.#ownPillar ??= new OwnPillar(this.#parts.opts, this.#parts.log);
  }

  /**
   * Requests the pillar again from every connected master, or compiles it.
   * @throws {unknown} The error of the first master, if none gave one.
   */
  async refreshPillar(query: PillarQuery = {}): Promise<void> {
    if (compilesOwnPillar(this.#parts.opts)) return await this.#takePillar(await this.pillarFor(query));
    if (this.#masters === undefined) return; // as in Salt: nobody compiles one
    const asked = this.#masters.connected;
    const outcomes = await Promise.allSettled(asked.map((connection) => this.#refreshPillarOf(connection, query)));
    const failures = outcomes.filter((outcome) => outcome.status === "rejected");
    if (failures.length === asked.length) throw failures[0].reason;
    for (const { reason } of failures) this.#parts.log.error(`A master gave no pillar: ${messageOf(reason)}`);
  }

  /** The pillar of one master. That of the first is the minion's own. */
  async #refreshPillarOf(connection: MasterConnection, query: PillarQuery): Promise<void> {
    if (compilesOwnPillar(this.#parts.opts)) return await this.refreshPillar(query);
    connection.pillar = await this.#requestPillar(connection, query);
    if (connectedMasters(this.#masters).leader !== connection) this.#packFor(connection);
    else await this.#takePillar(connection.pillar);
  }

  /** Uses a pillar for jobs, beacons and the schedule. */
  async #takePillar(pillar: ValueMap): Promise<void> {
    this.#pillar = pillar;
    await writePillarCache(this.#parts.opts, pillar, this.#parts.log);
    this.#parts.log.named("salt.pillar").debug(() => `The pillar has ${pillar.size} keys`);
    this.#passHostData();
    this.#parts.passPillar(pillar);
  }

  /** Gives grains and pillar to the workers of jobs. */
  #passHostData(): void {
    const { all = [], leader } = this.#masters ?? {};
    const own = leader !== undefined && this.#choosesMaster ? this.#packFor(leader) : this.packed;
    if (leader !== undefined) leader.hostData = own;
    this.#parts.passHostData(own);
    for (const connection of all) if (connection !== leader) this.#packFor(connection);
  }

  /** Whether the master of a job may be another one than that of the options. */
  get #choosesMaster(): boolean {
    return this.#masters?.isMany === true || isOneOfMany(this.#parts.opts) || this.#parts.opts.master_type === "func";
  }

  /** What jobs of one of several masters know. */
  #packFor(connection: MasterConnection): HostData {
    const { host, port } = connection.master;
    return connection.hostData = {
      grains: pack(this.#grainsFor(connection)),
      pillar: pack(connection.pillar ?? new Map()),
      master: { host, port },
    };
  }

  /** Ends the process that compiles, if there is one. */
  async close(budget: TimeBudget): Promise<void> {
    await this.#ownPillar?.close(budget);
  }
}
