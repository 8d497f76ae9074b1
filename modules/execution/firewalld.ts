/**
 * Execution module `firewalld`: zones, services and rules of firewalld.
 * Source: the functions of Salt 3008.3 `salt/modules/firewalld.py`.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { firewallCmd, firewallWords, parseForwards, parseZones } from "#lib/host/firewall/firewall_cmd.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p, type Parameters } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { str, type Value } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{
    programs: ["firewall-cmd"],
    otherwise: "The firewalld execution module cannot be loaded: the firewall-cmd binary is not in the path.",
  }],
};

type Bound = Readonly<Record<string, Value>>;

/** What an answer is made of. */
type Read = (words: readonly string[], context: JobContext) => Promise<unknown>;

const PERMANENT = { permanent: p.bool(true) };
const RESTART = { restart: p.bool(true) };
/** The zone, by default the one that is the default. */
const ANY_ZONE = { zone: p.str(null), ...PERMANENT };

/**
 * A function of one call of firewall-cmd.
 * @param words Makes its words of the arguments, but those for zone and permanence.
 */
function command<P extends Parameters>(
  doc: string,
  params: P,
  words: (bound: Bound) => readonly string[],
  read: Read = firewallCmd,
): ModuleFunction<JobContext> {
  return {
    doc,
    permissions: "all",
    params,
    run: (given, context) => read(withPlace(given as Bound, words(given as Bound)), context),
  };
}

/** The words with the zone in front and the permanence at the end, as far as they are given. */
function withPlace(bound: Bound, words: readonly string[]): string[] {
  const zone = bound.zone ?? null;
  return [
    ...zone === null || zone === "" ? [] : [`--zone=${str(zone)}`],
    ...words,
    ...bound.permanent === true ? ["--permanent"] : [],
  ];
}

export const version: ModuleFunction<JobContext> = command(
  describe("Return the version of firewalld.", "firewalld.version"),
  {},
  () => ["--version"],
);

export const reload_rules: ModuleFunction<JobContext> = command(
  describe("Load the permanent rules; those of the running firewall alone are lost.", "firewalld.reload_rules"),
  {},
  () => ["--reload"],
);

export const default_zone: ModuleFunction<JobContext> = command(
  describe("Return the default zone.", "firewalld.default_zone"),
  {},
  () => ["--get-default-zone"],
);

export const set_default_zone: ModuleFunction<JobContext> = fn({
  doc: describe("Set the default zone.", "firewalld.set_default_zone damian"),
  permissions: "all",
  params: { zone: p.str() },
  run: ({ zone }, context) => firewallCmd([`--set-default-zone=${zone}`], context),
});

const readZones: Read = async (words, context) => parseZones(await firewallCmd(words, context));

export const list_zones: ModuleFunction<JobContext> = command(
  describe("Return all zones with their settings.", "firewalld.list_zones"),
  PERMANENT,
  () => ["--list-all-zones"],
  readZones,
);

export const list_all: ModuleFunction<JobContext> = command(
  describe(
    "Return a zone with its settings, by default the default one.",
    "firewalld.list_all",
    "firewalld.list_all my_zone",
  ),
  ANY_ZONE,
  () => ["--list-all"],
  readZones,
);

export const get_zones: ModuleFunction<JobContext> = command(
  describe("Return the names of the zones.", "firewalld.get_zones"),
  PERMANENT,
  () => ["--get-zones"],
  firewallWords,
);

export const get_services: ModuleFunction<JobContext> = command(
  describe("Return the names of the known services.", "firewalld.get_services"),
  PERMANENT,
  () => ["--get-services"],
  firewallWords,
);

export const get_icmp_types: ModuleFunction<JobContext> = command(
  describe("Return the names of the known ICMP types.", "firewalld.get_icmp_types"),
  PERMANENT,
  () => ["--get-icmptypes"],
  firewallWords,
);

