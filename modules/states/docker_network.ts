/**
 * State module `docker_network`: networks that are there, with containers in them, or are gone.
 * Source: Salt 3006.28 `salt/states/docker_network.py`, which Salt 3008 has no longer.
 * @module
 */

import { connectContainers, containersToConnect, placesBefore, removeNetwork } from "./_docker_networks.ts";
import { ContainerWork, dockerFailure, NEEDS_DOCKER } from "#modules/states/docker_container/work.ts";
import { NETWORK_KEYWORDS } from "#lib/host/docker/argument_names.ts";
import { DockerError } from "#lib/host/docker/engine.ts";
import { ipamConfig, NETWORK_TRANSLATOR, takeIpamArguments } from "#lib/host/docker/network_input.ts";
import { translateInput, type TranslationOptions } from "#lib/host/docker/translate_input.ts";
import { CommandError } from "#lib/errors.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { ownKeywords } from "#lib/plugins/keywords.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import { listOrEmpty, mapOrEmpty, mapUnder } from "#lib/values/shape.ts";
import { equals, isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

export { NEEDS_DOCKER as virtual };

/** What a network shall be. */
interface Wanted {
  /** Arguments of docker.create_network. */
  readonly args: ValueMap;
  /** The engine's configuration of addresses. */
  readonly ipam: ValueMap;
  readonly containers: Value;
  readonly reconnect: boolean;
}

/** The option that names the bridge, and the most characters of the name of an interface. */
const BRIDGE = "com.docker.network.bridge.name", NAME_LENGTH = 14;

/** @throws {CommandError} If arguments are wrong. */
function wantedOf(kwargs: ValueMap, options: TranslationOptions): Pick<Wanted, "args" | "ipam"> {
  const args = translateInput(NETWORK_TRANSLATOR, kwargs, options);
  const given = takeIpamArguments(args);
  const whole = given.get("ipam");
  if (isMap(whole)) {
    if (given.size === 1) return { args, ipam: whole };
    throw new CommandError(
      "Cannot mix the 'ipam' argument with any of the IPAM config arguments. See documentation for details.",
    );
  }
  const pools = listOrEmpty(given.get("ipam_pools")).filter(isMap);
  return { args, ipam: ipamConfig(pools, new Map([...given].filter(([key]) => key !== "ipam_pools"))) };
}

/** Arguments for a network that is made only to be compared: another bridge, and addresses of its own. */
function temporaryArgs(args: ValueMap): ValueMap {
  const copy = new Map([...args].filter(([key]) => key !== "enable_ipv6"));
  const options = copy.get("options") ?? null;
  const bridge = isMap(options) ? options.get(BRIDGE) : undefined;
  if (args.get("driver") === "bridge" && bridge !== undefined && isMap(options)) {
    copy.set("options", new Map([...options, [BRIDGE, `${str(bridge)}comp`.slice(-NAME_LENGTH)]]));
  }
  return copy.set("skip_translate", true);
}

/** Whether addresses are those that the engine gives a network by itself. */
function isOwnPool(pool: Value): boolean {
  const keys = [...mapOrEmpty(pool)].filter(([, value]) => value !== "" && value !== null).map(([key]) => str(key));
  return equals(keys.sort(), ["Gateway", "Subnet"]);
}

/** What differs between the network and what it shall be; a text: it cannot be said. */
async function compare(work: ContainerWork, network: ValueMap, { args, ipam }: Wanted): Promise<ValueMap | string> {
  const temporary = Array.from(crypto.getRandomValues(new Uint8Array(20)), (n) => String.fromCharCode(97 + n % 26))
    .join("");
  try {
    await work.call("create_network", [temporary], temporaryArgs(args));
  } catch (error) {
    return `Failed to create temp network for comparison: ${dockerFailure(error)}`;
  }
  try {
    const made = mapOrEmpty(await work.call("inspect_network", [temporary]));
    made.set("EnableIPv6", truthy(args.get("enable_ipv6"))).set("IPAM", ipam);
    const current = new Map(network);
    const currentIpam = new Map(mapOrEmpty(network.get("IPAM")));
    const pools = listOrEmpty(currentIpam.get("Config"));
    if (listOrEmpty(ipam.get("Config")).length === 0 && pools.length === 1 && isOwnPool(pools[0])) {
      current.set("IPAM", currentIpam.set("Config", []));
    }
    return mapOrEmpty(await work.call("compare_networks", [current, made]));
  } catch (error) {
    return `Failed to inspect temp network: ${dockerFailure(error)}`;
  } finally {
    await removeTemporary(work, temporary);
  }
}

async function removeTemporary(work: ContainerWork, name: string): Promise<void> {
  try {
    await work.call("remove_network", [name]);
  } catch (error) {
    work.warnings.push(`Failed to remove temp network '${name}': ${dockerFailure(error)}.`);
  }
}

/** Makes the network; a result: that is the end. */
async function make(work: ContainerWork, { args, ipam }: Wanted, isAgain: boolean): Promise<StateResult | undefined> {
  const { name } = work;
  if (work.context.test) return work.end(null, "Network will be created");
  try {
    await work.call("create_network", [name], new Map([...args, ...map({ skip_translate: true, ipam })]));
  } catch (error) {
    return failState(name, `Failed to create network '${name}': ${dockerFailure(error)}`, work.changes);
  }
  work.changes.set(isAgain ? "recreated" : "created", true);
  work.comments.push(`Network '${name}' ${isAgain ? "was replaced with updated config" : "created"}`);
  return undefined;
}

async function reach(work: ContainerWork, wanted: Wanted, network: ValueMap | undefined): Promise<StateResult> {
  const { name } = work;
  const listed = await containersToConnect(work, wanted.containers);
  let left: ValueMap = new Map();
  let inside = mapOrEmpty(network?.get("Containers"));
  let isMade = network === undefined;
  if (network !== undefined) {
    const differences = await compare(work, network, wanted);
    if (typeof differences === "string") return work.end(false, differences);
    isMade = differences.size > 0;
    if (isMade) {
      mapUnder(work.changes, name);
      work.changes.set(name, differences);
      if (work.context.test) return work.end(null, "Network would be recreated with new config");
      const keepsPlaces = !truthy(wanted.containers) && wanted.reconnect;
      left = await placesBefore(work, inside, keepsPlaces);
      const removed = await removeNetwork(new ContainerWork(name, work.context), inside);
      if (removed.result !== true) return removed;
    } else work.comments.push(`Network '${name}' already exists, and is configured as specified`);
  }
  if (isMade) {
    const ended = await make(work, wanted, network !== undefined);
    if (ended !== undefined) return ended;
    inside = new Map();
  }
  const rejoins = wanted.containers === null && wanted.reconnect && left.size > 0;
  return await connectContainers(work, { wanted: rejoins ? left : listed, left, inside });
}

export const present: ModuleFunction<StateContext> = stateFn({
  doc:
    "Make sure that a network exists as it is described. One that differs is made again.\n\nname\n    The network.\n\ncontainers\n    " +
    "Containers that are connected to it.\n\nreconnect\n    Whether the containers of one that is made again are connected to it again." +
    "\n\nskip_translate\n    Arguments that are given to the engine as they are; True: all.\n\nignore_collisions\n    Whether an argument may " +
    "be given by two of its names.\n\nvalidate_ip_addrs\n    Whether addresses are checked.\n\ndriver, driver_opts, internal, labels, " +
    "enable_ipv6, attachable, scope, ingress\n    As `docker network create` has them.\n\nsubnet, gateway, iprange, aux_addresses\n    Its " +
    "addresses.\n\nipam_pools\n    A list of maps of these.\n\nipam_driver, ipam_opts, ipam\n    The driver of addresses and its options, or " +
    "the engine's own configuration of all of it.",
  params: {
    name: p.str(),
    skip_translate: p.any(null),
    ignore_collisions: p.bool(false),
    validate_ip_addrs: p.bool(true),
    containers: p.any(null),
    reconnect: p.bool(true),
  },
  varKwargs: "kwargs",
  keywords: NETWORK_KEYWORDS,
  async run({ name, containers, reconnect, ...options }, context, { kwargs }) {
    const work = new ContainerWork(name, context);
    let network: ValueMap | undefined;
    try {
      network = mapOrEmpty(await work.call("inspect_network", [name]));
    } catch (error) {
      if (!(error instanceof DockerError) || error.status !== 404) return failState(name, dockerFailure(error));
    }
    let wanted: Wanted;
    try {
      wanted = { ...wantedOf(ownKeywords(kwargs), options), containers, reconnect };
    } catch (error) {
      return failState(name, dockerFailure(error));
    }
    return await reach(work, wanted, network);
  },
});

export const absent: ModuleFunction<StateContext> = stateFn({
  doc: "Make sure that a network does not exist; its containers are disconnected.\n\nname\n    The network.",
  params: { name: p.str() },
  async run({ name }, context) {
    const work = new ContainerWork(name, context);
    let network: ValueMap;
    try {
      network = mapOrEmpty(await work.call("inspect_network", [name]));
    } catch (error) {
      if (!(error instanceof DockerError) || error.status !== 404) return failState(name, dockerFailure(error));
      return work.end(true, `Network '${name}' already absent`);
    }
    if (context.test) return work.end(null, `Network '${name}' will be removed`);
    return await removeNetwork(work, mapOrEmpty(network.get("Containers")));
  },
});
