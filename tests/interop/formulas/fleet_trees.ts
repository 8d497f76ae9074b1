/**
 * Counts, fleet by fleet, the SLS files of public state trees that compile with ours and with Python Salt 3008.3, and
 * names those that only one of both compiles. The table in docs/moving.md is from it.
 *
 *     deno run -A tests/interop/formulas/fleet_trees.ts [--part K/N] DIRECTORY [NAME…]
 *
 * DIRECTORY holds clones of the repositories that {@linkcode FLEETS} names, each at `OWNER+NAME`. Of N parts, from
 * 0 on, the one that is named has every Nth file: a large fleet takes long with Python Salt.
 * @module
 */

import { loadMinionConfig } from "#lib/config/load.ts";
import { loadGrains } from "#lib/minion/agent/grains.ts";
import { WITHOUT_MASTER } from "#lib/minion/local_call/call_master.ts";
import { runCall } from "#lib/minion/local_call/job.ts";
import { CallModules } from "#lib/minion/local_call/modules.ts";
import { loadCoreGrains } from "#lib/minion/catalogue/catalogue.ts";
import { makeJid } from "#lib/protocol/jid.ts";
import { isDirectory, isFile } from "#lib/os/file_kind.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { dumpJson } from "#lib/values/json.ts";
import { isMap, map, repr, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { fromTyped } from "#tests/support/typed_values.ts";
import { pythonSalt } from "#tests/interop/python_salt.ts";
import type { Salt } from "#tests/interop/salts.ts";
import { type CompileAnswer, PythonCompiler } from "./python_compiler.ts";

interface Fleet {
  /** The directory of the state tree in the repository. */
  readonly states: string;
  /** Those of the pillar tree; of two files of one name the first is read. */
  readonly pillar?: readonly string[];
  /** Directories of the state tree without states. */
  readonly aside?: readonly string[];
  /** The family of its hosts. */
  readonly host: keyof typeof HOSTS;
  /** A directory of further plugins in the repository, an entry of the option `module_dirs`. */
  readonly plugins?: string;
  /** Whether its files ask runners of the master, which return an empty list here, for both. */
  readonly asksRunners?: boolean;
  /** Other grains of its hosts. */
  readonly grains?: Readonly<Record<string, unknown>>;
  /** Files of its hosts that its plugins read, by their paths: their texts. */
  readonly hostFiles?: Readonly<Record<string, string>>;
  /** What its plugins make at random, as keys: it counts as equal. */
  readonly random?: RegExp;
}

const HOSTS = {
  debian: {
    os: "Ubuntu",
    os_family: "Debian",
    osfullname: "Ubuntu",
    osrelease: "24.04",
    osmajorrelease: 24,
    osrelease_info: [24, 4],
    osfinger: "Ubuntu-24.04",
    oscodename: "noble",
  },
  redhat: {
    os: "Rocky",
    os_family: "RedHat",
    osfullname: "Rocky Linux",
    osrelease: "9.4",
    osmajorrelease: 9,
    osrelease_info: [9, 4],
    osfinger: "Rocky Linux-9",
    oscodename: "Blue Onyx",
  },
  suse: {
    os: "SUSE",
    os_family: "Suse",
    osfullname: "Leap",
    osrelease: "15.6",
    osmajorrelease: 15,
    osrelease_info: [15, 6],
    osfinger: "Leap-15",
    oscodename: "openSUSE Leap 15.6",
  },
} as const;

/** The public fleets, by their repository on GitHub. */
export const FLEETS: Readonly<Record<string, Fleet>> = {
  "python/psf-salt": { states: "salt", pillar: ["pillar/dev", "pillar/base"], host: "debian" },
  "Security-Onion-Solutions/securityonion": {
    states: "salt",
    pillar: ["pillar"],
    host: "redhat",
    grains: { role: "so-standalone" },
  },
  "servo/saltfs": { states: ".", pillar: [".travis/test_pillars"], aside: [".travis"], host: "debian" },
  "mitodl/salt-ops": { states: "salt", pillar: ["pillar"], host: "debian" },
  "scality/metalk8s": { states: "salt", pillar: ["pillar"], host: "redhat" },
  "SUSE/DeepSea": {
    states: "srv/salt",
    pillar: ["srv/pillar"],
    plugins: "srv/modules",
    asksRunners: true,
    host: "suse",
    grains: { domain: "example.com" },
    hostFiles: { "/etc/salt/minion_id": "web1\n" },
    // Keys of Ceph, and shared secrets.
    random: /AQ[\w+/]{36}==|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g,
  },
  "open-contracting/deploy": { states: "salt", pillar: ["pillar"], host: "debian" },
  "openSUSE/heroes-salt": { states: "salt", pillar: ["pillar"], host: "suse" },
  "freedomofpress/securedrop-workstation": { states: "securedrop_salt", host: "redhat" },
  "ceph/ceph-salt": { states: "ceph-salt-formula/salt", host: "suse" },
  "kubic-project/salt": { states: "salt", pillar: ["pillar"], host: "suse" },
  "microdevops-com/microdevops-formula": { states: ".", pillar: ["pillar"], aside: ["pillar"], host: "debian" },
};

/** The names of the SLS files in a directory, sorted. */
function slsIn(root: string, aside: readonly string[]): string[] {
  const names: string[] = [];
  const walk = (below: string) => {
    for (const { name, isDirectory, isFile } of Deno.readDirSync(`${root}/${below}`)) {
      const path = `${below}${name}`;
      if (isDirectory && !aside.includes(path) && !name.startsWith(".")) walk(`${path}/`);
      // The compiler finds no name with a dot in it.
      else if (isFile && name.endsWith(".sls") && path !== "top.sls" && !path.slice(0, -4).includes(".")) {
        names.push(path.replace(/(\/init)?\.sls$/, "").replaceAll("/", "."));
      }
    }
  };
  walk("");
  return names.sort();
}

/**
 * Copies the fleet's own plugins to where `saltutil.sync_all` puts them.
 * @param from The beginnings of the paths of their directories: what comes before `modules`.
 */
async function syncPlugins(from: readonly string[], to: string): Promise<void> {
  for (const family of ["modules", "states", "grains", "renderers", "utils"]) {
    const target = `${to}/${family}`;
    await Deno.mkdir(target, { recursive: true });
    for (const directory of from.map((beginning) => beginning + family)) {
      if (!isDirectory(directory)) continue;
      for await (const { name, isFile } of Deno.readDir(directory)) {
        if (isFile) await Deno.copyFile(`${directory}/${name}`, `${target}/${name}`);
      }
    }
  }
}

/** Writes files of a fleet's hosts, and has its plugins in `ext` read them. */
async function giveHostFiles(files: Readonly<Record<string, string>>, cache: string): Promise<void> {
  const own = Object.keys(files).map((path, i) => [path, `${cache}/host_file_${i}`] as const);
  for (const [path, place] of own) await Deno.writeTextFile(place, files[path]);
  for await (const { name } of Deno.readDir(`${cache}/ext/modules`)) {
    const plugin = `${cache}/ext/modules/${name}`;
    const text = await Deno.readTextFile(plugin);
    await Deno.writeTextFile(plugin, own.reduce((text, [path, place]) => text.replaceAll(path, place), text));
  }
}

/** A module `saltutil`, in Python, whose runners find nothing: there is no master with minions here. */
const EMPTY_RUNNERS = "def runner(name, *args, **kwargs):\n    return []\n\ndef is_running(fun):\n    return []\n";

/** How many files one process of Python compiles: Salt 3008 takes longer for each, as copies of its options pile up. */
const FILES_OF_ONE = 40;

/** Processes that compile, one after the other. */
class PythonCompilers implements AsyncDisposable {
  readonly #open: () => PythonCompiler;
  #current: PythonCompiler;
  #given = 0;

  constructor(open: () => PythonCompiler) {
    this.#open = open;
    this.#current = open();
  }

  /** The one for the next file. */
  async next(): Promise<PythonCompiler> {
    if (++this.#given % FILES_OF_ONE > 0) return this.#current;
    await this.#current[Symbol.asyncDispose]();
    return this.#current = this.#open();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#current[Symbol.asyncDispose]();
  }
}

/** Options of both for a fleet: its state tree, and a pillar top file that gives all of its pillar files. */
async function optionsOf(name: string, { states, pillar }: Fleet, directory: string, cache: string) {
  const clone = `${directory}/${name.replace("/", "+")}`;
  const root = states === "." ? clone : `${clone}/${states}`;
  const roots: string[] = [];
  if (pillar !== undefined) {
    await Deno.mkdir(`${cache}/top`, { recursive: true });
    await Deno.writeTextFile(
      `${cache}/top/top.sls`,
      JSON.stringify({ base: { "*": [...new Set(pillar.flatMap((root) => slsIn(`${clone}/${root}`, [])))] } }),
    );
    roots.push(`${cache}/top`, ...pillar.map((root) => `${clone}/${root}`));
  }
  return { id: "web1", file_client: "local", file_roots: { base: [root] }, pillar_roots: { base: roots } };
}

/** The result of a compilation: data in the form of Python's `repr`, or the first error. */
type Found = { readonly shown: string } | { readonly error: string };

/** Compiles with ours. */
class OurCompiler implements AsyncDisposable {
  readonly #modules: CallModules;
  readonly #opts;
  readonly #grains: ValueMap;
  /** The state functions that there are not, with the number of files that use them. */
  readonly missing = new Map<string, number>();

  private constructor(opts: ReturnType<typeof loadMinionConfig>["opts"], grains: ValueMap) {
    this.#opts = opts;
    this.#grains = grains;
    this.#modules = new CallModules({ opts, grains, log: SILENT_LOGGER, printed: () => {} });
  }

  static async open(options: Readonly<Record<string, unknown>>, cache: string, more: ValueMap) {
    const overrides = Object.fromEntries(
      map({ ...options, root_dir: cache, cachedir: `${cache}/cache`, extension_modules: `${cache}/ext` }),
    );
    const { opts } = loadMinionConfig({ configDir: `${cache}/etc/salt`, overrides });
    const grains = await loadGrains(opts, { core: await loadCoreGrains(), warn: () => {} });
    return new OurCompiler(opts, new Map([...grains, ...more, ["id", "web1"]]));
  }

  get grains(): ValueMap {
    return this.#grains;
  }

  async #call(fun: string, args: Value[], pillar: ValueMap): Promise<Value> {
    const master = { ...WITHOUT_MASTER, pillar, freshPillar: () => Promise.resolve(pillar) };

    const host = {
      opts: this.#opts,
      grains: this.#grains,
      modules: this.#modules,
      master,
      log: SILENT_LOGGER,
      signal: new AbortController().signal,
    };
    const arg = [...args, map({ pillar, __kwarg__: true })];
    return (await runCall({ fun, arg, jid: makeJid(), metadata: undefined }, host)).return;
  }

  async compile(sls: string, pillar: ValueMap): Promise<Found> {
    const shown = await this.#call("state.show_sls", [sls], pillar);
    if (isMap(shown)) {
      for (const name of functionsOf(shown)) await this.#note(name);
      return { shown: repr(shown) };
    }
    return { error: Array.isArray(shown) ? shown.map(str).join(" | ") : str(shown) };
  }

  /** Counts a state function that there is not, on any host. */
  async #note(name: string): Promise<void> {
    const { states } = this.#modules.catalogue;
    if (states.refusals().has(name.split(".", 1)[0]) || await states.get(name) !== undefined) return;
    this.missing.set(name, (this.missing.get(name) ?? 0) + 1);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#modules[Symbol.asyncDispose]();
  }
}

