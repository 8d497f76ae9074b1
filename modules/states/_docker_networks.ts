/**
 * The containers of a network of Docker: which are connected, how they were, and that they are again.
 * Source: Salt 3006.28 `salt/states/docker_network.py`.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { type ContainerWork, dockerFailure } from "#modules/states/docker_container/work.ts";
import type { StateResult } from "#lib/plugins/state_module.ts";
import { listUnder, mapOrEmpty } from "#lib/values/shape.ts";
import { splitInput } from "#lib/values/split_input.ts";
import { map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** The containers that run, by id; warnings name the others. */
export async function containersToConnect(work: ContainerWork, given: Value): Promise<ValueMap> {
  const [missing, stopped]: [string[], string[]] = [[], []];
  const found: ValueMap = new Map();
  for (const name of truthy(given) ? splitInput(given) : []) {
    try {
      const inspected = mapOrEmpty(await work.call("inspect_container", [name]));
      if (truthy(mapOrEmpty(inspected.get("State")).get("Running"))) {
        found.set(inspected.get("Id") ?? null, map({ Name: name }));
      } else stopped.push(name);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      missing.push(name);
    }
  }
  if (missing.length > 0) work.warnings.push(`The following containers do not exist: ${missing.join(", ")}.`);
  if (stopped.length > 0) work.warnings.push(`The following containers are not running: ${stopped.join(", ")}.`);
  return found;
}

/** The containers of a network that is removed, with their links and aliases if they shall be in the next one too. */
export async function placesBefore(work: ContainerWork, inside: ValueMap, keepsPlaces: boolean): Promise<ValueMap> {
  const places: ValueMap = new Map();
  for (const [id, one] of inside) {
    const place = new Map(mapOrEmpty(one));
    if (keepsPlaces) {
      try {
        const inspected = mapOrEmpty(await work.call("inspect_container", [id]));
        const networks = mapOrEmpty(mapOrEmpty(inspected.get("NetworkSettings")).get("Networks"));
        const own = mapOrEmpty(networks.get(work.name));
        for (const key of ["Links", "Aliases"]) if (truthy(own.get(key))) place.set(key, own.get(key) ?? null);
      } catch (error) {
        // It has gone meanwhile.
        if (!(error instanceof CommandError)) throw error;
      }
    }
    places.set(id, place);
  }
  return places;
}

/** Removes a network after its containers were disconnected. */
export async function removeNetwork(work: ContainerWork, inside: ValueMap): Promise<StateResult> {
  const errors: string[] = [];
  for (const [id, one] of inside) {
    const name = str(mapOrEmpty(one).get("Name") ?? id);
    try {
      await work.call("disconnect_container_from_network", [id, work.name]);
      listUnder(work.changes, "disconnected").push(name);
    } catch (error) {
      errors.push(`Failed to disconnect container '${name}' : ${dockerFailure(error)}`);
    }
  }
  if (errors.length > 0) return work.end(false, errors.join("\n"));
  try {
    await work.call("remove_network", [work.name]);
  } catch (error) {
    return work.end(false, `Failed to remove network: ${dockerFailure(error)}`);
  }
  work.changes.set("removed", true);
  return work.end(true, `Removed network '${work.name}'`);
}

/** How a container was in the network before, as arguments of docker.connect_container_to_network. */
function placeArguments(place: ValueMap): ValueMap {
  const address = (value: Value) => str(value).replace(/\/[^/]*$/, "");
  const [ipv4, ipv6] = [place.get("IPv4Address"), place.get("IPv6Address")];
  return map({
    ...truthy(ipv4) && { ipv4_address: address(ipv4 ?? null) },
    ...truthy(ipv6) && { ipv6_address: address(ipv6 ?? null) },
    ...place.has("Links") && { links: place.get("Links") },
    ...place.has("Aliases") && { aliases: place.get("Aliases") },
  });
}

/** Connects a container as it was, or if that is not possible otherwise. */
async function connect(work: ContainerWork, id: Value, args: ValueMap): Promise<void> {
  try {
    await work.call("connect_container_to_network", [id, work.name], args);
  } catch (error) {
    if (!(error instanceof CommandError) || args.size === 0) throw error;
    await work.call("connect_container_to_network", [id, work.name]);
  }
}

/** Containers for a network, by id. */
export interface Connecting {
  /** Those that shall be in it. */
  readonly wanted: ValueMap;
  /** Those that had to leave it. */
  readonly left: ValueMap;
  /** Those that are in it. */
  readonly inside: ValueMap;
}

/** Connects the containers that are not connected yet, and ends the state. */
export async function connectContainers(
  work: ContainerWork,
  { wanted, left, inside }: Connecting,
): Promise<StateResult> {
  const errors: string[] = [];
  for (const [id, place] of wanted) {
    if (inside.has(id)) continue;
    const wasIn = left.has(id);
    try {
      await connect(work, id, wasIn ? placeArguments(mapOrEmpty(place)) : new Map());
      const name = mapOrEmpty(place).get("Name") ?? null;
      listUnder(work.changes, wasIn ? "reconnected" : "connected").push(name);
    } catch (error) {
      errors.push(dockerFailure(error));
    }
  }
  for (const [id, place] of left) {
    if (!wanted.has(id)) listUnder(work.changes, "disconnected").push(mapOrEmpty(place).get("Name") ?? null);
  }
  if (errors.length === 0) return work.end(true);
  const before = work.comments.length > 0 ? `${work.comments.join(". ")}. ` : "";
  return { ...work.end(false), comment: `${before}${errors.join(". ")}.` };
}
