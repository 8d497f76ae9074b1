/**
 * Execution module `mine`: values of this minion that its master keeps for other minions, and theirs. Writing functions
 * return what the master answers. Source: the functions of Salt 3008.3 `salt/modules/mine.py`.
 * @module
 */

import { CommandError, messageOf } from "#lib/errors.ts";
import { type MineFunction, readDefinition } from "#lib/fleet/mine_definition.ts";
import { AGED, askedValues, restricted, valueOf } from "#lib/fleet/mine_form.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Permissions } from "#lib/plugins/permissions.ts";
import { asListIfTruthy, mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, str, toNumber, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { dockerPorts } from "./_docker_ports.ts";
import { configuredFunctions, shownDefinition } from "./_mine_functions.ts";

// Without a master, the mine is in the store of the module `data`.
const READ: Permissions = { read: ["{cachedir}"] };
const WRITE: Permissions = { read: ["{cachedir}"], write: ["{cachedir}"] };
/** The key of the module `data`. */
const LOCAL = "mine_cache";

/** Whether this minion keeps its mine itself. */
function isAlone({ opts }: JobContext): boolean {
  return opts.file_client === "local";
}

/** Whether this runs on a master, for an orchestration or pillar: then there is a mine to read. */
function isOnMaster({ opts }: JobContext): boolean {
  return opts.extra.get("__role") === "master";
}

export const update: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Call the functions of `mine_functions`, in the minion's configuration and in pillar, and store their results in the mine.\n" +
      "With `clear`, they replace all that this minion has there. `mine_functions` names other functions: a list, or a map as in\n" +
      "the configuration. Functions that do not exist or fail are left out. Returns whether the master has stored the results;\n" +
      "None if there is no function to call.",
    "mine.update",
    "mine.update mine_functions='[network.ip_addrs]'",
  ),
  permissions: "all",
  params: { clear: p.any(false), mine_functions: p.any(null) },
  run: async ({ clear, mine_functions }, context) => {
    if (typeof clear !== "boolean") throw new CommandError(`clear must be True or False, not ${str(clear)}`);
    const functions = requested(mine_functions, context);
    if (functions === undefined || functions.size === 0) return null;
    const data: ValueMap = new Map();
    for (const { entry } of readableEntries(functions, context)) await collect(entry, data, context);
    // Nothing is known: what is stored is better than nothing.
    if (data.size === 0) return false;
    return await store(data, clear, context);
  },
});

/** The definitions by name; `undefined` if the argument is none. */
function requested(given: Value, context: JobContext): ValueMap | undefined {
  if (!truthy(given)) return configuredFunctions(context);
  if (Array.isArray(given)) return new Map(given.map((name) => [name, new Map()]));
  return isMap(given) ? given : undefined;
}

/** The entries that can be read, with their definitions; the others are logged. */
function* readableEntries(
  functions: ValueMap,
  { log }: JobContext,
): Generator<{ readonly entry: MineFunction; readonly definition: Value }> {
  for (const [name, definition] of functions) {
    const entry = readDefinition(name, definition);
    if (typeof entry === "string") log("error", `mine_functions: ${str(name)} is left out: ${entry}`);
    else yield { entry, definition };
  }
}

/** The function of an entry; `undefined` if this minion does not have it, which is logged. */
async function availableFunction(
  { alias, name }: MineFunction,
  { catalogue, log }: JobContext,
): Promise<string | undefined> {
  const fun = alias ?? name;
  if (await catalogue.get(fun) !== undefined) return fun;
  log("error", `Function ${fun} in mine_functions not available`);
  return undefined;
}

/** Calls a function, and adds its result to `data`. */
async function collect(entry: MineFunction, data: ValueMap, context: JobContext): Promise<boolean> {
  const fun = await availableFunction(entry, context);
  if (fun === undefined) return false;
  try {
    const value = await context.call(fun, [...entry.args], new Map(entry.kwargs));
    const { allow_tgt, allow_tgt_type } = entry.readers;
    data.set(entry.name, allow_tgt === null ? value : restricted(value, allow_tgt, allow_tgt_type));
    return true;
  } catch (error) {
    if (context.signal.aborted) throw error;
    context.log("error", `Function ${fun} of the mine failed to execute: ${messageOf(error)}`);
    return false;
  }
}

