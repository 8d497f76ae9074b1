/**
 * The engine's configuration of a container on its host, from the arguments of docker-py.
 * Source: docker-py 7.2 `docker/types/containers.py` (`HostConfig`), `docker/utils/utils.py`; docs.docker.com, "Docker
 * Engine API v1.41", "Create a container".
 * @module
 */

import { InvocationError } from "#lib/errors.ts";
import { isDictList } from "./dict_list.ts";
import { asList, mapOrEmpty } from "#lib/values/shape.ts";
import { Tuple } from "#lib/values/tuple.ts";
import {
  compareStrings,
  isFloat,
  isInt,
  isMap,
  map,
  str,
  truthy,
  typeName,
  type Value,
  type ValueMap,
} from "#lib/values/value.ts";
import { bytesOfSize } from "./human_size.ts";

/** What is bound to a port of a container: a port of the host, or an address of it, or both. */
function portBinding(given: Value): ValueMap {
  const shaped = (ip: Value, port: Value) => map({ HostIp: ip, HostPort: port === null ? "" : str(port) });
  if (given instanceof Tuple) {
    if (given.length >= 2) return shaped(given[0], given[1]);
    return typeof given[0] === "string" ? shaped(given[0], "") : shaped("", given[0]);
  }
  if (!isMap(given)) return shaped("", given);
  if (!given.has("HostPort")) throw new InvocationError(`Invalid port binding: ${str(given)}`);
  return shaped(given.get("HostIp") ?? "", given.get("HostPort") ?? null);
}

function portBindings(given: Value): Value {
  return new Map([...mapOrEmpty(given)].map(([port, bound]): [Value, Value] => {
    const key = str(port);
    const all = Array.isArray(bound) && !(bound instanceof Tuple) ? bound : [bound];
    return [key.includes("/") ? key : `${key}/tcp`, all.map(portBinding)];
  }));
}

const PROPAGATIONS = ["rshared", "shared", "rslave", "slave", "rprivate", "private"];

function bindMode(given: ValueMap): string {
  if (given.has("ro") && given.has("mode")) {
    throw new InvocationError(`Binding cannot contain both "ro" and "mode": ${str(given)}`);
  }
  const mode = given.has("ro") ? truthy(given.get("ro")) ? "ro" : "rw" : str(given.get("mode") ?? "rw");
  const propagation = given.get("propagation");
  if (typeof propagation !== "string" || !PROPAGATIONS.includes(propagation)) return mode;
  return mode === "" ? propagation : `${mode},${propagation}`;
}

/** Bindings of paths: a list of texts is the engine's own form. */
function binds(given: Value): Value {
  if (!isMap(given)) return given;
  return [...given].map(([path, bound]) => {
    if (!isMap(bound)) return `${str(path)}:${str(bound)}:rw`;
    const inside = bound.get("bind") ?? null;
    if (inside === null) throw new InvocationError(`Binding of ${str(path)} has no "bind": ${str(bound)}`);
    return `${str(path)}:${str(inside)}:${bindMode(bound)}`;
  });
}

function devices(given: Value): Value {
  return asList(given).map((device) => {
    if (isMap(device)) return device;
    const [PathOnHost, PathInContainer = PathOnHost, CgroupPermissions = "rwm"] = str(device).split(":");
    return map({ PathOnHost, PathInContainer, CgroupPermissions });
  });
}

function tmpfs(given: Value): Value {
  if (isMap(given)) return given;
  return new Map(
    asList(given).map((mount): [Value, Value] => {
      const [path, ...options] = str(mount).split(":");
      return [path, options.join(":")];
    }),
  );
}

/** Links by the name of a container, or as texts. */
export function normalizedLinks(given: Value): Value {
  const links: (readonly [string, Value])[] = isMap(given)
    ? [...given].map(([name, alias]) => [str(name), alias])
    : asList(given).map((link) =>
      Array.isArray(link) ? [str(link[0]), link[1] ?? null] : [str(link).split(":")[0], str(link).split(":")[1] ?? null]
    );
  return [...links].sort(([a], [b]) => compareStrings(a, b)).map(([name, alias]) =>
    truthy(alias) ? `${name}:${str(alias)}` : name
  );
}

/** A map with other names of its fields: `soft` is `Soft`. */
function renamed(given: Value, fields: Readonly<Record<string, string>>): ValueMap {
  const from = isDictList(given) ? new Map() : mapOrEmpty(given);
  const entries = Object.entries(fields).map(([name, field]): [Value, Value] => [
    field,
    from.get(name) ?? from.get(field) ?? null,
  ]);
  return new Map(entries);
}

