/**
 * State module `firewalld`: zones of firewalld, and services.
 * Source: Salt 3008.3 `salt/states/firewalld.py`.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { formatNested } from "#lib/output/nested.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{
    programs: ["firewall-cmd"],
    otherwise: "firewall-cmd is not available, firewalld is probably not installed.",
  }],
};

const PERMANENT: ValueMap = new Map([["permanent", true]]);

async function listParts(context: StateContext, fun: string, args: Value[], kwargs?: ValueMap): Promise<Value[]> {
  return listOrEmpty(await context.call(`firewalld.${fun}`, args, kwargs));
}

/** `these` without those that `others` has. */
function without(these: readonly string[], others: readonly string[]): string[] {
  return [...new Set(these)].filter((one) => !others.includes(one));
}

/** One kind of thing that a zone or a service has several of. */
interface Part {
  /** Its name in `changes`. */
  readonly key: string;
  readonly wanted: readonly string[];
  /** Whether others are removed. */
  readonly prunes: boolean;
  /** Those that exist. */
  readonly current: () => Promise<string[]>;
  readonly add: (one: string) => Promise<Value>;
  readonly remove: (one: string) => Promise<Value>;
  /** How one is shown in `changes`. */
  readonly show?: (one: string) => Value;
}

/** Makes what is there what is wanted, and notes what differs. */
async function bring(
  { key, wanted, prunes, current, add, remove, show = (one) => one }: Part,
  changes: ValueMap,
  test: boolean,
) {
  const there = await current();
  const missing = without(wanted, there);
  const surplus = prunes ? without(there, wanted) : [];
  if (!test) {
    for (const one of missing) await add(one);
    for (const one of surplus) await remove(one);
  }
  if (missing.length + surplus.length === 0) return;
  const now = prunes ? wanted : [...missing, ...there];
  changes.set(key, map({ old: there.map(show), new: now.map(show) }));
}

/** A rule with the quotes that firewalld puts around values. */
function normalRule(rule: string): string {
  return rule.split(" ").map((word) => {
    const at = word.indexOf("=");
    if (at < 0) return word;
    const value = word.slice(at + 1);
    if (value.startsWith('"') || value.endsWith('"')) return word;
    const isQuoted = value.startsWith("'") && value.endsWith("'");
    return `${word.slice(0, at)}="${isQuoted ? value.slice(1, -1) : value}"`;
  }).join(" ").trimStart();
}

/** A forwarding as one text: `srcport:destport:protocol:destaddr`. */
function forwarding(given: string): string {
  return given.split(":").length > 3 ? given : `${given}:`;
}

/** The parts of a forwarding, as firewalld.list_port_fwd names them. */
const FORWARDING = ["Source port", "Destination port", "Protocol", "Destination address"];

function shownForwarding(one: string): Value {
  return new Map(one.split(":").map((part, i) => [FORWARDING[i], part]));
}

const ZONE = {
  name: p.str(),
  block_icmp: p.any(null),
  prune_block_icmp: p.any(false),
  default: p.any(null),
  masquerade: p.any(null),
  ports: p.any(null),
  prune_ports: p.any(false),
  port_fwd: p.any(null),
  prune_port_fwd: p.any(false),
  services: p.any(null),
  prune_services: p.any(false),
  interfaces: p.any(null),
  prune_interfaces: p.any(false),
  sources: p.any(null),
  prune_sources: p.any(false),
  rich_rules: p.any(null),
  prune_rich_rules: p.any(false),
};

type Zone = Readonly<Record<keyof typeof ZONE, Value>>;

function texts(value: Value): string[] {
  return Array.isArray(value) ? value.map(str) : value === null ? [] : [str(value)];
}

