/**
 * The arguments of containers and networks as people write them, and the engine's configuration that they become. The
 * expected values are those of Salt 3006.28 and docker-py 7.1 where these have one.
 * @module
 */

import { containerConfig, endpointConfig, splitContainerArguments } from "#lib/host/docker/container_config.ts";
import { CONTAINER_TRANSLATOR } from "#lib/host/docker/container_input.ts";
import { bytesOfSize, humanSize } from "#lib/host/docker/human_size.ts";
import { ipamConfig, NETWORK_TRANSLATOR } from "#lib/host/docker/network_input.ts";
import { translateInput, type Translator } from "#lib/host/docker/translate_input.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { Tuple } from "#lib/values/tuple.ts";
import { float, map, toValue, type Value, type ValueMap } from "#lib/values/value.ts";
import { assertEquals, assertStringIncludes, assertThrows } from "#tests/support/assert.ts";

type Given = Readonly<Record<string, unknown>>;

const OPTIONS = { skip_translate: null, ignore_collisions: false, validate_ip_addrs: true };

function translated(translator: Translator, given: Given, more: Partial<typeof OPTIONS> = {}): ValueMap {
  return translateInput(translator, mapOrEmpty(toValue(given)), { ...OPTIONS, ...more });
}

function configOf(given: Given, proxies: readonly string[] = []): ValueMap {
  return containerConfig("img", splitContainerArguments(translated(CONTAINER_TRANSLATOR, given)), proxies);
}

/** What the arguments add to the configuration of an image alone: to that of the host, or with `own` to the rest. */
function added(given: Given, own: boolean): ValueMap {
  const [config, plain] = [configOf(given), configOf({})];
  const part = (all: ValueMap) => own ? all : mapOrEmpty(all.get("HostConfig"));
  return new Map(
    [...part(config)].filter(([key, value]) =>
      key !== "HostConfig" && JSON.stringify(part(plain).get(key)) !== JSON.stringify(value)
    ),
  );
}

