/**
 * The routing tables and neighbours from the output of `netstat` or `ip`, in the form of Salt's `network.routes` and
 * similar functions. Source: Salt 3008.3, `salt/modules/network.py`; netstat(8), ip-route(8), ip-neighbour(8), arp(8).
 * @module
 */

import { stripChars } from "#lib/values/python_text.ts";
import { splitRows } from "#lib/text/split_lines.ts";
import { networkAround, networkParts } from "./interfaces.ts";

/** One route. */
export interface Route {
  readonly addr_family: "inet" | "inet6";
  readonly destination: string;
  readonly gateway: string;
  /** IPv4: 255.255.255.0 */
  readonly netmask: string;
  readonly flags: string;
  readonly interface: string;
}

/** Parses the output of `netstat -A inet -rn`, below its two lines of headings. */
export function parseNetstatRoutes(text: string): Route[] {
  return splitRows(text.split("\n").slice(2).join("\n")).filter((words) => words.length >= 8).map((
    [destination, gateway, netmask, flags, , , , device],
  ) => ({ addr_family: "inet", destination, gateway, netmask, flags, interface: device }));
}

/** Parses the output of `netstat -A inet6 -rn`, below its two lines of headings. */
export function parseNetstatRoutes6(text: string): Route[] {
  return splitRows(text.split("\n").slice(2).join("\n")).filter(({ length }) => length === 6 || length === 7).map(
    (words) => {
      const [destination, gateway, flags] = words;
      return { addr_family: "inet6", destination, gateway, netmask: "", flags, interface: words[words.length - 1] };
    },
  );
}

/** Parses the output of `ip -4 route show table main`. */
export function parseIpRoutes(text: string): Route[] {
  return splitRows(text).filter(([kind]) => kind !== "unreachable").map((words) => {
    const [destination, second, third, fourth, fifth] = words;
    if (destination === "default") {
      return {
        addr_family: "inet",
        destination: "0.0.0.0",
        gateway: third,
        netmask: "0.0.0.0",
        flags: "UG",
        interface: fourth === "dev" ? fifth : "",
      };
    }
    const { network, netmask } = networkParts(networkAround(destination, null));
    return {
      addr_family: "inet",
      destination: network,
      gateway: "0.0.0.0",
      netmask,
      flags: "U",
      interface: second === "dev" ? third : "",
    };
  });
}

/** Kinds of IPv6 routes that are left out. */
const OTHER_KINDS: readonly string[] = [
  "unicast",
  "broadcast",
  "throw",
  "unreachable",
  "prohibit",
  "blackhole",
  "nat",
  "anycast",
  "multicast",
];

/** Parses the output of `ip -6 route show table all`. */
export function parseIpRoutes6(text: string): Route[] {
  return splitRows(text).filter(([kind]) => !OTHER_KINDS.includes(kind)).map((words) => {
    const [destination, second, third, fourth, fifth] = words;
    const route = { addr_family: "inet6", netmask: "" } as const;
    if (destination === "default") {
      const device = fourth === "dev" ? fifth : "";
      return { ...route, destination: "::/0", gateway: third, flags: "UG", interface: device };
    }
    if (destination === "local") {
      const device = third === "dev" ? fourth : "";
      return { ...route, destination: `${second}/128`, gateway: "::", flags: "U", interface: device };
    }
    return { ...route, destination, gateway: "::", flags: "U", interface: second === "dev" ? third : "" };
  });
}

/** The route to an address from `ip route get`; `undefined` if there is none. */
export function parseRouteTo(text: string): { gateway: string | null; interface: string; source: string } | undefined {
  const match = /(?:via\s+([\w.:]+))?\s+dev\s+([\w.:-]+)\s+.*src\s+([\w.:]+)/.exec(text.split("\n", 1)[0]);
  return match === null ? undefined : { gateway: match[1] ?? null, interface: match[2], source: match[3] };
}

/** The addresses of `arp -an` by hardware address. */
export function parseArp(text: string): Map<string, string> {
  return new Map(
    splitRows(text).flatMap(([, address, , hardware]): [string, string][] =>
      hardware === undefined ? [] : [[hardware, stripChars(address, "()")]]
    ),
  );
}

/** The addresses of a family in the output of `ip neigh show`, by hardware address. */
export function parseNeighbours(text: string, family: "inet" | "inet6"): Map<string, string> {
  const mark = family === "inet" ? "." : ":";
  return new Map(
    splitRows(text).flatMap(([address, , , , hardware]): [string, string][] =>
      hardware === undefined || !address.includes(mark) ? [] : [[hardware, address]]
    ),
  );
}
