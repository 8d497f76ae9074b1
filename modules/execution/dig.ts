/**
 * Execution module `dig`: asks the domain name system by the program dig. Each function has a name in lower case, too.
 * Source: the functions of Salt 3008.3 `salt/modules/dig.py`.
 * @module
 */

import { checkedWord } from "#lib/programs/run_program.ts";
import { runTool } from "./_file_host.ts";
import { isAddress, parseSpf } from "#lib/host/network/dns_records.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { splitWhitespace } from "#lib/text/split_lines.ts";

export const virtual: Virtual = {
  serves: [{
    programs: ["dig"],
    otherwise: "The dig execution module cannot be loaded: the dig binary is not in the path.",
  }],
};

/** Policies that include each other are followed so far; RFC 7208 allows ten look-ups. */
const MAX_LOOKUPS = 10;

/** What dig prints; `undefined` if it failed, which is logged. */
async function query(
  words: readonly string[],
  nameserver: string | null,
  context: JobContext,
): Promise<string | undefined> {
  const server = nameserver === null ? [] : [checkedWord(`@${nameserver}`, "name server")];
  const { retcode, stdout } = await runTool(context, ["dig", "+short", ...words, ...server]);
  if (retcode === 0) return stdout;
  context.log("warning", `dig returned exit code '${retcode}'. Returning empty list as fallback.`);
  return undefined;
}

const name = (host: string) => checkedWord(host, "name");

async function addresses(type: "A" | "AAAA", host: string, server: string | null, context: JobContext) {
  return ((await query([name(host), type], server, context)) ?? "").split("\n").filter(isAddress);
}

export const check_ip: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether a text is an IPv4 or IPv6 address, with or without a prefix length.",
    "dig.check_ip 127.0.0.1",
    "dig.check_ip 1111:2222:3333:4444:5555:6666:7777:8888",
  ),
  permissions: "all",
  params: { addr: p.any() },
  run: ({ addr }) => isAddress(addr),
});

const OF_HOST = { host: p.str(), nameserver: p.str(null) };

export const A: ModuleFunction<JobContext> = fn({
  doc: describe("Return the IPv4 addresses of a host, from `nameserver` if given.", "dig.A www.google.com"),
  permissions: "all",
  params: OF_HOST,
  run: ({ host, nameserver }, context) => addresses("A", host, nameserver, context),
});

export const AAAA: ModuleFunction<JobContext> = fn({
  doc: describe("Return the IPv6 addresses of a host, from `nameserver` if given.", "dig.AAAA www.google.com"),
  permissions: "all",
  params: OF_HOST,
  run: ({ host, nameserver }, context) => addresses("AAAA", host, nameserver, context),
});

export const PTR: ModuleFunction<JobContext> = fn({
  doc: describe("Return the names of an address.", "dig.PTR 1.2.3.4"),
  permissions: "all",
  params: OF_HOST,
  run: async ({ host, nameserver }, context) =>
    (await query(["-x", name(host)], nameserver, context))?.split("\n") ?? [],
});

export const CNAME: ModuleFunction<JobContext> = fn({
  doc: describe("Return the canonical name of a host.", "dig.CNAME mail.google.com"),
  permissions: "all",
  params: OF_HOST,
  run: async ({ host, nameserver }, context) => (await query([name(host), "CNAME"], nameserver, context)) ?? [],
});

export const TXT: ModuleFunction<JobContext> = fn({
  doc: describe("Return the TXT records of a host.", "dig.TXT google.com"),
  permissions: "all",
  params: OF_HOST,
  run: async ({ host, nameserver }, context) =>
    (await query([name(host), "TXT"], nameserver, context))?.split("\n") ?? [],
});

export const NS: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the addresses of a domain's name servers; with resolve=False their names.",
    "dig.NS google.com",
  ),
  permissions: "all",
  params: { domain: p.str(), resolve: p.any(true), nameserver: p.str(null) },
  async run({ domain, resolve, nameserver }, context) {
    const servers = await query([name(domain), "NS"], nameserver, context);
    if (servers === undefined || !resolve) return servers?.split("\n") ?? [];
    const records: string[] = [];
    for (const one of servers.split("\n").filter((host) => host !== "")) {
      records.push(...await addresses("A", one, nameserver, context));
    }
    return records;
  },
});

/**
 * The addresses that a policy and those that it names allow.
 * @param left How many look-ups may still be made.
 */
async function senders(
  domain: string,
  record: string,
  { nameserver, left }: { readonly nameserver: string | null; readonly left: { count: number } },
  context: JobContext,
): Promise<string[]> {
  if (left.count-- <= 0) return [];
  const options = { nameserver, left };
  const policy = await query([name(domain), name(record)], nameserver, context);
  if (policy === undefined) return [];
  if (policy === "" && record === "SPF") return await senders(domain, "TXT", options, context);
  const allowed: string[] = [];
  for (const part of parseSpf(policy)) {
    if (part.kind === "address") allowed.push(part.address);
    else allowed.push(...await senders(part.domain, "SPF", options, context));
  }
  return allowed;
}

export const SPF: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the addresses from which a domain's mail may come, with those of included policies. record: SPF, or TXT if there is\n" +
      "none.",
    "dig.SPF google.com",
  ),
  permissions: "all",
  params: { domain: p.str(), record: p.str("SPF"), nameserver: p.str(null) },
  run: ({ domain, record, nameserver }, context) =>
    senders(domain, record, { nameserver, left: { count: 2 * MAX_LOOKUPS } }, context),
});

export const MX: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the mail exchangers of a domain, each with its preference; resolve=True: the first address of each.",
    "dig.MX google.com",
  ),
  permissions: "all",
  params: { domain: p.str(), resolve: p.any(false), nameserver: p.str(null) },
  async run({ domain, resolve, nameserver }, context) {
    const answer = await query([name(domain), "MX"], nameserver, context);
    const rows = answer?.split("\n").map((line) => splitWhitespace(line)) ?? [];
    if (!resolve) return rows;
    const hosts: [string, string | undefined][] = [];
    for (const [preference, host] of rows) {
      if (host !== undefined) hosts.push([preference, (await addresses("A", host, nameserver, context))[0]]);
    }
    return hosts.map(([preference, address]) => [preference, address ?? null]);
  },
});

export const a: ModuleFunction<JobContext> = A;
export const ptr: ModuleFunction<JobContext> = PTR;
export const aaaa: ModuleFunction<JobContext> = AAAA;
export const cname: ModuleFunction<JobContext> = CNAME;
export const ns: ModuleFunction<JobContext> = NS;
export const spf: ModuleFunction<JobContext> = SPF;
export const mx: ModuleFunction<JobContext> = MX;