const HOST: readonly (readonly [Given, Given])[] = [
  [{ binds: "/a:/b,/c:/d:ro" }, { Binds: ["/a:/b", "/c:/d:ro"] }],
  [{ binds: { "/a": "/b" } }, { Binds: ["/a:/b:rw"] }],
  [{ binds: { "/a": { bind: "/b" } } }, { Binds: ["/a:/b:rw"] }],
  [{ binds: { "/a": { bind: "/b", mode: "ro" } } }, { Binds: ["/a:/b:ro"] }],
  [{ binds: { "/a": { bind: "/b", ro: true } } }, { Binds: ["/a:/b:ro"] }],
  [{ binds: { "/a": { bind: "/b", ro: false } } }, { Binds: ["/a:/b:rw"] }],
  [{ binds: { "/a": { bind: "/b", propagation: "rslave" } } }, { Binds: ["/a:/b:rw,rslave"] }],
  [{ binds: { "/a": { bind: "/b", mode: "", propagation: "rslave" } } }, { Binds: ["/a:/b:rslave"] }],
  [{ binds: { "/a": { bind: "/b", propagation: "other" } } }, { Binds: ["/a:/b:rw"] }],
  [{ blkio_weight_device: "/dev/a:300" }, { BlkioWeightDevice: [{ Path: "/dev/a", Weight: 300 }] }],
  [{ device_read_bps: "/dev/a:5,/dev/b:1mb" }, {
    BlkioDeviceReadBps: [{ Path: "/dev/a", Rate: 5 }, { Path: "/dev/b", Rate: 1048576 }],
  }],
  [{ device_write_bps: [{ Path: "/dev/a", Rate: "7" }] }, { BlkioDeviceWriteBps: [{ Path: "/dev/a", Rate: 7 }] }],
  [{ device_read_iops: "/dev/a:5" }, { BlkioDeviceReadIOps: [{ Path: "/dev/a", Rate: 5 }] }],
  [{ devices: "/dev/a,/dev/b:/dev/c,/dev/d:/dev/e:r" }, {
    Devices: [
      { PathOnHost: "/dev/a", PathInContainer: "/dev/a", CgroupPermissions: "rwm" },
      { PathOnHost: "/dev/b", PathInContainer: "/dev/c", CgroupPermissions: "rwm" },
      { PathOnHost: "/dev/d", PathInContainer: "/dev/e", CgroupPermissions: "r" },
    ],
  }],
  [{ devices: [{ PathOnHost: "/dev/a", PathInContainer: "/dev/b", CgroupPermissions: "r" }] }, {
    Devices: [{ PathOnHost: "/dev/a", PathInContainer: "/dev/b", CgroupPermissions: "r" }],
  }],
  [{ ulimits: "nofile=1024:2048,nproc= 5 " }, {
    Ulimits: [{ Name: "nofile", Soft: 1024, Hard: 2048 }, { Name: "nproc", Soft: 5, Hard: 5 }],
  }],
  [{ ulimits: [{ name: "nofile", soft: 1, Hard: 2 }] }, { Ulimits: [{ Name: "nofile", Soft: 1, Hard: 2 }] }],
  [{ restart_policy: "on-failure:5" }, { RestartPolicy: { Name: "on-failure", MaximumRetryCount: 5 } }],
  [{ restart: "always" }, { RestartPolicy: { Name: "always", MaximumRetryCount: 0 } }],
  [{ port_bindings: { "80": { HostPort: 5 }, "81/udp": { HostIp: "1.2.3.4", HostPort: null } } }, {
    PortBindings: {
      "80/tcp": [{ HostIp: "", HostPort: "5" }],
      "81/udp": [{ HostIp: "1.2.3.4", HostPort: "" }],
    },
  }],
  [{ port_bindings: "80,8080:80" }, {
    PortBindings: { "80/tcp": [{ HostIp: "", HostPort: "80" }, { HostIp: "", HostPort: "8080" }] },
  }],
  [{ port_bindings: "127.0.0.1:8080-8081:80-81/udp" }, {
    PortBindings: {
      "80/udp": [{ HostIp: "127.0.0.1", HostPort: "8080" }],
      "81/udp": [{ HostIp: "127.0.0.1", HostPort: "8081" }],
    },
  }],
  [{ port_bindings: "127.0.0.1::53/udp" }, { PortBindings: { "53/udp": [{ HostIp: "127.0.0.1", HostPort: "" }] } }],
  [{ port_bindings: { "80": new Tuple<Value>([8080]) } }, {
    PortBindings: { "80/tcp": [{ HostIp: "", HostPort: "8080" }] },
  }],
  [{ tmpfs: { "/a": "rw" } }, { Tmpfs: { "/a": "rw" } }],
  [{ links: "b:x,a:y" }, { Links: ["a:y", "b:x"] }],
  [{ links: { b: null, a: "x" } }, { Links: ["a:x", "b"] }],
  [{ lxc_conf: "a=1" }, { LxcConf: [{ Key: "a", Value: "1" }] }],
  [{ extra_hosts: "b:1.1.1.1,a:::1" }, { ExtraHosts: ["a:::1", "b:1.1.1.1"] }],
  [{ sysctls: { a: 1, b: true } }, { Sysctls: { a: "1", b: "True" } }],
  [{ volumes_from: "a,b" }, { VolumesFrom: ["a", "b"] }],
  [{ log_driver: "syslog", log_opt: "a=b" }, { LogConfig: { Type: "syslog", Config: { a: "b" } } }],
  [{ log_opt: "a=b" }, { LogConfig: { Type: "none", Config: { a: "b" } } }],
  [{ log_config: { type: "x", config: null } }, { LogConfig: { Type: "x", Config: {} } }],
  [{ log_config: [] }, { LogConfig: { Type: null, Config: {} } }],
  [{ device_requests: [{ driver: "nvidia", count: -1, capabilities: [["gpu"]] }] }, {
    DeviceRequests: [{ Driver: "nvidia", Count: -1, DeviceIDs: [], Capabilities: [["gpu"]], Options: {} }],
  }],
  [{ mem_limit: "512m", memswap_limit: -1, shm_size: "1gb" }, {
    Memory: 512 << 20,
    MemorySwap: -1,
    ShmSize: 1 << 30,
  }],
  [{ mem_limit: float(5.5), oom_score_adj: "-5", pids_limit: true }, {
    Memory: 5,
    OomScoreAdj: -5,
    PidsLimit: true,
  }],
  [{ userns_mode: "host", uts_mode: "host" }, { UsernsMode: "host", UTSMode: "host" }],
  [{ network_mode: "host" }, { NetworkMode: "host" }],
  [{ host_config: { Memory: 7 }, mem_limit: 5 }, { Memory: 7 }],
];

