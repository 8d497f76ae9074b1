/**
 * The functions of the module `ip` for Debian's family, whose network ifupdown manages: `/etc/network/interfaces`,
 * scripts of routes, and the names of the host. Source: the functions of Salt 3008.3 `salt/modules/debian_ip.py`.
 * @module
 */

import { withoutEndSlashes } from "#lib/values/python_text.ts";
import { dirName } from "#lib/os/paths.ts";
import { linesWithEnds } from "#lib/text/split_lines.ts";
import { applying, install, type IpFunctions, isTest, reading, startOrStop } from "./_ip_functions.ts";
import { bondScript, debianBond } from "#lib/host/network/debian_bonding.ts";
import { debianInterface, debianSource, peerFile } from "#lib/host/network/debian_interface.ts";
import {
  changedResolver,
  checkedSettings,
  networkingFile,
  networkingIn,
  resolverSettings,
  routeScript,
  routesOf,
  shownSettings,
  splitHostName,
} from "#lib/host/network/debian_settings.ts";
import { requireSetting, settingError, wrongSetting } from "#lib/host/network/interface_settings.ts";
import { adapterText, parseInterfaces, sourceText } from "#lib/host/network/interfaces_file.ts";
import { ScriptFiles } from "#lib/host/network/script_files.ts";
import { sleep } from "#lib/os/sleep.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { equals, isAmong, isMap, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

const INTERFACES = "/etc/network/interfaces";
const INTERFACES_DIRECTORY = "/etc/network/interfaces.d";
const MODULES_DIRECTORY = "/etc/modprobe.d/";
const PEERS_DIRECTORY = "/etc/ppp/peers";
const NETWORKING = "/etc/default/networking";
const RESOLVER = "/etc/resolv.conf";
const UP_DIRECTORY = "/etc/network/if-up.d/";
const DOWN_DIRECTORY = "/etc/network/if-down.d/";

const TYPES = ["eth", "bond", "alias", "clone", "ipsec", "dialup", "bridge", "slave", "vlan", "pppoe", "source"];
/** The requirements of each type: a setting, or a package. */
const NEEDS: Readonly<Record<string, { readonly setting?: readonly [string, string]; readonly package?: string }>> = {
  slave: { setting: ["master", "master is a required setting for slave interfaces"] },
  vlan: { package: "vlan" },
  bond: { setting: ["slaves", "slaves is a required setting for bond interfaces"] },
  bridge: {
    setting: ["ports", "ports is a required setting for bridge interfaces on Debian or Ubuntu based systems"],
    package: "bridge-utils",
  },
};
/** How long the network is down where it is restarted, as in Salt: milliseconds. */
const PAUSE_MS = 2000;

/** Whether the system is one whose services start the network, not a file: Ubuntu since 12. */
function isStartedByServices({ grains }: JobContext): boolean {
  if (requireSetting(grains, "osfullname") !== "Ubuntu") return false;
  return Number(str(requireSetting(grains, "osrelease")).split(".")[0]) >= 12;
}

function hasNoCarrier({ grains }: JobContext): boolean {
  const release = grains.get("osrelease_info");
  return grains.get("os") === "Ubuntu" && Array.isArray(release) && Number(release[0]) >= 16;
}

/** Lines with their ends; empty text if there is no such file. */
function fileLines(files: ScriptFiles, path: string): Value {
  const contents = files.text(path);
  return contents === undefined ? "" : linesWithEnds(contents);
}

/** The lines of both scripts; empty text if there is none. Salt fails if only the second one is there. */
function together(...scripts: readonly Value[]): Value {
  const there = scripts.filter((script) => Array.isArray(script));
  return there.length === 0 ? "" : there.flat();
}

function adaptersOf(files: ScriptFiles): ValueMap {
  const paths = files.names(INTERFACES_DIRECTORY).map((name) => `${INTERFACES_DIRECTORY}//${name}`);
  if (files.exists(INTERFACES)) paths.unshift(INTERFACES);
  return parseInterfaces(new Map(paths.map((path) => [path, files.text(path) ?? ""])));
}

/** The lines of an adapter, each with an end; the last one is empty. */
function adapterLines(name: string, adapter: ValueMap): string[] {
  return adapterText(name, adapter).split("\n").map((line) => `${line}\n`);
}

/**
 * Writes the interface among the others, or into its own file.
 * @returns The lines of the interface.
 */
