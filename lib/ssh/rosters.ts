/**
 * Reads the rosters that the options name, and finds the hosts of a target in them.
 * Source: Salt 3008.3 `salt/roster/__init__.py`, `salt/utils/roster_matcher.py`.
 * @module
 */

import { readInventory } from "./ansible_roster.ts";
import { readMinionCache } from "./cache_roster.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { messageOf, RosterError, TargetError } from "#lib/errors.ts";
import type { DataCache } from "#lib/fleet/data_cache.ts";
import type { Mine } from "#lib/fleet/mine.ts";
import { resolveTarget } from "#lib/fleet/resolve_target.ts";
import { isValidId } from "#lib/protocol/minion_id.ts";
import { runBounded } from "#lib/programs/bounded_run.ts";
import { isExecutableFile, which } from "#lib/programs/which.ts";
import type { RosterEntries } from "./roster.ts";
import { readSshConfig } from "./sshconfig_roster.ts";
import { compareStrings, isMap, str, type Value } from "#lib/values/value.ts";

/** The operator's own rosters, in Python. */
export interface OwnRosters {
  /** Whether there may be one of this name. */
  has(name: string): boolean;
  /**
   * The hosts of a target.
   * @throws {Error} If it cannot be asked.
   */
  targets(name: string, target: SshTarget): Promise<RosterEntries>;
}

/** What rosters are read with. */
export interface RosterSources {
  readonly opts: MasterOpts;
  /** The ids of accepted keys, which the roster `cache` has. */
  accepted(): readonly string[];
  readonly data: DataCache;
  readonly mine: Mine;
  /** Renders a file through the renderers of its first line, or the option's. */
  render(path: string): Promise<Value>;
  /** The home directory of the user. */
  readonly home: string;
  readonly own: OwnRosters;
  readonly signal: AbortSignal;
  warn(text: string): void;
}

/** A target of the command line. */
export interface SshTarget {
  readonly tgt: Value;
  readonly tgtType: string;
  readonly delimiter: string;
}

/** A roster that was read. */
export interface ReadRoster {
  /** `flat` */
  readonly name: string;
  /** The file that it was read from. */
  readonly file: string;
  readonly entries: RosterEntries;
  /** Whether these are the hosts of the target, as the roster itself matches it. */
  readonly isMatched?: boolean;
  /** The ids in a group of the roster's own; `undefined`: it has none of that name. */
  group?(name: string): readonly string[];
}

/** The roster whose hosts are those that a target leads to. */
export const SCAN = "scan";

/** All hosts. */
export const EVERY_HOST: SshTarget = { tgt: "*", tgtType: "glob", delimiter: ":" };

/**
 * Reads all rosters of the option. One that cannot be read is warned about, and the others count.
 * @param scanned Of a target that a host names: the entries that `scan` had for the operator. A scan for a host would
 * try any network for it, and offer the operator's keys and passwords to any address; and no roster in Python gets its
 * words.
 * @throws {RosterError} If none can be read.
 */
export async function readRosters(
  sources: RosterSources,
  target: SshTarget,
  scanned?: RosterEntries,
): Promise<ReadRoster[]> {
  const isOperators = scanned === undefined;
  const rosters: ReadRoster[] = [];
  const problems: string[] = [];
  for (const name of sources.opts.roster.flatMap((names) => names.split(","))) {
    try {
      if (sources.own.has(name)) {
        const entries = await sources.own.targets(name, isOperators ? target : EVERY_HOST);
        rosters.push({ name, file: name, entries, isMatched: isOperators });
        continue;
      }
      if (name === SCAN && scanned !== undefined) {
        rosters.push({ name, file: name, entries: scanned });
        continue;
      }
      if (!Object.hasOwn(READERS, name)) {
        throw new RosterError(`There is no roster ${name}; there are ${Object.keys(READERS).join(", ")}`);
      }
      rosters.push(await READERS[name](sources, target));
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      problems.push(`${name}: ${error.message}`);
    }
  }
  if (rosters.length === 0) throw new RosterError(`No roster can be read: ${problems.join("; ")}`);
  for (const problem of problems) sources.warn(`Can't access roster ${problem}`);
  return rosters;
}

/**
 * The entries of the hosts that a target matches, in the order of the rosters.
 * @throws {TargetError} If it cannot be read.
 */
export function hostsOfTarget(
  rosters: readonly ReadRoster[],
  { tgt, tgtType, delimiter }: SshTarget,
  { opts, data }: Pick<RosterSources, "opts" | "data">,
): Map<string, Value> {
  const all = new Map<string, Value>(rosters.flatMap(({ entries }) => [...entries]));
  const ids = [...all.keys()];
  const listed = tgtType === "nodegroup" ? groupOf(str(tgt), rosters, opts) : undefined;
  const own = rosters.filter(({ isMatched }) => isMatched).flatMap(({ entries }) => [...entries.keys()]);
  const matching = listed === undefined
    ? resolveTarget({ tgt, tgtType }, { ids, data, nodegroups: opts.nodegroups }, { delimiter, greedy: false }).minions
    : ids.filter((id) => listed.includes(id));
  return new Map([...new Set([...matching, ...own])].flatMap((id): [string, Value][] => [[id, all.get(id) ?? null]]));
}

