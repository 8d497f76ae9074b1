/**
 * Where a minion connects to reach one master. libzmq takes the first address of a name and stays with it, so a minion
 * that does not reach its master looks all addresses of the name up, and takes the next one where a process listens.
 * @module
 */

import type { MasterEntry } from "#lib/config/master_entries.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import { tcpAddress } from "#lib/sockets/request_channel.ts";
import { reachOf } from "./master_diagnosis.ts";

/** Time for a connection to one of several addresses, in milliseconds. */
const TRY_MS = 2_000;
/** Addresses of a name that are tried. */
const MAX_ADDRESSES = 16;

/** Finds the addresses of a name; none if there are none. Never rejects. */
export type AddressLookUp = (name: string) => Promise<readonly string[]>;

/** The address of one master that is in use. */
export class MasterAddresses {
  readonly entry: MasterEntry;
  readonly #lookUp: AddressLookUp;
  #host: string;

  /**
   * @param lookUp Finds the addresses of a name. Default: the host's look-up, both kinds of addresses.
   */
  constructor(entry: MasterEntry, lookUp: AddressLookUp = lookUpAddresses()) {
    this.entry = entry;
    this.#lookUp = lookUp;
    this.#host = entry.host;
  }

  /** The host to connect to: the configured one, or one of its addresses. */
  get host(): string {
    return this.#host;
  }

  /** `tcp://host:port` of its requests. */
  get address(): string {
    return tcpAddress(this.#host, this.entry.port);
  }

  /**
   * Takes the next address where a process listens, because nobody answers at the one in use. Never rejects.
   * @returns Whether there is another one now.
   */
  async change(): Promise<boolean> {
    const { host: name } = this.entry;
    // An address has no other ones.
    const isAddress = name.includes(":") || /^[\d.]+$/.test(name);
    const addresses = isAddress ? [] : (await this.#lookUp(name)).slice(0, MAX_ADDRESSES);
    if (addresses.length < 2) return false;
    const before = this.#host;
    // The name itself stands for the first address.
    const at = Math.max(0, addresses.indexOf(before));
    for (let i = 1; i < addresses.length; i++) {
      const host = addresses[(at + i) % addresses.length];
      const { kind } = await reachOf(tcpAddress(host, this.entry.port), TRY_MS);
      if (kind !== "silent") continue;
      this.#host = host;
      return true;
    }
    return false;
  }
}

/** The addresses of a master, looked up as the option `ipv6` says. */
export function addressesOf(entry: MasterEntry, { ipv6 }: Pick<MinionOpts, "ipv6">): MasterAddresses {
  return new MasterAddresses(entry, lookUpAddresses(ipv6 ?? undefined));
}

/**
 * The host's look-up, those of IPv4 first. A name that cannot be looked up has no addresses: the connection to the name
 * itself fails with the reason.
 * @param ipv6 Whether addresses of IPv6 count (`ipv6` of the options). Default: they do.
 */
export function lookUpAddresses(ipv6?: boolean): AddressLookUp {
  return async (name) => {
    const { lookup } = await import("node:dns/promises");
    try {
      const addresses = await lookup(name, { all: true, ...ipv6 === false && { family: 4 } });
      return [...new Set([...addresses].sort((a, b) => a.family - b.family).map(({ address }) => address))];
    } catch {
      return [];
    }
  };
}
