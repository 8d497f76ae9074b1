/**
 * Execution module `docker`: what differs between two containers or two networks.
 * Source: the functions of Salt 3006.28 `salt/modules/dockermod.py`.
 * @module
 */

import {
  type ComparedContainer,
  containerDifferences,
  networkDifferences,
  placeDifferences,
} from "#lib/host/docker/comparing.ts";
import type { DockerEngine } from "#lib/host/docker/engine.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { mapOrEmpty, onlyStrings } from "#lib/values/shape.ts";
import { splitInput } from "#lib/values/split_input.ts";
import { isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { engineOf } from "./connection.ts";
import { ifThere, inspectContainer, inspectImage, inspectNetwork, stateOfContainer } from "./lookups.ts";

async function compared(engine: DockerEngine, given: string): Promise<ComparedContainer> {
  return { inspected: await inspectContainer(engine, given), name: given };
}

/** A function that compares two containers. */
function comparing(word: string): ModuleFunction<JobContext> {
  return fn({
    doc: describe(
      "Return what differs between two containers, as maps of old and new below Config and HostConfig. ignore: items that are not\n" +
        "compared.",
      `docker.${word} foo bar`,
      `docker.${word} foo bar ignore=Hostname`,
    ),
    permissions: "all",
    params: { first: p.str(), second: p.str(), ignore: p.any(null) },
    async run({ first, second, ignore }, context) {
      const engine = await engineOf(context);
      const imageId = async (name: string) => (await inspectImage(engine, name)).get("Id") ?? null;
      const ignored = ignore === null ? [] : splitInput(ignore);
      return await containerDifferences(
        await compared(engine, first),
        await compared(engine, second),
        ignored,
        imageId,
      );
    },
  });
}

export const compare_containers: ModuleFunction<JobContext> = comparing("compare_containers");
export const compare_container: ModuleFunction<JobContext> = comparing("compare_container");

/** The networks of a container; of one that runs only those that it is connected to. */
async function networksOf(engine: DockerEngine, inspected: ValueMap): Promise<ValueMap> {
  const all = mapOrEmpty(mapOrEmpty(inspected.get("NetworkSettings")).get("Networks"));
  if (stateOfContainer(inspected) !== "running") return all;
  const connected: ValueMap = new Map();
  for (const [name, place] of all) {
    const network = await ifThere(inspectNetwork(engine, str(name)));
    const containers = mapOrEmpty(network?.get("Containers"));
    if (network === undefined || containers.has(inspected.get("Id") ?? null)) connected.set(name, place);
  }
  return connected;
}

async function inspectedOf(engine: DockerEngine, given: Value): Promise<ValueMap> {
  return isMap(given) ? given : await inspectContainer(engine, str(given));
}

export const compare_container_networks: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return what differs between the networks of two containers, as maps of old and new by network. The option\n" +
      "`docker.compare_container_networks` says what is compared.",
    "docker.compare_container_networks foo bar",
  ),
  permissions: "all",
  params: { first: p.any(), second: p.any() },
  async run({ first, second }, context) {
    const engine = await engineOf(context);
    const option = mapOrEmpty(await context.call("config.option", ["docker.compare_container_networks"]));
    const keys = { automatic: onlyStrings(option.get("automatic")), static: onlyStrings(option.get("static")) };
    const [a, b] = [await inspectedOf(engine, first), await inspectedOf(engine, second)];
    const [before, after] = [await networksOf(engine, a), await networksOf(engine, b)];
    const result: ValueMap = new Map();
    for (const name of new Set([...before.keys(), ...after.keys()])) {
      const place = (all: ValueMap) => all.has(name) ? mapOrEmpty(all.get(name)) : undefined;
      const found = placeDifferences([place(before), a], [place(after), b], keys);
      if (found.size > 0) result.set(name, found);
    }
    return result;
  },
});

export const compare_networks: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return what differs between two networks, as maps of old and new. ignore: items that are not compared.",
    "docker.compare_networks foo bar",
  ),
  permissions: "all",
  params: { first: p.any(), second: p.any(), ignore: p.any("Name,Id,Created,Containers,Status") },
  async run({ first, second, ignore }, context) {
    const engine = await engineOf(context);
    const network = async (given: Value) => isMap(given) ? given : await inspectNetwork(engine, str(given));
    return networkDifferences(await network(first), await network(second), ignore === null ? [] : splitInput(ignore));
  },
});
