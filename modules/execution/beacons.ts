/**
 * Execution module `beacons`: shows and changes the beacons of the running minion.
 * Source: Salt 3008.3 `salt/modules/beacons.py`.
 * @module
 */

import { BEACONS, BEACONS_NOT_BUILT } from "#modules/beacons/_built_in.ts";
import { includeDirectory } from "#lib/config/files.ts";
import { CommandError, messageOf } from "#lib/errors.ts";
import { writeFileAtomic } from "#lib/os/atomic_file.ts";
import { dirName, joinPath } from "#lib/os/paths.ts";
import { sleep } from "#lib/os/sleep.ts";
import {
  type BeaconModule,
  COMMON_KEYS,
  configMaps,
  eventOf,
  isSet,
  joinConfig,
  ownConfig,
} from "#lib/plugins/beacon.ts";
import { ownBeacon, ownBeaconNames } from "#lib/plugins/own_beacon.ts";
import { invoke } from "#lib/plugins/call.ts";
import { BEACONS_KEYWORDS } from "#lib/client/beacon_keywords.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p, type Rest } from "#lib/plugins/module.ts";
import { didYouMean } from "#lib/text/nearest_name.ts";
import { linesWithEnds } from "#lib/text/split_lines.ts";
import { unifiedDiff } from "#lib/text/unified_diff.ts";
import { equals, isMap, map, str, toNumber, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { dumpYaml } from "#lib/yaml/dump.ts";

/** How long to wait for the minion's answer, in seconds, unless `timeout` says so. */
const WAIT_S = 60;
/** How long `beacons.test` waits for what a beacon is told, and the most it waits for, in seconds. */
const LISTEN_S = 5, MAX_LISTEN_S = 300;
const VALID = "Valid beacon configuration";

/** Asks the minion, by Salt's event of this function. */
async function ask(
  { context, rest }: { readonly context: JobContext; readonly rest: Rest },
  data: Record<string, unknown>,
  answer: string,
): Promise<ValueMap> {
  const waitS = toNumber(rest.kwargs.get("timeout")) ?? WAIT_S;
  return await context.outside.ask({
    tag: "manage_beacons",
    data: map(data),
    answerTag: `/salt/minion/minion_${answer}_complete`,
    waitS,
  });
}

type Call = Parameters<typeof ask>[0];

function isTest({ rest }: Call): boolean {
  return truthy(rest.kwargs.get("test"));
}

async function listBeacons(call: Call, include: Record<string, boolean> = {}): Promise<ValueMap> {
  const answer = await ask(
    call,
    { func: "list", include_pillar: true, include_opts: true, ...include },
    "beacons_list",
  );
  const beacons = answer.get("beacons");
  return isMap(beacons) ? beacons : new Map();
}

function asYaml(beacons: Value): string {
  return dumpYaml(map({ beacons }));
}

/** The beacons that this host can run, in the order of their names. */
async function availableNames({ catalogue }: JobContext): Promise<string[]> {
  const all = await Promise.all(
    Object.keys(BEACONS).map(async (name) => {
      const { beacon } = await BEACONS[name]();
      return beacon.unavailable?.() === undefined ? [name] : [];
    }),
  );
  return [...new Set([...all.flat(), ...ownBeaconNames(catalogue.ownModules ?? [])])].sort();
}

interface Problem {
  /** Whether it is about the beacon's existence, not its configuration. */
  readonly isMissing: boolean;
  readonly text: string;
}

function notAvailable(module: string, reason: string | undefined): Problem {
  const text = `Beacon "${module}" is not available.`;
  return { isMissing: true, text: reason === undefined ? text : `${text} ${reason}` };
}

/** @throws {CommandError} If there is no such function. */
async function callOwn(name: string, args: readonly Value[], context: JobContext): Promise<Value> {
  const fun = await context.catalogue.get(name);
  if (fun === undefined) throw new CommandError(`'${name}' is not available.`);
  return await invoke(fun, { name, args, kwargs: new Map(), context });
}

async function findModule(module: string, context: JobContext): Promise<BeaconModule | Problem> {
  if (ownBeaconNames(context.catalogue.ownModules ?? []).includes(module)) {
    return ownBeacon(module, (fun, args) => callOwn(fun, args, context));
  }
  if (!Object.hasOwn(BEACONS, module)) {
    return notAvailable(module, Object.hasOwn(BEACONS_NOT_BUILT, module) ? BEACONS_NOT_BUILT[module] : undefined);
  }
  const { beacon } = await BEACONS[module]();
  const reason = beacon.unavailable?.();
  return reason === undefined ? beacon : notAvailable(module, reason);
}

/** Keys that neither beacons nor this one has. Salt takes them, and nothing comes of them. */
function unknownKey(name: string, all: ValueMap, { keys }: BeaconModule): string | undefined {
  if (keys === undefined) return undefined;
  const known = [...COMMON_KEYS, ...keys, "enable"]; // the last one: in the documentation of Salt's state
  const other = [...all.keys()].map(str).find((key) => !known.includes(key) && !key.startsWith("_"));
  return other === undefined ? undefined : `The beacon ${name} has no option ${other}${didYouMean(other, known)}`;
}

/** What a configuration means. */
interface Checked {
  readonly module: BeaconModule;
  readonly maps: readonly ValueMap[];
}

/** What a configuration means, or what is wrong with it. */
async function check(name: string, given: Value, context: JobContext): Promise<Checked | Problem> {
  const maps = configMaps(given);
  const module = maps === undefined ? name : moduleOf(name, maps);
  const found = await findModule(module, context);
  if ("isMissing" in found) return found;
  if (maps === undefined) return { isMissing: false, text: `Configuration for ${module} beacon must be a list.` };
  const hasFunction = async (fun: string) => await context.catalogue.get(fun) !== undefined;
  const text = await found.validate(ownConfig(maps), hasFunction) ?? unknownKey(module, joinConfig(maps), found);
  return text === undefined ? { module: found, maps } : { isMissing: false, text };
}

/** What is wrong with a configuration; `undefined`: nothing. */
async function problemOf(name: string, given: Value, context: JobContext): Promise<Problem | undefined> {
  const checked = await check(name, given, context);
  return "isMissing" in checked ? checked : undefined;
}

function moduleOf(name: string, maps: readonly ValueMap[]): string {
  const all = joinConfig(maps);
  return isSet(all, "beacon_module") ? str(all.get("beacon_module") ?? null) : name;
}

interface Outcome {
  result: boolean;
  comment: Value;
  changes?: ValueMap;
}

const ok = (comment: string): Outcome => ({ comment, result: true });
const refused = (comment: Value): Outcome => ({ comment, result: false });

/** The comment of an answer that says that it is not done. */
function notDone(answer: ValueMap): Outcome | undefined {
  return truthy(answer.get("complete")) ? undefined : refused(answer.get("comment") ?? "");
}

function readBeacons(answer: ValueMap): ValueMap {
  const beacons = answer.get("beacons");
  return isMap(beacons) ? beacons : new Map();
}

export const list: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the beacons of this minion: those of its configuration and those of its pillar.",
    "beacons.list",
    "beacons.list return_yaml=False include_pillar=False",
  ),
  params: { return_yaml: p.bool(true), include_pillar: p.bool(true), include_opts: p.bool(true) },
  varKwargs: "kwargs",
  keywords: BEACONS_KEYWORDS,
  async run({ return_yaml, include_pillar, include_opts }, context, rest) {
    const beacons = await listBeacons({ context, rest }, { include_pillar, include_opts });
    return return_yaml ? asYaml(beacons) : beacons;
  },
});