/** The ids of a group of hosts; `undefined` if it is a group of minions, an expression. */
function groupOf(name: string, rosters: readonly ReadRoster[], opts: MasterOpts): readonly string[] | undefined {
  const group = opts.ssh_list_nodegroups.get(name);
  if (typeof group === "string") return group.split(",").map((id) => id.trim());
  if (Array.isArray(group)) return group.map(str);
  const own = rosters.flatMap((roster) => roster.group?.(name) ?? []);
  if (own.length > 0) return own;
  if (opts.nodegroups.has(name)) return undefined;
  throw new TargetError(`There is no group ${name} in ssh_list_nodegroups, nodegroups or the rosters`, "nodegroup");
}

const READERS: Readonly<Record<string, (sources: RosterSources, target: SshTarget) => Promise<ReadRoster>>> = {
  async flat({ opts, render }) {
    const file = rosterFile(opts);
    const value = await render(file);
    if (value !== null && !isMap(value)) throw new RosterError(`${file}: a roster is a map of hosts`);
    return { name: "flat", file, entries: new Map([...value ?? new Map()].map(([id, entry]) => [str(id), entry])) };
  },
  async dir({ opts, render, warn }) {
    const directory = opts.roster_dir ?? `${opts.config_dir}/roster.d`;
    const entries = new Map<string, Value>();
    for (const id of idsIn(directory)) {
      try {
        const entry = await render(`${directory}/${id}`);
        if (!isMap(entry)) throw new RosterError(`${directory}/${id}: the entry is no map`);
        const host = opts.roster_domain === "" ? id : `${id}.${opts.roster_domain}`;
        entries.set(id, new Map<Value, Value>([["host", host], ...entry]));
      } catch (error) {
        if (!(error instanceof Error)) throw error;
        warn(`Unable to render roster file "${directory}/${id}": ${error.message}`);
      }
    }
    return { name: "dir", file: directory, entries };
  },
  sshconfig({ opts, home }) {
    const file = opts.ssh_config_file ?? `${home}/.ssh/config`;
    return Promise.resolve({ name: "sshconfig", file, entries: readSshConfig(readFile(file)) });
  },
  async ansible({ opts, signal }) {
    const file = rosterFile(opts);
    const { hosts, group } = readInventory(await listInventory(file, signal));
    return { name: "ansible", file, entries: hosts, group };
  },
  cache({ opts, accepted, data, mine, warn }) {
    const entries = readMinionCache(accepted(), { data, mine }, { order: opts.roster_order, warn });
    return Promise.resolve({ name: "cache", file: opts.cachedir, entries });
  },
  async [SCAN]({ opts, signal }, { tgt }) {
    const { scanAddresses } = await import("./scan_roster.ts");
    const settings = { ports: opts.ssh_scan_ports, timeoutS: opts.ssh_scan_timeout, signal };
    return { name: SCAN, file: SCAN, entries: await scanAddresses(tgt, settings), isMatched: true };
  },
};

/**
 * The names of the files of a directory that are ids of hosts, sorted; those of editors are left out.
 * @throws {RosterError} If it is missing or may not be read.
 */
function idsIn(directory: string): string[] {
  try {
    const names = [...Deno.readDirSync(directory)].filter(({ isDirectory }) => !isDirectory).map(({ name }) => name);
    return names.filter((name) => isValidId(name) && !/^\.|~$/.test(name)).sort(compareStrings);
  } catch (error) {
    throw new RosterError(`Roster directory "${directory}": ${messageOf(error)}`);
  }
}

function rosterFile({ roster_file, config_dir }: MasterOpts): string {
  const file = roster_file ?? `${config_dir}/roster`;
  readFile(file);
  return file;
}

/** @throws {RosterError} If it is missing or may not be read, in Salt's words. */
function readFile(file: string): string {
  try {
    return Deno.readTextFileSync(file);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) throw new RosterError(`Roster file "${file}" not found`);
    if (error instanceof Deno.errors.PermissionDenied) throw new RosterError(`Access denied to roster "${file}"`);
    throw new RosterError(`Roster file "${file}": ${messageOf(error)}`);
  }
}

/** Milliseconds that an inventory may take, and its maximum bytes. */
const INVENTORY_MS = 60_000, MAX_INVENTORY = 256 * 2 ** 20;

/** The inventory as JSON: of `ansible-inventory` if it is there, else of the file, which is a script then. */
async function listInventory(file: string, signal: AbortSignal): Promise<string> {
  const program = which("ansible-inventory");
  if (program === undefined && !isExecutableFile(file)) {
    throw new RosterError("Install `ansible` to use inventory, or make the inventory an executable script");
  }
  const [command, args] = program === undefined ? [file, ["--list"]] : [program, ["--inventory", file, "--list"]];
  const bounds = { signal, timeoutMs: INVENTORY_MS, outputMax: MAX_INVENTORY };
  const { retcode, stdout, stderr, excess } = await runBounded([command, ...args], bounds);
  if (excess !== undefined) throw new RosterError(`${command} ${excess}`);
  if (retcode === 0) return new TextDecoder().decode(stdout);
  throw new RosterError(`${command} ended with ${retcode}: ${new TextDecoder().decode(stderr).trim().slice(-500)}`);
}