/** @throws {InvocationError} If a value that is given has another type. */
function checkTypes(what: string, values: ValueMap, types: Readonly<Record<string, NonNullable<Field["type"]>>>): void {
  for (const [name, type] of Object.entries(types)) {
    const value = values.get(name) ?? null;
    if (value !== null) checkType(`${what}.${name}`, value, type);
  }
}

const ULIMIT = { name: "Name", soft: "Soft", hard: "Hard" };

function ulimit(given: Value): ValueMap {
  const limit = renamed(given, ULIMIT);
  if (limit.get("Name") === null) throw new InvocationError(`Ulimit has no name: ${str(given)}`);
  checkTypes("Ulimit", limit, { Name: "str", Soft: "int", Hard: "int" });
  return limit;
}

/** Rates of devices: the engine takes numbers of bytes. */
function byteRates(given: Value): Value {
  return asList(given).map((item) =>
    isMap(item) && item.has("Rate") ? new Map([...item, ["Rate", bytesOfSize(item.get("Rate") ?? null)]]) : item
  );
}

const DEVICE_REQUEST = {
  driver: "Driver",
  count: "Count",
  device_ids: "DeviceIDs",
  capabilities: "Capabilities",
  options: "Options",
};

function deviceRequest(given: Value): ValueMap {
  const defaults = map({ Driver: "", Count: 0, DeviceIDs: [], Capabilities: [], Options: {} });
  const own = [...renamed(given, DEVICE_REQUEST)].filter(([, value]) => value !== null);
  const request = new Map([...defaults, ...own]);
  const types = { Driver: "str", Count: "int", DeviceIDs: "list", Capabilities: "list", Options: "dict" } as const;
  checkTypes("DeviceRequest", request, types);
  return request;
}

function logConfig(given: Value): Value {
  const { type, config } = { type: "Type", config: "Config" };
  const log = renamed(given, { type, config });
  if (!truthy(log.get(config))) log.set(config, new Map());
  checkTypes("LogConfig", log, { [config]: "dict" });
  return log;
}

/** How a value becomes the engine's, and which values are sent: those that are given, or only those that are true. */
interface Field {
  readonly to: string;
  readonly sends: "given" | "true";
  readonly make?: (value: Value) => Value;
  readonly type?: "int" | "str" | "dict" | "list";
}

const given = (to: string, make?: Field["make"], type?: Field["type"]): Field => ({ to, sends: "given", make, type });
const whenTrue = (to: string, type?: Field["type"], make?: Field["make"]): Field => ({ to, sends: "true", make, type });