const OWN: readonly (readonly [Given, Given])[] = [
  [{ healthcheck: { test: "curl x", interval: 5 } }, {
    Healthcheck: { Test: ["CMD-SHELL", "curl x"], Interval: 5, Timeout: null, Retries: null, StartPeriod: null },
  }],
  [{ healthcheck: { Test: ["NONE"], StartPeriod: 3 } }, {
    Healthcheck: { Test: ["NONE"], Interval: null, Timeout: null, Retries: null, StartPeriod: 3 },
  }],
  [{ labels: "a=b,c" }, { Labels: { a: "b", c: "" } }],
  [{ labels: ["a=b=c", { d: 1 }] }, { Labels: { a: "b=c", d: "1" } }],
  [{ labels: null }, {}],
  [{ user: "1000" }, { User: "1000" }],
  [{ user: float(1.5) }, { User: "1" }],
  [{ user: "root" }, { User: "root" }],
  [{ environment: { a: null, b: 1 } }, { Env: ["a", "b=1"] }],
  [{ environment: "a=b=c,d=" }, { Env: ["a=b=c", "d="] }],
  [{ command: "a 'b c'", entrypoint: ["d", 5] }, { Cmd: ["a", "b c"], Entrypoint: ["d", "5"] }],
  [{ binds: { "/a": { bind: "/z" }, "/c": "/d" }, volumes: "/y" }, { Volumes: { "/y": {}, "/z": {} } }],
  [{ port_bindings: "8080:80", ports: "443,53/udp" }, { ExposedPorts: { "443/tcp": {}, "53/udp": {}, "80/tcp": {} } }],
  [{ ports: ["80-81", 80, "80/tcp"] }, { ExposedPorts: { "80/tcp": {}, "81/tcp": {} } }],
];

Deno.test("arguments of a container become the engine's configuration", () => {
  for (const [given, wanted] of HOST) assertEquals(added(given, false), toValue(wanted), JSON.stringify(given));
  for (const [given, wanted] of OWN) assertEquals(added(given, true), toValue(wanted), JSON.stringify(given));
  assertEquals(configOf({ environment: "a=b" }, ["http_proxy=x"]).get("Env"), ["http_proxy=x", "a=b"]);
});

