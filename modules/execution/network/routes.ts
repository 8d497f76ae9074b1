/**
 * The functions of the module `network` for routes and neighbours.
 * Source: the functions of Salt 3008.3 `salt/modules/network.py` for Linux.
 * @module
 */

import { output } from "./reading.ts";
import { CommandError } from "#lib/errors.ts";
import { checkedWord, needPrograms } from "#lib/programs/run_program.ts";
import { which } from "#lib/programs/which.ts";
import {
  parseArp,
  parseIpRoutes,
  parseIpRoutes6,
  parseNeighbours,
  parseNetstatRoutes,
  parseNetstatRoutes6,
  parseRouteTo,
  type Route,
} from "#lib/host/network/routes.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { repr } from "#lib/values/value.ts";

export const arp: ModuleFunction<JobContext> = fn({
  doc: describe("Return the IPv4 addresses of the neighbours by hardware address, as `arp` tells.", "network.arp"),
  permissions: "all",
  params: {},
  async run(_bound, context) {
    needPrograms("arp");
    return parseArp(await output(["arp", "-an"], context));
  },
});

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
  params: { family: p.str(null) },
  run: ({ family }, context) => readRoutes(family, context),
});

const DEFAULTS = { inet: ["0.0.0.0", "default"], inet6: ["::/0", "default"] };

export const default_route: ModuleFunction<JobContext> = fn({
  doc: describe("Return the default routes, of one family (inet, inet6) or of both.", "network.default_route"),
  permissions: "all",
  params: { family: p.str(null) },
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
    "Return the route to an address: `gateway`, `interface` and `source` address.",
    "network.get_route 10.10.10.10",
  ),
  permissions: "all",
  params: { ip: p.str() },
  async run({ ip }, context) {
    const printed = await output(["ip", "route", "get", checkedWord(ip, "address")], context);
    const route = parseRouteTo(printed);
    if (route === undefined) throw new CommandError(`ip tells no route to ${repr(ip)}: ${printed}`);
    return { destination: ip, ...route };
  },
});
