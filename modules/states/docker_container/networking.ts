/**
 * The networks of a container that is there already.
 * Source: Salt 3006.28 `salt/states/docker_container.py` (`running`).
 * @module
 */

import { listOrEmpty, mapOrEmpty, mapUnder } from "#lib/values/shape.ts";
import { compareStrings, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { type ContainerWork, dockerFailure } from "./work.ts";

/** Networks that a container has, and those that it shall have. */
export interface Networking {
  /** The wanted ones, with their configurations. */
  readonly networks: ValueMap;
  /** What differs, by network. */
  readonly differences: ValueMap;
}

/** What was to change if a network was left and could not be entered again. */
function noteLost(difference: ValueMap): void {
  for (const item of [...difference.keys()]) {
    const one = mapUnder(difference, item);
    if (one.get("old") === null) difference.delete(item);
    else one.set("new", null);
  }
}

/** Leaves a network and enters it again, with what it shall be. */
async function renew(work: ContainerWork, network: string, { networks, differences }: Networking): Promise<boolean> {
  const { name } = work;
  const errors: string[] = [];
  let [left, entered] = [false, false];
  try {
    if (listOrEmpty(await work.call("connected", [network])).includes(name)) {
      await work.call("disconnect_container_from_network", [name, network]);
      left = true;
    }
  } catch (error) {
    errors.push(dockerFailure(error));
  }
  const wanted = networks.get(network);
  if (wanted !== undefined) {
    try {
      await work.call("connect_container_to_network", [name, network], mapOrEmpty(wanted));
      entered = true;
    } catch (error) {
      errors.push(dockerFailure(error));
      if (left) noteLost(mapOrEmpty(differences.get(network)));
    }
  }
  work.comments.push(...errors);
  if (left && entered) work.comments.push(`Reconnected to network '${network}' with updated configuration`);
  else if (left) work.comments.push(`Disconnected from network '${network}'`);
  else if (entered) work.comments.push(`Connected to network '${network}'`);
  return errors.length === 0;
}

/**
 * Brings a container into its networks.
 * @returns Whether that worked for all.
 */
export async function renewNetworks(work: ContainerWork, networking: Networking): Promise<boolean> {
  let isDone = true;
  for (const network of [...networking.differences.keys()].map(str).sort(compareStrings)) {
    isDone = await renew(work, network, networking) && isDone;
  }
  return isDone;
}

/** Connects a container that was made for comparison; the networks that are not wanted are left. */
export async function connectNew(
  work: ContainerWork,
  container: string,
  networks: ValueMap,
  areConfigured: boolean,
): Promise<ValueMap> {
  for (const [network, config] of networks) {
    await work.call("connect_container_to_network", [container, network], mapOrEmpty(config));
  }
  const inspected = mapOrEmpty(await work.call("inspect_container", [container]));
  if (!areConfigured) return inspected;
  const extra = [...placesOf(inspected).keys()].filter((network) => !networks.has(network));
  for (const network of extra) await work.call("disconnect_container_from_network", [container, network]);
  return extra.length === 0 ? inspected : mapOrEmpty(await work.call("inspect_container", [container]));
}

function placesOf(inspected: ValueMap): ValueMap {
  return mapOrEmpty(mapOrEmpty(inspected.get("NetworkSettings")).get("Networks"));
}

/** Writes the addresses that the engine has given to a container which has just been started into the changes. */
export async function noteAddresses(work: ContainerWork): Promise<void> {
  const changed = mapOrEmpty(mapOrEmpty(work.changes.get("container")).get("Networks"));
  const isAutomatic = (one: Value) => mapOrEmpty(mapOrEmpty(one).get("IPConfiguration")).get("new") === "automatic";
  const waiting = [...changed].filter(([, one]) => isAutomatic(one));
  if (waiting.length === 0) return;
  const option = mapOrEmpty(await work.context.call("config.option", ["docker.compare_container_networks"]));
  const places = placesOf(mapOrEmpty(await work.call("inspect_container", [work.name])));
  for (const [network] of waiting) {
    const one = mapUnder(changed, network);
    for (const key of listOrEmpty(option.get("automatic"))) {
      const value = mapOrEmpty(places.get(network)).get(key);
      if (!truthy(value)) continue;
      one.set(key, map({ old: null, new: value }));
      one.delete("IPConfiguration");
    }
  }
}
