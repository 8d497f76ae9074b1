/**
 * State module `network`: interfaces, their routes, and the settings of the network.
 * Source: Salt 3008.3 `salt/states/network.py`.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { isPythonError } from "#lib/python/errors.ts";
import { splitLines, splitWhitespace } from "#lib/text/split_lines.ts";
import { unifiedDiff } from "#lib/text/unified_diff.ts";
import { listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import { equals, isMap, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{ functions: ["ip.get_interface"], otherwise: "ip module could not be loaded" }],
};

/** A result under construction: it may report a failure. */
function failedAs(ret: StateResult, error: unknown): StateResult {
  return { ...ret, result: false, comment: messageOf(error) };
}

function lines(value: Value): string[] {
  if (typeof value === "string") return splitLines(value);
  return listOrEmpty(value).map(str);
}

/** The configuration before and after. */
interface Built {
  readonly old: Value;
  readonly now: Value;
}

function diff({ old, now }: Built): string {
  return unifiedDiff(lines(old), lines(now), { from: "", to: "", end: "" }).join("\n");
}

function isNew({ old, now }: Built): boolean {
  return !truthy(old) && truthy(now);
}

/** The texts for a built object. */
interface Words {
  /** Its name: `Interface eth0`. */
  readonly what: string;
  /** The rest of test mode's comment. */
  readonly are: string;
  /** The key of the changes, and what is under it for something new. */
  readonly key: string;
  readonly added: string;
}

/** Reports what would be done in test mode. */
function reportChanges(ret: StateResult, built: Built, { what, are }: Words): void {
  if (isNew(built)) {
    ret.result = null;
    ret.comment = `${what} ${are} set to be added.`;
  } else if (!equals(built.old, built.now)) {
    ret.result = null;
    ret.comment = `${what} ${are} set to be updated:\n${diff(built)}`;
  }
}

/**
 * Records the changes.
 * @returns Whether there are any.
 */
function noteBuilt(ret: StateResult, built: Built, { what, key, added }: Words): boolean {
  if (isNew(built)) {
    ret.comment = `${what} added.`;
    ret.changes.set(key, added);
    return true;
  }
  if (equals(built.old, built.now)) return false;
  ret.comment = `${what} updated.`;
  ret.changes.set(key, diff(built));
  return true;
}

/** Whether an interface is up, also one that is an address of another with a label. */
function status(interfaces: ValueMap, name: string): Value {
  const own = interfaces.get(name);
  if (own !== undefined) return isMap(own) ? own.get("up") ?? null : null;
  const labels = (list: Value | undefined) => listOrEmpty(list).map((one) => isMap(one) ? one.get("label") : undefined);
  return [...interfaces].some(([iface, data]) =>
    isMap(data) && (labels(data.get("secondary")).includes(name) ||
      iface === "lo" && ["inet", "inet6"].some((family) => {
          const values = labels(data.get(family));
          return values.length > 1 && values.includes(name);
        }))
  );
}

/**
 * Starts, stops or restarts the interface.
 * @returns Whether it was up before.
 */
async function bring(
  ret: StateResult,
  { name, type, enabled }: { readonly name: string; readonly type: string; readonly enabled: Value },
  settings: ValueMap,
  context: StateContext,
): Promise<Value> {
  const interfaces = await context.call("network.interfaces");
  const up = status(mapOrEmpty(interfaces), name);
  if (settings.has("noifupdown")) return up;
  const changed = ret.changes.size > 0;
  if (truthy(up) && (!truthy(enabled) || changed)) await context.call("ip.down", [name, type]);
  if (truthy(enabled) && (!truthy(up) || changed)) await context.call("ip.up", [name, type]);
  const action = truthy(enabled)
    ? truthy(up) ? changed ? "restart to validate" : undefined : "is up"
    : truthy(up)
    ? "down"
    : undefined;
  if (action !== undefined) ret.changes.set("status", `Interface ${name} ${action}`);
  return up;
}

/** Adds the missing interfaces to a bond. */
async function enslave(ret: StateResult, name: string, settings: ValueMap, context: StateContext): Promise<void> {
  const wanted = settings.get("slaves");
  if (!truthy(wanted)) return;
  const words = (value: Value) => splitWhitespace(str(value));
  const present = words(await context.call("cmd.run", [["cat", `/sys/class/net/${name}/bonding/slaves`]]));
  const desired = Array.isArray(wanted) ? wanted.map(str) : words(wanted ?? "");
  const missing = [...new Set(desired)].filter((one) => !present.includes(one));
  if (missing.length === 0 || context.grains.get("os_family") === "Suse") return;
  const program = str(await context.call("cmd.run", [["which", "ifenslave"]])).trim();
  if (program === "") context.log("error", "Command 'ifenslave' not found");
  else await context.call("cmd.run", [[program, name, ...missing]], new Map([["python_shell", false]]));
  ret.changes.set("enslave", `Added slaves '${missing.join(" ")}' to master '${name}'`);
}

/** The settings, with `addr` as an alias of `hwaddr`, and a warning for it. */
function withHardware(ret: StateResult, settings: ValueMap): void {
  const address = settings.get("addr");
  if (address === undefined) return;
  settings.delete("addr");
  const hasAddress = settings.has("hwaddr");
  if (!hasAddress) settings.set("hwaddr", address);
  const done = hasAddress
    ? "it has been ignored in favor of 'hwaddr'."
    : "its value has been assigned to 'hwaddr' instead.";
  ret.warnings = [`'addr' is not a valid argument name, ${done} Update your SLS file to get rid of this warning.`];
}

