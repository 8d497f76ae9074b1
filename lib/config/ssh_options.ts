/**
 * The options of `salt-ssh`, which a master's configuration has: rosters, the defaults of their hosts, and what is
 * copied to hosts.
 * Source: docs.saltproject.io, "Configuring the Salt Master", Salt SSH Configuration; Salt 3008.3 `salt/config`.
 * @module
 */

import {
  anyOption,
  boolOption,
  dictOption,
  floatOption,
  intOption,
  type Option,
  pathOption,
  strOption,
  strsOption,
} from "./option_types.ts";

/** Options of a master. */
export const SSH_OPTIONS = {
  roster: strsOption(["flat"], "The rosters that are read: flat, dir, sshconfig, ansible, cache, scan."),
  roster_file: strOption(null, "The file of the flat roster and of ansible. Unset: `roster` beside this file."),
  roster_dir: strOption(null, "The directory of the roster `dir`. Unset: `roster.d` beside this file."),
  roster_domain: strOption("", "What is added, after a dot, to an id of the roster `dir` whose entry names no `host`."),
  roster_defaults: dictOption(new Map(), "Keys that every host of a roster has, unless its entry has them itself."),
  roster_order: dictOption(
    new Map([["host", ["ipv6-private", "ipv6-global", "ipv4-private", "ipv4-public"]]]),
    "Where the roster `cache` finds the value of a key: `id`, ranges of addresses, networks, or maps from `grain`, `pillar` or `mine` to a path.",
  ),
  ssh_user: strOption("root", "The user on hosts of `salt-ssh`."),
  ssh_port: intOption(22, "The port of their ssh.", { min: 1, max: 65_535 }),
  ssh_passwd: strOption("", "The user's password there, for ssh and for sudo."),
  ssh_priv: strOption(
    null,
    "The private key. Unset: `ssh/salt-ssh.rsa` below `pki_dir`, which is made at the first use. `agent-forwarding`: no file.",
  ),
  ssh_priv_passwd: strOption("", "The passphrase of that key."),
  ssh_use_home_key: boolOption(false, "Whether `~/.ssh/id_rsa` is used instead if it is there."),
  ssh_timeout: floatOption(60, "Seconds that a connection may take, to which `timeout` is added.", { min: 0 }),
  ssh_sudo: boolOption(false, "Whether functions run with sudo."),
  ssh_sudo_user: strOption("", "The user that sudo runs them as. Empty: root."),
  ssh_identities_only: boolOption(false, "Whether ssh offers only the named key, and none of an agent."),
  ssh_keepalive: boolOption(true, "Whether ssh asks a silent host whether it is there."),
  ssh_keepalive_interval: intOption(60, "Seconds of silence after which it asks.", { min: 1 }),
  ssh_keepalive_count_max: intOption(3, "Questions without an answer after which a host counts as gone.", { min: 1 }),
  ssh_max_procs: intOption(25, "How many hosts are worked on at a time.", { min: 1 }),
  ssh_wipe: boolOption(false, "Whether everything that was copied to a host is removed when the function has ended."),
  ssh_options: strsOption([], "Options of the ssh program for every host: `ProxyJump=gate`."),
  ssh_remote_port_forwards: strOption(null, "Forwarded ports of hosts, as ssh's `-R`, separated by commas."),
  ssh_run_pre_flight: boolOption(
    false,
    "Whether the script `ssh_pre_flight` of a host runs each time, and not only before the executable is there.",
  ),
  ssh_pre_flight_args: anyOption(null, "Arguments of that script, for hosts whose entry has none: a text or a list."),
  ssh_scan_ports: anyOption("22", "The ports that the roster `scan` tries: one, a list, or a text with commas."),
  ssh_scan_timeout: floatOption(0.01, "Seconds that it waits for an address.", { min: 0.001, max: 60 }),
  ssh_minion_opts: dictOption(new Map(), "Options of a minion that every host has."),
  ssh_list_nodegroups: dictOption(new Map(), "Groups of hosts for `-N`: lists of ids."),
  ssh_config_file: strOption(null, "The file of the roster `sshconfig`. Unset: `~/.ssh/config`."),
  ssh_log_file: pathOption("/var/log/salt/ssh", "The log file of `salt-ssh`."),
  ignore_host_keys: boolOption(false, "Whether hosts with unknown keys are connected to, and their keys kept."),
  no_host_keys: boolOption(false, "Whether keys of hosts are neither checked nor kept."),
  ssh_executables: dictOption(
    new Map(),
    "The `salt-minion` executable that is copied to hosts, by the machine that `uname -m` names there: `aarch64`. Without an entry: the one beside this program, for hosts of the same system and machine. Not in Salt.",
  ),
} as const satisfies Readonly<Record<string, Option>>;