const REFUSED: readonly (readonly [Given, string])[] = [
  [{ binds: 5 }, "'5' is not a dictionary or list of bind definitions"],
  [{ binds: { "/a": { mode: "ro" } } }, 'Binding of /a has no "bind"'],
  [{ binds: { "/a": { bind: "/b", ro: true, mode: "rw" } } }, 'Binding cannot contain both "ro" and "mode"'],
  [{ blkio_weight_device: "/dev/a:x" }, "Weight 'x' for path '/dev/a' is not an integer"],
  [{ blkio_weight_device: "/dev/a" }, "'/dev/a' contains 1 value(s) (expected 2)"],
  [{ restart_policy: "a,b" }, "Only one policy is permitted"],
  [{ restart_policy: "on-failure:x" }, "Retry count 'x' is non-numeric"],
  [{ restart_policy: "a:1:2" }, "'a:1:2' contains 3 value(s) (expected up to 2)"],
  [{ ulimits: "nofile" }, "Ulimit definition 'nofile' is not in the format type=soft_limit[:hard_limit]"],
  [{ ulimits: "nofile=a" }, "Limit 'nofile=a' contains non-numeric value(s)"],
  [{ ulimits: "nofile=1:b" }, "Limit 'nofile=1:b' contains non-numeric value(s)"],
  [{ ulimits: "nofile=1:2:3" }, "Limit 'nofile=1:2:3' contains non-numeric value(s)"],
  [{ ulimits: "nofile=1:" }, "Limit 'nofile=1:' contains non-numeric value(s)"],
  [{ ulimits: [{ Name: "nofile", Soft: "1" }] }, "Invalid type for Ulimit.Soft: expected int but found str"],
  [{ ulimits: [{ Soft: 1, Hard: 1 }] }, "Ulimit has no name"],
  [{ device_read_bps: "dev:5" }, "Path 'dev' is not absolute"],
  [{ device_read_bps: [{ Path: "/dev/a", Rate: null }] }, "Rate 'None' for path '/dev/a' is non-numeric"],
  [{ device_read_bps: "/dev/a:x" }, "The specified value for memory (x) should specify the units"],
  [{ device_write_iops: "/dev/a:1mb" }, "Rate '1mb' for path '/dev/a' is non-numeric"],
  [{ labels: 5 }, "Invalid label(s)"],
  [{ labels: [{ a: 1, b: 2 }] }, "Invalid label(s)"],
  [{ user: ["a"] }, "Value must be a username or uid"],
  [{ user: "-1" }, "'-1' is an invalid uid"],
  [{ dns: "1.1.1" }, "'1.1.1' is not a valid IP address"],
  [{ extra_hosts: "a:x" }, "'x' is not a valid IP address"],
  [{ volumes: "a" }, "'a' is not an absolute path"],
  [{ mem_swappiness: "5.5" }, "'5.5' is not an integer"],
  [{ mem_limit: "5x" }, "The specified value for memory (5x) should specify the units"],
  [{ port_bindings: "" }, "Empty port binding definition found"],
  [{ port_bindings: ":80" }, "Empty host port in port binding definition ':80'"],
  [{ port_bindings: "80:" }, "Empty container port in port binding definition '80:'"],
  [{ port_bindings: "8000-8003:80-82" }, "Host port range (8000-8003) does not have the same number of ports"],
  [{ port_bindings: "90-80" }, "Start of port range (90) cannot be greater than end of port range (80)"],
  [{ port_bindings: "a:1:2" }, "'a' is not a valid IP address"],
  [{ port_bindings: { "80": { HostIp: "1.2.3.4" } } }, "Invalid port binding: "],
  [{ ports: null }, "'None' is not a valid port definition"],
  [{ ports: [null] }, "'None' is not a valid port definition"],
  [{ ports: "1-2-3" }, "'1-2-3' is non-numeric or an invalid port range"],
  [{ port_bindings: "80", publish_all_ports: true }, "Cannot be used when publish_all_ports=True"],
  [{ hostname: "a", network_mode: "host" }, "Cannot be used when network_mode=True"],
  [{ port_bindings: "80", network_mode: "host" }, '"host" network_mode is incompatible with port_bindings'],
  [{ userns_mode: "x" }, "Invalid value for userns_mode param: x"],
  [{ cpuset_mems: "0", cpu_quota: "5" }, "Invalid type for cpu_quota param: expected int but found str"],
  [{ log_config: { type: "x", config: 5 } }, "Invalid type for LogConfig.Config: expected dict but found int"],
  [{ device_requests: [{ driver: "x", count: "5" }] }, "Invalid type for DeviceRequest.Count: expected int"],
  [{ cmd: "a", command: "b" }, "'cmd' is an alias for 'command', they cannot both be used"],
];

Deno.test("arguments of a container that are wrong are refused, with the reason", () => {
  for (const [given, reason] of REFUSED) {
    const error = assertThrows(() => configOf(given), Error, undefined, JSON.stringify(given));
    assertStringIncludes(error.message, reason);
  }
});

