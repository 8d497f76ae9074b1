/**
 * Execution module `docker`: networks, and the containers in them.
 * Source: the functions of Salt 3006.28 `salt/modules/dockermod.py`.
 * @module
 */

import { CommandError, InvocationError } from "#lib/errors.ts";
import { ENDPOINT_ARGUMENTS, NETWORK_ARGUMENTS, NETWORK_KEYWORDS } from "#lib/host/docker/argument_names.ts";
import { endpointConfig } from "#lib/host/docker/container_config.ts";
import { type DockerEngine, enginePath } from "#lib/host/docker/engine.ts";
import { ipamConfig, NETWORK_TRANSLATOR, takeIpamArguments } from "#lib/host/docker/network_input.ts";
import { DetailedError, translateInput } from "#lib/host/docker/translate_input.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { ownKeywords } from "#lib/plugins/keywords.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import { splitInput } from "#lib/values/split_input.ts";
import { isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { engineOf } from "./connection.ts";
import { TRANSLATION } from "./create.ts";
import { filterQuery, ifThere, inspectNetwork } from "./lookups.ts";

export const networks: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the networks, a list of maps; names and ids are parts of those of the wanted ones.",
    "docker.networks",
    "docker.networks names=network-web",
  ),
  permissions: "all",
  params: { names: p.any(null), ids: p.any(null) },
  async run({ names, ids }, context) {
    const engine = await engineOf(context);
    const filters = map({
      ...names !== null && { name: splitInput(names) },
      ...ids !== null && { id: splitInput(ids) },
    });
    const query = { filters: filterQuery(filters) };
    const found = listOrEmpty(await engine.ask({ method: "GET", path: enginePath("networks"), query })).filter(isMap);
    for (const network of found) {
      const inspected = await ifThere(inspectNetwork(engine, str(network.get("Id") ?? "")));
      const containers = inspected?.get("Containers");
      if (containers !== undefined && truthy(containers)) network.set("Containers", containers);
    }
    return found;
  },
});

export const inspect_network: ModuleFunction<JobContext> = fn({
  doc: describe("Return what the engine says about a network.", "docker.inspect_network web_network"),
  permissions: "all",
  params: { network_id: p.str() },
  run: async ({ network_id }, context) => await inspectNetwork(await engineOf(context), network_id),
});

/** The engine's configuration of a network. */
function networkConfig(name: string, given: ValueMap): ValueMap {
  const ipam = takeIpamArguments(given);
  const pools = listOrEmpty(ipam.get("ipam_pools")).filter(isMap);
  const others = new Map([...ipam].filter(([key]) => key !== "ipam_pools"));
  const addresses = ipam.get("ipam") ?? (ipam.size > 0 ? ipamConfig(pools, others) : null);
  const other = [...given.keys()].map(str).find((key) => !NETWORK_ARGUMENTS.includes(key));
  if (other !== undefined) throw new InvocationError(`docker.create_network takes no argument '${other}'`);
  const get = (key: string): Value => given.get(key) ?? null;
  const fields = map({
    Name: name,
    Driver: get("driver"),
    Options: get("options"),
    IPAM: addresses,
    CheckDuplicate: get("check_duplicate"),
    Labels: get("labels"),
    EnableIPv6: truthy(get("enable_ipv6")) ? true : null,
    Internal: truthy(get("internal")) ? true : null,
    Attachable: get("attachable"),
    Ingress: get("ingress"),
    Scope: get("scope"),
  });
  return new Map([...fields].filter(([, value]) => value !== null));
}

