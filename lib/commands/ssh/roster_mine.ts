/**
 * The mine of hosts of a roster: nobody stores it, so a query runs the functions on the hosts. Which functions a host
 * gives away say `mine_functions` of its entry, of its `minion_opts`, and of its pillar, in this order.
 * Source: Salt 3008.3 `salt/client/ssh/wrapper/mine.py`, `salt/client/ssh/__init__.py` (Single.run_wfunc).
 * @module
 */

import { eachAtATime } from "#lib/runtime/each_at_a_time.ts";
import { type MineFunction, readDefinition } from "#lib/fleet/mine_definition.ts";
import type { HostEnd, SshWork } from "./ssh_work.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { messageOf, RosterError } from "#lib/errors.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { readRosterHost } from "#lib/ssh/roster.ts";
import type { SshTarget } from "#lib/ssh/rosters.ts";
import { toWireArgs } from "#lib/yaml/arguments.ts";
import { isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** Who looks for hosts, and where. */
export interface FindHow {
  /** Whether it is the operator, and not a host, which reaches only what the rosters list. */
  readonly isOperator: boolean;
  /** The names of the rosters. Default: the option's. */
  readonly rosters?: readonly string[];
}

/** The hosts, as functions for others are run on them. */
export interface PeerHosts {
  readonly opts: MasterOpts;
  readonly log: Logger;
  /** The entries of a target. */
  find(target: SshTarget, how: FindHow): Promise<Map<string, Value>>;
  /** Runs a function on a host, which can ask for no further ones. */
  end(id: string, entry: Value, work: SshWork): Promise<HostEnd>;
  /** The pillar of a host, with the grains that it had last. */
  pillar(id: string): Promise<ValueMap>;
}

/** What values are wanted, and who wants them. */
export interface RosterMineQuery {
  readonly target: SshTarget;
  readonly names: readonly string[];
  readonly rosters?: readonly string[];
  /**
   * The id of the host that asks: it gets what `mine_functions` name, and may read. `undefined`: the operator, who gets
   * any function.
   */
  readonly reader?: string;
}

/** The mine of one run. A value is asked for once. */
export class RosterMine {
  readonly #hosts: PeerHosts;
  readonly #values = new Map<string, Promise<Value | undefined>>();
  readonly #pillars = new Map<string, Promise<ValueMap>>();

  constructor(hosts: PeerHosts) {
    this.#hosts = hosts;
  }

  /** The values by name, then by id. Hosts that give none are left out. */
  async get({ target, names, rosters, reader }: RosterMineQuery): Promise<Map<string, ValueMap>> {
    const found = new Map<string, ValueMap>(names.map((name) => [name, new Map()]));
    const entries = [...await this.#hosts.find(target, { rosters, isOperator: reader === undefined })];
    await eachAtATime(entries, this.#hosts.opts.ssh_max_procs, async ([id, entry]) => {
      for (const name of names) {
        const value = await this.#value(id, entry, { name, reader });
        if (value !== undefined) found.get(name)?.set(id, value);
      }
    });
    return found;
  }

  async #value(
    id: string,
    entry: Value,
    { name, reader }: { readonly name: string; readonly reader: string | undefined },
  ): Promise<Value | undefined> {
    const given = await this.#definition(id, entry, name);
    if (reader !== undefined && (given === undefined || !await this.#mayRead(reader, given))) return undefined;
    const { alias, args, kwargs } = given ?? { args: [], kwargs: new Map() };
    const work = { fun: alias ?? name, arg: toWireArgs(args, kwargs) };
    return await this.#values.getOrInsertComputed(`${id}\0${name}`, async () => {
      const end = await this.#hosts.end(id, entry, work);
      if (end.failure === undefined && end.retcode === 0) return end.return;
      this.#hosts.log.error(
        `Error executing mine func ${name} on ${id}: ${str(end.return)}. Excluding it from the mine.`,
      );
      return undefined;
    });
  }

  async #mayRead(reader: string, { readers: { allow_tgt: tgt, allow_tgt_type: type } }: MineFunction) {
    if (tgt === null) return true;
    const target = { tgt, tgtType: str(type ?? "glob"), delimiter: ":" };
    const allowed = await this.#hosts.find(target, { isOperator: false });
    return allowed.has(reader);
  }

  async #definition(id: string, entry: Value, name: string): Promise<MineFunction | undefined> {
    const { opts, log } = this.#hosts;
    let sources: readonly (Value | undefined)[];
    try {
      const { mineFunctions, minionOpts } = readRosterHost(id, entry, { opts, warn: () => {} });
      sources = [mineFunctions, minionOpts.get("mine_functions")];
    } catch (error) {
      if (!(error instanceof RosterError)) throw error;
      return undefined; // running it says why
    }
    const own = sources.find((source) => isMap(source) && source.has(name)) ??
      (await this.#pillar(id)).get("mine_functions");
    if (!isMap(own) || !own.has(name)) return undefined;
    const read = readDefinition(name, own.get(name) ?? null);
    if (typeof read !== "string") return read;
    log.error(`mine_functions of ${id}: ${name} is left out: ${read}`);
    return undefined;
  }

  #pillar(id: string): Promise<ValueMap> {
    return this.#pillars.getOrInsertComputed(id, async () => {
      try {
        return await this.#hosts.pillar(id);
      } catch (error) {
        this.#hosts.log.error(`The pillar of ${id}, for its mine_functions: ${messageOf(error)}`);
        return new Map();
      }
    });
  }
}
