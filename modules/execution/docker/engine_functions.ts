/**
 * Execution module `docker`: what the engine says about itself; what nobody uses is removed.
 * Source: the functions of Salt 3006.28 `salt/modules/dockermod.py`.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import {
  CREATE_ARGUMENTS,
  ENDPOINT_ARGUMENTS,
  HOST_ARGUMENTS,
  LOG_ARGUMENTS,
  NETWORK_ARGUMENTS,
  POOL_ARGUMENTS,
} from "#lib/host/docker/argument_names.ts";
import { enginePath } from "#lib/host/docker/engine.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { ownKeywords } from "#lib/plugins/keywords.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { splitInput } from "#lib/values/split_input.ts";
import { Tuple } from "#lib/values/tuple.ts";
import { map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { engineOf } from "./connection.ts";
import { filterQuery, ifThere, inspectContainer, inspectImage, inspectNetwork } from "./lookups.ts";

export const info: ModuleFunction<JobContext> = fn({
  doc: describe("Return what the engine says about itself and its host.", "docker.info"),
  permissions: "all",
  params: {},
  run: async (_, context) => await (await engineOf(context)).ask({ method: "GET", path: enginePath("info") }),
});

export const version: ModuleFunction<JobContext> = fn({
  doc: describe("Return the versions of the engine and of its interface.", "docker.version"),
  permissions: "all",
  params: {},
  async run(_, context) {
    const answer = mapOrEmpty(await (await engineOf(context)).ask({ method: "GET", path: enginePath("version") }));
    for (const name of ["Version", "ApiVersion"]) {
      const digits = /^[\d.]+/.exec(str(answer.get(name) ?? ""))?.[0];
      if (digits === undefined) continue;
      answer.set(`${name}Info`, new Tuple<Value>(digits.split(".").filter((one) => one !== "").map(Number)));
    }
    return answer;
  },
});

export const inspect: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return what the engine says about a container, an image, a volume or a network.",
    "docker.inspect mycontainer",
  ),
  permissions: "all",
  params: { name: p.str() },
  async run({ name }, context) {
    const engine = await engineOf(context);
    const found = await ifThere(inspectContainer(engine, name)) ?? await ifThere(inspectImage(engine, name)) ??
      await ifThere(engine.ask({ method: "GET", path: enginePath("volumes", name) })) ??
      await ifThere(inspectNetwork(engine, name));
    if (found === undefined) throw new CommandError(`Error 404: No such image/container/volume/network: ${name}`);
    return found;
  },
});

export const get_client_args: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the names of the arguments of making and connecting containers, of networks, of their addresses and of logs; limit: some of\n" +
      "these.",
    "docker.get_client_args",
    "docker.get_client_args logs",
  ),
  params: { limit: p.any(null) },
  run({ limit }) {
    const all: ValueMap = map({
      create_container: [...CREATE_ARGUMENTS],
      host_config: [...HOST_ARGUMENTS],
      connect_container_to_network: [...ENDPOINT_ARGUMENTS],
      logs: [...LOG_ARGUMENTS],
      create_network: ["name", ...NETWORK_ARGUMENTS],
      ipam_config: [...POOL_ARGUMENTS],
    });
    const wanted = limit === null || limit === "" ? [] : splitInput(limit);
    return wanted.length === 0 ? all : new Map([...all].filter(([key]) => wanted.includes(str(key))));
  },
});

export const prune: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Remove what nobody uses: containers, networks, images, the cache of builds, and only with volumes=True volumes. Without any of them,\n" +
      "or with system=True, the first four. Other keywords are the engine's filters, such as until and label. Return the engine's answers.",
    "docker.prune system=True",
    "docker.prune containers=True until=24h",
  ),
  permissions: "all",
  params: {
    containers: p.bool(false),
    networks: p.bool(false),
    images: p.bool(false),
    build: p.bool(false),
    volumes: p.bool(false),
    system: p.any(null),
  },
  varKwargs: "filters",
  async run({ system, volumes, ...some }, context, { kwargs }) {
    const engine = await engineOf(context);
    const isSystem = system === true || (system === null && !Object.values(some).includes(true));
    const filters = filterQuery(
      new Map(
        [...ownKeywords(kwargs)].map((
          [key, value],
        ): [Value, Value] => [key, typeof value === "boolean" ? value : splitInput(value)]),
      ),
    );
    const kinds = { containers: some.containers, images: some.images, networks: some.networks, build: some.build };
    const result: ValueMap = new Map();
    for (const [kind, isWanted] of Object.entries({ ...kinds, volumes })) {
      if (!isWanted && !(isSystem && kind !== "volumes")) continue;
      const query = kind === "build" ? {} : { filters };
      result.set(kind, await engine.ask({ method: "POST", path: enginePath(kind, "prune"), query, timeoutS: null }));
    }
    return result;
  },
});
