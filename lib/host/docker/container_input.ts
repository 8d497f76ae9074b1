/**
 * The arguments of a container as people write them.
 * Source: Salt 3006.28 `salt/utils/dockermod/translate/container.py`.
 * @module
 */

import { InvocationError } from "#lib/errors.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { compareStrings, isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { CONTAINER_ALIASES } from "./argument_names.ts";
import {
  absoluteInput,
  boolInput,
  checkIp,
  commandInput,
  deviceRates,
  type InputOptions,
  intInput,
  labelsInput,
  mapInput,
  namedParts,
  pairsInput,
  sizeInput,
  splitParts,
  textInput,
  textItems,
  textsOrMaps,
  userInput,
  wholeInput,
} from "./input_values.ts";
import { portBindingsInput, portDefinition, portsInput, withoutDoubles } from "./port_input.ts";
import type { Translator } from "./translate_input.ts";

type Translate = (value: Value, options: InputOptions) => Value;

/** The same translation for several arguments. */
function each(names: string, translate: Translate): Record<string, Translate> {
  return Object.fromEntries(names.split(" ").map((name) => [name, translate]));
}

function weights(value: Value): Value {
  return namedParts(value, ["Path", "Weight"]).map((item) => {
    const weight = wholeInput(item.get("Weight") ?? null);
    if (weight !== undefined) return item.set("Weight", weight);
    throw new InvocationError(
      `Weight '${str(item.get("Weight") ?? null)}' for path '${str(item.get("Path") ?? null)}' is not an integer`,
    );
  });
}

function binds(value: Value): Value {
  if (isMap(value) || Array.isArray(value)) return value;
  if (typeof value === "string") return splitParts(value);
  throw new InvocationError(`'${str(value)}' is not a dictionary or list of bind definitions`);
}

function extraHosts(value: Value, { validateIps }: InputOptions): Value {
  const hosts = pairsInput(value, ":");
  if (validateIps) { for (const address of hosts.values()) checkIp(address); }
  return hosts;
}

function dns(value: Value, { validateIps }: InputOptions): Value {
  const servers = textItems(value);
  if (validateIps) { for (const server of servers) checkIp(server); }
  return servers;
}

function restartPolicy(value: Value): Value {
  const policies = namedParts(value, ["Name", "MaximumRetryCount"], "0");
  if (policies.length !== 1) throw new InvocationError("Only one policy is permitted");
  const given = policies[0].get("MaximumRetryCount") ?? null;
  const count = wholeInput(given);
  if (count === undefined) throw new InvocationError(`Retry count '${str(given)}' is non-numeric`);
  return policies[0].set("MaximumRetryCount", count);
}

function ulimits(value: Value): Value {
  return textsOrMaps(value).map((item) => {
    if (isMap(item)) return item;
    const [name, limits] = splitParts(item, "=", 1);
    if (limits === undefined) {
      throw new InvocationError(`Ulimit definition '${item}' is not in the format type=soft_limit[:hard_limit]`);
    }
    const [first, second = first] = splitParts(limits, ":", 1);
    const [soft, hard] = [wholeInput(first), wholeInput(second)];
    if (soft === undefined || hard === undefined) {
      throw new InvocationError(`Limit '${item}' contains non-numeric value(s)`);
    }
    return map({ Name: name, Soft: soft, Hard: hard });
  });
}

function volumes(value: Value): Value {
  return textItems(value).map(absoluteInput);
}

/** The paths in the container that `binds` has. */
function boundPaths(given: Value): string[] {
  if (!isMap(given)) return listOrEmpty(given).flatMap((one) => splitParts(str(one), ":").slice(1, 2));
  return [...given.values()].flatMap((one) => isMap(one) && one.has("bind") ? [str(one.get("bind") ?? null)] : []);
}

/** `log_driver` and `log_opt` are parts of `log_config`. */
function mergeLogging(given: ValueMap): void {
  const [driver, options] = [given.get("log_driver"), given.get("log_opt")];
  given.delete("log_driver");
  given.delete("log_opt");
  if (given.has("log_config") || (driver === undefined && options === undefined)) return;
  given.set("log_config", map({ Type: driver ?? "none", Config: options ?? {} }));
}

/** Removes `name` if `other` is so that both cannot be. */
function refuse(given: ValueMap, invalid: ValueMap, name: string, isRefused: boolean, reason: string): void {
  if ((given.get(name) ?? null) === null || !isRefused) return;
  given.delete(name);
  invalid.set(name, reason);
}

/** What follows: bound paths are volumes, bound ports are open. */
function finish(given: ValueMap, { skipped }: InputOptions, invalid: ValueMap): void {
  const isPublished = truthy(given.get("publish_all_ports"));
  refuse(given, invalid, "port_bindings", isPublished, "Cannot be used when publish_all_ports=True");
  refuse(given, invalid, "hostname", given.get("network_mode") === "host", "Cannot be used when network_mode=True");
  const isFree = (...names: readonly string[]) => !names.some((name) => skipped.includes(name));
  const bound = boundPaths(given.get("binds") ?? null);
  if (bound.length > 0 && isFree("binds", "volume", "volumes")) {
    const own = listOrEmpty(given.get("volumes")).map(str);
    given.set("volumes", [...own, ...bound.filter((path) => !own.includes(path))].sort(compareStrings));
  }
  const bindings = given.get("port_bindings");
  if (isMap(bindings) && bindings.size > 0 && isFree("port_bindings", "expose", "ports")) {
    const open = [...bindings.keys()].map((port) => portDefinition(port));
    given.set("ports", withoutDoubles([...listOrEmpty(given.get("ports")), ...open]));
  }
}

export const CONTAINER_TRANSLATOR: Translator = {
  aliases: CONTAINER_ALIASES,
  arguments: {
    ...each(
      "auto_remove detach network_disabled oom_kill_disable privileged publish_all_ports read_only stdin_open tty",
      boolInput,
    ),
    ...each(
      "blkio_weight cpu_group cpu_period cpu_shares mem_swappiness oom_score_adj pids_limit stop_timeout",
      intInput,
    ),
    ...each(
      "cpuset_cpus cpuset_mems domainname hostname ipc_mode isolation log_driver mac_address name network_mode pid_mode " +
        "stop_signal userns_mode volume_driver",
      textInput,
    ),
    ...each("cap_add cap_drop dns_opt dns_search group_add security_opt volumes_from", textItems),
    // An entry that is a map is what the engine calls a device.
    devices: textsOrMaps,
    ...each("command entrypoint", commandInput),
    ...each("mem_limit memswap_limit shm_size", sizeInput),
    ...each("environment log_opt lxc_conf storage_opt sysctls", (value) => pairsInput(value, "=")),
    ...each("device_read_bps device_write_bps", (value) => deviceRates(value, { areNumbers: false })),
    ...each("device_read_iops device_write_iops", (value) => deviceRates(value, { areNumbers: true })),
    ...each("host_config tmpfs", mapInput),
    links: (value) => pairsInput(value, ":"),
    labels: labelsInput,
    blkio_weight_device: weights,
    binds,
    dns,
    extra_hosts: extraHosts,
    port_bindings: portBindingsInput,
    ports: portsInput,
    restart_policy: restartPolicy,
    ulimits,
    user: userInput,
    volumes,
    working_dir: absoluteInput,
  },
  merge: mergeLogging,
  finish,
};
