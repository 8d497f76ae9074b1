/**
 * The roster `scan`: the addresses of a target at which something listens on a port of ssh.
 * Source: Salt 3008.3 `salt/roster/scan.py`.
 * @module
 */

import { RosterError } from "#lib/errors.ts";
import type { RosterEntries } from "./roster.ts";
import { eachAtATime } from "#lib/runtime/each_at_a_time.ts";
import { clearTimeout, setTimeout } from "#lib/os/timers.ts";
import { hostsOf, type IpAddress, ipAddressText, parseIpAddress, parseIpNetwork } from "#lib/text/ip_network.ts";
import { asList } from "#lib/values/shape.ts";
import { map, str, toNumber, type Value } from "#lib/values/value.ts";

/** Addresses that are tried at a time. */
const AT_A_TIME = 128;

/** How a scan is made. */
export interface ScanSettings {
  /** The option `ssh_scan_ports`: one, a list, or a text with commas. */
  readonly ports: Value;
  /** Seconds that an address has to answer. */
  readonly timeoutS: number;
  readonly signal: AbortSignal;
}

/**
 * Tries the addresses that a target names, or those of its networks.
 * @param tgt An address or a network, or a list of them; others are left out.
 * @returns Entries of those that answer, by address, with the first port that does.
 * @throws {RosterError} If a port is none, or a network is too large.
 */
export async function scanAddresses(tgt: Value, { ports, timeoutS, signal }: ScanSettings): Promise<RosterEntries> {
  const tried = portsIn(ports);
  const entries = new Map<string, Value>();
  const addresses = [...new Set(addressesIn(tgt))];
  await eachAtATime(addresses, AT_A_TIME, async (host) => {
    signal.throwIfAborted();
    const port = await firstOpen(host, tried, timeoutS * 1000);
    if (port !== undefined) entries.set(host, map({ host, port }));
  });
  return new Map(addresses.flatMap((host) => entries.has(host) ? [[host, entries.get(host) ?? null]] : []));
}

/** @throws {RosterError} If one is none. */
function portsIn(written: Value): number[] {
  return asList(typeof written === "string" ? written.split(",") : written).map((port) => {
    const number = toNumber(typeof port === "string" && /^\s*\d+\s*$/.test(port) ? Number(port) : port);
    if (number !== undefined && Number.isInteger(number) && number >= 1 && number <= 65_535) return number;
    throw new RosterError(`ssh_scan_ports: ${str(port)} is no port`);
  });
}

/** @throws {RosterError} If a network has more addresses than a scan can take. */
function addressesIn(tgt: Value): string[] {
  const words = asList(tgt).flatMap((word) => str(word).split(",")).map((word) => word.trim());
  return words.flatMap((word) => {
    const address = parseIpAddress(word);
    if (address !== undefined) return [ipAddressText(address)];
    const network = parseIpNetwork(word, { strict: true });
    if (network === undefined) return [];
    try {
      return hostsOf(network).map((one: IpAddress) => ipAddressText(one));
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new RosterError(error.message);
    }
  });
}

async function firstOpen(hostname: string, ports: readonly number[], withinMs: number): Promise<number | undefined> {
  for (const port of ports) if (await isOpen({ hostname, port }, withinMs)) return port;
  return undefined;
}

/** Whether something accepts a connection in time. */
async function isOpen(address: { readonly hostname: string; readonly port: number }, withinMs: number) {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), withinMs);
  const connecting = Deno.connect(address);
  try {
    const connection = await Promise.race([connecting, late]);
    connection?.close();
    // One that comes too late is closed when it comes.
    if (connection === undefined) connecting.then((one) => one.close(), () => {});
    return connection !== undefined;
  } catch {
    return false; // nothing listens there
  } finally {
    clearTimeout(timer);
  }
}
