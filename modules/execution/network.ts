/**
 * Execution module `network`: interfaces, addresses, routes and sockets of the host, and reaching other hosts.
 *
 * The parsers of what programs tell are in `lib/network`.
 * Source: the functions of Salt 3008.3 `salt/modules/network.py` for Linux.
 * @module
 */

import { runTool } from "./_file_host.ts";
import { CommandError, CommandNotFoundError, messageOf } from "../../lib/errors.ts";
import { replaceFile } from "../../lib/filesystem/contents.ts";
import { HostFiles } from "../../lib/host/files.ts";
import { checkedWord, runProgram } from "../../lib/host/run_program.ts";
import { establishedConnections } from "../../lib/host/tcp_table.ts";
import { which } from "../../lib/host/which.ts";
import { connectTo } from "../../lib/network/connecting.ts";
import { fullName, renamedInHosts, renamedInSysconfig, systemResolver } from "../../lib/network/host_names.ts";
import {
  chosenInterfaces,
  hostAddresses,
  hostNetworks,
  hostSubnets,
  type Interfaces,
  ipAddress,
  isAnyIn,
  networkAround,
  networkDetails,
  networkParts,
  parseIfconfig,
  parseIpOutput,
  reversePointer,
} from "../../lib/network/interfaces.ts";
import { parseNetstat, parseSs } from "../../lib/network/open_sockets.ts";
import { parseBuffers, parseTraceroute, sanitizeHost } from "../../lib/network/reaching.ts";
import {
  parseArp,
  parseIpRoutes,
  parseIpRoutes6,
  parseNeighbours,
  parseNetstatRoutes,
  parseNetstatRoutes6,
  parseRouteTo,
  type Route,
} from "../../lib/network/routes.ts";
import { wakeUp } from "../../lib/network/wake_up.ts";
import { isThere } from "../../lib/os/file_kind.ts";
import { describe } from "../../lib/plugins/docs.ts";
import { fn, type JobContext } from "../../lib/plugins/job_context.ts";
import { any, bool, type Bound, type ModuleFunction, str } from "../../lib/plugins/module.ts";
import { hasIpProperty, ipInterfaceText } from "../../lib/text/ip_network.ts";
import { repr, str as text, toNumber, truthy, type Value } from "../../lib/values/value.ts";

/** What programs write to both outputs. */
async function output(words: readonly string[], context: JobContext, timeout?: number): Promise<string> {
  const more = timeout === undefined ? {} : { more: new Map([["timeout", timeout]]) };
  return (await runTool(context, words, { joined: true, ...more })).stdout;
}

/** @throws {CommandNotFoundError} If a program is not there. */
function needs(program: string): void {
  if (which(program) === undefined) throw new CommandNotFoundError(`The '${program}' binary was not found in $PATH.`);
}

/** The interfaces by `ip`, else by `ifconfig`; none without either. */
async function readInterfaces(context: JobContext): Promise<Interfaces> {
  const of = async (...words: string[]) => (await runProgram(words, context)).stdout;
  const ip = which("ip");
  if (ip !== undefined) return parseIpOutput(`${await of(ip, "link", "show")}\n${await of(ip, "addr", "show")}`);
  const ifconfig = which("ifconfig");
  return ifconfig === undefined ? new Map() : parseIfconfig(await of(ifconfig, "-a"));
}

/** A map of maps, as results are. */
function asMaps(all: Interfaces): Map<string, Record<string, unknown>> {
  return new Map([...all].map(([name, data]) => [name, { ...data }]));
}

/** A function that shows one interface; an error's text if there is no such one. */
function ofInterface(
  name: string,
  what: string,
  show: (one: NonNullable<ReturnType<Interfaces["get"]>>) => unknown,
): ModuleFunction<JobContext> {
  return fn({
    doc: describe(
      `Return ${what} of an interface, or a text that says that there is no such one.`,
      `network.${name} eth0`,
    ),
    permissions: "all",
    params: { iface: str() },
    async run({ iface }, context) {
      const all = await readInterfaces(context);
      const one = all.get(iface);
      if (one !== undefined) return show(one);
      const problem = `Interface "${iface}" not in available interfaces: "${[...all.keys()].join('", "')}"`;
      context.log("error", problem);
      return problem;
    },
  });
}