function writeInterface(files: ScriptFiles, iface: string, adapter: ValueMap, settings: ValueMap): string[] {
  const texts = [...adaptersOf(files).set(iface, adapter)].map(([name, each]): readonly [string, string] => {
    if (!isMap(each)) return [str(name), ""];
    return [str(name), each.get("type") === "source" ? sourceText(each) : adapterText(str(name), each)];
  });
  const own = texts.find(([name]) => name === iface)?.[1] ?? "";
  const filename = settings.get("filename");
  const path = filename === undefined
    ? INTERFACES
    : str(filename).startsWith("/")
    ? str(filename)
    : `${INTERFACES_DIRECTORY}//${str(filename)}`;
  const directory = withoutEndSlashes(dirName(path));
  if (!files.exists(directory)) throw settingError(`${directory} cannot be written.`);
  files.write(path, filename === undefined ? texts.map(([, each]) => each).join("") : own);
  return own.split("\n").map((line) => `${line}\n`);
}

function writePeer(files: ScriptFiles, adapter: ValueMap): void {
  const data = adapter.get("data") ?? null;
  const block = isMap(data) ? requireSetting(data, "inet") : null;
  const provider = str(requireSetting(mapOrEmpty(block), "provider"));
  if (!files.exists(PEERS_DIRECTORY)) throw settingError(`${PEERS_DIRECTORY} cannot be written.`);
  files.write(`${PEERS_DIRECTORY}/${provider}`, peerFile(adapter));
}

const BUILD_INTERFACE = describe(
  "Write the configuration of a network interface. Return its lines. With test nothing is written.",
  "ip.build_interface eth0 eth <settings>",
);

function buildInterface(files: ScriptFiles): ModuleFunction<JobContext> {
  return fn({
    doc: BUILD_INTERFACE,
    permissions: "all",
    params: { iface: p.str(), iface_type: p.str(), enabled: p.any() },
    varKwargs: "settings",
    async run({ iface, iface_type, enabled }, context, { kwargs: settings }) {
      const type = iface_type.toLowerCase();
      if (!TYPES.includes(type)) throw wrongSetting(iface, type, TYPES);
      const needs = Object.hasOwn(NEEDS, type) ? NEEDS[type] : {};
      if (needs.setting !== undefined && !settings.has(needs.setting[0])) throw settingError(needs.setting[1]);
      if (needs.package !== undefined) await install(needs.package, context);
      if (["slave", "vlan", "pppoe"].includes(type)) settings.set(type, "yes");
      if (type === "pppoe" && !truthy(await context.call("pkg.version", ["ppp"]))) await install("ppp", context);
      if (!["eth", "bond", "bridge", "slave", "vlan", "pppoe", "source"].includes(type)) {
        throw new TypeError(`Interfaces of the type ${type} are none that Salt writes`);
      }
      const adapter = type === "source"
        ? debianSource(settings)
        : debianInterface(settings, { name: iface, type, enabled, noCarrier: hasNoCarrier(context) });
      if (isTest(settings)) return adapterLines(iface, adapter);
      const lines = writeInterface(files, iface, adapter, settings);
      if (type === "pppoe") writePeer(files, adapter);
      return lines;
    },
  });
}

function buildBond(files: ScriptFiles): ModuleFunction<JobContext> {
  return fn({
    doc: describe(
      "Write the options of a bond for the kernel's module, load it, and install ifenslave. Return the lines of the file.",
      "ip.build_bond bond0 mode=balance-alb",
    ),
    permissions: "all",
    params: { iface: p.str() },
    varKwargs: "settings",
    async run({ iface }, context, { kwargs: settings }) {
      const release = str(requireSetting(context.grains, "osrelease"));
      const script = bondScript(iface, debianBond(settings, iface, hasNoCarrier(context)));
      if (isTest(settings)) return linesWithEnds(script);
      const path = files.writeIn(MODULES_DIRECTORY, `${iface}.conf`, script);
      if (release.startsWith("5")) {
        for (const kind of ["alias", "options"]) {
          const words = ["sed", "-i", "-e", `/^${kind}\\s${iface}.*/d`, "/etc/modprobe.conf"];
          await context.call("cmd.run", [words], new Map([["python_shell", false]]));
        }
        await context.call("file.append", ["/etc/modprobe.conf", path]);
      }
      await context.call("kmod.load", ["bonding"]);
      await install("ifenslave", context);
      return fileLines(files, path);
    },
  });
}

function buildRoutes(files: ScriptFiles): ModuleFunction<JobContext> {
  return fn({
    doc: describe(
      "Write the scripts that add an interface's routes, and delete them. Return the lines of both.",
      "ip.build_routes eth0 <settings>",
    ),
    permissions: "all",
    params: { iface: p.str() },
    varKwargs: "settings",
    async run({ iface }, context, { kwargs: settings }) {
      const routes = routesOf(settings, iface);
      const scripts = [routeScript("add", routes, iface), routeScript("del", routes, iface)];
      if (isTest(settings)) return linesWithEnds(scripts.join(""));
      const lines: string[] = [];
      for (const [i, directory] of [UP_DIRECTORY, DOWN_DIRECTORY].entries()) {
        // run-parts starts no file with a dot in its name.
        const path = files.writeIn(directory, `route-${iface.replaceAll(".", "_")}`, scripts[i]);
        await context.call("file.set_mode", [files.root + path, "0755"]);
        lines.push(...linesWithEnds(scripts[i]));
      }
      return lines;
    },
  });
}

