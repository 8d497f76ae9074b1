/**
 * The minion's options: every name, type, default and meaning.
 * @module
 */

import { MINION_STATE_OPTIONS } from "./state_options.ts";
import { COMMON_OPTIONS, ENCRYPTION_ALGORITHMS, SIGNING_ALGORITHMS } from "./common_options.ts";
import {
  anyOption,
  boolOption,
  choiceOption,
  dictOption,
  floatOption,
  intOption,
  notNeeded,
  type Option,
  pathOption,
  planOption,
  portOption,
  strOption,
  strsOption,
} from "./option_types.ts";
import { MINION_PILLAR_OPTIONS } from "./pillar_options.ts";

/**
 * Options of the minion, those of {@linkcode COMMON_OPTIONS} first. Made when they are first asked for, as most
 * commands need those of one role.
 */
export function minionOptions(): MinionOptions {
  return table ??= makeMinionOptions();
}

/** The table's own type, which the types of the loaded options are made of. */
export type MinionOptions = ReturnType<typeof makeMinionOptions>;

let table: MinionOptions | undefined;

/** The longest interval of a scheduled job, in minutes: a hundred years. */
const LONGEST_MINUTES = 100 * 366 * 24 * 60;

function makeMinionOptions() {
  return {
    ...COMMON_OPTIONS,
    default_include: strOption(
      "minion.d/*.conf",
      "Files read after the main one, in the order of their names; relative to its directory.",
    ),
    master: strsOption(
      ["salt"],
      "Hosts or addresses of the masters, each maybe as `host:port`, or a DNS service `_salt._tcp.example.com` ([masters.md](masters.md)).",
    ),
    master_port: portOption(4506, "Port on which the master takes requests."),
    publish_port: portOption(null, "Port on which the master publishes; unset: as the master says at sign-in."),
    master_type: choiceOption(
      "str",
      "The meaning of `master`: `str`: all of the list are served; `failover`: one of them; `distributed`: one, by the id; `func`: an execution " +
        "function that returns it; `disable`: no master, `startup_states` need `file_client: local` then.",
      ["str", "failover", "distributed", "func", "disable"],
    ),
    master_uri_format: choiceOption("default", "Whether `master` may hold a port.", ["default", "ip_only"]),
    master_tries: intOption(-1, "Sign-ins to try before the minion gives up; -1: no limit.", { min: -1 }),
    master_alive_interval: intOption(
      0,
      "With `failover` and `distributed`: seconds that a lost master may take to answer again before the next one is tried; 0: the " +
        "minion stays with its master.",
      { min: 0 },
    ),
    master_failback: boolOption(
      false,
      "With `failover` and `distributed`: whether the minion goes back to its first master when that one answers.",
    ),
    master_failback_interval: intOption(
      0,
      "Seconds between two questions to the first master whether it answers; 0: as `master_alive_interval`.",
      { min: 0 },
    ),
    master_finger: strOption("", "Fingerprint of the master's key; another key ends the minion."),
    random_master: boolOption(
      false,
      "Whether the order of masters is shuffled, for one master at a time and for salt-call; with `master_failback` the first stays first.",
    ),
    master_shuffle: boolOption(false, "An old name of `random_master`."),
    verify_master_pubkey_sign: boolOption(false, "Whether the master's key must be signed by its signing key."),
    always_verify_signature: boolOption(
      false,
      "Whether the signature of the master's key is checked at each sign-in, not only when the key is new.",
    ),
    master_sign_key_name: strOption("master_sign", "Name of the signing key in the minion's pki directory."),
    sock_dir: pathOption(
      "/var/run/salt/minion",
      "Directory of the Unix sockets. A path with a socket's name must fit in 107 bytes.",
    ),
    pki_dir: pathOption("/etc/salt/pki/minion", "Directory of the minion's keys and the master's public key."),
    cachedir: pathOption("/var/cache/salt/minion", "Directory of running jobs, spooled returns and cached files."),
    pidfile: pathOption("/var/run/salt-minion.pid", "File that holds the process id."),
    log_file: pathOption("/var/log/salt/minion", "Log file."),
    key_logfile: notNeeded(
      pathOption("/var/log/salt/key", "Accepted for compatibility with Salt; a minion writes none."),
    ),
    minion_restart_command: strsOption([], "The command with which minion.restart starts the minion again."),
    append_minionid_config_dirs: strsOption(
      [],
      "Which of `cachedir`, `pki_dir`, `extension_modules` and `pidfile` get the id appended.",
    ),
    max_open_files: intOption(4096, "Open descriptors asked of the system (not in Salt).", { min: 64 }),
    file_client: choiceOption("remote", "Where files come from: `remote` is the master, `local` this host.", [
      "remote",
      "local",
    ]),
    use_master_when_local: boolOption(
      false,
      "Whether a minion with `file_client: local` still connects to its master.",
    ),
    file_buffer_size: intOption(
      262_144,
      "Bytes of a piece of a file that is pushed to the master, or of one without a master.",
      {
        min: 1024,
      },
    ),
    autoload_dynamic_modules: boolOption(true, "Whether a highstate fetches plugins from the file server first."),
    acceptance_wait_time: floatOption(10, "Seconds between two sign-ins while the key is pending.", { min: 0 }),
    acceptance_wait_time_max: floatOption(
      0,
      "Maximum of `acceptance_wait_time`, which doubles up to this number of seconds; 0: it does not grow.",
      { min: 0 },
    ),
    rejected_retry: boolOption(false, "Whether a rejected minion keeps asking instead of ending."),
    auth_timeout: floatOption(5, "Seconds to wait for the answer to a sign-in.", { min: 0.1 }),
    auth_tries: intOption(7, "Sign-ins without an answer before the attempt counts as failed.", { min: 1 }),
    auth_safemode: notNeeded(
      boolOption(false, "Accepted for compatibility with Salt: a failed sign-in is always tried again."),
    ),
    random_reauth_delay: floatOption(
      10,
      "Maximum of the random delay before the minion signs in again after the AES key changed, in seconds.",
      { min: 0 },
    ),
    random_startup_delay: floatOption(0, "Maximum of the random delay before the first sign-in, in seconds.", {
      min: 0,
    }),
    request_channel_timeout: floatOption(60, "Seconds to wait for the answer to a request.", { min: 1 }),
    request_channel_tries: intOption(3, "Times that a request is sent.", { min: 1 }),
    return_retry_timer: intOption(5, "Minimum seconds before a return is sent again.", { min: 0 }),
    return_retry_timer_max: intOption(10, "Maximum seconds before a return is sent again.", { min: 0 }),
    return_retry_tries: notNeeded(
      intOption(
        3,
        "Accepted for compatibility with Salt: a return is stored, and sent until the master has acknowledged it.",
        {
          min: 1,
        },
      ),
    ),
    max_request_bytes: intOption(
      0,
      "Bytes of the largest request that is sent; a larger return becomes a failure. 0: as the master says at sign-in, and Salt's " +
        "says nothing. Not in Salt.",
      { min: 0 },
    ),
    return_spool_max_size: intOption(
      268_435_456,
      "Bytes of returns that wait on disk while the master is away; above it the oldest are dropped, with a warning. 0: no limit. Not in Salt.",
      { min: 0 },
    ),
    return_spool_max_age: intOption(
      604_800,
      "Seconds after which a return that the master has not acknowledged is dropped, with a warning. 0: never. Not in Salt.",
      { min: 0 },
    ),
    live_output_rate: intOption(
      262_144,
      "Bytes a second of a job's live output (`salt --live`) at most. Not in Salt.",
      {
        min: 1024,
      },
    ),
    live_output_max: intOption(
      4_194_304,
      "Bytes of a job's live output in all; the return is not bounded. Not in Salt.",
      {
        min: 0,
      },
    ),
    recon_default: floatOption(
      1000,
      "Minimum delay before a lost connection to the publisher is made again, and maximum before the first new sign-in, in milliseconds.",
      { min: 1 },
    ),
    recon_max: floatOption(
      10_000,
      "Maximum random addition to `recon_default`, in milliseconds; also the limit of the doubling delay between later sign-ins.",
      { min: 0 },
    ),
    recon_randomize: boolOption(
      true,
      "Whether the delay before a new connection is random, so that a fleet does not reconnect at the same moment.",
    ),
    retry_dns: floatOption(
      30,
      "Seconds before a master's name that was not found is looked up again; 0, and with one of several masters: the next is tried, or the minion ends.",
      {
        min: 0,
      },
    ),
    retry_dns_count: intOption(null, "Look-ups of the master's name before the minion ends; unset: no limit.", {
      min: 1,
    }),
    loop_interval: floatOption(1, "Seconds between two checks of the timers.", { min: 0 }),
    ping_interval: intOption(0, "Minutes between two `minion_ping` events; 0: none.", { min: 0 }),
    encryption_algorithm: choiceOption(
      "OAEP-SHA1",
      "How the session keys sent to this minion are encrypted.",
      ENCRYPTION_ALGORITHMS,
    ),
    signing_algorithm: choiceOption(
      "PKCS1v15-SHA1",
      "How messages of this minion and replies to it are signed.",
      SIGNING_ALGORITHMS,
    ),
    minion_sign_messages: boolOption(
      false,
      "Whether this minion signs its messages. Python masters without a `signing_algorithm` lose signed returns.",
    ),
    sign_pub_messages: boolOption(false, "Whether publishes without a valid signature are dropped."),
    autosign_grains: strsOption([], "Grains to show the master at sign-in."),
    grains: dictOption(new Map(), "Grains that are set here."),
    grains_cache: notNeeded(
      boolOption(
        false,
        "Accepted for compatibility with Salt: grains take milliseconds, and are computed at each start.",
      ),
    ),
    grains_refresh_every: floatOption(
      0,
      "Minutes between two refreshes of the grains, which the minion sends to the master; 0: none.",
      {
        min: 0,
        max: 10_080,
      },
    ),
    enable_fqdns_grains: boolOption(
      false,
      "Whether every address is looked up for the `fqdns` grain, which can take long.",
    ),
    enable_gpu_grains: planOption(boolOption(true, "Whether grains list graphics cards.")),
    nodegroups: dictOption(new Map(), "Named compound targets for `match.compound` on this minion."),
    start_event_grains: strsOption([], "Grains to send with the start event."),
    enable_legacy_startup_events: boolOption(
      true,
      "Whether the event `minion_start` is sent beside `salt/minion/<id>/start`.",
    ),
    multiprocessing: notNeeded(boolOption(true, "Accepted for compatibility with Salt: each job has its own worker.")),
    process_count_max: intOption(-1, "Jobs that may run at once; -1: no limit. More of them wait.", { min: -1 }),
    minion_jid_queue_hwm: intOption(
      100,
      "Minimum number of job ids that are remembered, to drop a job that comes twice. The ids of a day, and 1000, are always kept.",
      { min: 1 },
    ),
    operators_dir: pathOption(
      "/etc/salt/operators.d",
      "Directory of the keys that may sign jobs: files in the form of `authorized_keys` ([security.md](security.md#jobs-signed-by-operators)). Not in Salt.",
    ),
    require_operator_signature: choiceOption(
      "false",
      "Whether a job of the master runs only with an operator's signature; `log`: one without is logged, and runs. Not in Salt.",
      ["false", "log", "true"],
    ),
    job_chain: boolOption(
      null,
      "Whether each job and each return has a record in `jobs.chain`, with the digest of the record before, and each return says which. " +
        "Unset: with `require_operator_signature` only. Not in Salt.",
    ),
    multifunc_ordered: boolOption(false, "Whether results of several functions in one job are lists, in order."),
    cache_jobs: boolOption(
      false,
      "Whether the minion keeps a copy of each return; saltutil.clear_job_cache removes old ones.",
    ),
    pub_ret: boolOption(true, "Whether the minion returns results to its master."),
    python_requirements: boolOption(
      false,
      "Whether the libraries of `salt://_requirements.txt` are installed for plugins in Python, when modules are synced. Not in Salt.",
    ),
    disable_modules: strsOption([], "Execution modules that are not loaded."),
    whitelist_modules: strsOption([], "If set, the only execution modules that are loaded."),
    disable_states: strsOption([], "State modules that are not loaded."),
    whitelist_state_modules: strsOption([], "If set, the only state modules that are loaded."),
    disable_returners: strsOption([], "Returners that are not loaded."),
    grains_blacklist: strsOption(
      [],
      "Grains that the minion does not have, unless the option `grains` sets them: names, globs or regular expressions.",
    ),
    cmd_blacklist_glob: strsOption([], "Globs of command lines that published `cmd` jobs may not run."),
    cmd_whitelist_glob: strsOption([], "If set, the only command lines that published `cmd` jobs may run."),
    output_max: intOption(
      33_554_432,
      "Bytes that are kept of a command's output, both streams together. If there is more, the return says how much was cut, and the job fails. Not in Salt.",
      { min: 1024 },
    ),
    custom_grains_timeout: floatOption(
      10,
      "Time limit for the functions of one file of custom grains, in seconds; after it they are ended, and their grains are missing. Not in Salt.",
      { min: 0.1 },
    ),
    cmd_safe: boolOption(true, "Whether a `cmd` function that another module calls uses a shell only when asked to."),
    sudo_user: planOption(strOption("", "User that jobs are run as through sudo; a minion with one does not start.")),
    "return": anyOption("", "Returners for every job: a text with commas between them, or a list."),
    mine_enabled: boolOption(
      true,
      "Whether the mine is filled at the start, and then at its interval ([mine.md](mine.md)).",
    ),
    mine_interval: {
      ...intOption(60, "Minutes between two updates of the mine.", { min: 1, max: LONGEST_MINUTES }),
      isLenient: true,
    },
    mine_return_job: boolOption(false, "Whether these updates are returned to the master, as jobs are."),
    mine_functions: anyOption(
      null,
      "Functions whose results fill the mine, and their arguments; those of pillar are added.",
    ),
    reactor: anyOption(
      [],
      "With `engines: [reactor]`: which files react to which events of the minion's own bus, as on a master; their reactions are `caller.FUNCTION`.",
    ),
    reactor_limits: dictOption(
      new Map(),
      "How many events of one tag start reactions in a minute, by globs of tags; the first glob that matches counts, and 600 for other tags. Not in Salt.",
    ),
    module_executors: anyOption(
      ["direct_call"],
      "Executors: the plugins in Python that call the functions of jobs; `direct_call` is this program. A name, or a list of names that are asked until one gives a result.",
    ),
    beacons: anyOption(new Map(), "Beacons: watches on this host, whose events the master gets."),
    ...MINION_STATE_OPTIONS,
    startup_states: choiceOption("", "States to apply at every start; empty: none.", ["", "highstate", "sls", "top"]),
    sls_list: strsOption([], "SLS files that `startup_states: sls` applies."),
    top_file: strOption("", "Top file that `startup_states: top` applies."),
    test: boolOption(false, "Test mode: states only report what they would change."),
    backup_mode: strOption("", "Whether files are saved before they are changed: `minion`, `master`, `both`."),
    ...MINION_PILLAR_OPTIONS,
    open_mode: boolOption(false, "Whether any master key is trusted. Dangerous."),
    permissive_pki_access: boolOption(false, "Whether the group may read the pki directory."),
    restart_on_error: notNeeded(
      boolOption(false, "Accepted for compatibility with Salt: the service manager restarts a minion."),
    ),
    source_interface_name: planOption(strOption("", "Interface to connect from.")),
    source_address: planOption(strOption("", "Address to connect from.")),
    beacons_before_connect: boolOption(false, "Whether beacons start before the first sign-in."),
    scheduler_before_connect: boolOption(false, "Whether the schedule starts before the first sign-in."),
    schedule_returner: anyOption("", "Returner for every scheduled job, or a list of them, beside the job's own."),
    grains_dirs: strsOption([], "More directories of grains."),
    providers: dictOption(
      new Map(),
      "Modules to use for a virtual name, also if they would not load on this host: `{pkg: yumpkg}`. A custom module is allowed.",
    ),
  } as const satisfies Readonly<Record<string, Option>>;
}