export const wol: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Send a Wake-on-LAN packet to a hardware address, written with or without separators.",
    "network.wol 08-00-27-13-69-77",
    "network.wol 080027136977 255.255.255.255 7",
  ),
  permissions: "all",
  params: { mac: str(), bcast: str("255.255.255.255"), destport: any(9) },
  run({ mac, bcast, destport }) {
    wakeUp(mac, bcast, toNumber(destport) ?? Number(text(destport)));
    return true;
  },
});

export const ping: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Send four echo requests to a host, and return what `ping` says; with return_boolean=True whether it answered. timeout is\n" +
      "in seconds.",
    "network.ping archlinux.org",
    "network.ping archlinux.org return_boolean=True",
    "network.ping archlinux.org timeout=3",
  ),
  permissions: "all",
  params: { host: str(), timeout: any(false), return_boolean: any(false) },
  async run({ host, timeout, return_boolean }, context) {
    const wait = truthy(timeout) ? ["-W", checkedWord(text(timeout), "timeout")] : [];
    const words = ["ping", ...wait, "-c", "4", checkedWord(sanitizeHost(host), "host")];
    if (truthy(return_boolean)) return (await runTool(context, words)).retcode === 0;
    return await output(words, context);
  },
});

export const netstat: ModuleFunction<JobContext> = fn({
  doc: describe("Return the open sockets, as `netstat` tells, or `ss` where it is not there.", "network.netstat"),
  permissions: "all",
  params: {},
  run: async (_bound, context) =>
    which("netstat") === undefined
      ? parseSs(await output(["ss", "-tulpnea"], context))
      : parseNetstat(await output(["netstat", "-tulpnea"], context)),
});

export const active_tcp: ModuleFunction<JobContext> = fn({
  doc: describe("Return the established TCP connections by number.", "network.active_tcp"),
  permissions: "all",
  params: {},
  run: () =>
    new Map(
      establishedConnections().map(({ local, remote }, i) => [i, {
        local_addr: local.address,
        local_port: local.port,
        remote_addr: remote.address,
        remote_port: remote.port,
      }]),
    ),
});

/** Seconds for all hops together. */
const TRACEROUTE_TIMEOUT = 120;

export const traceroute: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the hops to a host, as `traceroute` tells: a list of maps, empty after two minutes.",
    "network.traceroute archlinux.org",
  ),
  permissions: "all",
  params: { host: str() },
  async run({ host }, context) {
    needs("traceroute");
    const hops = await output(
      ["traceroute", checkedWord(sanitizeHost(host), "host")],
      context,
      TRACEROUTE_TIMEOUT,
    );
    if (hops.includes("Timed out after")) return [];
    return parseTraceroute(hops, await output(["traceroute", "--version"], context));
  },
});

export const dig: ModuleFunction<JobContext> = fn({
  doc: describe("Return what `dig` says of a name.", "network.dig archlinux.org"),
  permissions: "all",
  params: { host: str() },
  run({ host }, context) {
    needs("dig");
    return output(["dig", checkedWord(sanitizeHost(host), "host")], context);
  },
});

export const arp: ModuleFunction<JobContext> = fn({
  doc: describe("Return the IPv4 addresses of the neighbours by hardware address, as `arp` tells.", "network.arp"),
  permissions: "all",
  params: {},
  async run(_bound, context) {
    needs("arp");
    return parseArp(await output(["arp", "-an"], context));
  },
});

export const interfaces: ModuleFunction<JobContext> = fn({
  doc: describe("Return the interfaces: whether they are up, hardware address, addresses.", "network.interfaces"),
  permissions: "all",
  params: {},
  run: async (_bound, context) => asMaps(await readInterfaces(context)),
});

export const hw_addr: ModuleFunction<JobContext> = ofInterface(
  "hw_addr",
  "the hardware address",
  ({ hwaddr = "" }) => hwaddr,
);
export const hwaddr: ModuleFunction<JobContext> = ofInterface(
  "hwaddr",
  "the hardware address",
  ({ hwaddr = "" }) => hwaddr,
);
export const interface_: ModuleFunction<JobContext> = ofInterface(
  "interface",
  "the IPv4 addresses",
  ({ inet = "" }) => inet,
);
export const interface_ip: ModuleFunction<JobContext> = ofInterface(
  "interface_ip",
  "the first IPv4 address",
  ({ inet = [] }) => inet[0]?.address ?? "",
);