/** The names of the state functions in high data. */
function functionsOf(high: ValueMap): Set<string> {
  const found = new Set<string>();
  for (const state of high.values()) {
    for (const [module, items] of isMap(state) ? state : []) {
      if (str(module).startsWith("__")) continue;
      const fun = Array.isArray(items) ? items.find((item) => typeof item === "string") : undefined;
      if (typeof fun === "string") found.add(`${str(module)}.${fun}`);
    }
  }
  return found;
}

function theirs(answer: CompileAnswer): Found {
  return "errors" in answer ? { error: answer.errors.join(" | ") } : { shown: repr(fromTyped(answer.low)) };
}

/** @throws {Error} If it cannot be installed. */
async function pythonHere(): Promise<Salt> {
  const installed = await pythonSalt("3008.3");
  if ("missing" in installed) throw new Error(installed.missing);
  return { name: "Python Salt", version: "3008.3", command: (program) => [`${installed.bin}/${program}`] };
}

/** Counts of a fleet, and lines that say why. */
interface Counts {
  files: number;
  both: number;
  equal: number;
  onlyOurs: number;
  onlyPython: number;
  neither: number;
  readonly notes: string[];
}

/** Where the clones are, and which of their files are counted. */
interface Place {
  readonly directory: string;
  readonly part: Part;
}

