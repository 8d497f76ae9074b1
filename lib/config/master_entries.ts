/**
 * The masters that a minion's option `master` names: host, `host:port`, or the name of a DNS service
 * (`_salt._tcp.example.com`), and the order in which they are tried.
 * Source: Salt 3008.3 `salt/config/__init__.py` prep_ip_port, `salt/minion.py` MinionBase.eval_master.
 * @module
 */

import { bracketHost, parseHostPort } from "#lib/text/host_port.ts";
import { crc32 } from "#lib/values/crc32.ts";
import type { MinionOpts } from "./options.ts";

/** One master: where its requests go. */
export interface MasterEntry {
  /** Name or address, without brackets. */
  readonly host: string;
  readonly port: number;
}

/** The options that say how entries are read. */
export type EntryOpts = Pick<MinionOpts, "master_port" | "master_uri_format">;

/** The name of a DNS service: RFC 2782. */
const SERVICE = /^_[a-z0-9-]+\._tcp\.[^:/\s]+$/i;

/** Whether an entry names a DNS service, whose SRV records name the masters. */
export function isServiceName(text: string): boolean {
  return SERVICE.test(text);
}

/** What a list of masters says. */
export interface MasterEntries {
  /** Each once. */
  readonly entries: MasterEntry[];
  /** What is wrong with those that cannot be read, a sentence each. */
  readonly problems: string[];
}

/** Reads the texts of masters: host, `host:port`, or the name of a DNS service. */
export function readMasterEntries(texts: readonly string[], opts: EntryOpts): MasterEntries {
  const entries: MasterEntry[] = [], problems: string[] = [];
  for (const text of texts) {
    try {
      entries.push(readMasterEntry(text, opts));
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      problems.push(error.message);
    }
  }
  return { entries: distinctMasters(entries), problems };
}

function readMasterEntry(text: string, { master_port, master_uri_format }: EntryOpts): MasterEntry {
  if (master_uri_format === "ip_only") return { host: text, port: master_port };
  const { host, port = master_port } = parseHostPort(text);
  return { host, port };
}

/** `host:port`; the same for entries that name the same master. */
export function masterName({ host, port }: MasterEntry): string {
  return `${bracketHost(host)}:${port}`;
}

/** The text of an entry that {@linkcode readMasterEntries} reads as the same whatever the options say. */
export function masterText(entry: MasterEntry): string {
  return isServiceName(entry.host) ? entry.host : masterName(entry);
}

/** The entries without those that repeat an earlier one. */
export function distinctMasters(entries: readonly MasterEntry[]): MasterEntry[] {
  return [...new Map(entries.map((entry) => [masterName(entry), entry])).values()];
}

/** Whether a minion has one master of its list at a time; otherwise it has all of them. */
export function isOneOfMany({ master_type }: Pick<MinionOpts, "master_type">): boolean {
  return master_type === "failover" || master_type === "distributed";
}

/** The options that say in which order masters are tried. */
export type OrderOpts = Pick<MinionOpts, "id" | "master_type" | "random_master" | "master_shuffle" | "master_failback">;

/**
 * The order in which a minion with one master at a time tries them. With `distributed` the id decides which is first;
 * `random_master` shuffles them, but leaves the first where it is if the minion is to go back to it.
 * @param random A number of at least 0 and below 1.
 */
export function orderMasters<T>(masters: readonly T[], opts: OrderOpts, random: () => number = Math.random): T[] {
  const ordered = [...masters];
  if (opts.master_type === "distributed" && ordered.length > 1) {
    const preferred = crc32(new TextEncoder().encode(opts.id)) % ordered.length;
    ordered.unshift(...ordered.splice(preferred, 1));
  }
  if (!opts.random_master && !opts.master_shuffle) return ordered;
  const fixed = opts.master_failback || opts.master_type === "distributed" ? 1 : 0;
  for (let i = ordered.length - 1; i > fixed; i--) {
    const j = fixed + Math.floor(random() * (i + 1 - fixed));
    [ordered[i], ordered[j]] = [ordered[j], ordered[i]];
  }
  return ordered;
}
