/**
 * The floors of the tree, on which its rooms are. docs/architecture.md shows those of the product.
 * @module
 */

/**
 * The boxes of the tree, floor by floor from the lowest. A box is a room, a wing of {@linkcode WINGS}, or a single
 * file. It may import only from boxes of floors below its own: boxes of one floor do not import each other. A room is a
 * folder without its subfolders.
 */
export const FLOORS: readonly (readonly string[])[] = [
  ["lib/errors.ts", "lib/version.ts"],
  ["lib/values", "lib/libc"],
  ["lib/regex", "lib/yaml"],
  ["lib/text"],
  ["lib/os", "lib/python", "lib/targeting"],
  ["lib/crypto", "lib/procfs", "lib/runtime"],
  ["lib/sockets", "lib/protocol", "lib/tracing"],
  ["lib/event_log", "lib/output", "lib/programs"],
  ["lib/config", "lib/keys"],
  ["lib/auth", "lib/bus", "lib/fleet", "lib/flow", "lib/plugins"],
  ["lib/host", "lib/jobs", "lib/python_bridge", "lib/schedule"],
  ["lib/jinja", "lib/files", "lib/operators", "lib/stores"],
  ["lib/cluster", "lib/render", "lib/returners"],
  ["lib/cluster_banks", "lib/pillar", "lib/states"],
  ["lib/client", "lib/engines", "lib/reactor", "lib/ssh"],
  [
    "modules/auth",
    "modules/beacons",
    "modules/engines",
    "modules/fileserver",
    "modules/grains",
    "modules/pillar",
    "modules/renderers",
    "modules/returners",
    "modules/sdb",
    "modules/tops",
  ],
  ["modules/execution", "modules/states"],
  ["modules/runners", "modules/wheel"],
  ["lib/minion"],
  ["lib/master"],
  ["lib/commands", "lib/console"],
  ["lib/api", "lib/syndic"],
  ["master.ts", "minion.ts", "salt.ts"],
  ["scripts", "scripts/mutants/equivalent"],
  ["scripts/coverage/rules", "scripts/mutants", "scripts/console", "scripts/reference"],
  ["scripts/build", "scripts/coverage"],
  ["scripts/fleet", "scripts/release"],
  ["tests/support"],
  ["tests/support/fleet"],
  [
    "tests/support/calls",
    "tests/support/cluster",
    "tests/support/files",
    "tests/support/servers",
    "tests/support/threads",
  ],
  ["tests/bench/harness"],
  ["tests/bench/fleets"],
  ["tests/bench/programs"],
  ["tests/bench/rows"],
  ["tests/simulation/world"],
  ["tests/bench", "tests/fuzz", "tests/interop", "tests/simulation"],
  ["tests/interop/formulas", "tests/interop/schedule", "tests/record"],
  ["tests/chaos/harness"],
  ["tests/chaos/faults"],
  ["tests/chaos"],
  [
    "tests/docs",
    "tests/simulation/replacements",
    "tests/interop/beacons",
    "tests/interop/pairs",
    "tests/interop/cluster",
    "tests/interop/tracing",
    "tests/master/hostile",
    "tests/minion/python",
    "tests/release",
    "tests/scripts",
    "tests/system",
  ],
];

/**
 * The rooms of each wing, floor by floor from the lowest. A wing is a folder with rooms of one family, and has no files
 * of its own. The rule of {@linkcode FLOORS} holds between its rooms.
 */
export const WINGS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  "lib/host": [
    ["etc_files", "mongodb", "mysql", "postgres", "texts"],
    ["archives", "filesystem", "x509"],
    [
      "accounts",
      "firewall",
      "git",
      "gnupg",
      "kernel",
      "language_packages",
      "network",
      "packages",
      "services",
      "storage",
    ],
    ["aws", "debian_packages", "docker", "vault"],
  ],
  "lib/jinja": [["syntax"], ["core"], ["filters"], ["salt"]],
  "lib/files": [["backends"], ["git"], ["server"], ["client"]],
  "lib/states": [["compiler"], ["control"], ["tree"], ["run"]],
  "lib/python_bridge": [["zygote"], ["link"], ["loader"]],
  "lib/minion": [["catalogue", "keeper"], ["worker"], ["beacons", "masters", "schedule"], ["agent"], ["local_call"], [
    "ssh_host",
  ]],
  "lib/master": [
    ["cluster"],
    ["functions", "publisher"],
    ["event_return", "reactor"],
    ["requests"],
    ["daemon"],
    ["processes"],
  ],
  "lib/commands": [["cli"], ["daemons", "report"], ["programs"], ["ssh"]],
  "lib/api": [["http"], ["calls"], ["endpoints"], ["v1"], ["server"]],
};