export const list_available: ModuleFunction<JobContext> = fn({
  doc: describe("Return the names of the beacons that this host can run.", "beacons.list_available"),
  permissions: "all",
  params: { return_yaml: p.bool(true) },
  varKwargs: "kwargs",
  keywords: BEACONS_KEYWORDS,
  async run({ return_yaml }, context) {
    const names = await availableNames(context);
    return return_yaml ? asYaml(names) : names;
  },
});

export const add: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Add a beacon. Its configuration is a list of maps, or a map. It is lost at a restart unless beacons.save is called.",
    `beacons.add ps "[{'processes': {'salt-master': 'stopped', 'apache2': 'stopped'}}]"`,
  ),
  permissions: "all",
  params: { name: p.str(), beacon_data: p.any() },
  varKwargs: "kwargs",
  keywords: BEACONS_KEYWORDS,
  async run({ name, beacon_data }, context, rest) {
    const call = { context, rest };
    if ((await listBeacons(call)).has(name)) return ok(`Beacon ${name} is already configured.`);
    const problem = await problemOf(name, beacon_data, context);
    if (problem?.isMissing) return refused(problem.text);
    if (isTest(call)) return ok(`Beacon: ${name} would be added.`);
    if (problem !== undefined) return refused(`Beacon ${name} configuration invalid, not adding.\n${problem.text}`);
    const answer = await ask(call, { func: "add", name, beacon_data }, "beacon_add");
    return notDone(answer) ?? ok(`Added beacon: ${name}.`);
  },
});

