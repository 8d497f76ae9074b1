/**
 * Functions that only read from this host return what those of Python Salt return.
 * @module
 */

import { loadGrains } from "#lib/minion/agent/grains.ts";
import { equals, isMap, toValue, type Value } from "#lib/values/value.ts";
import { loadCatalogue } from "#lib/minion/catalogue/catalogue.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { run, testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { CORE_GRAINS } from "#modules/grains/core.ts";
import { type Call, GIT_CALLS, makeRepositories } from "./git_calls.ts";
import { testWithPython } from "./salts.ts";

/** The properties of a process that do not change while it runs. */
const PROCESS = [
  ...[
    "name",
    "ppid",
    "uids",
    "gids",
    "username",
    "exe",
    "cmdline",
    "nice",
    "cwd",
    "create_time",
    "cpu_affinity",
    "ionice",
  ],
  ...["terminal", "environ"],
];

/** Functions with their arguments and keywords. */
const READ_ONLY_CALLS: readonly Call[] = [
  ["pkg.list_pkgs"],
  ["pkg.list_pkgs", [], { versions_as_list: true }],
  ["pkg.list_pkgs", [], { removed: true }],
  ["pkg.version", ["bash", "lib*ssl*"]],
  ["pkg.owner", ["/bin/bash", "/usr/bin/apt", "/nonexistent"]],
  ["pkg.which", ["/usr/bin/apt"]],
  ["pkg.info_installed", ["bash", "apt"]],
  ["pkg.get_selections", ["lib*ssl*"]],
  ["pkg.list_repos"],
  ["pkg.file_dict", ["base-files"]],
  ["pkg.latest_version", ["bash"], { refresh: false }],
  ["pkg.show", ["bash"], { filter: "version,maintainer" }],
  ["lowpkg.list_pkgs", ["bash", "dpkg"]],
  ["lowpkg.list_pkgs", ["no-such-package"]],
  ["lowpkg.file_list", ["base-files", "bash"]],
  ["lowpkg.file_dict", ["base-files"]],
  ["lowpkg.info", ["bash", "apt"]],
  ["lowpkg.info", ["no-such-package"], { failhard: false }],
  ["lowpkg.bin_pkg_info", ["/nonexistent"]],
  ["lowpkg.unpurge"],
  ["user.info", ["root"]],
  ["user.getent"],
  ["user.list_users"],
  ["user.primary_group", ["root"]],
  ["group.getent"],
  ["shadow.info", ["root"]],
  ["shadow.list_users"],
  ["shadow.gen_password", ["x", "abcdefgh"]],
  ["sysctl.get", ["kernel.ostype"]],
  ["sysctl.default_config"],
  ["kmod.available"],
  ["timezone.get_offset"],
  ["timezone.get_zonecode"],
  ["timezone.zone_compare", ["Etc/UTC"]],
  ["network.interfaces"],
  ["network.ip_addrs", [], { include_loopback: true }],
  ["network.ip_addrs6", [], { include_loopback: true }],
  ["network.ip_networks", [], { verbose: true }],
  ["network.subnets"],
  ["network.subnets6"],
  ["network.routes"],
  ["network.default_route"],
  ["network.get_hostname"],
  ["network.get_fqdn"],
  ["network.arp"],
  ["network.ip_neighs"],
  ["network.hw_addr", ["lo"]],
  ["network.interface_ip", ["lo"]],
  ["network.connect", ["127.0.0.1", 1]],
  ["mount.fstab"],
  ["mount.active"],
  ["mount.active", [], { extended: true }],
  ["mount.swaps"],
  ["mount.get_device_from_path", ["/usr/bin"]],
  ["disk.blkid"],
  ["ps.total_physical_memory"],
  ["ps.num_cpus"],
  ["ps.boot_time"],
  ["ps.disk_partitions"],
  ["ps.disk_partitions", [true]],
  ["ps.network_io_counters", ["nope0"]],
  ["ps.get_users"],
  ["ps.proc_info", [1], { attrs: PROCESS }],
  ["ps.proc_info", [999_999]],
  ["system.get_system_date"],
  ["system.has_settable_hwclock"],
  ["system.get_computer_name"],
  ["disk.get_fstype_from_path", ["/proc"]],
];

/** The directory of the repositories of each implementation. */
function inDirectory(value: unknown, here: string): unknown {
  return JSON.parse(JSON.stringify(value).replaceAll("{here}", here));
}

/** A result without the path of that directory. */
function withoutDirectory(value: Value, here: string): Value {
  if (typeof value === "string") return value.replaceAll(here, "{here}");
  if (Array.isArray(value)) return value.map((one) => withoutDirectory(one, here));
  if (!isMap(value)) return value;
  return new Map([...value].map(([key, one]) => [withoutDirectory(key, here), withoutDirectory(one, here)]));
}

const CALLS: readonly Call[] = [...READ_ONLY_CALLS, ...GIT_CALLS];

await testWithPython("3008.3", "functions that only look, and those of git, tell what {} tells", async (python, t) => {
  // Both paths have the same length, so that git aligns its output in the same way.
  const [here, there] = await Promise.all(["a", "b"].map(async (side) => {
    const path = await Deno.makeTempDir({ prefix: `git_${side}_` });
    await makeRepositories(path);
    return path;
  }));
  const bin = python.command("salt-call")[0].replace(/[^/]*$/, "");
  const script = decodeURIComponent(new URL("./call_modules.py", import.meta.url).pathname);
  const child = new Deno.Command(`${bin}python`, { args: [script], stdin: "piped", stdout: "piped", stderr: "null" })
    .spawn();
  const writer = child.stdin.getWriter();
  await writer.write(
    new TextEncoder().encode(
      JSON.stringify(CALLS.map(([fun, args = [], kwargs = {}]) => inDirectory([fun, args, kwargs], there))),
    ),
  );
  await writer.close();
  const theirs = parseJson(new TextDecoder().decode((await child.output()).stdout));
  assert(Array.isArray(theirs) && theirs.length === CALLS.length);
  const grains = await loadGrains(testOpts(), { core: CORE_GRAINS, warn: () => {} });
  const context = testContext({ grains, catalogue: loadCatalogue({ grains: () => grains }) });
  const missing = (value: Value) => typeof value === "string" && value.includes("is not available");
  for (const [i, [fun, args = [], kwargs]] of CALLS.entries()) {
    await t.step(`${fun} ${args.join(" ")}`, async () => {
      const words = [...args, ...kwargs === undefined ? [] : [{ __kwarg__: true, ...kwargs }]];
      const { return: result } = await run(fun, words.map((one) => toValue(inDirectory(one, here))), context);
      // The text that the minion puts before the reason of a wrong argument.
      const bare = typeof result === "string" ? result.replace(/^ERROR executing '[^']+': /, "ERROR: ") : result;
      const ours = withoutDirectory(bare, here);
      if (fun.startsWith("git.")) return assertEquals(ours, withoutDirectory(theirs[i], there));
      // On a host of another family neither has the function. assertEquals cannot compare two maps of 710 entries.
      if (equals(ours, theirs[i])) return;
      if (!missing(theirs[i]) && !String(theirs[i]).startsWith("ERROR: ")) assertEquals(ours, theirs[i]);
      else assert(typeof ours === "string", `${fun} is an error in Python Salt: ${String(theirs[i])}`);
    });
  }
  await Promise.all([here, there].map((path) => Deno.remove(path, { recursive: true })));
});