/** The parts of a zone that are lists; those of which nothing is said are left alone. */
function partsOf(zone: Zone, isNew: boolean, context: StateContext): Part[] {
  const name = str(zone.name);
  const call = (fun: string, args: Value[], kwargs: ValueMap = PERMANENT) =>
    context.call(`firewalld.${fun}`, args, kwargs);
  // A zone that is only planned has nothing yet, and firewalld knows nothing of it.
  const current = (fun: string) => async () => isNew ? [] : (await listParts(context, fun, [name], PERMANENT)).map(str);
  const plain = (
    key: string,
    given: { readonly wanted: Value; readonly prune: Value },
    functions: { readonly list: string; readonly add: string; readonly remove: string },
    more: ValueMap = PERMANENT,
  ): Part => ({
    key,
    wanted: texts(given.wanted),
    prunes: truthy(given.prune),
    current: current(functions.list),
    add: (one) => call(functions.add, [name, one], more),
    remove: (one) => call(functions.remove, [name, one]),
  });
  const noMasquerade = new Map<Value, Value>([...PERMANENT, ["force_masquerade", false]]);
  const parts: Part[] = [
    plain("ports", { wanted: zone.ports, prune: zone.prune_ports }, {
      list: "list_ports",
      add: "add_port",
      remove: "remove_port",
    }, noMasquerade),
    {
      key: "port_fwd",
      wanted: texts(zone.port_fwd).map(forwarding),
      prunes: truthy(zone.prune_port_fwd),
      current: async () => {
        const rules = isNew ? [] : await listParts(context, "list_port_fwd", [name], PERMANENT);
        return rules.flatMap((one) => isMap(one) ? [FORWARDING.map((key) => str(one.get(key) ?? "")).join(":")] : []);
      },
      add: (one) => call("add_port_fwd", [name, ...one.split(":")], noMasquerade),
      remove: (one) => call("remove_port_fwd", [name, ...one.split(":")]),
      show: shownForwarding,
    },
    {
      ...plain("services", { wanted: zone.services, prune: zone.prune_services }, {
        list: "list_services",
        add: "",
        remove: "",
      }),
      add: (one) => call("add_service", [one, name]),
      remove: (one) => call("remove_service", [one, name]),
    },
    plain("interfaces", { wanted: zone.interfaces, prune: zone.prune_interfaces }, {
      list: "get_interfaces",
      add: "add_interface",
      remove: "remove_interface",
    }),
    plain("sources", { wanted: zone.sources, prune: zone.prune_sources }, {
      list: "get_sources",
      add: "add_source",
      remove: "remove_source",
    }),
    plain("rich_rules", { wanted: texts(zone.rich_rules).map(normalRule), prune: zone.prune_rich_rules }, {
      list: "get_rich_rules",
      add: "add_rich_rule",
      remove: "remove_rich_rule",
    }),
  ];
  return parts.filter(({ wanted, prunes }) => wanted.length > 0 || prunes);
}

/** The ICMP types of a zone: those that firewalld does not know are left out, and logged. */
async function icmpPart(zone: Zone, isNew: boolean, context: StateContext): Promise<Part | undefined> {
  const prunes = truthy(zone.prune_block_icmp);
  const given = texts(zone.block_icmp);
  if (given.length === 0 && !prunes) return undefined;
  const name = str(zone.name);
  const there = isNew ? [] : (await listParts(context, "list_icmp_block", [name], PERMANENT)).map(str);
  const valid = given.length === 0 ? [] : (await listParts(context, "get_icmp_types", [], PERMANENT)).map(str);
  for (const one of without(given, valid)) context.log("error", `${one} is an invalid ICMP type`);
  return {
    key: "icmp_types",
    wanted: given.filter((one) => valid.includes(one)),
    prunes,
    current: () => Promise.resolve(there),
    add: (one) => context.call("firewalld.block_icmp", [name, one], PERMANENT),
    remove: (one) => context.call("firewalld.allow_icmp", [name, one], PERMANENT),
  };
}

async function bringDefault(zone: Zone, changes: ValueMap, context: StateContext): Promise<void> {
  if (!truthy(zone.default)) return;
  const current = await context.call("firewalld.default_zone");
  if (current === zone.name) return;
  if (!context.test) await context.call("firewalld.set_default_zone", [zone.name]);
  changes.set("default", map({ old: current, new: zone.name }));
}

async function bringMasquerade(zone: Zone, isNew: boolean, changes: ValueMap, context: StateContext): Promise<void> {
  const current = isNew ? false : await context.call("firewalld.get_masquerade", [zone.name], PERMANENT);
  if (zone.masquerade === null || truthy(zone.masquerade) === truthy(current)) return;
  const [fun, word] = truthy(zone.masquerade) ? ["add_masquerade", "set"] : ["remove_masquerade", "disabled"];
  if (!context.test) await context.call(`firewalld.${fun}`, [zone.name], PERMANENT);
  changes.set("masquerade", map({ old: current, new: `Masquerading successfully ${word}.` }));
}

