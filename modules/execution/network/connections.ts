/**
 * Execution module `network`: sockets and the name of the host, settings of interfaces, and reaching other hosts. Its
 * other functions are in `addresses.ts` and `routes.ts`.
 *
 * The parsers of what programs tell are in `lib/host/network`.
 * Source: the functions of Salt 3008.3 `salt/modules/network.py` for Linux.
 * @module
 */

import { output, readInterfaces } from "./reading.ts";
import { runTool } from "#modules/execution/_file_host.ts";
import { messageOf } from "#lib/errors.ts";
import { replaceFile } from "#lib/host/filesystem/contents.ts";
import { HostFiles } from "#lib/programs/files.ts";
import { checkedWord, needPrograms } from "#lib/programs/run_program.ts";
import { establishedConnections } from "#lib/procfs/tcp_table.ts";
import { which } from "#lib/programs/which.ts";
import { connectTo } from "#lib/host/network/connecting.ts";
import { findFullName, renamedInHosts, renamedInSysconfig, systemResolver } from "#lib/host/network/host_names.ts";
import { hostAddresses } from "#lib/host/network/interfaces.ts";
import { parseNetstat, parseSs } from "#lib/host/network/open_sockets.ts";
import { parseBuffers, parseTraceroute, sanitizeHost } from "#lib/host/network/host_tools.ts";
import { wakeUp } from "#lib/host/network/wake_up.ts";
import { lexistsOrThrow } from "#lib/os/file_kind.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { str, toNumber, truthy, type Value } from "#lib/values/value.ts";

export const wol: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Send a Wake-on-LAN packet to a hardware address, written with or without separators.",
    "network.wol 08-00-27-13-69-77",
    "network.wol 080027136977 255.255.255.255 7",
  ),
  permissions: "all",
  params: { mac: p.str(), bcast: p.str("255.255.255.255"), destport: p.any(9) },
  run({ mac, bcast, destport }) {
    wakeUp(mac, bcast, toNumber(destport) ?? Number(str(destport)));
    return true;
  },
});

export const ping: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Send four echo requests to a host, and return the output of `ping`; with return_boolean=True, whether it answered. timeout is\n" +
      "in seconds.",
    "network.ping archlinux.org",
    "network.ping archlinux.org return_boolean=True",
    "network.ping archlinux.org timeout=3",
  ),
  permissions: "all",
  params: { host: p.str(), timeout: p.any(false), return_boolean: p.any(false) },
  async run({ host, timeout, return_boolean }, context) {
    const wait = truthy(timeout) ? ["-W", checkedWord(str(timeout), "timeout")] : [];
    const words = ["ping", ...wait, "-c", "4", checkedWord(sanitizeHost(host), "host")];
    if (truthy(return_boolean)) return (await runTool(context, words)).retcode === 0;
    return await output(words, context);
  },
});

export const netstat: ModuleFunction<JobContext> = fn({
  doc: describe("Return the open sockets, from `netstat` or, without it, `ss`.", "network.netstat"),
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
    "Return the hops to a host, from `traceroute`: a list of maps, which is empty after two minutes.",
    "network.traceroute archlinux.org",
  ),
  permissions: "all",
  params: { host: p.str() },
  async run({ host }, context) {
    needPrograms("traceroute");
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
  doc: describe("Return the output of `dig` for a name.", "network.dig archlinux.org"),
  permissions: "all",
  params: { host: p.str() },
  run({ host }, context) {
    needPrograms("dig");
    return output(["dig", checkedWord(sanitizeHost(host), "host")], context);
  },
});

export const get_hostname: ModuleFunction<JobContext> = fn({
  doc: describe("Return the host's name.", "network.get_hostname"),
  permissions: { sys: ["hostname"] },
  params: {},
  run: () => Deno.hostname(),
});

async function ownFullName(): Promise<string> {
  return await findFullName(Deno.hostname(), { files: new HostFiles(), resolver: await systemResolver() });
}

export const get_fqdn: ModuleFunction<JobContext> = fn({
  doc: describe("Return the host's full name, by the hosts file and the resolver.", "network.get_fqdn"),
  permissions: "all",
  params: {},
  run: () => ownFullName(),
});