/** A part of the files: of each `of`, the one at the place `at`. */
interface Part {
  readonly at: number;
  readonly of: number;
}

/** @throws {TypeError} If it is none. */
function parsePart(text: string): Part {
  const [, at, of] = /^(\d+)\/(\d+)$/.exec(text) ?? [];
  if (Number(at) >= 0 && Number(at) < Number(of)) return { at: Number(at), of: Number(of) };
  throw new TypeError(`${text} is no part: K/N, from 0 on`);
}

async function count(name: string, fleet: Fleet, { directory, part }: Place): Promise<Counts> {
  const cache = await Deno.makeTempDir({ prefix: "fleet_" });
  const options = await optionsOf(name, fleet, directory, cache);
  const [states] = options.file_roots.base;
  const more = fleet.plugins === undefined ? [] : [`${directory}/${name.replace("/", "+")}/${fleet.plugins}/`];
  await syncPlugins([`${states}/_`, ...more], `${cache}/ext`);
  if (fleet.asksRunners) await Deno.writeTextFile(`${cache}/ext/modules/saltutil.py`, EMPTY_RUNNERS);
  await giveHostFiles(fleet.hostFiles ?? {}, cache);
  await Deno.mkdir(`${cache}/etc/salt`, { recursive: true });
  const grains = map({ ...HOSTS[fleet.host], ...fleet.grains });
  const counts: Counts = { files: 0, both: 0, equal: 0, onlyOurs: 0, onlyPython: 0, neither: 0, notes: [] };
  try {
    await using ours = await OurCompiler.open(options, cache, grains);
    const python = await pythonHere();
    const setting = map({
      ...options,
      file_roots: [states],
      cachedir: `${cache}/python`,
      grains: ours.grains,
      id: "web1",
      extension_modules: `${cache}/ext`,
    });
    await using compilers = new PythonCompilers(() => new PythonCompiler(python, dumpJson(setting)));
    const compiler = await compilers.next();
    const pillar = fleet.pillar === undefined ? new Map() : await compiler.pillar(options.pillar_roots.base);
    const renderers = await compiler.renderers();
    const files = slsIn(states, fleet.aside ?? []).filter((_name, i) => i % part.of === part.at);
    for (const sls of files) {
      const a = await ours.compile(sls, pillar);
      const unknown = unknownRenderer(`${states}/${sls.replaceAll(".", "/")}`, renderers);
      const b = unknown === undefined
        ? theirs(await (await compilers.next()).compile({ sls, pillar: dumpJson(pillar), function: "show_sls" }))
        : { error: `it has no renderer ${unknown}, and takes the file for an empty one` };
      addTo(counts, sls, withoutRandom(a, fleet.random), withoutRandom(b, fleet.random));
    }
    for (const [name, files] of ours.missing) counts.notes.push(`there is no ${name}, which ${files} files use`);
  } finally {
    await Deno.remove(cache, { recursive: true });
  }
  return counts;
}