async function bringZone(zone: Zone, changes: ValueMap, context: StateContext): Promise<void> {
  const zones = await listParts(context, "get_zones", [], PERMANENT);
  const isMissing = !zones.includes(zone.name);
  if (isMissing) {
    if (!context.test) await context.call("firewalld.new_zone", [zone.name]);
    changes.set(zone.name, map({ old: zones, new: zone.name }));
  }
  const isPlanned = isMissing && context.test;
  const icmp = await icmpPart(zone, isPlanned, context);
  if (icmp !== undefined) await bring(icmp, changes, context.test);
  await bringDefault(zone, changes, context);
  await bringMasquerade(zone, isPlanned, changes, context);
  for (const part of partsOf(zone, isPlanned, context)) await bring(part, changes, context.test);
}

/** Runs a change of firewalld; one that fails is a result with what was changed before. */
async function attemptChange(name: string, run: (changes: ValueMap) => Promise<void>): Promise<StateResult> {
  const changes: ValueMap = new Map();
  try {
    await run(changes);
    return { ...startResult(name), changes };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return failState(name, `Error: ${error.message}`, changes);
  }
}

export const present: ModuleFunction<StateContext> = stateFn({
  doc:
    "Make sure that a zone exists with these settings: permanently, and, after a reload, now.\n\nname\n    The zone.\n\nblock_icmp\n" +
    "    ICMP types to block.\n\ndefault\n    Whether it becomes the default zone.\n\nmasquerade\n    Whether it masquerades.\n\nports\n    " +
    "Ports like 22/tcp.\n\nport_fwd\n    Forwardings: srcport:destport:protocol:destaddr.\n\nservices, interfaces, sources, rich_rules\n    " +
    "Lists.\n\nprune_block_icmp, prune_ports, prune_port_fwd, prune_services, prune_interfaces, prune_sources, prune_rich_rules\n    Whether " +
    "others are removed. Default: False.",
  params: ZONE,
  async run(zone, context) {
    const { name } = zone;
    const done = await attemptChange(name, (changes) => bringZone(zone, changes, context));
    if (context.test && done.result === true && done.changes.size > 0) {
      const text = formatNested(done.changes, { color: false }).trimEnd();
      return { ...startResult(name, null), comment: `Configuration for '${name}' will change:\n${text}` };
    }
    if (done.changes.size > 0 && !context.test) await context.call("firewalld.reload_rules");
    if (done.result !== true) return done;
    return {
      ...done,
      comment: done.changes.size > 0 ? `'${name}' was configured.` : `'${name}' is already in the desired state.`,
    };
  },
});

export const service: ModuleFunction<StateContext> = stateFn({
  doc:
    "Make sure that there is a service with exactly these ports and protocols.\n\nname\n    The service.\n\nports\n    Ports like 22/tcp." +
    "\n\nprotocols\n    Protocols like igmp.",
  params: { name: p.str(), ports: p.list(null), protocols: p.list(null) },
  async run({ name, ports, protocols }, context) {
    const isMissing = !(await listParts(context, "get_services", [])).includes(name);
    if (isMissing && !context.test) await context.call("firewalld.new_service", [name], map({ restart: false }));
    const part = (key: string, one: string, wanted: Value): Part => ({
      key,
      wanted: texts(wanted),
      prunes: true,
      current: async () =>
        isMissing && context.test ? [] : (await listParts(context, `get_service_${key}`, [name])).map(str),
      add: (value) => context.call(`firewalld.add_service_${one}`, [name, value]),
      remove: (value) => context.call(`firewalld.remove_service_${one}`, [name, value]),
    });
    const done = await attemptChange(name, async (changes) => {
      await bring(part("ports", "port", ports), changes, context.test);
      await bring(part("protocols", "protocol", protocols), changes, context.test);
    });
    if (done.result !== true) return done;
    if (done.changes.size === 0) return { ...done, comment: `'${name}' is already in the desired state.` };
    if (context.test) return { ...done, result: null, comment: `Configuration for '${name}' will change.` };
    await context.call("firewalld.reload_rules");
    return { ...done, comment: `'${name}' was configured.` };
  },
});