/** Makes or deletes a zone or service permanently, and loads the rules. */
function managing(kind: "zone" | "service", action: "new" | "delete", doc: string): ModuleFunction<JobContext> {
  const name = kind === "zone" ? "zone" : "name";
  return {
    doc: describe(doc, `firewalld.${action}_${kind} my_${kind}`),
    permissions: "all",
    params: { [name]: p.str(), ...RESTART },
    async run(bound, context) {
      const words = [`--${action}-${kind}=${str((bound as Bound)[name])}`, "--permanent"];
      const output = await firewallCmd(words, context);
      return bound.restart === true && output === "success" ? await firewallCmd(["--reload"], context) : output;
    },
  };
}

export const new_zone: ModuleFunction<JobContext> = managing(
  "zone",
  "new",
  "Make a zone. restart: load the rules then.",
);
export const delete_zone: ModuleFunction<JobContext> = managing("zone", "delete", "Delete a zone.");
export const new_service: ModuleFunction<JobContext> = managing("service", "new", "Make a service.");
export const delete_service: ModuleFunction<JobContext> = managing("service", "delete", "Delete a service.");

export const list_services: ModuleFunction<JobContext> = command(
  describe("Return the services of a zone.", "firewalld.list_services", "firewalld.list_services my_zone"),
  ANY_ZONE,
  () => ["--list-services"],
  firewallWords,
);

export const add_service: ModuleFunction<JobContext> = command(
  describe(
    "Add a service to a zone, for good or with permanent=False until the next load.",
    "firewalld.add_service ssh",
    "firewalld.add_service ssh my_zone",
  ),
  { service: p.str(), ...ANY_ZONE },
  ({ service }) => [`--add-service=${str(service)}`],
);

export const remove_service: ModuleFunction<JobContext> = command(
  describe("Remove a service from a zone.", "firewalld.remove_service ssh", "firewalld.remove_service ssh dmz"),
  { service: p.str(), ...ANY_ZONE },
  ({ service }) => [`--remove-service=${str(service)}`],
);

/** Adds a port to a service that there is, or removes it. */
function servicePort(action: "add" | "remove", doc: string): ModuleFunction<JobContext> {
  return fn({
    doc: describe(doc, `firewalld.${action}_service_port zone 80`),
    permissions: "all",
    params: { service: p.str(), port: p.str() },
    async run({ service, port }, context) {
      if (!(await firewallWords(["--get-services", "--permanent"], context)).includes(service)) {
        throw new CommandError("The service does not exist.");
      }
      return await firewallCmd(["--permanent", `--service=${service}`, `--${action}-port=${port}`], context);
    },
  });
}

export const add_service_port: ModuleFunction<JobContext> = servicePort("add", "Add a port to a service.");
export const remove_service_port: ModuleFunction<JobContext> = servicePort("remove", "Remove a port from a service.");

export const get_service_ports: ModuleFunction<JobContext> = command(
  describe("Return the ports of a service.", "firewalld.get_service_ports zone"),
  { service: p.str() },
  ({ service }) => ["--permanent", `--service=${str(service)}`, "--get-ports"],
  firewallWords,
);

export const add_service_protocol: ModuleFunction<JobContext> = command(
  describe("Add a protocol to a service.", "firewalld.add_service_protocol zone ssh"),
  { service: p.str(), protocol: p.str() },
  ({ service, protocol }) => ["--permanent", `--service=${str(service)}`, `--add-protocol=${str(protocol)}`],
);

export const remove_service_protocol: ModuleFunction<JobContext> = command(
  describe("Remove a protocol from a service.", "firewalld.remove_service_protocol zone ssh"),
  { service: p.str(), protocol: p.str() },
  ({ service, protocol }) => ["--permanent", `--service=${str(service)}`, `--remove-protocol=${str(protocol)}`],
);

export const get_service_protocols: ModuleFunction<JobContext> = command(
  describe("Return the protocols of a service.", "firewalld.get_service_protocols zone"),
  { service: p.str() },
  ({ service }) => ["--permanent", `--service=${str(service)}`, "--get-protocols"],
  firewallWords,
);

async function masquerades(bound: Bound, context: JobContext): Promise<boolean> {
  const zones = parseZones(await firewallCmd(withPlace(bound, ["--list-all"]), context));
  return ![...zones.values()].some((zone) => zone.get("masquerade")?.[0] === "no");
}

