/**
 * The plugins in Python of the families whose functions are called `FAMILY/NAME.FUN`, beside the execution functions:
 * returners, drivers of sdb, serializers, beacons, executors, matchers.
 * @module
 */

import type { Catalogue } from "#lib/plugins/job_context.ts";
import { moduleOfFunction } from "#lib/plugins/docs.ts";
import type { PythonFamily } from "#lib/python_bridge/link/messages.ts";
import { MissingPlugin } from "#lib/python_bridge/link/session.ts";
import { calledInPython, elsewhere, type PythonAccess } from "./python_calls.ts";
import { pythonBeacons } from "./python_files.ts";

const PREFIXED: readonly PythonFamily[] = ["returners", "sdb", "serializers", "beacons", "executors", "matchers"];

/** The catalogue with the plugins of these families. */
export function withPrefixedPlugins(builtin: Catalogue, access: PythonAccess): Catalogue {
  const { plugins, job } = access;
  const names = new Map(PREFIXED.map((family) => [family, new Set(plugins.names[family] ?? [])]));
  if ([...names.values()].every(({ size }) => size === 0)) return builtin;
  const beacons = pythonBeacons(plugins).map((name) => `beacons/${name}`);
  const matchers = (plugins.names.matchers ?? []).map((name) => `matchers/${name}`);
  return {
    ...builtin,
    ownModules: [...builtin.ownModules ?? [], ...beacons, ...matchers],
    async get(name) {
      const slash = name.indexOf("/"), fun = name.slice(slash + 1);
      const family = PREFIXED.find((one) => one === name.slice(0, Math.max(0, slash)));
      if (family === undefined || !names.get(family)?.has(moduleOfFunction(fun))) return await builtin.get(name);
      if (job === undefined) return { ...elsewhere(name, access), permissions: "all" };
      if (await job.find(family, fun) instanceof MissingPlugin) return await builtin.get(name);
      return calledInPython({ family, fun }, job, {});
    },
  };
}
