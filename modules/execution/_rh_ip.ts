/**
 * The functions of the module `ip` for the Red Hat family, whose network the scripts of
 * `/etc/sysconfig/network-scripts` describe. Source: the functions of Salt 3008.3 `salt/modules/rh_ip.py`.
 * @module
 */

import { applying, install, type IpFunctions, isTest, reading, startOrStop } from "./_ip_functions.ts";
import { CommandError } from "#lib/errors.ts";
import { isIpv6Setting, requireSetting, settingError, wrongSetting } from "#lib/host/network/interface_settings.ts";
import { routesOf } from "#lib/host/network/debian_settings.ts";
import { ifcfgText, rhInterface, type RhInterfaceOptions } from "#lib/host/network/rh_interface.ts";
import {
  checkedNetwork,
  linesOf,
  networkText,
  oldRoutesText,
  routesText,
  settingsIn,
} from "#lib/host/network/rh_settings.ts";
import { ScriptFiles } from "#lib/host/network/script_files.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { pythonError } from "#lib/python/errors.ts";
import { isMap, str, toNumber, truthy, typeName, type Value, type ValueMap } from "#lib/values/value.ts";

const SCRIPTS = "/etc/sysconfig/network-scripts";
const NETWORK = "/etc/sysconfig/network";
const TYPES = "eth bond team alias clone ipsec dialup bridge slave teamport vlan ipip ib".split(" ");
/** The types that are written. */
const WRITTEN = "eth bond team teamport bridge slave vlan ipip ib alias".split(" ");
/** The parameters of the kernel that lead the packets of bridges past the firewall. */
const BRIDGE_PARAMETERS = ["ip6tables", "iptables", "arptables"].map((name) => `net.bridge.bridge-nf-call-${name}`);

function fileLines(files: ScriptFiles, path: string): string[] {
  return linesOf(files.text(path) ?? "");
}

/** The first digit of the release whose form of `ifcfg` files is written. */
function formOf({ grains }: JobContext): string {
  const os = requireSetting(grains, "os");
  if (os === "Fedora") return Number(toNumber(requireSetting(grains, "osmajorrelease"))) >= 28 ? "8" : "7";
  return os === "Amazon" ? "7" : str(requireSetting(grains, "osrelease")).slice(0, 1);
}

/** Checks what a type needs, and changes the settings as it wants them. */
function prepare(settings: ValueMap, type: string, context: JobContext): void {
  if (type === "slave") {
    settings.set("slave", "yes");
    if (!settings.has("master")) throw settingError("master is a required setting for slave interfaces");
  }
  if (type === "bond") {
    const mode = settings.get("mode");
    if (mode === undefined) throw settingError("mode is required for bond interfaces");
    settings.set("mode", str(mode));
  }
  if (type === "teamport") {
    const master = settings.get("master");
    if (settings.has("team_master")) {
      if (master !== undefined) context.log("warning", "team_master is taken, and master is not: both are given");
    } else {
      if (master === undefined) {
        throw settingError("master or team_master is a required setting for teamport interfaces");
      }
      settings.set("team_master", master);
    }
    settings.delete("master");
  }
  if (type === "vlan") settings.set("vlan", "yes");
}

async function installFor(type: string, context: JobContext): Promise<void> {
  const name = type === "bridge" ? "bridge-utils" : type === "team" ? "teamd" : undefined;
  if (name !== undefined && !truthy(await context.call("pkg.version", [name]))) await install(name, context);
}

async function setBridgeParameters(bypass: boolean, context: JobContext): Promise<void> {
  for (const name of BRIDGE_PARAMETERS) {
    try {
      await context.call("sysctl.persist", [name, bypass ? 0 : 1]);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      context.log("warning", `Failed to set sysctl: ${name}`);
    }
  }
}

function requestOf(iface: string, type: string, enabled: Value, context: JobContext): RhInterfaceOptions {
  const number = (name: string) => toNumber(context.grains.get(name)) ?? 0;
  return {
    name: iface,
    type,
    enabled,
    processors: number("num_cpus"),
    release: number("osmajorrelease"),
    hardware: async (name) => {
      const all = await context.call("network.interfaces");
      const own = isMap(all) ? all.get(name) : undefined;
      return isMap(own) ? own.get("hwaddr") : undefined;
    },
  };
}