export const subnets: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the IPv4 networks that the host is in, or an interface, or those of a list.",
    "network.subnets",
    "network.subnets interfaces=eth1",
  ),
  permissions: "all",
  params: { interfaces: any(null) },
  async run({ interfaces }, context) {
    const all = await readInterfaces(context);
    const wanted = interfaces === null ? undefined : Array.isArray(interfaces) ? interfaces : [interfaces];
    const chosen = [...all].filter(([name]) => wanted === undefined || wanted.includes(name));
    return hostSubnets(chosen.map(([, one]) => one), "inet");
  },
});

export const subnets6: ModuleFunction<JobContext> = fn({
  doc: describe("Return the IPv6 networks that the host is in.", "network.subnets6"),
  permissions: "all",
  params: {},
  run: async (_bound, context) => hostSubnets((await readInterfaces(context)).values(), "inet6"),
});

function anyIn(cidr: string, addresses: readonly string[], context: JobContext): boolean {
  const found = isAnyIn(cidr, addresses);
  if (found === undefined) context.log("error", `Invalid CIDR '${cidr}'`);
  return found ?? false;
}

export const in_subnet: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether the host has an address in a network.", "network.in_subnet 10.0.0.0/16"),
  permissions: "all",
  params: { cidr: str() },
  async run({ cidr }, context) {
    const all = await readInterfaces(context);
    return anyIn(cidr, [...hostAddresses(all, "inet", false), ...hostAddresses(all, "inet6", false)], context);
  },
});

export const ip_in_subnet: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether an address, or one of a list, is in a network.",
    "network.ip_in_subnet 172.17.0.4 172.16.0.0/12",
  ),
  params: { ip_addr: any(), cidr: str() },
  run: ({ ip_addr, cidr }, context) => anyIn(cidr, (Array.isArray(ip_addr) ? ip_addr : [ip_addr]).map(text), context),
});

export const convert_cidr: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the `network`, the `netmask` and the `broadcast` address of an address with its prefix.",
    "network.convert_cidr 172.31.0.0/16",
  ),
  params: { cidr: str() },
  run: ({ cidr }) => networkParts(networkAround(cidr, null)),
});

export const calc_net: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the network of an address, with its prefix or with a mask.",
    "network.calc_net 172.17.0.5 255.255.255.240",
    "network.calc_net 2a02:f6e:a000:80:84d8:8332:7866:4e07/64",
  ),
  params: { ip_addr: str(), netmask: str(null) },
  run: ({ ip_addr, netmask }) => ipInterfaceText(networkAround(ip_addr, netmask)),
});

const ADDRESSES = { interface: any(null), include_loopback: bool(false), cidr: str(null) };

type AddressArguments = Bound<typeof ADDRESSES>;

async function ownAddresses(
  { interface: globs, include_loopback, cidr }: AddressArguments,
  family: "inet" | "inet6",
  context: JobContext,
): Promise<string[]> {
  const found = hostAddresses(chosenInterfaces(await readInterfaces(context), globs), family, include_loopback);
  return cidr === null || cidr === "" ? found : found.filter((one) => anyIn(cidr, [one], context));
}

function addressFunction(name: string): ModuleFunction<JobContext> {
  return fn({
    doc: describe(
      "Return the IPv4 addresses of the host, without loopback addresses unless asked for: those of the interfaces that a name,\n" +
        "a list or globs mean; those in a network (cidr); or those of a type, public or private.",
      `network.${name}`,
      `network.${name} interface='eth*' cidr=10.0.0.0/8`,
    ),
    permissions: "all",
    params: { ...ADDRESSES, type: str(null) },
    async run({ type, ...bound }, context) {
      const found = await ownAddresses(bound, "inet", context);
      if (bound.cidr || (type !== "public" && type !== "private")) return found;
      return found.filter((one) => hasIpProperty(ipAddress(one), "private") === (type === "private"));
    },
  });
}

function address6Function(name: string): ModuleFunction<JobContext> {
  return fn({
    doc: describe(
      "Return the IPv6 addresses of the host, without loopback addresses unless asked for: those of the interfaces that a name,\n" +
        "a list or globs mean; or those in a network (cidr).",
      `network.${name}`,
      `network.${name} interface='eth*' cidr=2000::/3`,
    ),
    permissions: "all",
    params: ADDRESSES,
    run: (bound, context) => ownAddresses(bound, "inet6", context),
  });
}