export const get_masquerade: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether a zone masquerades.", "firewalld.get_masquerade zone"),
  permissions: "all",
  params: ANY_ZONE,
  run: (bound, context) => masquerades(bound, context),
});

export const add_masquerade: ModuleFunction<JobContext> = command(
  describe("Have a zone masquerade.", "firewalld.add_masquerade", "firewalld.add_masquerade dmz"),
  ANY_ZONE,
  () => ["--add-masquerade"],
);

export const remove_masquerade: ModuleFunction<JobContext> = command(
  describe("Have a zone no longer masquerade.", "firewalld.remove_masquerade", "firewalld.remove_masquerade dmz"),
  ANY_ZONE,
  () => ["--remove-masquerade"],
);

/** Makes a zone masquerade permanently, unless it does already. */
async function masquerade(zone: Value, context: JobContext): Promise<void> {
  const place = { zone, permanent: true };
  if (!await masquerades(place, context)) await firewallCmd(withPlace(place, ["--add-masquerade"]), context);
}

const ZONE = { zone: p.str() };

export const add_port: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Open a port in a zone: `443/tcp`. force_masquerade=True also enables masquerading in the zone.",
    "firewalld.add_port internal 443/tcp",
  ),
  permissions: "all",
  params: { ...ZONE, port: p.str(), ...PERMANENT, force_masquerade: p.bool(false) },
  async run(bound, context) {
    if (bound.force_masquerade) await masquerade(bound.zone, context);
    return await firewallCmd(withPlace(bound, [`--add-port=${bound.port}`]), context);
  },
});

export const remove_port: ModuleFunction<JobContext> = command(
  describe("Close a port in a zone.", "firewalld.remove_port internal 443/tcp"),
  { ...ZONE, port: p.str(), ...PERMANENT },
  ({ port }) => [`--remove-port=${str(port)}`],
);

export const list_ports: ModuleFunction<JobContext> = command(
  describe("Return the open ports of a zone.", "firewalld.list_ports"),
  { ...ZONE, ...PERMANENT },
  () => ["--list-ports"],
  firewallWords,
);

const FORWARD = { ...ZONE, src: p.str(), dest: p.str(), proto: p.str("tcp"), dstaddr: p.str(""), ...PERMANENT };

function forward({ src, dest, proto, dstaddr }: Bound): string {
  return `port=${str(src)}:proto=${str(proto)}:toport=${str(dest)}:toaddr=${str(dstaddr)}`;
}

export const add_port_fwd: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Forward a port of a zone to another one, of this host or of dstaddr.",
    "firewalld.add_port_fwd public 80 443 tcp",
  ),
  permissions: "all",
  params: { ...FORWARD, force_masquerade: p.bool(false) },
  async run(bound, context) {
    if (bound.force_masquerade) await masquerade(bound.zone, context);
    return await firewallCmd(withPlace(bound, [`--add-forward-port=${forward(bound)}`]), context);
  },
});

export const remove_port_fwd: ModuleFunction<JobContext> = command(
  describe("Forward a port no longer.", "firewalld.remove_port_fwd public 80 443 tcp"),
  FORWARD,
  (bound) => [`--remove-forward-port=${forward(bound)}`],
);

export const list_port_fwd: ModuleFunction<JobContext> = command(
  describe("Return the forwarded ports of a zone.", "firewalld.list_port_fwd public"),
  { ...ZONE, ...PERMANENT },
  () => ["--list-forward-ports"],
  async (words, context) => parseForwards(await firewallCmd(words, context)),
);

/** Blocks or allows an ICMP type in a zone, unless it is so. */
function icmp(action: "block" | "allow", doc: string): ModuleFunction<JobContext> {
  const word = action === "block" ? "add" : "remove";
  return fn({
    doc: describe(doc, `firewalld.${action}_icmp zone echo-reply`),
    permissions: "all",
    params: { ...ZONE, icmp: p.str(), ...PERMANENT },
    async run({ zone, icmp: type, permanent }, context) {
      const types = await firewallWords(withPlace({ permanent }, ["--get-icmptypes"]), context);
      if (!types.includes(type)) {
        context.log("error", "Invalid ICMP type");
        return false;
      }
      const blocked = await firewallWords(withPlace({ zone, permanent }, ["--list-icmp-blocks"]), context);
      if (blocked.includes(type) === (action === "block")) return "success";
      return await firewallCmd(withPlace({ zone, permanent }, [`--${word}-icmp-block=${type}`]), context);
    },
  });
}

