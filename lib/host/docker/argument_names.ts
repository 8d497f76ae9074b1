/**
 * The names of the arguments for containers and networks, as Salt and its users know them.
 * Source: docker-py 7.2 (`create_container`, `HostConfig`, `EndpointConfig`, `logs`, `IPAMPool`); Salt 3006.28
 * `salt/utils/dockermod/__init__.py` (`get_client_args`).
 * @module
 */

const words = (text: string): readonly string[] => text.split(/\s+/);

/** Those of a container itself. */
export const CREATE_ARGUMENTS: readonly string[] = words(
  "image command hostname user detach stdin_open tty ports environment volumes network_disabled name entrypoint " +
    "working_dir domainname host_config labels stop_signal networking_config healthcheck stop_timeout use_config_proxy platform",
);

/** Those of its host. */
export const HOST_ARGUMENTS: readonly string[] = words(
  "binds port_bindings lxc_conf publish_all_ports links privileged dns dns_search volumes_from network_mode " +
    "restart_policy cap_add cap_drop devices extra_hosts read_only pid_mode ipc_mode security_opt ulimits log_config mem_limit " +
    "memswap_limit mem_reservation kernel_memory mem_swappiness cgroup_parent group_add cpu_quota cpu_period blkio_weight " +
    "blkio_weight_device device_read_bps device_write_bps device_read_iops device_write_iops oom_kill_disable shm_size sysctls " +
    "tmpfs oom_score_adj dns_opt cpu_shares cpuset_cpus userns_mode uts_mode pids_limit isolation auto_remove storage_opt init " +
    "init_path volume_driver cpu_count cpu_percent nano_cpus cpuset_mems runtime mounts cpu_rt_period cpu_rt_runtime " +
    "device_cgroup_rules device_requests cgroupns",
);

/** Those of a container's place in a network. */
export const ENDPOINT_ARGUMENTS: readonly string[] = words(
  "aliases links ipv4_address ipv6_address link_local_ips driver_opt mac_address",
);

/** Those of reading logs. */
export const LOG_ARGUMENTS: readonly string[] = words("stdout stderr stream timestamps tail since follow until");

/** Those of a pool of addresses. */
export const POOL_ARGUMENTS: readonly string[] = words("subnet iprange gateway aux_addresses");

/** Those of a network. */
export const NETWORK_ARGUMENTS: readonly string[] = words(
  "driver options ipam check_duplicate internal labels enable_ipv6 attachable scope ingress",
);

/** Other names of arguments of a container, which Salt's users know from the command `docker`. */
export const CONTAINER_ALIASES: Readonly<Record<string, string>> = {
  cmd: "command",
  cpuset: "cpuset_cpus",
  dns_option: "dns_opt",
  env: "environment",
  expose: "ports",
  interactive: "stdin_open",
  ipc: "ipc_mode",
  label: "labels",
  memory: "mem_limit",
  memory_swap: "memswap_limit",
  publish: "port_bindings",
  publish_all: "publish_all_ports",
  restart: "restart_policy",
  rm: "auto_remove",
  sysctl: "sysctls",
  security_opts: "security_opt",
  ulimit: "ulimits",
  user_ns_mode: "userns_mode",
  volume: "volumes",
  workdir: "working_dir",
};

/** Other names of arguments of a network. */
export const NETWORK_ALIASES: Readonly<Record<string, string>> = {
  driver_opt: "options",
  driver_opts: "options",
  ipv6: "enable_ipv6",
  ip_range: "iprange",
  aux_address: "aux_addresses",
};

/** All keywords that make a container, the arguments of logging among them. */
export const CONTAINER_KEYWORDS: readonly string[] = [
  ...CREATE_ARGUMENTS.filter((name) => name !== "name" && name !== "image"),
  ...HOST_ARGUMENTS,
  ...Object.keys(CONTAINER_ALIASES),
  ...["log_driver", "log_opt", "mac_address", "inspect"],
];

/** All keywords that make a network. */
export const NETWORK_KEYWORDS: readonly string[] = [
  ...NETWORK_ARGUMENTS,
  ...POOL_ARGUMENTS,
  ...Object.keys(NETWORK_ALIASES),
  ...["ipam_driver", "ipam_opts", "ipam_pools"],
];