export const ip_addrs: ModuleFunction<JobContext> = addressFunction("ip_addrs");
export const ipaddrs: ModuleFunction<JobContext> = addressFunction("ipaddrs");
export const ip_addrs6: ModuleFunction<JobContext> = address6Function("ip_addrs6");
export const ipaddrs6: ModuleFunction<JobContext> = address6Function("ipaddrs6");

function neighbourFunction(name: string, family: "inet" | "inet6"): ModuleFunction<JobContext> {
  const what = family === "inet" ? "IPv4" : "IPv6";
  return fn({
    doc: describe(
      `Return the ${what} addresses of the neighbours by hardware address, as \`ip\` tells.`,
      `network.${name}`,
    ),
    permissions: "all",
    params: {},
    run: async (_bound, context) => parseNeighbours(await output(["ip", "neigh", "show"], context), family),
  });
}

export const ip_neighs: ModuleFunction<JobContext> = neighbourFunction("ip_neighs", "inet");
export const ipneighs: ModuleFunction<JobContext> = neighbourFunction("ipneighs", "inet");
export const ip_neighs6: ModuleFunction<JobContext> = neighbourFunction("ip_neighs6", "inet6");
export const ipneighs6: ModuleFunction<JobContext> = neighbourFunction("ipneighs6", "inet6");

export const get_hostname: ModuleFunction<JobContext> = fn({
  doc: describe("Return the host's name.", "network.get_hostname"),
  permissions: { sys: ["hostname"] },
  params: {},
  run: () => Deno.hostname(),
});

async function ownFullName(): Promise<string> {
  return await fullName(Deno.hostname(), { files: new HostFiles(), resolver: await systemResolver() });
}

export const get_fqdn: ModuleFunction<JobContext> = fn({
  doc: describe("Return the host's full name, by the hosts file and the resolver.", "network.get_fqdn"),
  permissions: "all",
  params: {},
  run: () => ownFullName(),
});

export const mod_hostname: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Change the host's name: by `hostnamectl` or `hostname`, in /etc/hosts, and in the file of the distribution that holds it.\n" +
      "Return whether it was done.",
    "network.mod_hostname master.saltstack.com",
  ),
  permissions: "all",
  params: { hostname: any() },
  async run({ hostname }, context) {
    if (hostname === null) return false;
    const given = text(hostname);
    const name = checkedWord(/\s/.test(given) ? "" : given, "host name");
    const hostnamectl = which("hostnamectl");
    let old: string | undefined;
    if (hostnamectl !== undefined) {
      const { retcode, stdout } = await runTool(context, [hostnamectl, "status"]);
      old = retcode === 0 ? /^.*Static hostname.*?:\s*(.*)$/m.exec(stdout)?.[1].trim() : undefined;
      const set = await runTool(context, [hostnamectl, "set-hostname", name]);
      if (set.retcode !== 0) return false;
    } else {
      needs("hostname");
      old = await ownFullName();
      await output(["hostname", name], context);
    }
    old ??= Deno.hostname();
    edit("/etc/hosts", (hosts) => renamedInHosts(hosts, old, name));
    const family = context.grains.get("os_family");
    if (family === "RedHat") edit("/etc/sysconfig/network", (settings) => renamedInSysconfig(settings, name));
    if (family === "Debian") edit("/etc/hostname", () => `${name}\n`);
    return true;
  },
});

function edit(path: string, change: (contents: string) => string): void {
  const old = isThere(path) ? Deno.readTextFileSync(path) : undefined;
  const now = change(old ?? "");
  if (now !== old) replaceFile(path, new TextEncoder().encode(now), { mode: 0o644 });
}

