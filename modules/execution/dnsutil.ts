/**
 * Execution module `dnsutil`: files of hosts and zones, and what dig tells, or the host's resolver where there is no
 * dig. Source: the functions of Salt 3008.3 `salt/modules/dnsutil.py`.
 * @module
 */

import { CommandError, InvocationError, messageOf } from "#lib/errors.ts";
import { readUtf8File, replaceFile } from "#lib/host/filesystem/contents.ts";
import { which } from "#lib/programs/which.ts";
import { hostNames, parseZoneRecords, withoutHosts } from "#lib/host/network/dns_records.ts";
import { pythonOsError } from "#lib/os/deno_texts.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { strftime } from "#lib/text/strftime.ts";
import { str, truthy, type Value } from "#lib/values/value.ts";

const NO_DIG = "This function requires dig, which is not currently available";

export const parse_hosts: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the names by address in a hosts file, or in the text `hosts`.",
    "dnsutil.parse_hosts",
  ),
  permissions: "all",
  params: { hostsfile: p.str("/etc/hosts"), hosts: p.str(null) },
  run({ hostsfile, hosts }) {
    if (hosts) return hostNames(hosts);
    return isFile(hostsfile) ? hostNames(readUtf8File(hostsfile)) : "Error: hosts data was not found";
  },
});

/**
 * The names of the argument `entries`.
 * @throws {InvocationError} If there is none.
 */
function aliasesOf(entries: string | null): string[] {
  if (entries === null) throw new InvocationError("entries: names, with commas between them, are needed");
  return entries.split(",");
}

export const hosts_append: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Add a line to a hosts file: an address, and those of the names (separated by commas) that it does not have yet.",
    "dnsutil.hosts_append /etc/hosts 127.0.0.1 ad1.yuk.co,ad2.yuk.co",
  ),
  permissions: "all",
  params: { hostsfile: p.str("/etc/hosts"), ip_addr: p.str(null), entries: p.str(null) },
  run({ hostsfile, ip_addr, entries }) {
    const wanted = aliasesOf(entries);
    const old = isFile(hostsfile) ? readUtf8File(hostsfile) : "";
    const names = hostNames(old).get(ip_addr ?? "") ?? [];
    const missing = wanted.filter((name) => !names.includes(name));
    if (missing.length === 0) return `No additional hosts were added to ${hostsfile}`;
    const line = `\n${ip_addr ?? "None"} ${missing.join(" ")}`;
    replaceFile(hostsfile, new TextEncoder().encode(old + line), { mode: 0o644 });
    return `The following line was added to ${hostsfile}:${line}`;
  },
});

export const hosts_remove: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Remove names (separated by commas) from a hosts file, and lines that have no name left. Comments stay.",
    "dnsutil.hosts_remove /etc/hosts ad1.yuk.co",
    "dnsutil.hosts_remove /etc/hosts ad2.yuk.co,ad1.yuk.co",
  ),
  permissions: "all",
  params: { hostsfile: p.str("/etc/hosts"), entries: p.str(null) },
  run({ hostsfile, entries }) {
    const names = aliasesOf(entries);
    try {
      const now = withoutHosts(readUtf8File(hostsfile), names);
      replaceFile(hostsfile, new TextEncoder().encode(now), { mode: 0o644 });
    } catch (error) {
      throw new CommandError(pythonOsError(error, hostsfile));
    }
    return null;
  },
});

export const parse_zone: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the contents of a zone file, or of the text `zone`: the fields of SOA, and the records by type.",
    "dnsutil.parse_zone /var/lib/named/example.com.zone",
  ),
  permissions: "all",
  params: { zonefile: p.str(null), zone: p.str(null) },
  run({ zonefile, zone }) {
    const given = zonefile && isFile(zonefile) ? readUtf8File(zonefile) : zone;
    if (!given) return "Error: Zone data was not found";
    try {
      return parseZoneRecords(given);
    } catch (error) {
      if (error instanceof RangeError) throw new CommandError(messageOf(error));
      throw error;
    }
  },
});

export const check_ip: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether a text is an address, with or without a prefix length.", "dnsutil.check_ip 127.0.0.1"),
  permissions: "all",
  params: { ip_addr: p.any() },
  run: ({ ip_addr }, context) => withDig("dig.check_ip", [ip_addr], context),
});

/** Calls a function of `dig`, where there is the program. */
function withDig(name: string, args: Value[], { call }: JobContext): Promise<Value> | string {
  return which("dig") === undefined ? NO_DIG : call(name, args);
}

/** The addresses of a host, from dig, or from the host's resolver if no name server is given. */
async function addresses(
  name: "A" | "AAAA",
  host: string,
  nameserver: string | null,
  context: JobContext,
): Promise<Value> {
  if (which("dig") !== undefined || nameserver !== null) {
    return await withDig(`dig.${name}`, [host, nameserver], context);
  }
  const { lookup } = await import("node:dns/promises");
  try {
    return (await lookup(host, { all: true, family: name === "A" ? 4 : 6 })).map(({ address }) => address);
  } catch {
    return `Unable to resolve ${host}`;
  }
}

const OF_HOST = { host: p.str(), nameserver: p.str(null) };

export const A: ModuleFunction<JobContext> = fn({
  doc: describe("Return the IPv4 addresses of a host.", "dnsutil.A www.google.com"),
  permissions: "all",
  params: OF_HOST,
  run: ({ host, nameserver }, context) => addresses("A", host, nameserver, context),
});

export const AAAA: ModuleFunction<JobContext> = fn({
  doc: describe("Return the IPv6 addresses of a host.", "dnsutil.AAAA www.google.com"),
  permissions: "all",
  params: OF_HOST,
  run: ({ host, nameserver }, context) => addresses("AAAA", host, nameserver, context),
});

export const NS: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the addresses of a domain's name servers, with resolve=False their names.",
    "dnsutil.NS google.com",
  ),
  permissions: "all",
  params: { domain: p.str(), resolve: p.any(true), nameserver: p.str(null) },
  run: ({ domain, resolve, nameserver }, context) => withDig("dig.NS", [domain, resolve, nameserver], context),
});

export const SPF: ModuleFunction<JobContext> = fn({
  doc: describe("Return the addresses from which a domain's mail may come.", "dnsutil.SPF google.com"),
  permissions: "all",
  params: { domain: p.str(), record: p.str("SPF"), nameserver: p.str(null) },
  run: ({ domain, record, nameserver }, context) => withDig("dig.SPF", [domain, record, nameserver], context),
});

export const MX: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the mail exchangers of a domain; with resolve=True their addresses.",
    "dnsutil.MX google.com",
  ),
  permissions: "all",
  params: { domain: p.str(), resolve: p.any(false), nameserver: p.str(null) },
  run: ({ domain, resolve, nameserver }, context) => withDig("dig.MX", [domain, resolve, nameserver], context),
});

export const serial: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return a serial number for a zone: the date and a counter, from the grain dnsserial or dnsserial_<zone>. update=True: the next\n" +
      "number, which is stored.",
    "dnsutil.serial example.com",
  ),
  permissions: "all",
  params: { zone: p.str(""), update: p.bool(false) },
  async run({ zone, update }, { call }) {
    const key = zone ? `dnsserial_${zone}` : "dnsserial";
    const stored = await call("grains.get", [key]);
    const present = strftime(new Date(), "%Y%m%d01");
    if (!update) return truthy(stored) ? stored : present;
    const isLater = truthy(stored) && Number(str(stored)) >= Number(present);
    const current = isLater ? String(BigInt(str(stored)) + 1n) : present;
    await call("grains.setval", [key, current]);
    return current;
  },
});