export const mod_hostname: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Change the host's name: by `hostnamectl` or `hostname`, in /etc/hosts, and in the distribution's file for it.\n" +
      "Return whether this succeeded.",
    "network.mod_hostname master.saltstack.com",
  ),
  permissions: "all",
  params: { hostname: p.any() },
  async run({ hostname }, context) {
    if (hostname === null) return false;
    const given = str(hostname);
    const name = checkedWord(/\s/.test(given) ? "" : given, "host name");
    const hostnamectl = which("hostnamectl");
    let old: string | undefined;
    if (hostnamectl !== undefined) {
      const { retcode, stdout } = await runTool(context, [hostnamectl, "status"]);
      old = retcode === 0 ? /^.*Static hostname.*?:\s*(.*)$/m.exec(stdout)?.[1].trim() : undefined;
      const set = await runTool(context, [hostnamectl, "set-hostname", name]);
      if (set.retcode !== 0) return false;
    } else {
      needPrograms("hostname");
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
  const old = lexistsOrThrow(path) ? Deno.readTextFileSync(path) : undefined;
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
  params: { host: p.str(), port: p.any(null) },
  varKwargs: "kwargs",
  async run({ host, port }, context, { kwargs }) {
    const missing = host === "" ? "host" : !truthy(port) ? "port" : undefined;
    if (missing !== undefined) return { result: false, comment: `Required argument, ${missing}, is missing.` };
    const proto = kwargs.get("proto") === "udp" ? "udp" : "tcp";
    const seconds = Number(str(kwargs.get("timeout") ?? 5));
    return await connectTo({ host, name: sanitizeHost(host), port: str(port), proto }, {
      family: kwargs.get("family") ?? null,
      timeoutMs: (Number.isFinite(seconds) ? seconds : 5) * 1000,
      signal: context.signal,
    });
  },
});

/** The only place where Salt looks for it. */
const ETHTOOL = "/sbin/ethtool";

export const get_bufsize: ModuleFunction<JobContext> = fn({
  doc: describe("Return the sizes of an interface's buffers, from `ethtool`.", "network.get_bufsize eth0"),
  permissions: "all",
  params: { iface: p.str() },
  run: async ({ iface }, context) =>
    lexistsOrThrow(ETHTOOL)
      ? parseBuffers(await output([ETHTOOL, "-g", checkedWord(iface, "interface")], context))
      : {},
});

export const mod_bufsize: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set the sizes of an interface's buffers by `ethtool`.",
    "network.mod_bufsize eth0 tx=256 rx=256 rx-mini=0 rx-jumbo=0",
  ),
  permissions: "all",
  params: { iface: p.str() },
  varArgs: "args",
  varKwargs: "kwargs",
  async run({ iface }, context, { args, kwargs }) {
    if (!lexistsOrThrow(ETHTOOL)) return false;
    const usage = "Requires rx=<val> tx==<val> rx-mini=<val> and/or rx-jumbo=<val>";
    if (args.length > 0) return { result: false, comment: `Unknown arguments: ${args.map(str).join(" ")}` };
    const sizes = ["rx", "tx", "rx-mini", "rx-jumbo"].flatMap((name) => {
      const value = kwargs.get(name) ?? null;
      return value === null ? [] : [name, checkedWord(str(value), "size")];
    });
    if (sizes.length === 0) return { result: false, comment: usage };
    const printed = await output([ETHTOOL, "-G", checkedWord(iface, "interface"), ...sizes], context);
    return printed === "" ? { result: true, comment: sizes.join(" ") } : { result: false, comment: printed };
  },
});

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
        return name === address ? [] : [await findFullName(name, { files: new HostFiles(), resolver })];
      } catch (error) {
        context.log("debug", `Unable to resolve address ${address}: ${messageOf(error)}`);
        return [];
      }
    };
    const late = AbortSignal.timeout(LOOK_UP_MS);
    const end = new Promise<string[]>((resolve) => late.addEventListener("abort", () => resolve([])));
    const addresses: Value[] = [...hostAddresses(all, "inet", false), ...hostAddresses(all, "inet6", false)];
    const names = await Promise.all(addresses.map((one) => Promise.race([look(str(one)), end])));
    return { fqdns: [...new Set(names.flat())].sort() };
  },
});