/** What is found, without what is made at random. */
function withoutRandom(found: Found, random: RegExp | undefined): Found {
  return random !== undefined && "shown" in found ? { shown: found.shown.replace(random, "{RANDOM}") } : found;
}

/** Counts what both make of a file. */
function addTo(counts: Counts, sls: string, a: Found, b: Found): void {
  counts.files++;
  if ("shown" in a && "shown" in b) {
    counts.both++;
    if (a.shown === b.shown) counts.equal++;
    else counts.notes.push(`${sls}: differs: ${difference(a.shown, b.shown)}`);
  } else if ("shown" in a) {
    counts.onlyOurs++;
    counts.notes.push(`${sls}: only ours: Python: ${"error" in b ? b.error : ""}`);
  } else if ("shown" in b) {
    counts.onlyPython++;
    counts.notes.push(`${sls}: only Python: ours: ${a.error}`);
  } else {
    counts.neither++;
    counts.notes.push(`${sls}: neither: ours: ${a.error}\n    Python: ${"error" in b ? b.error : ""}`);
  }
}

/** The first renderer of an SLS file's first line that is not among `known`. */
function unknownRenderer(path: string, known: readonly string[]): string | undefined {
  const file = [`${path}.sls`, `${path}/init.sls`].find((one) => isFile(one));
  const [first] = file === undefined ? [""] : Deno.readTextFileSync(file).split("\n", 1);
  if (!first.startsWith("#!")) return undefined;
  return first.slice(2).trim().split("|").map((word) => word.trim().split(" ")[0]).find((name) =>
    !known.includes(name)
  );
}

function difference(ours: string, theirs: string): string {
  let at = 0;
  while (ours[at] === theirs[at]) at++;
  const around = (text: string) => text.slice(Math.max(0, at - 60), at + 100);
  return `\n    ours:   …${around(ours)}\n    Python: …${around(theirs)}`;
}

/** Writes a line. */
function say(to: { writeSync(bytes: Uint8Array): number }, line: string): void {
  to.writeSync(new TextEncoder().encode(`${line}\n`));
}

if (import.meta.main) {
  const [first, second, ...rest] = Deno.args;
  const part = first === "--part" ? parsePart(second) : { at: 0, of: 1 };
  const [directory, ...names] = first === "--part" ? rest : Deno.args;
  say(Deno.stdout, "| fleet | SLS files | both | of these equal | only ours | only Python | neither |");
  for (const [name, fleet] of Object.entries(FLEETS)) {
    if (names.length > 0 && !names.some((part) => name.includes(part))) continue;
    const { files, both, equal, onlyOurs, onlyPython, neither, notes } = await count(name, fleet, { directory, part });
    say(Deno.stdout, `| ${[name, files, both, equal, onlyOurs, onlyPython, neither].join(" | ")} |`);
    for (const note of notes) say(Deno.stderr, `${name} ${note}`);
  }
}