/** @returns Whether it is stored. */
async function store(data: ValueMap, clear: boolean, context: JobContext): Promise<boolean> {
  if (isAlone(context)) {
    const before = clear ? null : await context.call("data.get", [LOCAL]);
    return truthy(await context.call("data.update", [LOCAL, new Map([...isMap(before) ? before : [], ...data])]));
  }
  const { id } = context.opts;
  const load = map({ cmd: "_mine", data, id, clear });
  const answer = await context.outside.request(load);
  // A master of Python Salt raises for `clear`.
  if (clear && answer === "") {
    await context.outside.request(map({ cmd: "_mine_flush", id }));
    return await written(load.set("clear", false), context);
  }
  return said(answer, context);
}

/** Asks the master to write. */
async function written(load: ValueMap, context: JobContext): Promise<boolean> {
  return said(await context.outside.request(load), context);
}

function said(answer: Value, context: JobContext): boolean {
  if (answer !== true) context.log("warning", "The master did not change the mine as asked; its log may say why");
  return answer === true;
}

export const send: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Call a function and store its result in the mine, under its name, or under `name` if `mine_function` names the function. All\n" +
      "other arguments are the function's. `allow_tgt` and `allow_tgt_type` are a target: only its minions may read the value.\n" +
      "Returns whether the master has stored it; False if the function does not exist or fails.",
    "mine.send network.ip_addrs interface=eth0",
    "mine.send eth0_ip_addrs mine_function=network.ip_addrs interface=eth0 allow_tgt='G@role:db' allow_tgt_type=compound",
  ),
  permissions: "all",
  params: { name: p.str() },
  varArgs: "args",
  varKwargs: "kwargs",
  run: async ({ name }, context, { args, kwargs }) => {
    const own = new Map([...kwargs].filter(([key]) => !str(key).startsWith("__")));
    const entry = readDefinition(name, own);
    if (typeof entry === "string") throw new CommandError(entry);
    const data: ValueMap = new Map();
    return await collect({ ...entry, args }, data, context) && await store(data, false, context);
  },
});

export const get: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return values of the mine, by minion. `fun` is a name, or several as a list or separated by commas; then the result is by name\n" +
      "first. `exclude_minion` leaves out this minion. Values of pillar in a target are compared whole, without globs.\n" +
      "Not in Salt: with `with_age` each value is a map of `value` and `age` in seconds; `max_age` leaves out older ones.",
    "mine.get '*' network.interfaces",
    "mine.get 'G@os:Fedora and S@192.168.5.0/24' network.ipaddrs compound",
    "mine.get '*' network.ip_addrs max_age=7200",
  ),
  permissions: READ,
  params: {
    tgt: p.any(),
    fun: p.any(),
    tgt_type: p.any("glob"),
    exclude_minion: p.any(false),
    with_age: p.any(false),
    max_age: p.any(null),
  },
  run: async ({ exclude_minion, ...query }, context) => {
    const alone = isAlone(context) && !isOnMaster(context);
    const found = alone ? await localValues(query, context) : await mastersValues(query, context);
    if (!truthy(exclude_minion) || !isMap(found)) return found;
    const without = (values: ValueMap) => new Map([...values].filter(([id]) => id !== context.opts.id));
    if (typeof query.fun === "string" && !askedValues(query.fun).isByName) return without(found);
    return new Map([...found].map(([name, values]) => [name, isMap(values) ? without(values) : values]));
  },
});

/** Arguments of {@linkcode get}. */
interface Query {
  readonly tgt: Value;
  readonly fun: Value;
  readonly tgt_type: Value;
  readonly with_age: Value;
  readonly max_age: Value;
}

