/**
 * The addresses at which containers serve, from what `docker.ps` of several hosts has in the mine; `mine.get_docker`.
 * Source: Salt 3008.3 `salt/modules/mine.py` (`get_docker`).
 * @module
 */

import { isInNetwork, parseIpAddress, parseIpNetwork } from "#lib/text/ip_network.ts";
import { listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import { Tuple } from "#lib/values/tuple.ts";
import { isAmong, isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** Which addresses are shown, and how. */
export interface DockerPortOptions {
  /** Interfaces of the hosts. Empty: all. */
  readonly interfaces: readonly string[];
  /** Networks. Empty: all. */
  readonly cidrs: readonly string[];
  /** Whether each address comes with the container's id. */
  readonly withId: boolean;
}

/** @returns By image: `{ipv4: {port of the container: [address:port of the host]}}`. */
export function dockerPorts(hosts: ValueMap, options: DockerPortOptions): ValueMap {
  const images: ValueMap = new Map();
  for (const containers of hosts.values()) {
    if (!isMap(containers)) continue;
    const addresses = hostAddresses(mapIn(containers, "host"), options);
    for (const [name, container] of containers) {
      if (name === "host" || !isMap(container)) continue;
      const image = container.get("Image") ?? null;
      const ports = container.get("Ports");
      const served: ValueMap = isMap(images.get(image)) ? mapIn(images, image) : new Map();
      images.set(image, served);
      for (const port of listOrEmpty(ports)) {
        if (!isMap(port)) continue;
        const ip = port.get("IP") ?? null;
        if (typeof ip !== "string" || ip === "") continue;
        for (const address of ip === "0.0.0.0" ? addresses : [ip]) {
          const text = `${address}:${str(port.get("PublicPort") ?? null)}`;
          const id = mapIn(container, "Info").get("Id") ?? null;
          add(served, port.get("PrivatePort") ?? null, options.withId ? new Tuple([text, id]) : text);
        }
      }
    }
  }
  return images;
}

function mapIn(from: ValueMap, key: Value): ValueMap {
  return mapOrEmpty(from.get(key));
}

function add(served: ValueMap, port: Value, value: Value): void {
  const ipv4 = mapIn(served, "ipv4");
  const known = ipv4.get(port);
  const list = listOrEmpty(known);
  if (!isAmong(value, list)) list.push(value);
  served.set("ipv4", ipv4.set(port, list));
}

/** The IPv4 addresses of a host, without duplicates. */
function hostAddresses(host: ValueMap, { interfaces, cidrs }: DockerPortOptions): string[] {
  const found = mapIn(host, "interfaces");
  const chosen = interfaces.length === 0 ? [...found.values()] : interfaces.map((name) => found.get(name) ?? null);
  const addresses = chosen.flatMap((one) => {
    const inet = isMap(one) ? one.get("inet") : undefined;
    return listOrEmpty(inet).map((each) => isMap(each) ? each.get("address") ?? null : null);
  }).filter((address) => typeof address === "string");
  const networks = cidrs.map((cidr) => parseIpNetwork(cidr, { strict: false })).filter((one) => one !== undefined);
  const isWanted = (address: string) => {
    const parsed = parseIpAddress(address);
    return cidrs.length === 0 || (parsed !== undefined && networks.some((one) => isInNetwork(parsed, one)));
  };
  return [...new Set(addresses)].filter(isWanted);
}
