/**
 * The command line of `salt-ssh`, as data. Source: `salt-ssh --help` of Salt 3006 and 3008.
 * @module
 */

import {
  appendFlag,
  type CliTable,
  type CliValues,
  type CommandLine,
  flag,
  floatFlag,
  intFlag,
  textFlag,
} from "#lib/commands/cli/command_line.ts";
import {
  CONFIG_CLI_OPTIONS,
  CRASH_CLI_OPTIONS,
  LOG_CLI_OPTIONS,
  OUTPUT_CLI_OPTIONS,
  PLAIN_TARGET_CLI_OPTIONS,
} from "#lib/commands/cli/common_options.ts";

const SSH = { group: "SSH Options" } as const;
const SCAN = { group: "Scan Roster Options" } as const;
const AUTHENTICATION = { group: "Authentication Options" } as const;

/** The options that `salt-ssh` takes, by name; those of the configuration have the configuration's names. */
export const SALT_SSH_OPTIONS = {
  ...CONFIG_CLI_OPTIONS,
  ...CRASH_CLI_OPTIONS,
  jid: textFlag(["--jid"], "The job's id, instead of a new one."),
  no_parse: textFlag(
    ["--no-parse"],
    "Names of arguments (name=value), separated by commas, whose values are text and not YAML.",
    { metavar: "argname1,argname2,..." },
  ),
  raw_shell: flag(["-r", "--raw", "--raw-shell"], "Run a command line of the hosts' shell instead of a function."),
  roster: textFlag(
    ["--roster"],
    "The rosters, separated by commas: flat, dir, sshconfig, ansible, cache, scan. Default: flat.",
  ),
  roster_file: textFlag(["--roster-file"], "The file of the roster. Default: roster beside the configuration."),
  refresh_cache: flag(
    ["--refresh", "--refresh-cache"],
    "Accepted for compatibility with Salt: data about hosts are always new.",
  ),
  ssh_max_procs: intFlag(["--max-procs"], "How many hosts are worked on at a time. Default: 25."),
  extra_filerefs: textFlag(
    ["--extra-filerefs"],
    "Accepted for compatibility with Salt: hosts ask for each file that they need.",
  ),
  verbose: flag(["-v", "--verbose"], "Show the job's id."),
  static: flag(["-s", "--static"], "Show all returns as one map, when the last has come."),
  ssh_wipe: flag(["-w", "--wipe"], "Remove everything that was copied to a host when the function has ended."),
  rand_thin_dir: flag(
    ["-W", "--rand-thin-dir"],
    "Copy to a directory with a random name, and remove it when the function has ended.",
  ),
  regen_thin: flag(["-t", "--regen-thin", "--thin"], "Copy the executable though it is there."),
  ssh_run_pre_flight: flag(
    ["--pre-flight"],
    "Run the script ssh_pre_flight of hosts also where the executable is already.",
  ),
  ...PLAIN_TARGET_CLI_OPTIONS,
  ...OUTPUT_CLI_OPTIONS,
  ssh_remote_port_forwards: textFlag(
    ["--remote-port-forwards"],
    "Forwarded ports of hosts, as ssh's -R, separated by commas.",
    SSH,
  ),
  disable_keepalive: flag(["--disable-keepalive"], "Do not ask silent hosts whether they are there.", SSH),
  ssh_keepalive_interval: intFlag(["--keepalive-interval"], "Seconds of silence before a host is asked.", SSH),
  ssh_keepalive_count_max: intFlag(["--keepalive-count-max"], "Questions before a host counts as gone.", SSH),
  ssh_options: appendFlag(["--ssh-option"], "An option of ssh, as its -o. Can be given more than once.", SSH),
  ssh_priv: textFlag(["--priv"], "The file of the private key.", AUTHENTICATION),
  ssh_priv_passwd: textFlag(["--priv-passwd"], "The passphrase of that key.", AUTHENTICATION),
  ignore_host_keys: flag(
    ["-i", "--ignore-host-keys"],
    "Connect to hosts whose keys are not known, and keep their keys.",
    AUTHENTICATION,
  ),
  no_host_keys: flag(["--no-host-keys"], "Neither check nor keep the keys of hosts.", AUTHENTICATION),
  ssh_user: textFlag(["--user"], "The user on hosts that name none.", AUTHENTICATION),
  ssh_passwd: textFlag(["--passwd"], "The password of hosts that name none.", AUTHENTICATION),
  askpass: flag(["--askpass"], "Ask for that password on the terminal.", AUTHENTICATION),
  ssh_key_deploy: flag(
    ["--key-deploy"],
    "Add the public key to the user's authorized_keys on hosts that have a password in the roster or --passwd.",
    AUTHENTICATION,
  ),
  ssh_identities_only: flag(["--identities-only"], "Offer only the named key, and none of an agent.", AUTHENTICATION),
  ssh_sudo: flag(["--sudo"], "Run functions with sudo.", AUTHENTICATION),
  tty: flag(
    ["--tty"],
    "Give the command on the host a terminal, for a sudo that wants one. Not in Salt.",
    AUTHENTICATION,
  ),
  ssh_scan_ports: textFlag(["--scan-ports"], "The ports that the roster scan tries, separated by commas.", SCAN),
  ssh_scan_timeout: floatFlag(["--scan-timeout"], "Seconds that it waits for an address.", SCAN),
  ...LOG_CLI_OPTIONS,
} as const satisfies CliTable;

/** The type of {@linkcode SALT_SSH_OPTIONS}. */
export type SaltSshTable = typeof SALT_SSH_OPTIONS;

/** The parsed options of `salt-ssh`. */
export type SaltSshValues = CliValues<SaltSshTable>;

/** The command `salt-ssh`. */
export const SALT_SSH: CommandLine<SaltSshTable> = {
  prog: "salt-ssh",
  usage: "[options] '<target>' <function> [arguments]",
  description:
    "Runs a function on hosts of a roster over ssh. Nothing needs to be installed there, nor a master run here.",
  examples: [
    ["salt-ssh '*' test.ping", "check that every host of the roster answers"],
    ["salt-ssh web1 state.apply", "bring a host into the state that the top file says"],
    ["salt-ssh 'web*' -r 'df -h /'", "run a command line"],
    ["salt-ssh web1 -i --key-deploy --askpass test.ping", "give the key to a new host"],
  ],
  options: SALT_SSH_OPTIONS,
};