/** Lines of a configuration as Salt compares them: `key:value`. */
function configLines(given: Value): string[] {
  const lines = (configMaps(given) ?? []).flatMap((one) => [...one]).map(([key, value]) =>
    `${str(key)}:${str(value)}\n`
  );
  return linesWithEnds(lines.join(""));
}

export const modify: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Replace the configuration of a beacon.",
    `beacons.modify ps "[{'processes': {'salt-master': 'stopped'}}]"`,
  ),
  permissions: "all",
  params: { name: p.str(), beacon_data: p.any() },
  varKwargs: "kwargs",
  keywords: BEACONS_KEYWORDS,
  async run({ name, beacon_data }, context, rest) {
    const call = { context, rest };
    const beacons = await listBeacons(call), current = beacons.get(name);
    if (current === undefined) return ok(`Beacon ${name} is not configured.`);
    const changes = () => map({ diff: unifiedDiff(configLines(current), configLines(beacon_data)).join("") });
    if (isTest(call)) return { ...ok(`Beacon: ${name} would be modified.`), changes: changes() };
    const problem = await problemOf(name, beacon_data, context);
    if (problem !== undefined) return refused(`Beacon ${name} configuration invalid, not modifying.\n${problem.text}`);
    if (equals(beacon_data, current)) return ok(`Job ${name} in correct state`);
    const answer = await ask(call, { func: "modify", name, beacon_data }, "beacon_modify");
    return { ...notDone(answer) ?? ok(`Modified beacon: ${name}.`), changes: changes() };
  },
});

export const delete_: ModuleFunction<JobContext> = fn({
  doc: describe("Remove a beacon.", "beacons.delete ps"),
  params: { name: p.str() },
  varKwargs: "kwargs",
  keywords: BEACONS_KEYWORDS,
  async run({ name }, context, rest) {
    const call = { context, rest };
    if (isTest(call)) return ok(`Beacon: ${name} would be deleted.`);
    const answer = await ask(call, { func: "delete", name }, "beacon_delete");
    return notDone(answer) ?? ok(`Deleted beacon: ${name}.`);
  },
});

export const save: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Write the beacons of this minion to minion.d/beacons.conf, without those of its pillar.",
    "beacons.save",
  ),
  permissions: "all",
  params: {},
  varKwargs: "kwargs",
  keywords: BEACONS_KEYWORDS,
  async run(_bound, context, rest) {
    const path = joinPath(includeDirectory(context.opts), "beacons.conf");
    const beacons = await listBeacons({ context, rest }, { include_pillar: false });
    try {
      Deno.mkdirSync(dirName(path), { recursive: true, mode: 0o755 });
      writeFileAtomic(path, beacons.size === 0 ? "" : asYaml(beacons), { sync: true });
    } catch (error) {
      context.log("error", `The beacons were not saved: ${messageOf(error)}`);
      return refused(`Unable to write to beacons file at ${path}. Check permissions.`);
    }
    return ok(`Beacons saved to ${path}.`);
  },
});

/** `enable` and `disable`: of all beacons. */
function setAll(func: "enable" | "disable"): ModuleFunction<JobContext> {
  return fn({
    doc: describe(`${func === "enable" ? "Enable" : "Disable"} all beacons of this minion.`, `beacons.${func}`),
    params: {},
    varKwargs: "kwargs",
    keywords: BEACONS_KEYWORDS,
    async run(_bound, context, rest) {
      const call = { context, rest };
      if (isTest(call)) return ok(`Beacons would be ${func}d.`);
      await ask(call, { func }, `beacons_${func}d`);
      return ok(`${func === "enable" ? "Enabled" : "Disabled"} beacons on minion.`);
    },
  });
}

export const enable: ModuleFunction<JobContext> = setAll("enable");
export const disable: ModuleFunction<JobContext> = setAll("disable");

