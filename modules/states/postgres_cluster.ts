/**
 * State module `postgres_cluster`: clusters of PostgreSQL on Debian's family.
 * Source: Salt 3008.3 `salt/states/postgres_cluster.py`.
 * @module
 */

import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { equals, map, str, truthy } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{
    functions: ["postgres.cluster_exists"],
    otherwise: "Unable to load postgres module.  Make sure `postgres.bins_dir` is set.",
  }],
};

export const present: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that there is a cluster. Of one that is there, only port and datadir are compared.

version
    The version of PostgreSQL.

name
    The name of the cluster.

port, encoding, locale, datadir
    Of a new one; pg_createcluster(1).

allow_group_access, data_checksums, wal_segsize
    Options of initdb for a new one.`,
  params: {
    version: p.any(),
    name: p.str(),
    port: p.any(null),
    encoding: p.str(null),
    locale: p.str(null),
    datadir: p.str(null),
    allow_group_access: p.any(null),
    data_checksums: p.any(null),
    wal_segsize: p.any(null),
  },
  async run({ version, name, ...given }, context) {
    const cluster = `${str(version)}/${name}`;
    if (truthy(await context.call("postgres.cluster_exists", [version, name]))) {
      const all = await context.call("postgres.cluster_list", [], map({ verbose: true }));
      const info = mapOrEmpty(mapOrEmpty(all).get(cluster));
      const { port, datadir } = given;
      const differs = (wanted: typeof port, key: string) => truthy(wanted) && !equals(wanted, info.get(key) ?? null);
      if (!differs(port, "port") && !differs(datadir, "datadir")) {
        return { ...startResult(name), comment: `Cluster ${cluster} is already present` };
      }
      return failState(name, `Cluster ${cluster} has wrong parameters which couldn't be changed on fly.`);
    }
    if (context.test) return { ...startResult(name, null), comment: `Cluster ${cluster} is set to be created` };
    if (!truthy(await context.call("postgres.cluster_create", [], map({ version, name, ...given })))) {
      return failState(name, `Failed to create cluster ${cluster}`);
    }
    const changes = map({ [cluster]: "Present" });
    return { ...startResult(name), comment: `The cluster ${cluster} has been created`, changes };
  },
});

export const absent: ModuleFunction<StateContext> = stateFn({
  doc:
    "Make sure that there is no cluster.\n\nversion\n    The version of PostgreSQL.\n\nname\n    The name of the cluster.",
  params: { version: p.any(), name: p.str() },
  async run({ version, name }, context) {
    const cluster = `${str(version)}/${name}`;
    if (!truthy(await context.call("postgres.cluster_exists", [version, name]))) {
      return { ...startResult(name), comment: `Cluster ${cluster} is not present, so it cannot be removed` };
    }
    if (context.test) return { ...startResult(name, null), comment: `Cluster ${cluster} is set to be removed` };
    const removed = mapOrEmpty(await context.call("postgres.cluster_remove", [version, name, true]));
    if (removed.get("retcode") !== 0) return failState(name, str(removed.get("stderr") ?? ""));
    const changes = map({ [name]: "Absent" });
    return { ...startResult(name), comment: `Cluster ${cluster} has been removed`, changes };
  },
});