function buildInterface(files: ScriptFiles): ModuleFunction<JobContext> {
  return fn({
    doc: describe(
      "Write the script of a network interface. Return its lines. With test nothing is written.",
      "ip.build_interface eth0 eth <settings>",
    ),
    permissions: "all",
    params: { iface: p.str(), iface_type: p.str(), enabled: p.any() },
    varKwargs: "settings",
    async run({ iface, iface_type, enabled }, context, { kwargs: settings }) {
      const form = formOf(context);
      const type = iface_type.toLowerCase();
      if (!TYPES.includes(type)) throw wrongSetting(iface, type, TYPES);
      prepare(settings, type, context);
      await installFor(type, context);
      if (!WRITTEN.includes(type)) throw new TypeError(`Interfaces of the type ${type} are none that Salt writes`);
      const request = requestOf(iface, type, enabled, context);
      const data = await rhInterface(settings, request, (bypass) => setBridgeParameters(bypass, context));
      if (!["7", "8", "9"].includes(form)) {
        context.log("error", `There is no form of ifcfg files for the release ${form}`);
        return "";
      }
      const script = ifcfgText(data);
      if (isTest(settings)) return linesOf(script);
      files.writeIn(SCRIPTS, `ifcfg-${iface}`, script);
      return fileLines(files, `${SCRIPTS}/ifcfg-${iface}`);
    },
  });
}

/** Whether routes are written in the older form, by the first character of the release. */
function hasOldRoutes({ grains }: JobContext): boolean {
  const first = str(requireSetting(grains, "osrelease")).slice(0, 1);
  return /^\d$/.test(first) && Number(first) < 6;
}

function buildRoutes(files: ScriptFiles): ModuleFunction<JobContext> {
  return fn({
    doc: describe("Write the files of an interface's routes. Return their lines.", "ip.build_routes eth0 <settings>"),
    permissions: "all",
    params: { iface: p.str() },
    varKwargs: "settings",
    run({ iface }, context, { kwargs: settings }) {
      const routes = routesOf(settings, iface);
      const isSixth = (route: ValueMap) => isIpv6Setting(requireSetting(route, "ipaddr"));
      const texts = [routes.filter((route) => !isSixth(route)), routes.filter(isSixth)]
        .map((some) => hasOldRoutes(context) ? oldRoutesText(some) : routesText(some, iface));
      if (truthy(requireSetting(settings, "test"))) return texts.flatMap(linesOf);
      return ["route", "route6"].flatMap((kind, i) => {
        files.writeIn(SCRIPTS, `${kind}-${iface}`, texts[i]);
        return fileLines(files, `${SCRIPTS}/${kind}-${iface}`);
      });
    },
  });
}

function buildNetworkSettings(files: ScriptFiles): ModuleFunction<JobContext> {
  return fn({
    doc: describe(
      "Write the settings of the network. Return the lines of the file.",
      "ip.build_network_settings <settings>",
    ),
    permissions: "all",
    params: {},
    varKwargs: "settings",
    run(_bound, _context, { kwargs: settings }) {
      const file = networkText(checkedNetwork(settings, settingsIn(files.text(NETWORK) ?? "")));
      if (truthy(requireSetting(settings, "test"))) return linesOf(file);
      files.write(NETWORK, file);
      return fileLines(files, NETWORK);
    },
  });
}

/**
 * The functions.
 * @param root Stands before `/`, without a final slash; empty for this host.
 */
export function rhIp(root = ""): IpFunctions {
  const files = new ScriptFiles(root);
  const never = (type: Value) => {
    if (typeof type !== "string") {
      throw pythonError("AttributeError", `'${typeName(type)}' object has no attribute 'lower'`);
    }
    return ["slave", "teamport"].includes(type.toLowerCase());
  };
  return {
    apply_network_settings: applying(({ grains, call }) => {
      const service = Number(toNumber(requireSetting(grains, "osmajorrelease"))) >= 8 ? "NetworkManager" : "network";
      return call("service.restart", [service]);
    }),
    build_interface: buildInterface(files),
    build_network_settings: buildNetworkSettings(files),
    build_routes: buildRoutes(files),
    down: startOrStop("down", { command: (iface) => `ifdown ${iface}`, never }),
    get_interface: reading(
      "the script of an interface",
      "get_interface",
      (iface) => fileLines(files, `${SCRIPTS}/ifcfg-${iface}`),
    ),
    get_network_settings: fn({
      doc: describe("Return the settings of the network as lines.", "ip.get_network_settings"),
      permissions: { read: true },
      params: {},
      run: () => fileLines(files, NETWORK),
    }),
    get_routes: reading(
      "the routes of an interface",
      "get_routes",
      (iface) => ["route", "route6"].flatMap((kind) => fileLines(files, `${SCRIPTS}/${kind}-${iface}`)),
    ),
    up: startOrStop("up", { command: (iface) => `ifup ${iface}`, never }),
  };
}
