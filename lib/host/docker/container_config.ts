/**
 * The engine's configuration of a container, and of its place in a network.
 * Source: docker-py 7.2 `docker/types/containers.py` (`ContainerConfig`), `docker/types/networks.py`
 * (`EndpointConfig`); docs.docker.com, "Docker Engine API v1.41".
 * @module
 */

import { shlexSplit } from "#lib/text/shlex.ts";
import { asList } from "#lib/values/shape.ts";
import { isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { CREATE_ARGUMENTS, ENDPOINT_ARGUMENTS, HOST_ARGUMENTS } from "./argument_names.ts";
import { hostConfig, normalizedLinks } from "./host_config.ts";

/** The arguments of a container, by where the engine has them. */
export interface SplitArguments {
  readonly own: ValueMap;
  readonly host: ValueMap;
  /** Those that nobody knows. */
  readonly others: readonly string[];
}

/** Those of the container itself, those of its host, and those that nobody knows. */
export function splitContainerArguments(args: ValueMap): SplitArguments {
  const picked = (names: readonly string[]) => new Map([...args].filter(([key]) => names.includes(str(key))));
  const own = [...CREATE_ARGUMENTS, "mac_address"];
  const known = [...own, ...HOST_ARGUMENTS];
  return {
    own: picked(own),
    host: picked(HOST_ARGUMENTS),
    others: [...args.keys()].map(str).filter((name) => !known.includes(name)).sort(),
  };
}

function words(command: Value): Value {
  return typeof command === "string" ? shlexSplit(command) : command;
}

function environment(given: Value): Value {
  if (!isMap(given)) return given;
  return [...given].map(([name, value]) => value === null ? str(name) : `${str(name)}=${str(value)}`);
}

/** Ports that are open: numbers of tcp, or pairs of a number and a protocol. */
function exposedPorts(given: Value): Value {
  if (!Array.isArray(given)) return given;
  return new Map(given.map((port): [Value, Value] => {
    const [number, protocol = "tcp"] = asList(port);
    return [`${str(number)}/${str(protocol)}`, new Map()];
  }));
}

/** A set, as the engine writes it: each name with an empty map. */
function emptied(given: Value, empty: () => Value): Value {
  if (given === null || isMap(given)) return given;
  return new Map(asList(given).map((name): [Value, Value] => [name, empty()]));
}

const HEALTH = {
  test: "Test",
  interval: "Interval",
  timeout: "Timeout",
  retries: "Retries",
  start_period: "StartPeriod",
};

function health(given: Value): Value {
  if (!isMap(given) || given.size === 0) return given;
  const check = new Map(
    Object.entries(HEALTH).map(([name, field]): [Value, Value] => [field, given.get(name) ?? given.get(field) ?? null]),
  );
  const test = check.get("Test");
  return typeof test === "string" ? check.set("Test", ["CMD-SHELL", test]) : check;
}

/**
 * The engine's configuration of a container.
 * @param proxies Variables of proxies, `NAME=value`, which come before those of the arguments.
 */
export function containerConfig(
  image: string,
  { own, host }: Pick<SplitArguments, "own" | "host">,
  proxies: readonly string[],
): ValueMap {
  const get = (name: string): Value => own.get(name) ?? null;
  const attaches = !truthy(get("detach"));
  const isOpen = truthy(get("stdin_open"));
  const variables = environment(get("environment"));
  const fullHost = get("host_config");
  const user = get("user");
  const config = map({
    Hostname: get("hostname"),
    Domainname: get("domainname"),
    ExposedPorts: exposedPorts(get("ports")),
    User: user === null ? null : str(user),
    Tty: truthy(get("tty")),
    OpenStdin: isOpen,
    StdinOnce: attaches && isOpen,
    AttachStdin: attaches && isOpen,
    AttachStdout: attaches,
    AttachStderr: attaches,
    Env: proxies.length === 0 || get("use_config_proxy") === false
      ? truthy(variables) ? variables : null
      : [...proxies, ...variables === null ? [] : asList(variables)],
    Cmd: words(get("command")),
    Image: image,
    Volumes: emptied(get("volumes"), () => new Map()),
    NetworkDisabled: truthy(get("network_disabled")),
    Entrypoint: words(get("entrypoint")),
    WorkingDir: get("working_dir"),
    HostConfig: new Map([...hostConfig(host), ...isMap(fullHost) ? fullHost : []]),
    NetworkingConfig: get("networking_config"),
    MacAddress: get("mac_address"),
    Labels: emptied(get("labels"), () => ""),
    StopSignal: get("stop_signal"),
    Healthcheck: health(get("healthcheck")),
    StopTimeout: get("stop_timeout"),
  });
  return new Map([...config].filter(([, value]) => value !== null));
}

/** The engine's configuration of a container's place in a network. Arguments that are not known are left out. */
export function endpointConfig(args: ValueMap): ValueMap {
  const given = new Map([...args].filter(([key]) => ENDPOINT_ARGUMENTS.includes(str(key))));
  const get = (name: string): Value => given.get(name) ?? null;
  const ipam = new Map(
    Object.entries({
      IPv4Address: get("ipv4_address"),
      IPv6Address: get("ipv6_address"),
      LinkLocalIPs: get("link_local_ips"),
    }).filter(([, value]) => truthy(value)),
  );
  const links = get("links");
  return map({
    ...truthy(get("aliases")) && { Aliases: get("aliases") },
    ...truthy(links) && { Links: normalizedLinks(links) },
    ...truthy(get("mac_address")) && { MacAddress: get("mac_address") },
    ...ipam.size > 0 && { IPAMConfig: ipam },
    ...truthy(get("driver_opt")) && { DriverOpts: get("driver_opt") },
  });
}