export const connect: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Connect to a port of a host, and return whether that worked (`result`) and a `comment`. timeout is in seconds, 5 by default;\n" +
      "family is ipv4 or ipv6; with proto=udp a datagram is sent, and an answer waited for.",
    "network.connect archlinux.org 80 timeout=3",
    "network.connect google-public-dns-a.google.com port=53 proto=udp timeout=3",
  ),
  permissions: "all",
  params: { host: str(), port: any(null) },
  varKwargs: "kwargs",
  async run({ host, port }, context, { kwargs }) {
    const missing = host === "" ? "host" : !truthy(port) ? "port" : undefined;
    if (missing !== undefined) return { result: false, comment: `Required argument, ${missing}, is missing.` };
    const proto = kwargs.get("proto") === "udp" ? "udp" : "tcp";
    const seconds = Number(text(kwargs.get("timeout") ?? 5));
    return await connectTo({ host, name: sanitizeHost(host), port: text(port), proto }, {
      family: kwargs.get("family") ?? null,
      timeoutMs: (Number.isFinite(seconds) ? seconds : 5) * 1000,
      signal: context.signal,
    });
  },
});

function propertyFunction(name: string, property: "private" | "loopback", example: string): ModuleFunction<JobContext> {
  return fn({
    doc: describe(`Return whether an address is a ${property} one.`, `network.${name} ${example}`),
    params: { ip_addr: str() },
    run: ({ ip_addr }) => hasIpProperty(ipAddress(ip_addr), property),
  });
}

export const is_private: ModuleFunction<JobContext> = propertyFunction("is_private", "private", "10.0.0.3");
export const is_loopback: ModuleFunction<JobContext> = propertyFunction("is_loopback", "loopback", "127.0.0.1");

export const reverse_ip: ModuleFunction<JobContext> = fn({
  doc: describe("Return the name for the reverse look-up of an address.", "network.reverse_ip 172.17.0.4"),
  params: { ip_addr: str() },
  run: ({ ip_addr }) => reversePointer(ip_addr),
});

/** The only place where Salt looks for it. */
const ETHTOOL = "/sbin/ethtool";

export const get_bufsize: ModuleFunction<JobContext> = fn({
  doc: describe("Return the sizes of an interface's buffers, as `ethtool` tells.", "network.get_bufsize eth0"),
  permissions: "all",
  params: { iface: str() },
  run: async ({ iface }, context) =>
    isThere(ETHTOOL) ? parseBuffers(await output([ETHTOOL, "-g", checkedWord(iface, "interface")], context)) : {},
});

export const mod_bufsize: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set the sizes of an interface's buffers by `ethtool`.",
    "network.mod_bufsize eth0 tx=256 rx=256 rx-mini=0 rx-jumbo=0",
  ),
  permissions: "all",
  params: { iface: str() },
  varArgs: "args",
  varKwargs: "kwargs",
  async run({ iface }, context, { args, kwargs }) {
    if (!isThere(ETHTOOL)) return false;
    const usage = "Requires rx=<val> tx==<val> rx-mini=<val> and/or rx-jumbo=<val>";
    if (args.length > 0) return { result: false, comment: `Unknown arguments: ${args.map(text).join(" ")}` };
    const sizes = ["rx", "tx", "rx-mini", "rx-jumbo"].flatMap((name) => {
      const value = kwargs.get(name) ?? null;
      return value === null ? [] : [name, checkedWord(text(value), "size")];
    });
    if (sizes.length === 0) return { result: false, comment: usage };
    const said = await output([ETHTOOL, "-G", checkedWord(iface, "interface"), ...sizes], context);
    return said === "" ? { result: true, comment: sizes.join(" ") } : { result: false, comment: said };
  },
});

async function readRoutes(family: string | null, context: JobContext): Promise<Route[]> {
  if (family !== null && family !== "inet" && family !== "inet6") {
    throw new CommandError(`Invalid address family ${family}`);
  }
  const all = which("netstat") === undefined
    ? [
      ...parseIpRoutes(await output(["ip", "-4", "route", "show", "table", "main"], context)),
      ...parseIpRoutes6(await output(["ip", "-6", "route", "show", "table", "all"], context)),
    ]
    : [
      ...parseNetstatRoutes(await output(["netstat", "-A", "inet", "-rn"], context)),
      ...parseNetstatRoutes6(await output(["netstat", "-A", "inet6", "-rn"], context)),
    ];
  return family === null ? all : all.filter(({ addr_family }) => addr_family === family);
}

export const routes: ModuleFunction<JobContext> = fn({
  doc: describe("Return the routes, of one family (inet, inet6) or of both.", "network.routes"),
  permissions: "all",
  params: { family: str(null) },
  run: ({ family }, context) => readRoutes(family, context),
});

const DEFAULTS = { inet: ["0.0.0.0", "default"], inet6: ["::/0", "default"] };