export const create_network: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Make a network. Arguments: driver, options, internal, labels, enable_ipv6, attachable, subnet, gateway, iprange, aux_addresses,\n" +
      "ipam_driver, ipam_opts, ipam_pools (a list of pools). Return its Id.",
    "docker.create_network web_network driver=bridge",
    "docker.create_network mynet subnet=10.0.20.0/24 gateway=10.0.20.1",
  ),
  permissions: "all",
  params: { name: p.str(), ...TRANSLATION },
  varKwargs: "kwargs",
  watchedKeywords: NETWORK_KEYWORDS,
  async run({ name, client_timeout, ...options }, context, { kwargs }) {
    const engine = await engineOf(context, client_timeout);
    const given = translateInput(NETWORK_TRANSLATOR, ownKeywords(kwargs), options);
    const json = networkConfig(name, given);
    return await engine.ask({ method: "POST", path: enginePath("networks", "create"), json });
  },
});

export const remove_network: ModuleFunction<JobContext> = fn({
  doc: describe("Remove a network. Return True.", "docker.remove_network mynet"),
  permissions: "all",
  params: { network_id: p.str() },
  async run({ network_id }, context) {
    await (await engineOf(context)).ask({ method: "DELETE", path: enginePath("networks", network_id) });
    return true;
  },
});

export const connect_container_to_network: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Connect a container to a network, with aliases, links, ipv4_address, ipv6_address, link_local_ips, driver_opt. Return True.",
    "docker.connect_container_to_network web-1 mynet",
    "docker.connect_container_to_network web-1 mynet ipv4_address=10.20.0.10",
  ),
  permissions: "all",
  params: { container: p.str(), net_id: p.str() },
  varKwargs: "kwargs",
  keywords: ENDPOINT_ARGUMENTS,
  async run({ container, net_id }, context, { kwargs }) {
    const engine = await engineOf(context);
    const json = map({ Container: container, EndpointConfig: endpointConfig(ownKeywords(kwargs)) });
    await engine.ask({ method: "POST", path: enginePath("networks", net_id, "connect"), json });
    return true;
  },
});

async function disconnect(engine: DockerEngine, container: string, network: string): Promise<void> {
  const path = enginePath("networks", network, "disconnect");
  await engine.ask({ method: "POST", path, json: map({ Container: container }) });
}

export const disconnect_container_from_network: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Disconnect a container from a network. Return True.",
    "docker.disconnect_container_from_network web-1 mynet",
  ),
  permissions: "all",
  params: { container: p.str(), network_id: p.str() },
  async run({ container, network_id }, context) {
    await disconnect(await engineOf(context), container, network_id);
    return true;
  },
});

/** The containers of a network, by name. */
async function connectedTo(engine: DockerEngine, name: string): Promise<ValueMap> {
  const containers = mapOrEmpty((await inspectNetwork(engine, name)).get("Containers"));
  return new Map(
    [...containers].filter(([, one]) => mapOrEmpty(one).has("Name")).map(([id, one]): [Value, Value] => {
      const shown = mapOrEmpty(one);
      const name = shown.get("Name") ?? null;
      return [name, new Map([...[...shown].filter(([key]) => key !== "Name"), ["Id", id]])];
    }),
  );
}

export const connected: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the names of the containers that run in a network; verbose=True: maps by name.",
    "docker.connected net_name",
  ),
  permissions: "all",
  params: { name: p.str(), verbose: p.bool(false) },
  async run({ name, verbose }, context) {
    const found = await connectedTo(await engineOf(context), name);
    return verbose ? found : [...found.keys()];
  },
});

export const disconnect_all_containers_from_network: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Disconnect all containers from a network. Return their names.",
    "docker.disconnect_all_containers_from_network mynet",
  ),
  permissions: "all",
  params: { network_id: p.str() },
  async run({ network_id }, context) {
    const engine = await engineOf(context);
    const [removed, errors]: [string[], string[]] = [[], []];
    for (const name of (await connectedTo(engine, network_id)).keys()) {
      try {
        await ifThere(disconnect(engine, str(name), network_id));
        removed.push(str(name));
      } catch (error) {
        if (!(error instanceof CommandError)) throw error;
        errors.push(error.message);
      }
    }
    if (errors.length === 0) return removed;
    throw new DetailedError("One or more containers failed to be removed", map({ removed, errors }));
  },
});