const FIELDS: Readonly<Record<string, Field>> = {
  mem_limit: given("Memory", bytesOfSize),
  memswap_limit: given("MemorySwap", bytesOfSize),
  mem_reservation: whenTrue("MemoryReservation", undefined, bytesOfSize),
  kernel_memory: whenTrue("KernelMemory", undefined, bytesOfSize),
  mem_swappiness: given("MemorySwappiness", undefined, "int"),
  shm_size: given("ShmSize", bytesOfSize),
  pid_mode: whenTrue("PidMode"),
  ipc_mode: whenTrue("IpcMode"),
  privileged: whenTrue("Privileged"),
  oom_kill_disable: whenTrue("OomKillDisable"),
  oom_score_adj: whenTrue("OomScoreAdj", "int"),
  publish_all_ports: whenTrue("PublishAllPorts"),
  read_only: given("ReadonlyRootfs"),
  dns_search: whenTrue("DnsSearch"),
  restart_policy: whenTrue("RestartPolicy", "dict"),
  cap_add: whenTrue("CapAdd"),
  cap_drop: whenTrue("CapDrop"),
  devices: whenTrue("Devices", undefined, devices),
  group_add: whenTrue("GroupAdd", undefined, (value) => asList(value).map(str)),
  dns: given("Dns"),
  dns_opt: given("DnsOptions"),
  security_opt: given("SecurityOpt", undefined, "list"),
  sysctls: whenTrue("Sysctls", "dict", (value) => new Map([...mapOrEmpty(value)].map(([key, one]) => [key, str(one)]))),
  volumes_from: given("VolumesFrom", (value) => typeof value === "string" ? value.split(",") : value),
  binds: given("Binds", binds),
  port_bindings: given("PortBindings", portBindings),
  extra_hosts: given(
    "ExtraHosts",
    (value) => isMap(value) ? [...value].map(([name, ip]) => `${str(name)}:${str(ip)}`).sort(compareStrings) : value,
  ),
  links: given("Links", normalizedLinks),
  lxc_conf: given(
    "LxcConf",
    (value) => isMap(value) ? [...value].map(([Key, one]) => map({ Key, Value: str(one) })) : value,
  ),
  cgroup_parent: given("CgroupParent"),
  ulimits: given("Ulimits", (value) => asList(value).map(ulimit), "list"),
  log_config: given("LogConfig", logConfig, "dict"),
  cpu_quota: whenTrue("CpuQuota", "int"),
  cpu_period: whenTrue("CpuPeriod", "int"),
  cpu_shares: whenTrue("CpuShares", "int"),
  cpuset_cpus: whenTrue("CpusetCpus"),
  cpuset_mems: whenTrue("CpusetMems", "str"),
  cpu_rt_period: whenTrue("CPURealtimePeriod", "int"),
  cpu_rt_runtime: whenTrue("CPURealtimeRuntime", "int"),
  blkio_weight: whenTrue("BlkioWeight", "int"),
  blkio_weight_device: whenTrue("BlkioWeightDevice", "list"),
  device_read_bps: whenTrue("BlkioDeviceReadBps", "list", byteRates),
  device_write_bps: whenTrue("BlkioDeviceWriteBps", "list", byteRates),
  device_read_iops: whenTrue("BlkioDeviceReadIOps", "list"),
  device_write_iops: whenTrue("BlkioDeviceWriteIOps", "list"),
  tmpfs: whenTrue("Tmpfs", undefined, tmpfs),
  userns_mode: whenTrue("UsernsMode", undefined, (value) => hostOnly("userns_mode", value)),
  uts_mode: whenTrue("UTSMode", undefined, (value) => hostOnly("uts_mode", value)),
  pids_limit: whenTrue("PidsLimit", "int"),
  isolation: whenTrue("Isolation", "str"),
  auto_remove: whenTrue("AutoRemove"),
  storage_opt: given("StorageOpt"),
  init: given("Init"),
  init_path: given("InitPath"),
  volume_driver: given("VolumeDriver"),
  cpu_count: whenTrue("CpuCount", "int"),
  cpu_percent: whenTrue("CpuPercent", "int"),
  nano_cpus: whenTrue("NanoCpus", "int"),
  runtime: whenTrue("Runtime"),
  mounts: given("Mounts"),
  device_cgroup_rules: given("DeviceCgroupRules", undefined, "list"),
  device_requests: given("DeviceRequests", (value) => asList(value).map(deviceRequest), "list"),
  cgroupns: whenTrue("CgroupnsMode"),
};

function hostOnly(name: string, value: Value): Value {
  if (value !== "host") throw new InvocationError(`Invalid value for ${name} param: ${str(value)}`);
  return value;
}

/** @throws {InvocationError} If it is of another type. */
function checkType(what: string, value: Value, type: Field["type"]): void {
  if (isOfType(value, type)) return;
  throw new InvocationError(`Invalid type for ${what}: expected ${type} but found ${typeName(value)}`);
}

function isOfType(value: Value, type: Field["type"]): boolean {
  if (type === undefined) return true;
  if (type === "int") return isInt(value) || (typeof value === "boolean" && !isFloat(value));
  return type === "str" ? typeof value === "string" : type === "dict" ? isMap(value) : Array.isArray(value);
}

/**
 * The engine's configuration.
 * @throws {InvocationError} If a value is of a type that the engine does not take.
 */
export function hostConfig(args: ValueMap): ValueMap {
  const mode = args.get("network_mode") ?? null;
  if (mode === "host" && truthy(args.get("port_bindings"))) {
    throw new InvocationError('"host" network_mode is incompatible with port_bindings');
  }
  const config: ValueMap = new Map([["NetworkMode", truthy(mode) ? mode : "default"]]);
  for (const [name, { to, sends, make, type }] of Object.entries(FIELDS)) {
    const value = args.get(name) ?? null;
    if (value === null || (sends === "true" && !truthy(value))) continue;
    checkType(`${name} param`, value, type);
    config.set(to, make === undefined ? value : make(value));
  }
  return config;
}
