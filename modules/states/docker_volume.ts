/**
 * State module `docker_volume`: volumes that are there, or are gone.
 * Source: Salt 3006.28 `salt/states/docker_volume.py`, which Salt 3008 has no longer.
 * @module
 */

import { ContainerWork, dockerFailure, NEEDS_DOCKER } from "#modules/states/docker_container/work.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import { isDictList, repackDictList } from "#lib/host/docker/dict_list.ts";
import { listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, str, type ValueMap } from "#lib/values/value.ts";

export { NEEDS_DOCKER as virtual };

async function find(work: ContainerWork): Promise<ValueMap | undefined> {
  const all = listOrEmpty(mapOrEmpty(await work.call("volumes")).get("Volumes"));
  return all.filter(isMap).find((volume) => volume.get("Name") === work.name);
}

/** Makes the volume, after one with another driver was removed. */
async function make(
  work: ContainerWork,
  given: Readonly<Record<string, unknown>>,
  removes: boolean,
): Promise<StateResult> {
  let verb = "remove";
  try {
    if (removes) work.changes.set("removed", await work.call("remove_volume", [work.name]));
    verb = "create";
    work.changes.set("created", await work.call("create_volume", [work.name], given));
  } catch (error) {
    return work.end(false, `Failed to ${verb} volume '${work.name}': ${dockerFailure(error)}`);
  }
  return work.end(true);
}

export const present: ModuleFunction<StateContext> = stateFn({
  doc:
    "Make sure that a volume exists.\n\nname\n    The volume.\n\ndriver\n    Its driver.\n\ndriver_opts\n    Options of the driver: a map, or a " +
    "list of maps.\n\nforce\n    Whether one that has another driver is removed and made again; what is in it is lost.",
  params: { name: p.str(), driver: p.str(null), driver_opts: p.any(null), force: p.bool(false) },
  async run({ name, driver, driver_opts, force }, context) {
    const work = new ContainerWork(name, context);
    const options = isDictList(driver_opts) ? repackDictList(driver_opts) : driver_opts;
    const given = { driver, driver_opts: options ?? null };
    const volume = await find(work);
    if (volume === undefined) {
      if (context.test) return work.end(null, `The volume '${name}' will be created`);
      return await make(work, given, false);
    }
    const current = str(volume.get("Driver") ?? "");
    if (driver === null || current === driver) return work.end(true, `Volume '${name}' already exists.`);
    if (!force) {
      const text =
        `Driver for existing volume '${name}' ('${current}') does not match specified driver ('${driver}') and force ` +
        "is False";
      return work.end(context.test ? null : false, text);
    }
    if (context.test) {
      return work.end(null, `The volume '${name}' will be replaced with a new one using the driver '${driver}'`);
    }
    return await make(work, given, true);
  },
});

export const absent: ModuleFunction<StateContext> = stateFn({
  doc: "Make sure that a volume does not exist.\n\nname\n    The volume.\n\ndriver\n    Has no effect.",
  params: { name: p.str(), driver: p.any(null) },
  async run({ name }, context) {
    const work = new ContainerWork(name, context);
    if (await find(work) === undefined) return work.end(true, `Volume '${name}' already absent`);
    if (context.test) return work.end(null, `The volume '${name}' will be removed`);
    try {
      work.changes.set("removed", await work.call("remove_volume", [name]));
      return work.end(true);
    } catch (error) {
      return work.end(false, `Failed to remove volume '${name}': ${dockerFailure(error)}`);
    }
  },
});
