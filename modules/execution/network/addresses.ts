/**
 * The functions of the module `network` for interfaces, their addresses and their networks.
 * Source: the functions of Salt 3008.3 `salt/modules/network.py` for Linux.
 * @module
 */

import { readInterfaces } from "./reading.ts";
import { CommandError } from "#lib/errors.ts";
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
  reversePointer,
} from "#lib/host/network/interfaces.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type Bound, type ModuleFunction, p } from "#lib/plugins/module.ts";
import { hasIpProperty, ipInterfaceText } from "#lib/text/ip_network.ts";
import { asList } from "#lib/values/shape.ts";
import { repr, str } from "#lib/values/value.ts";

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
      `Return ${what} of an interface, or a text that says that the interface does not exist.`,
      `network.${name} eth0`,
    ),
    permissions: "all",
    params: { iface: p.str() },
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
    "Return the IPv4 networks of the host, of an interface, or of a list of interfaces.",
    "network.subnets",
    "network.subnets interfaces=eth1",
  ),
  permissions: "all",
  params: { interfaces: p.any(null) },
  async run({ interfaces }, context) {
    const all = await readInterfaces(context);
    const wanted = interfaces === null ? undefined : asList(interfaces);
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
  const isInside = isAnyIn(cidr, addresses);
  if (isInside === undefined) context.log("error", `Invalid CIDR '${cidr}'`);
  return isInside ?? false;
}

export const in_subnet: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether the host has an address in a network.", "network.in_subnet 10.0.0.0/16"),
  permissions: "all",
  params: { cidr: p.str() },
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
  params: { ip_addr: p.any(), cidr: p.str() },
  run: ({ ip_addr, cidr }, context) => anyIn(cidr, asList(ip_addr).map(str), context),
});

export const convert_cidr: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the `network`, the `netmask` and the `broadcast` address of an address with its prefix.",
    "network.convert_cidr 172.31.0.0/16",
  ),
  params: { cidr: p.str() },
  run: ({ cidr }) => networkParts(networkAround(cidr, null)),
});

export const calc_net: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the network of an address, with its prefix or with a mask.",
    "network.calc_net 172.17.0.5 255.255.255.240",
    "network.calc_net 2a02:f6e:a000:80:84d8:8332:7866:4e07/64",
  ),
  params: { ip_addr: p.str(), netmask: p.str(null) },
  run: ({ ip_addr, netmask }) => ipInterfaceText(networkAround(ip_addr, netmask)),
});

const ADDRESSES = { interface: p.any(null), include_loopback: p.bool(false), cidr: p.str(null) };

type AddressArguments = Bound<typeof ADDRESSES>;

async function ownAddresses(
  { interface: globs, include_loopback, cidr }: AddressArguments,
  family: "inet" | "inet6",
  context: JobContext,
): Promise<string[]> {
  const addresses = hostAddresses(chosenInterfaces(await readInterfaces(context), globs), family, include_loopback);
  return cidr === null || cidr === "" ? addresses : addresses.filter((one) => anyIn(cidr, [one], context));
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
    params: { ...ADDRESSES, type: p.str(null) },
    async run({ type, ...bound }, context) {
      const addresses = await ownAddresses(bound, "inet", context);
      if (bound.cidr || (type !== "public" && type !== "private")) return addresses;
      return addresses.filter((one) => hasIpProperty(ipAddress(one), "private") === (type === "private"));
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

function propertyFunction(name: string, property: "private" | "loopback", example: string): ModuleFunction<JobContext> {
  return fn({
    doc: describe(`Return whether an address is a ${property} one.`, `network.${name} ${example}`),
    params: { ip_addr: p.str() },
    run: ({ ip_addr }) => hasIpProperty(ipAddress(ip_addr), property),
  });
}

export const is_private: ModuleFunction<JobContext> = propertyFunction("is_private", "private", "10.0.0.3");

export const is_loopback: ModuleFunction<JobContext> = propertyFunction("is_loopback", "loopback", "127.0.0.1");

export const reverse_ip: ModuleFunction<JobContext> = fn({
  doc: describe("Return the name for the reverse look-up of an address.", "network.reverse_ip 172.17.0.4"),
  params: { ip_addr: p.str() },
  run: ({ ip_addr }) => reversePointer(ip_addr),
});

export const ifacestartswith: ModuleFunction<JobContext> = fn({
  doc: describe("Return the interfaces that have an address with this prefix.", "network.ifacestartswith 10.0"),
  permissions: "all",
  params: { cidr: p.str() },
  run: async ({ cidr }, context) =>
    [...await readInterfaces(context)].flatMap(([name, { inet = [] }]) =>
      inet.filter(({ address }) => address.startsWith(cidr)).map(({ label }) => label ?? name)
    ),
});

export const iphexval: ModuleFunction<JobContext> = fn({
  doc: describe("Return an IPv4 address as hexadecimal digits.", "network.iphexval 10.0.0.1"),
  params: { ip: p.str() },
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
    params: { interface: p.any(null), include_loopback: p.bool(false), verbose: p.bool(false) },
    async run({ interface: globs, include_loopback, verbose }, context) {
      const networks = hostNetworks(chosenInterfaces(await readInterfaces(context), globs), family, include_loopback);
      if (!verbose) return networks.map(ipInterfaceText);
      return new Map(networks.map((one) => [ipInterfaceText(one), networkDetails(one)]));
    },
  });
}

export const ip_networks: ModuleFunction<JobContext> = networkFunction("ip_networks", "inet");

export const ip_networks6: ModuleFunction<JobContext> = networkFunction("ip_networks6", "inet6");