export const block_icmp: ModuleFunction<JobContext> = icmp("block", "Block an ICMP type in a zone.");
export const allow_icmp: ModuleFunction<JobContext> = icmp("allow", "Let an ICMP type through in a zone.");

export const list_icmp_block: ModuleFunction<JobContext> = command(
  describe("Return the blocked ICMP types of a zone.", "firewalld.list_icmp_block zone"),
  { ...ZONE, ...PERMANENT },
  () => ["--list-icmp-blocks"],
  firewallWords,
);

export const make_permanent: ModuleFunction<JobContext> = command(
  describe("Keep the rules of the running firewall for good.", "firewalld.make_permanent"),
  {},
  () => ["--runtime-to-permanent"],
);

export const get_interfaces: ModuleFunction<JobContext> = command(
  describe("Return the interfaces of a zone.", "firewalld.get_interfaces zone"),
  { ...ZONE, ...PERMANENT },
  () => ["--list-interfaces"],
  firewallWords,
);

export const get_sources: ModuleFunction<JobContext> = command(
  describe("Return the sources of a zone.", "firewalld.get_sources zone"),
  { ...ZONE, ...PERMANENT },
  () => ["--list-sources"],
  firewallWords,
);

/** Adds an interface or a source to a zone, or removes it; the log says if that changes nothing. */
function binding(kind: "interface" | "source", action: "add" | "remove", doc: string): ModuleFunction<JobContext> {
  const example = kind === "interface" ? "eth0" : "192.168.1.0/24";
  return {
    doc: describe(doc, `firewalld.${action}_${kind} zone ${example}`),
    permissions: "all",
    params: { ...ZONE, [kind]: p.str(), ...PERMANENT },
    async run(given, context) {
      const bound = given as Bound;
      const name = str(bound[kind]);
      const there = await firewallWords(withPlace(bound, [`--list-${kind}s`]), context);
      if (there.includes(name) === (action === "add")) {
        context.log("info", `The ${kind} is ${action === "add" ? "already" : "not"} bound to the zone.`);
      }
      return await firewallCmd(withPlace(bound, [`--${action}-${kind}=${name}`]), context);
    },
  };
}

export const add_interface: ModuleFunction<JobContext> = binding("interface", "add", "Add an interface to a zone.");
export const remove_interface: ModuleFunction<JobContext> = binding(
  "interface",
  "remove",
  "Remove an interface from a zone.",
);
export const add_source: ModuleFunction<JobContext> = binding("source", "add", "Add a source to a zone.");
export const remove_source: ModuleFunction<JobContext> = binding("source", "remove", "Remove a source from a zone.");

export const get_rich_rules: ModuleFunction<JobContext> = command(
  describe("Return the rich rules of a zone.", "firewalld.get_rich_rules zone"),
  { ...ZONE, ...PERMANENT },
  () => ["--list-rich-rules"],
  async (words, context) => (await firewallCmd(words, context)).split("\n").filter((line) => line !== ""),
);

export const add_rich_rule: ModuleFunction<JobContext> = command(
  describe("Add a rich rule to a zone.", "firewalld.add_rich_rule zone 'rule'"),
  { ...ZONE, rule: p.str(), ...PERMANENT },
  ({ rule }) => [`--add-rich-rule=${str(rule)}`],
);

export const remove_rich_rule: ModuleFunction<JobContext> = command(
  describe("Remove a rich rule from a zone.", "firewalld.remove_rich_rule zone 'rule'"),
  { ...ZONE, rule: p.str(), ...PERMANENT },
  ({ rule }) => [`--remove-rich-rule=${str(rule)}`],
);