async function mastersValues({ with_age, max_age, ...query }: Query, context: JobContext): Promise<Value> {
  const load = map({ cmd: "_mine_get", id: context.opts.id, ...query });
  const needsAge = truthy(with_age) || max_age !== null;
  if (needsAge) {
    if (max_age !== null && !((toNumber(max_age) ?? -1) >= 0)) {
      throw new CommandError(`max_age must be a number of seconds, not ${str(max_age)}`);
    }
    load.set("with_age", truthy(with_age)).set("max_age", max_age);
  }
  const answer = await context.outside.request(load);
  if (typeof answer === "string" && answer !== "") throw new CommandError(answer);
  if (!needsAge) return answer;
  // A master that does not know these arguments answers as if they were not given.
  if (isMap(answer) && answer.has(AGED)) return answer.get("ret") ?? null;
  if (isMap(answer) && answer.size === 0) return answer;
  throw new CommandError("with_age and max_age: this master does not know how old values are");
}

async function localValues({ tgt, fun, tgt_type, with_age, max_age }: Query, context: JobContext): Promise<Value> {
  if (truthy(with_age) || max_age !== null) {
    throw new CommandError("with_age and max_age need a master: a minion's own store has no times");
  }
  if (typeof fun !== "string" && !Array.isArray(fun)) return new Map();
  if (!truthy(await context.call(`match.${str(tgt_type)}`, [tgt]))) return new Map();
  const stored = await context.call("data.get", [LOCAL]);
  if (!isMap(stored)) return new Map();
  const { id } = context.opts;
  const { names, isByName } = askedValues(fun);
  const values = names.filter((name) => stored.has(name))
    .map((name): [Value, ValueMap] => [name, new Map([[id, valueOf(stored.get(name) ?? null) ?? null]])]);
  return isByName ? new Map(values) : values[0]?.[1] ?? new Map();
}

export const delete_: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Remove the value of one function of this minion from the mine. Returns whether the master has a mine of this minion.",
    "mine.delete 'network.interfaces'",
  ),
  permissions: WRITE,
  params: { fun: p.str() },
  run: async ({ fun }, context) => {
    if (!isAlone(context)) return await written(map({ cmd: "_mine_delete", id: context.opts.id, fun }), context);
    const stored = await context.call("data.get", [LOCAL]);
    if (!isMap(stored)) return false;
    return await context.call("data.update", [LOCAL, new Map([...stored].filter(([name]) => name !== fun))]);
  },
});

export const flush: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Remove all values of this minion from the mine. Returns whether there were any.",
    "mine.flush",
  ),
  permissions: WRITE,
  params: {},
  run: async (_bound, context) => {
    if (isAlone(context)) return await context.call("data.update", [LOCAL, new Map()]);
    return await written(map({ cmd: "_mine_flush", id: context.opts.id }), context);
  },
});

export const valid: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the entries of `mine_functions` whose functions exist; None without any entry.",
    "mine.valid",
  ),
  permissions: "all",
  params: {},
  run: async (_bound, context) => {
    const functions = configuredFunctions(context);
    if (functions.size === 0) return null;
    const shown: ValueMap = new Map();
    for (const { entry, definition } of readableEntries(functions, context)) {
      if (await availableFunction(entry, context) === undefined) continue;
      shown.set(entry.name, shownDefinition(entry, definition));
    }
    return shown;
  },
});

export const get_docker: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the addresses of the ports that containers expose, by image: from the values of `docker.ps` in the mine. `interfaces`\n" +
      "and `cidrs` restrict the addresses of the hosts. With `with_container_id` each comes with the id of its container.",
    "mine.get_docker interfaces='eth0'",
    "mine.get_docker cidrs='107.170.147.0/24'",
  ),
  permissions: READ,
  params: { interfaces: p.any(null), cidrs: p.any(null), with_container_id: p.any(false) },
  run: async ({ interfaces, cidrs, with_container_id }, context) => {
    const hosts = await context.call("mine.get", ["*", "docker.ps"]);
    return dockerPorts(mapOrEmpty(hosts), {
      interfaces: asListIfTruthy(interfaces).map(str),
      cidrs: asListIfTruthy(cidrs).map(str),
      withId: truthy(with_container_id),
    });
  },
});
