/**
 * What the documentation of states of containers says about their arguments.
 * @module
 */

/** About the arguments that make a container. */
export const CONTAINER_DOC: string =
  "\n\nskip_translate\n    Arguments that are given to the engine as they are; True: all.\n\nignore_collisions\n    Whether an argument may be " +
  "given by two of its names.\n\nvalidate_ip_addrs\n    Whether addresses are checked.\n\nclient_timeout\n    Seconds for an answer of the " +
  "engine.\n\ncommand, environment, binds, volumes, port_bindings, ports, labels, hostname, user, working_dir, entrypoint, " +
  "restart_policy, mem_limit, cpu_shares, ulimits, cap_add, cap_drop, devices, dns, extra_hosts, links, log_driver, log_opt, network_mode, " +
  "privileged, read_only, security_opt, sysctls, tmpfs, tty, and others\n    As `docker run` has them, also by its words: cmd, env, publish, " +
  "volume, label, memory, restart, workdir.";
