/**
 * The masters that a DNS service names: the SRV records of `_salt._tcp.example.com`, by priority and then by weight.
 * Source: RFC 2782.
 * @module
 */

import { isServiceName, type MasterEntry } from "#lib/config/master_entries.ts";
import { messageOf, SignInError } from "#lib/errors.ts";

/** Masters that one service may name. */
const MAX_MASTERS = 32;

/** One SRV record: a host of the service. */
export interface ServiceRecord {
  readonly priority: number;
  readonly weight: number;
  readonly port: number;
  /** The host; "." if there is no such service. */
  readonly target: string;
}

/** Asks the DNS. */
export type ServiceLookUp = (name: string) => Promise<readonly ServiceRecord[]>;

/** Asks the resolver of the host. */
function askResolver(name: string): Promise<readonly ServiceRecord[]> {
  return Deno.resolveDns(name, "SRV");
}

/**
 * Replaces each entry that names a service by the masters of its records. One whose records cannot be read is reported,
 * and the others are used.
 * @param report Takes a sentence about a service without masters.
 * @throws {SignInError} If no master is left.
 */
export async function resolveServices(
  entries: readonly MasterEntry[],
  report: (text: string) => void,
  lookUp: ServiceLookUp = askResolver,
): Promise<MasterEntry[]> {
  const masters: MasterEntry[] = [];
  for (const entry of entries) {
    if (!isServiceName(entry.host)) masters.push(entry);
    else masters.push(...await mastersOf(entry.host, report, lookUp));
  }
  if (masters.length === 0) throw new SignInError("No DNS record names a master", 1);
  return masters;
}

async function mastersOf(
  name: string,
  report: (text: string) => void,
  lookUp: ServiceLookUp,
): Promise<MasterEntry[]> {
  try {
    const records = (await lookUp(name)).filter(({ target }) => target !== "." && target !== "");
    if (records.length === 0) report(`The DNS service ${name} names no master`);
    return orderRecords(records).slice(0, MAX_MASTERS).map(({ target, port }) => ({
      host: target.replace(/\.$/, ""),
      port,
    }));
  } catch (error) {
    report(`The DNS service ${name} cannot be looked up: ${messageOf(error)}`);
    return [];
  }
}

/**
 * The order in which a client contacts the hosts of a service: those of the lowest priority first, and of one priority
 * at random, by their weights.
 * @param random A number of at least 0 and below 1.
 */
export function orderRecords(
  records: readonly ServiceRecord[],
  random: () => number = Math.random,
): ServiceRecord[] {
  const left = [...records].sort((a, b) => a.priority - b.priority || a.weight - b.weight);
  const ordered: ServiceRecord[] = [];
  while (left.length > 0) {
    const group = left.filter(({ priority }) => priority === left[0].priority);
    const total = group.reduce((sum, { weight }) => sum + weight, 0);
    let point = Math.floor(random() * (total + 1));
    const chosen = group.find(({ weight }) => (point -= weight) <= 0) ?? group[0];
    ordered.push(...left.splice(left.indexOf(chosen), 1));
  }
  return ordered;
}
