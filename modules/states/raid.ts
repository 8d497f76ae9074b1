/**
 * State module `raid`: RAID arrays of the kernel.
 * Source: Salt 3008.3 `salt/states/mdadm_raid.py`.
 * @module
 */

import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { ownKeywords } from "#lib/plugins/keywords.ts";
import { failState, startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { asList, mapOrEmpty } from "#lib/values/shape.ts";
import { map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [
    { grains: { kernel: ["Linux"] }, otherwise: "Only supported on Linux" },
    { programs: ["mdadm"], otherwise: "Unable to locate command: mdadm" },
  ],
};

/** The devices of a state, by what they are now. */
interface Devices {
  readonly missing: string[];
  /** Those that belong to an array, by its id. */
  readonly members: ReadonlyMap<string, string[]>;
  /** Those that belong to none. */
  readonly fresh: string[];
}

async function inspect(devices: readonly string[], context: StateContext): Promise<Devices> {
  const missing: string[] = [], fresh: string[] = [];
  const members = new Map<string, string[]>();
  for (const device of devices) {
    if (device === "missing" || !truthy(await context.call("file.access", [device, "f"]))) {
      missing.push(device);
      continue;
    }
    const block = mapOrEmpty(await context.call("raid.examine", [device], map({ quiet: true })));
    const uuid = block.get("MD_UUID");
    if (uuid === undefined) fresh.push(device);
    else members.set(str(uuid), [...members.get(str(uuid)) ?? [], device]);
  }
  return { missing, members, fresh };
}

function pythonList(words: readonly string[]): string {
  return str([...words]);
}

async function arrayOf(name: string, context: StateContext): Promise<Value | undefined> {
  return mapOrEmpty(await context.call("raid.list")).get(name);
}

/** Why the devices cannot be one array; `undefined`: they can. */
function refusalOf(found: Devices, present: Value | undefined): string | undefined {
  const uuids = [...found.members.keys()];
  if (uuids.length > 1) {
    return `Devices are a mix of RAID constituents with multiple MD_UUIDs: ${pythonList(uuids.sort())}.`;
  }
  const there = present === undefined ? undefined : str(mapOrEmpty(present).get("uuid") ?? "");
  if (uuids.length === 1 && there !== undefined && there !== uuids[0]) {
    return `Devices MD_UUIDs: ${uuids[0]} differs from present RAID uuid ${there}.`;
  }
  if (present === undefined && uuids.length === 0 && found.fresh.length === 0) {
    return `All devices are missing: ${pythonList(found.missing)}.`;
  }
  return undefined;
}

/** What is to be done for an array that is not there. */
interface Making {
  readonly verb: "assembled" | "created";
  run(more: Readonly<Record<string, Value>>): Promise<Value>;
}

function makingOf(
  { name, level, options }: { readonly name: string; readonly level: Value; readonly options: ValueMap },
  { members, fresh, missing }: Devices,
  context: StateContext,
): Making {
  const [old] = members.values();
  const call = (fun: string, args: Value[]) => (more: Readonly<Record<string, Value>>) =>
    context.call(`raid.${fun}`, args, new Map([...map({ ...more }), ...options]));
  if (old !== undefined) return { verb: "assembled", run: call("assemble", [name, old]) };
  return { verb: "created", run: call("create", [name, level, [...fresh, ...missing.map(() => "missing")]]) };
}

async function tested(name: string, found: Devices, making: Making | undefined): Promise<StateResult> {
  const { fresh, missing } = found;
  let comment = making === undefined
    ? `Raid ${name} already present.`
    : `Raid will be ${making.verb} with: ${str(await making.run({ test_mode: true }))}`;
  const adds = making?.verb !== "created" && fresh.length > 0;
  if (adds) comment += ` New devices will be added: ${pythonList(fresh)}`;
  if (missing.length > 0) comment += ` Missing devices: ${pythonList(missing)}`;
  return { ...startResult(name, making !== undefined || adds ? null : true), comment };
}

async function made(name: string, making: Making, context: StateContext): Promise<StateResult> {
  await making.run({});
  const array = await arrayOf(name, context);
  if (array === undefined) return failState(name, `Raid ${name} failed to be ${making.verb}.`);
  await context.call("raid.save_config");
  return { ...startResult(name), comment: `Raid ${name} ${making.verb}.`, changes: new Map(mapOrEmpty(array)) };
}

async function added(state: StateResult, fresh: readonly string[], context: StateContext): Promise<StateResult> {
  const name = str(state.name);
  let { comment, result } = { comment: str(state.comment), result: state.result };
  for (const device of fresh) {
    const done = truthy(await context.call("raid.add", [name, device]));
    comment += done ? ` Added new device ${device} to ${name}.\n` : ` Unable to add ${device} to ${name}.\n`;
    if (!done) result = false;
  }
  const changes = result === true ? new Map<Value, Value>([...state.changes, ["added", [...fresh]]]) : state.changes;
  return { ...state, comment, result, changes };
}

export const present: ModuleFunction<StateContext> = stateFn({
  doc: `An array is there: it is assembled of devices that belong to one, or created; other devices are added to it.

name
    The array: /dev/md0.

level
    The level of a new one.

devices
    A list of devices; \`missing\` stands for one that comes later.

Other arguments are options of mdadm: chunk, run.`,
  params: { name: p.str(), level: p.any(), devices: p.any() },
  varKwargs: "kwargs",
  passesKeywords: true,
  async run({ name, level, devices }, context, { kwargs }) {
    const present = await arrayOf(name, context);
    const found = await inspect(asList(devices).map(str), context);
    const refusal = refusalOf(found, present);
    if (refusal !== undefined) return failState(name, refusal);
    const making = present === undefined
      ? makingOf({ name, level, options: ownKeywords(kwargs) }, found, context)
      : undefined;
    if (context.test) return await tested(name, found, making);
    let state = making === undefined
      ? { ...startResult(name), comment: `Raid ${name} already present.` }
      : await made(name, making, context);
    const adds = making?.verb !== "created" && found.fresh.length > 0 && state.result === true;
    if (adds) state = await added(state, found.fresh, context);
    if (found.missing.length === 0) return state;
    return { ...state, comment: `${str(state.comment)} Missing devices: ${pythonList(found.missing)}` };
  },
});

export const absent: ModuleFunction<StateContext> = stateFn({
  doc: "An array is not there: it is stopped, and its members are free for others.\n\nname\n    The array: /dev/md0.",
  params: { name: p.str() },
  async run({ name }, context) {
    if (await arrayOf(name, context) === undefined) {
      return { ...startResult(name), comment: `Raid ${name} already absent` };
    }
    if (context.test) return { ...startResult(name, null), comment: `Raid ${name} is set to be destroyed` };
    if (!truthy(await context.call("raid.destroy", [name]))) {
      return failState(name, `Raid ${name} failed to be destroyed`);
    }
    const changes = map({ [name]: "destroyed" });
    return { ...startResult(name), comment: `Raid ${name} has been destroyed`, changes };
  },
});