/** What is in force: `networking`, the host's name, its domain and those that are searched. */
function currentSettings(files: ScriptFiles): ValueMap {
  const hostname = (files.text("/etc/hostname") ?? "").split("\n")[0];
  const resolver = files.text(RESOLVER);
  const { domain, search } = resolver === undefined ? { domain: "", search: "" } : resolverSettings(resolver);
  return new Map<Value, Value>([
    ["networking", networkingIn(files.text(NETWORKING) ?? "")],
    ["hostname", hostname],
    ["domainname", domain],
    ["searchdomain", search],
  ]);
}

function getNetworkSettings(files: ScriptFiles): ModuleFunction<JobContext> {
  return fn({
    doc: describe("Return the settings of the network as lines.", "ip.get_network_settings"),
    permissions: "all",
    params: {},
    async run(_bound, context) {
      const settings = currentSettings(files);
      if (isStartedByServices(context)) {
        const runs = truthy(await context.call("service.available", ["networking"])) &&
          truthy(await context.call("service.status", ["networking"]));
        settings.set("networking", runs ? "yes" : "no").delete("searchdomain");
      }
      return shownSettings(settings);
    },
  });
}

function buildNetworkSettings(files: ScriptFiles): ModuleFunction<JobContext> {
  return fn({
    doc: describe(
      "Write the settings of the network: whether it is started, and domains. Return the settings as lines.",
      "ip.build_network_settings <settings>",
    ),
    permissions: "all",
    params: {},
    varKwargs: "settings",
    async run(_bound, context, { kwargs: given }) {
      const current = currentSettings(files);
      const settings = checkedSettings(given, current);
      const networking = str(settings.get("networking") ?? null);
      if (isStartedByServices(context)) {
        const call = networking === "yes" ? "service.enable" : "service.disable";
        for (const service of ["NetworkManager", "networking"]) {
          if (truthy(await context.call("service.available", [service]))) await context.call(call, [service]);
        }
      } else {
        const file = networkingFile(networking);
        if (isTest(given)) return linesWithEnds(file);
        files.write(NETWORKING, file);
      }
      const names = splitHostName(settings, current);
      if (names.moved && !isTest(given)) {
        const resolver = files.text(RESOLVER);
        if (resolver === undefined) {
          throw settingError(`${RESOLVER} cannot be written. ${RESOLVER} does not exist and create is setto False`);
        }
        const [domain, search] = ["domainname", "searchdomain"].map((name) => names.settings.get(name) ?? "");
        files.write(RESOLVER, changedResolver(linesWithEnds(resolver), domain, search));
      }
      return shownSettings(names.settings);
    },
  });
}

/**
 * The functions.
 * @param root Stands before `/`, without a final slash; empty for this host.
 */
export function debianIp(
  root = "",
): IpFunctions & Readonly<Record<"build_bond" | "get_bond", ModuleFunction<JobContext>>> {
  const files = new ScriptFiles(root);
  const never = (type: Value) => isAmong(type, ["slave", "source"]);
  return {
    apply_network_settings: applying(async (context) => {
      const stopped = await context.call("service.stop", ["networking"]);
      await sleep(PAUSE_MS, context.signal);
      return truthy(stopped) ? await context.call("service.start", ["networking"]) : stopped;
    }),
    build_bond: buildBond(files),
    build_interface: buildInterface(files),
    build_network_settings: buildNetworkSettings(files),
    build_routes: buildRoutes(files),
    down: startOrStop("down", { command: (iface) => ["ifdown", iface], never }),
    get_bond: reading(
      "the options of a bond",
      "get_bond",
      (iface) => fileLines(files, `${MODULES_DIRECTORY}${iface}.conf`),
    ),
    get_interface: reading("the configuration of an interface", "get_interface", (iface) => {
      const adapter = adaptersOf(files).get(iface);
      if (!isMap(adapter)) return [];
      if (!equals(iface, "source")) return adapterLines(iface, adapter);
      return sourceText(adapter).split("\n").map((line) => `${line}\n`);
    }),
    get_network_settings: getNetworkSettings(files),
    get_routes: reading("the scripts for an interface's routes", "get_routes", (iface) =>
      together(
        fileLines(files, `${UP_DIRECTORY}route-${iface}`),
        fileLines(files, `${DOWN_DIRECTORY}route-${iface}`),
      )),
    up: startOrStop("up", { command: (iface) => ["ifup", iface], never }),
  };
}