/** A ranged interface of the Red Hat family: the network is restarted for it. */
async function restartForRange(ret: StateResult, changed: boolean, context: StateContext): Promise<StateResult> {
  if (!changed) return { ...ret, result: true, comment: "no change, passing it" };
  try {
    const result = truthy(await context.call("service.restart", ["network"]));
    return { ...ret, result, comment: "network restarted for change of ranged interfaces" };
  } catch (error) {
    return failedAs(ret, error);
  }
}

export const managed: ModuleFunction<StateContext> = stateFn({
  doc: `A network interface is configured, and up or down.

name
    The interface.

type : eth
    The kind of the interface, which determines the other settings.

enabled : True
    Whether it is up, now and at boot.

noifupdown
    With True, the interface is neither started nor stopped.

All other arguments are settings of the interface, as \`ip.build_interface\` takes it.`,
  params: { name: p.str(), enabled: p.any(true) },
  varKwargs: "kwargs",
  async run({ name, enabled }, context, { kwargs }) {
    const settings: ValueMap = new Map(kwargs);
    const ret = { ...startResult(name), comment: `Interface ${name} is up to date.` };
    if (!settings.has("test")) settings.set("test", context.test);
    const test = truthy(settings.get("test"));
    const type = str(settings.get("type") ?? "eth");
    settings.delete("type");
    withHardware(ret, settings);
    let changed = false;
    try {
      const built: Built = {
        old: await context.call("ip.get_interface", [name]),
        now: await context.call("ip.build_interface", [name, type, enabled], new Map(settings)),
      };
      const words = { what: `Interface ${name}`, are: "is", key: "interface", added: "Added network interface." };
      if (test) reportChanges(ret, built, words);
      else changed = noteBuilt(ret, built, words);
      if (type === "source") return ret;
      if (type === "bond" && await context.catalogue.get("ip.get_bond") !== undefined) {
        const bond: Built = {
          old: await context.call("ip.get_bond", [name]),
          now: await context.call("ip.build_bond", [name], new Map(settings)),
        };
        const bondWords = { what: `Bond interface ${name}`, are: "is", key: "bond", added: `Added bond ${name}.` };
        if (test) reportChanges(ret, bond, bondWords);
        else if (noteBuilt(ret, bond, bondWords)) changed = true;
      }
    } catch (error) {
      if (!isPythonError(error, "AttributeError")) throw error;
      return failedAs(ret, error);
    }
    if (test) return ret;
    if (name.includes("range")) return await restartForRange(ret, changed, context);
    let up: Value;
    try {
      up = await bring(ret, { name, type, enabled }, settings, context);
    } catch (error) {
      return failedAs(ret, error);
    }
    if (type === "bond" && !settings.has("noifupdown")) await enslave(ret, name, settings, context);
    if (!truthy(enabled) || !truthy(up)) await context.call("saltutil.refresh_grains");
    return ret;
  },
});

export const routes: ModuleFunction<StateContext> = stateFn({
  doc: `An interface has these routes.

name
    The interface.

routes
    A list of maps: \`ipaddr\`, \`netmask\`, \`gateway\`, \`metric\`, \`name\`.`,
  params: { name: p.str() },
  varKwargs: "kwargs",
  async run({ name }, context, { kwargs }) {
    const settings: ValueMap = new Map(kwargs);
    const ret = { ...startResult(name), comment: `Interface ${name} routes are up to date.` };
    if (!settings.has("test")) settings.set("test", context.test);
    const added = `Added interface ${name} routes.`;
    const words = { what: `Interface ${name} routes`, are: "are", key: "network_routes", added };
    try {
      const built: Built = {
        old: await context.call("ip.get_routes", [name]),
        now: await context.call("ip.build_routes", [name], new Map(settings)),
      };
      if (truthy(settings.get("test")) && (isNew(built) || !equals(built.old, built.now))) {
        reportChanges(ret, built, words);
        return ret;
      }
      if (noteBuilt(ret, built, words)) await context.call("ip.apply_network_settings", [], new Map(settings));
      return ret;
    } catch (error) {
      if (!isPythonError(error, "AttributeError")) throw error;
      return failedAs(ret, error);
    }
  },
});

export const system: ModuleFunction<StateContext> = stateFn({
  doc: `The host has these network settings.

name
    A text, unique in the run.

enabled, hostname, search, gateway, nozeroconf, …
    The settings, as \`ip.build_network_settings\` takes them.

apply_hostname
    Whether the hostname is set immediately.

require_reboot
    Whether the settings are applied only at the next boot.

retain_settings
    Whether other settings are kept, on systems that keep them in one file.`,
  params: { name: p.str() },
  varKwargs: "kwargs",
  async run({ name }, context, { kwargs }) {
    const settings: ValueMap = new Map<Value, Value>([...kwargs, ["test", context.test]]);
    const unchanged = "Global network settings are up to date.";
    const ret = { ...startResult(name), comment: unchanged };
    const what = "Global network settings";
    const words = { what, are: "are", key: "network_settings", added: "Added global network settings." };
    try {
      const built: Built = {
        old: await context.call("ip.get_network_settings"),
        now: await context.call("ip.build_network_settings", [], new Map(settings)),
      };
      if (context.test) reportChanges(ret, built, words);
      else if (noteBuilt(ret, built, words)) {
        // Salt's comment is the same after a change.
        ret.comment = unchanged;
        await context.call("ip.apply_network_settings", [], new Map(settings));
      }
      return ret;
    } catch (error) {
      if (!isPythonError(error, "AttributeError", "KeyError")) throw error;
      return failedAs(ret, error);
    }
  },
});