Deno.test("arguments that shall not be translated stay as they are", () => {
  const kept = (given: Given, more: Record<string, unknown>) =>
    translated(CONTAINER_TRANSLATOR, given, more as Partial<typeof OPTIONS>);
  const all = { ports: "a", binds: "x" };
  assertEquals(kept(all, { skip_translate: true }), toValue(all));
  assertEquals(kept({ ports: "a", tty: 1 }, { skip_translate: "ports, binds" }), toValue({ ports: "a", tty: true }));
  assertEquals(kept({ dns: "x" }, { validate_ip_addrs: false }), toValue({ dns: ["x"] }));
  assertEquals(kept({ binds: "/a:/b" }, { skip_translate: ["volumes"] }), toValue({ binds: ["/a:/b"] }));
  const split = splitContainerArguments(mapOrEmpty(toValue({ tmpfs: ["/a", "/b:size=1m:x"] })));
  const config = containerConfig("img", split, []);
  assertEquals(mapOrEmpty(config.get("HostConfig")).get("Tmpfs"), map({ "/a": "", "/b": "size=1m:x" }));
});

Deno.test("the place of a container in a network", () => {
  const given = { links: ["b:x", ["a", "y"], "c"], aliases: ["d"], ipv4_address: "1.2.3.4", driver_opt: {}, other: 1 };
  assertEquals(
    endpointConfig(mapOrEmpty(toValue(given))),
    toValue({ Aliases: ["d"], Links: ["a:y", "b:x", "c"], IPAMConfig: { IPv4Address: "1.2.3.4" } }),
  );
});

Deno.test("arguments of a network", () => {
  const pools = [{ subnet: "10.0.0.0/8", ip_range: "10.1.0.0/16", aux_address: "a=10.0.0.5" }];
  assertEquals(
    translated(NETWORK_TRANSLATOR, { ipam_pools: pools }).get("ipam_pools"),
    toValue([{ subnet: "10.0.0.0/8", iprange: "10.1.0.0/16", aux_addresses: { a: "10.0.0.5" } }]),
  );
  const refused: readonly (readonly [Given, string])[] = [
    [{ ipam_pools: "x" }, "ipam_pools must be a list of dictionaries"],
    [{ ipam_pools: ["x"] }, "ipam_pools must be a list of dictionaries"],
    [{ ipam_pools: [{ subnet: "x" }] }, "'x' is not a valid subnet"],
    [{ subnet: "10.0.0.1/8" }, "'10.0.0.1/8' is not a valid subnet"],
    [{ gateway: "x" }, "'x' is not a valid IP address"],
    [{ aux_addresses: "a=x" }, "'x' is not a valid IP address"],
    [{ ipam: "x" }, "'x' is not a dictionary"],
  ];
  for (const [given, reason] of refused) {
    assertThrows(() => translated(NETWORK_TRANSLATOR, given), Error, reason, JSON.stringify(given));
  }
  assertThrows(
    () => ipamConfig([map({ subnet: "10.0.0.0/8", nosuch: 1 })], map({})),
    Error,
    "has no argument 'nosuch'",
  );
  assertThrows(() => ipamConfig([map({ gateway: "10.0.0.1" })], map({})), Error, "A subnet is required");
});

Deno.test("sizes are read and written in bytes", () => {
  const read: readonly (readonly [Value, Value])[] = [
    ["", 0],
    [5, 5],
    ["5", 5],
    ["1.5k", 1536],
    ["2KB", 2048],
    ["-1", -1],
    ["10b", 10],
    ["1g", 1 << 30],
  ];
  for (const [given, wanted] of read) assertEquals(bytesOfSize(given), wanted, JSON.stringify(given));
  for (const wrong of ["x", "1..2", "5kib", "k"]) {
    assertThrows(() => bytesOfSize(wrong), Error, `The specified value for memory (${wrong}) should`);
  }
  const written = [1023, 1024, 1536 * 1024, 1024 ** 3, 1024 ** 4, 3 * 1024 ** 5].map(humanSize);
  assertEquals(written, ["1023 bytes", "1.0 KiB", "1.5 MiB", "1.0 GiB", "1.0 TiB", "3.0 PiB"]);
});
