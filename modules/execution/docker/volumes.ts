/**
 * Execution module `docker`: volumes.
 * Source: the functions of Salt 3006.28 `salt/modules/dockermod.py`.
 * @module
 */

import { enginePath } from "#lib/host/docker/engine.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { map } from "#lib/values/value.ts";
import { engineOf } from "./connection.ts";
import { filterQuery } from "./lookups.ts";

export const volumes: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the volumes, as `Volumes`; filters is a map of the engine's filters.",
    "docker.volumes filters=\"{'dangling': True}\"",
  ),
  permissions: "all",
  params: { filters: p.dict(null) },
  run: async ({ filters }, context) =>
    await (await engineOf(context)).ask({
      method: "GET",
      path: enginePath("volumes"),
      query: { filters: filterQuery(filters) },
    }),
});

export const create_volume: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Make a volume, with a driver and a map of its options. Return what the engine says about it.",
    "docker.create_volume my_volume driver=local",
  ),
  permissions: "all",
  params: { name: p.str(), driver: p.str(null), driver_opts: p.dict(null) },
  async run({ name, driver, driver_opts }, context) {
    const json = map({
      Name: name,
      ...driver !== null && { Driver: driver },
      ...driver_opts !== null && { DriverOpts: driver_opts },
    });
    return await (await engineOf(context)).ask({ method: "POST", path: enginePath("volumes", "create"), json });
  },
});

export const remove_volume: ModuleFunction<JobContext> = fn({
  doc: describe("Remove a volume. Return True.", "docker.remove_volume my_volume"),
  permissions: "all",
  params: { name: p.str() },
  async run({ name }, context) {
    await (await engineOf(context)).ask({ method: "DELETE", path: enginePath("volumes", name) });
    return true;
  },
});

export const inspect_volume: ModuleFunction<JobContext> = fn({
  doc: describe("Return what the engine says about a volume.", "docker.inspect_volume my_volume"),
  permissions: "all",
  params: { name: p.str() },
  run: async ({ name }, context) =>
    await (await engineOf(context)).ask({ method: "GET", path: enginePath("volumes", name) }),
});