export const default_route: ModuleFunction<JobContext> = fn({
  doc: describe("Return the default routes, of one family (inet, inet6) or of both.", "network.default_route"),
  permissions: "all",
  params: { family: str(null) },
  async run({ family }, context) {
    const all = await readRoutes(family, context);
    const wanted = family === "inet"
      ? DEFAULTS.inet
      : family === "inet6"
      ? DEFAULTS.inet6
      : Object.values(DEFAULTS).flat();
    return all.filter(({ destination }) => wanted.includes(destination));
  },
});

export const get_route: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the way to an address: `gateway`, `interface` and `source` address.",
    "network.get_route 10.10.10.10",
  ),
  permissions: "all",
  params: { ip: str() },
  async run({ ip }, context) {
    const said = await output(["ip", "route", "get", checkedWord(ip, "address")], context);
    const found = parseRouteTo(said);
    if (found === undefined) throw new CommandError(`ip tells no route to ${repr(ip)}: ${said}`);
    return { destination: ip, ...found };
  },
});

export const ifacestartswith: ModuleFunction<JobContext> = fn({
  doc: describe("Return the interfaces that have an address with this beginning.", "network.ifacestartswith 10.0"),
  permissions: "all",
  params: { cidr: str() },
  run: async ({ cidr }, context) =>
    [...await readInterfaces(context)].flatMap(([name, { inet = [] }]) =>
      inet.filter(({ address }) => address.startsWith(cidr)).map(({ label }) => label ?? name)
    ),
});

export const iphexval: ModuleFunction<JobContext> = fn({
  doc: describe("Return an IPv4 address as hexadecimal digits.", "network.iphexval 10.0.0.1"),
  params: { ip: str() },
  run: ({ ip }) =>
    ip.split(".").map((part) => {
      if (!/^\s*[+-]?\d+\s*$/.test(part)) {
        throw new CommandError(`invalid literal for int() with base 10: ${repr(part)}`);
      }
      return Number(part).toString(16).toUpperCase().padStart(2, "0");
    }).join(""),
});

function networkFunction(name: string, family: "inet" | "inet6"): ModuleFunction<JobContext> {
  const what = family === "inet" ? "IPv4" : "IPv6";
  return fn({
    doc: describe(
      `Return the ${what} networks that the host is in, without loopback networks unless asked for: those of the interfaces that\n` +
        "a name, a list or globs mean. With verbose=True as maps, with address, mask and size.",
      `network.${name}`,
      `network.${name} interface=docker0,enp*`,
    ),
    permissions: "all",
    params: { interface: any(null), include_loopback: bool(false), verbose: bool(false) },
    async run({ interface: globs, include_loopback, verbose }, context) {
      const networks = hostNetworks(chosenInterfaces(await readInterfaces(context), globs), family, include_loopback);
      if (!verbose) return networks.map(ipInterfaceText);
      return new Map(networks.map((one) => [ipInterfaceText(one), networkDetails(one)]));
    },
  });
}

export const ip_networks: ModuleFunction<JobContext> = networkFunction("ip_networks", "inet");
export const ip_networks6: ModuleFunction<JobContext> = networkFunction("ip_networks6", "inet6");

/** Milliseconds for one name. */
const LOOK_UP_MS = 5_000;

export const fqdns: ModuleFunction<JobContext> = fn({
  doc: describe("Return the names that the resolver has for the addresses of this host.", "network.fqdns"),
  permissions: "all",
  params: {},
  async run(_bound, context) {
    const all = await readInterfaces(context);
    const resolver = await systemResolver();
    const look = async (address: string): Promise<string[]> => {
      try {
        const name = await resolver.name(address);
        return name === address ? [] : [await fullName(name, { files: new HostFiles(), resolver })];
      } catch (error) {
        context.log("debug", `Unable to resolve address ${address}: ${messageOf(error)}`);
        return [];
      }
    };
    const late = AbortSignal.timeout(LOOK_UP_MS);
    const end = new Promise<string[]>((resolve) => late.addEventListener("abort", () => resolve([])));
    const addresses: Value[] = [...hostAddresses(all, "inet", false), ...hostAddresses(all, "inet6", false)];
    const found = await Promise.all(addresses.map((one) => Promise.race([look(text(one)), end])));
    return { fqdns: [...new Set(found.flat())].sort() };
  },
});