/** `enable_beacon` and `disable_beacon`: of one. */
function setOne(func: "enable" | "disable", tested: (name: string) => string): ModuleFunction<JobContext> {
  return fn({
    doc: describe(`${func === "enable" ? "Enable" : "Disable"} one beacon.`, `beacons.${func}_beacon ps`),
    params: { name: p.str() },
    varKwargs: "kwargs",
    keywords: BEACONS_KEYWORDS,
    async run({ name }, context, rest) {
      const call = { context, rest };
      if (name === "") return refused("Beacon name is required.");
      if (isTest(call)) return ok(tested(name));
      if (!(await listBeacons(call)).has(name)) return refused(`Beacon ${name} is not currently configured.`);
      const answer = await ask(call, { func: `${func}_beacon`, name }, `beacon_${func}d`);
      const problem = notDone(answer);
      if (problem !== undefined) return problem;
      const all = joinConfig(configMaps(readBeacons(answer).get(name) ?? null) ?? []);
      if (truthy(all.get("enabled")) !== (func === "enable")) {
        return refused(`Failed to ${func} beacon ${name} on minion.`);
      }
      return ok(`${func === "enable" ? "Enabled" : "Disabled"} beacon ${name} on minion.`);
    },
  });
}

export const enable_beacon: ModuleFunction<JobContext> = setOne("enable", (name) => `Beacon ${name} would be enabled.`);
// Salt's text here speaks of all beacons.
export const disable_beacon: ModuleFunction<JobContext> = setOne("disable", () => "Beacons would be disabled.");

export const reset: ModuleFunction<JobContext> = fn({
  doc: describe("Remove all beacons, without those of the pillar.", "beacons.reset"),
  params: {},
  varKwargs: "kwargs",
  keywords: BEACONS_KEYWORDS,
  async run(_bound, context, rest) {
    const call = { context, rest };
    if (isTest(call)) return ok("Beacons would be reset.");
    const answer = await ask(call, { func: "reset" }, "beacon_reset");
    return notDone(answer) ?? ok("Beacon configuration reset.");
  },
});

export const test: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return what a beacon would send now, without sending it; the minion's own beacons are not changed. A beacon that is\n" +
      "told of changes is listened to for `seconds`. With look=False only the configuration is checked. Not in Salt.",
    `beacons.test diskusage '[{"/": "63%"}]'`,
    `beacons.test log '[{"file": "/var/log/syslog"}, {"tags": {"oom": {"regex": ".*Out of memory.*"}}}]' seconds=30`,
  ),
  permissions: "all",
  params: { name: p.str(), beacon_data: p.any(), seconds: p.float(LISTEN_S), look: p.bool(true) },
  async run({ name, beacon_data, seconds, look }, context) {
    const checked = await check(name, beacon_data, context);
    if ("isMissing" in checked) return map({ valid: false, comment: checked.text, events: [] });
    if (!look) return map({ valid: true, comment: VALID, events: [] });
    const listenMs = Math.min(Math.max(seconds, 0), MAX_LISTEN_S) * 1000;
    const { events, errors } = await lookOnce({ ...checked, name, listenMs }, context);
    return map({ valid: true, comment: VALID, events, ...errors.length > 0 && { errors } });
  },
});

interface Looking extends Checked {
  readonly name: string;
  readonly listenMs: number;
}

/** The events of one look, as the master would get them, or of what is told while it listens. */
async function lookOnce(
  { name, module, maps, listenMs }: Looking,
  context: JobContext,
): Promise<{ readonly events: ValueMap[]; readonly errors: string[] }> {
  const found: ValueMap[] = [], errors: string[] = [];
  const running = await module.open(ownConfig(maps), {
    name,
    log: SILENT_LOGGER,
    call: (fun, args = [], kwargs = new Map()) => context.call(fun, [...args], kwargs),
    fire: (more) => void found.push(...more),
    fail: (reason) => void errors.push(reason),
  });
  try {
    if (running.look === undefined) await sleep(listenMs, context.signal);
    else found.push(...await running.look());
  } catch (error) {
    if (!(error instanceof Error) || context.signal.aborted) throw error;
    errors.push(error.message);
  } finally {
    running.close?.();
  }
  return { events: found.map((data) => eventOf({ id: context.opts.id, name, module: name }, data)), errors };
}
