/**
 * The master's options: every name, type, default and meaning.
 * @module
 */

import { CLUSTER_OPTIONS } from "./cluster_options.ts";
import { COMMON_OPTIONS, SIGNING_ALGORITHMS } from "./common_options.ts";
import { MASTER_FILE_SERVER_OPTIONS } from "./file_server_options.ts";
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
import { SSH_OPTIONS } from "./ssh_options.ts";
import { USER_ACCESS_OPTIONS } from "./user_access_options.ts";

/**
 * Options of the master, those of {@linkcode COMMON_OPTIONS} first. Made when they are first asked for, as most
 * commands need those of one role.
 */
export function masterOptions(): MasterOptions {
  return table ??= makeMasterOptions();
}

/** The table's own type, which the types of the loaded options are made of. */
export type MasterOptions = ReturnType<typeof makeMasterOptions>;

let table: MasterOptions | undefined;

function makeMasterOptions() {
  return {
    ...COMMON_OPTIONS,
    default_include: strOption(
      "master.d/*.conf",
      "Files read after the main one, in the order of their names; relative to its directory.",
    ),
    interface: strOption("0.0.0.0", "Address to listen on."),
    publish_port: portOption(4505, "Port on which jobs are published."),
    ret_port: portOption(4506, "Port on which requests and returns arrive."),
    publish_signing_algorithm: choiceOption("PKCS1v15-SHA1", "How publishes are signed.", SIGNING_ALGORITHMS),
    ...CLUSTER_OPTIONS,
    event_publisher_pub_hwm: intOption(
      20_000,
      "Events, or pieces of 4 KB of larger ones, that are kept for a subscriber of the event bus that does not read; it misses later ones.",
      { min: 100 },
    ),
    event_log: choiceOption(
      "files",
      "Where the master keeps the events of its bus: `files` below `cachedir`, or `none`. The reactor and returners of the master read them there. `postgresql`, the default in a cluster: in files, and in the database for the other masters. Not in Salt.",
      ["files", "none", "postgresql"],
    ),
    metrics: dictOption(
      new Map(),
      "Counts for an OpenTelemetry collector: `{enabled: true, endpoint: http://collector:4318/v1/metrics, export_interval_seconds: 60, " +
        "service_name, resource_attributes, headers, histogram_boundaries}` ([docs/tracing.md](tracing.md)).",
    ),
    event_log_keep: intOption(86_400, "Seconds that events are kept. Not in Salt.", { min: 60 }),
    event_log_max_bytes: intOption(
      1_073_741_824,
      "Bytes that the kept events may take; the oldest are removed first. Not in Salt.",
      { min: 33_554_432 },
    ),
    zmq_backlog: intOption(1000, "Connections that may wait to be accepted.", { min: 1 }),
    pub_hwm: intOption(1000, "Messages that a slow minion may lag behind before it loses some; 0: no limit.", {
      min: 0,
    }),
    auth_mode: notNeeded(
      intOption(1, "Form of the AES key in sign-in replies; 1 is the only safe one.", { min: 1, max: 1 }),
    ),
    flow: anyOption(
      null,
      "How many jobs users may publish, on how many minions jobs may run at once, and how much minions may send, as a list of rules; the first that matches counts. Not in Salt.",
    ),
    worker_threads: intOption(5, "MWorkers, which serve requests and returns.", { min: 1, max: 1024 }),
    sock_dir: pathOption(
      "/var/run/salt/master",
      "Directory of the Unix sockets. A path with a socket's name must fit in 107 bytes.",
    ),
    pki_dir: pathOption("/etc/salt/pki/master", "Directory of the master's keys and the minions' keys."),
    cachedir: pathOption("/var/cache/salt/master", "Directory of jobs, minion data, tokens and session keys."),
    sqlite_queue_dir: pathOption("/var/cache/salt/master/queues", "Directory of the queues of the runner `queue`."),
    runner_queue: dictOption(new Map(), "The `queue` and `backend` of queue.insert_runner and queue.process_runner."),
    pidfile: pathOption("/var/run/salt-master.pid", "File that holds the process id."),
    log_file: pathOption("/var/log/salt/master", "Log file."),
    key_logfile: pathOption("/var/log/salt/key", "Log file of `salt-key`."),
    api_pidfile: pathOption("/var/run/salt-api.pid", "File that holds the process id of `salt-api`."),
    api_logfile: pathOption("/var/log/salt/api", "Log file of `salt-api`."),
    netapi_enable_clients: strsOption(
      [],
      "Clients that `salt-api` serves: local, local_async, local_batch, local_subset, runner, runner_async, ssh, wheel, wheel_async; none unless they are named.",
    ),
    netapi_allow_raw_shell: boolOption(false, "Whether `salt-api` takes chunks with `raw_shell`."),
    salt_console: boolOption(
      false,
      "Whether the web console is served: by `salt-api`, or by the master itself on 127.0.0.1:8000 if there is no `rest_cherrypy`. Without `netapi_enable_clients` it enables local, local_async, runner and wheel. Not in Salt.",
    ),
    rest_timeout: floatOption(300, "Seconds that `salt-api` waits for the result of a runner.", { min: 0 }),
    rest_cherrypy: dictOption(new Map(), "What `salt-api` serves, and where: docs/api.md."),
    timeout: floatOption(5, "Seconds that the commands wait for minions before they ask whether the job still runs.", {
      min: 0,
    }),
    job_ttl: floatOption(
      null,
      "Seconds during which a job is sent again to minions that have not acknowledged it, also to those that connect meanwhile. Unset: `timeout`. Not in Salt.",
      { min: 0 },
    ),
    gather_job_timeout: floatOption(
      10,
      "Seconds to wait for the answers of minions that are asked whether the job still runs.",
      { min: 0 },
    ),
    keep_jobs: intOption(24, "Hours that jobs are kept, if `keep_jobs_seconds` is not set.", {
      min: 0,
    }),
    keep_jobs_seconds: intOption(86_400, "Seconds that jobs are kept; 0: for ever.", { min: 0 }),
    job_cache: boolOption(true, "Whether jobs and returns are stored."),
    salt_cp_chunk_size: intOption(98_304, "Bytes of a piece that `salt-cp --chunked` sends.", { min: 1 }),
    live_output_max: intOption(
      8_388_608,
      "Bytes of live output (`salt --live`) that are kept with a job for each of its minions. Not in Salt.",
      { min: 0 },
    ),
    job_cache_store_endtime: boolOption(false, "Whether the time of a job's last return is stored."),
    ext_job_cache: strOption(
      "",
      "Returner that each minion gives its returns to, and that the master gives the loads of jobs to; the master does not store these returns. The runner `jobs` reads it.",
    ),
    master_job_cache: strOption(
      "local_cache",
      "Where the master stores jobs and returns: `local_cache` (its files), `sqlite` or `postgresql`; or a returner that stores them besides the files, and that the runner `jobs` reads: docs/stores.md.",
    ),
    job_store_wait: floatOption(
      5,
      "Seconds that a job or a return waits for the database of `master_job_cache`. Not in Salt.",
      { min: 0 },
    ),
    outbox_max_bytes: intOption(
      1_073_741_824,
      "Bytes of jobs and returns that wait on the master's disk while the database is away; further returns stay with their minions. Not in Salt.",
      { min: 1_048_576 },
    ),
    postgresql: dictOption(
      new Map(),
      "How to reach the database of `master_job_cache: postgresql`: `host`, `port`, `db`, `user`, `pass` and others: docs/stores.md. Not in Salt.",
    ),
    sqlite: dictOption(
      new Map([["path", null]]),
      "The file of `master_job_cache: sqlite`: `path`; null: `jobs.sqlite` in `cachedir`. Not in Salt.",
    ),
    minion_data_cache: boolOption(true, "Whether the grains and pillar of minions are kept on disk."),
    minion_data_cache_events: boolOption(true, "Whether a change of a minion's grains or pillar fires an event."),
    preserve_minion_cache: boolOption(false, "Whether a minion's data survives the deletion of its key."),
    loop_interval: floatOption(60, "Seconds between two rounds of Maintenance; less than 0.05 counts as 0.05.", {
      min: 0,
    }),
    maintenance_interval: notNeeded(
      intOption(
        3600,
        "Accepted for compatibility with Salt: Salt's Maintenance restarts after this number of seconds; here this is not needed.",
        { min: 1 },
      ),
    ),
    publish_session: intOption(86_400, "Seconds after which keys are replaced.", { min: 1 }),
    rotate_aes_key: boolOption(true, "Whether the deletion or rejection of a key also replaces the AES key."),
    ping_on_rotate: boolOption(
      false,
      "Whether every minion is pinged after a key rotation, so that all fetch the new key at once.",
    ),
    max_minions: intOption(0, "Connected minions allowed; 0: no limit.", { min: 0 }),
    max_connections: intOption(
      null,
      "Connections to each of the two ports. At the limit, a client from an address with fewer connections than another replaces that " +
        "address's newest one; other clients are disconnected. Unset: two fifths of the open files allowed; 0: no limit. Not in Salt.",
      { min: 0 },
    ),
    max_connections_per_address: intOption(
      0,
      "Connections to each port from one address; 0: no limit of its own. Minions behind one NAT share an address, " +
        "and take one or two connections each. Not in Salt.",
      { min: 0 },
    ),
    handshake_timeout: floatOption(
      5,
      "Seconds that a new connection to either port has for its ZMTP handshake before it is closed. Not in Salt.",
      { min: 0.1, max: 3600 },
    ),
    max_queued_requests: intOption(
      10,
      "Requests that are queued for one MWorker; the others wait in their connections, this number in each, and MWorkers take turns " +
        "among these. Not in Salt.",
      { min: 1, max: 1000 },
    ),
    max_request_memory: intOption(
      268_435_456,
      "Bytes of all requests that are not answered yet; above it the connections with the largest are " +
        "closed. 0: no limit. Checked on Linux only. Not in Salt.",
      { min: 0 },
    ),
    max_request_bytes: intOption(
      104_857_600,
      "Bytes of the largest request: a client that sends more is disconnected. Not in Salt, whose masters take any size.",
      { min: 65_536 },
    ),
    max_sign_ins: intOption(
      100,
      "Sign-ins a second with keys that are not accepted under their id that get an answer; the others get none and " +
        "ask again. 0: no limit. Not in Salt.",
      { min: 0 },
    ),
    max_open_files: intOption(100_000, "Open descriptors asked of the system: every minion takes two.", { min: 256 }),
    open_mode: boolOption(false, "Whether any key is accepted, a changed one too. Dangerous."),
    auto_accept: boolOption(false, "Whether every new key is accepted without a check."),
    autosign_file: pathOption(null, "File of ids, globs and expressions whose keys are accepted."),
    autoreject_file: pathOption(null, "File of ids, globs and expressions whose keys are rejected."),
    autosign_timeout: intOption(120, "Minutes that a file in `minions_autosign` is valid.", { min: 0 }),
    autosign_grains_dir: pathOption(
      null,
      "Directory with a file for each grain: the values with which a key is accepted.",
    ),
    permissive_pki_access: boolOption(
      false,
      "Whether the group may read, and write autosign files in, the pki directory.",
    ),
    allow_minion_key_revoke: boolOption(true, "Whether a minion may ask that its key be deleted."),
    auth_events: boolOption(true, "Whether sign-ins fire events."),
    auth_events_autosign_grains: strsOption(
      [],
      "Decisions (`pend`, `accept`, `reject`, `denied`, `full`) whose events have the minion's `autosign_grains`, up to 16 KiB.",
    ),
    minimum_auth_version: intOption(
      3,
      "Oldest protocol version that is served; 0 lets in minions of before 2021, without their protections.",
      { min: 0, max: 3 },
    ),
    request_server_ttl: intOption(0, "Seconds after which a request is too old to be served; 0: never.", { min: 0 }),
    sign_pub_messages: boolOption(true, "Whether publishes are signed."),
    require_minion_sign_messages: boolOption(false, "Whether unsigned messages of minions are refused."),
    drop_messages_signature_fail: boolOption(
      false,
      "Whether messages whose signature is wrong are dropped without an answer.",
    ),
    master_sign_pubkey: boolOption(
      false,
      "Whether sign-in replies are also signed with a separate signing key, for fleets with several masters.",
    ),
    master_sign_key_name: strOption("master_sign", "Name of the separate signing key."),
    master_use_pubkey_signature: boolOption(
      false,
      "Whether a signature that was made beforehand is sent, instead of a new one for each reply.",
    ),
    master_pubkey_signature: strOption(
      null,
      "File in the pki directory with the signature that was made beforehand; unset: `master_pubkey_signature`.",
    ),
    key_pass: planOption(strOption(null, "Passphrase of the master's private key; a master with one does not start.")),
    key_cache: notNeeded(
      strOption("", "Accepted for compatibility with Salt: the list of accepted keys needs no cache."),
    ),
    con_cache: notNeeded(
      boolOption(false, "Accepted for compatibility with Salt: connected minions are always known."),
    ),
    ...USER_ACCESS_OPTIONS,
    peer: dictOption(
      new Map(),
      "Functions that minions may publish to other minions, by minion: both are regular expressions.",
    ),
    peer_run: dictOption(new Map(), "Runners that minions may start, by minion: both are regular expressions."),
    nodegroups: dictOption(
      new Map(),
      "Named compound targets, as a text or a list of words: `salt -N NAME`, and `N@NAME` in a compound.",
    ),
    range_server: planOption(strOption("range:80", "Range server for targets of that type.")),
    order_masters: boolOption(
      false,
      "Whether syndics are below this master: it publishes each job, also one that none of its own minions matches ([syndic.md](syndic.md)).",
    ),
    syndics: strsOption(
      null,
      "Ids that may return for minions below them, with `order_masters`; unset: every accepted id, as in Salt, but never for an id that has a key here. Not in Salt.",
    ),
    syndic_wait: intOption(
      5,
      "Seconds that `salt` waits, with `order_masters`, for minions below syndics to be named.",
      {
        min: 0,
      },
    ),
    syndic_master: strsOption(
      ["masterofmasters"],
      "Of salt-syndic: the higher masters, each a host, an address, or `host:port`.",
    ),
    syndic_master_port: portOption(null, "Of salt-syndic: their port; unset: `master_port` of the minion."),
    syndic_finger: strOption("", "Of salt-syndic: fingerprint of the higher master's key; another key ends it."),
    syndic_log_file: pathOption("/var/log/salt/syndic", "Of salt-syndic: its log file."),
    syndic_pidfile: pathOption("/var/run/salt-syndic.pid", "Of salt-syndic: the file that holds its process id."),
    syndic_event_forward_timeout: floatOption(
      0.5,
      "Of salt-syndic: seconds between two requests with the events and returns of its master.",
      { min: 0.01 },
    ),
    syndic_jid_forward_cache_hwm: intOption(
      100,
      "Of salt-syndic: of how many jobs it remembers that their loads were sent.",
      { min: 1 },
    ),
    syndic_failover: notNeeded(
      choiceOption("random", "Accepted for compatibility with Salt: a return goes to the master that gave the job.", [
        "random",
        "ordered",
      ]),
    ),
    syndic_retries: notNeeded(
      intOption(3, "Accepted for compatibility with Salt: a return is stored, and sent until the master has it.", {
        min: 1,
      }),
    ),
    syndic_forward_all_events: notNeeded(
      boolOption(false, "Accepted for compatibility with Salt, where it has no effect either."),
    ),
    show_timeout: boolOption(true, "Whether minions that did not answer are listed."),
    show_jid: boolOption(false, "Whether the commands show the job's id."),
    unique_jid: boolOption(false, "Whether job ids end in the number of the process that made them."),
    cli_summary: boolOption(false, "Whether `salt` ends with a summary."),
    presence_events: boolOption(
      false,
      "Whether each `loop_interval` the event `salt/presence/present` names the connected minions, and `salt/presence/change` the Python minions that have come and gone. For our minions the latter is fired when it happens, in any case.",
    ),
    master_stats: planOption(boolOption(false, "Whether MWorkers fire events with the durations of requests.")),
    master_stats_event_iter: planOption(intOption(60, "Seconds between such events.", { min: 1 })),
    event_return: strsOption([], "Returners that the master gives its events to. It needs the event log."),
    event_return_queue: intOption(0, "Events that are waited for before a returner is called; 0: none.", {
      min: 0,
      max: 10_000,
    }),
    event_return_queue_max_seconds: intOption(0, "Seconds for which they are waited for; 0: no limit.", { min: 0 }),
    event_return_whitelist: strsOption([], "Globs of tags: returners get these events alone. Empty: all."),
    event_return_blacklist: strsOption([], "Globs of tags: returners do not get these events."),
    event_return_niceness: notNeeded(
      intOption(null, "Accepted for compatibility with Salt, which stores events in a process of its own."),
    ),
    master_return: strsOption(
      [],
      "Returners that the master gives each job and each return to, so that no minion needs a password of a database. It needs the event log. Not in Salt.",
    ),
    reactor: anyOption(
      [],
      "Which files react to which events: a list of maps from a glob of tags to a file or a list of files; or the path of a YAML file with that list.",
    ),
    reactor_refresh_interval: notNeeded(
      intOption(60, "Accepted for compatibility with Salt: Salt makes its clients anew after these seconds.", {
        min: 0,
      }),
    ),
    reactor_worker_threads: intOption(10, "Functions of runners and wheel modules that the reactor runs at once.", {
      min: 1,
      max: 100,
    }),
    reactor_worker_hwm: intOption(
      10_000,
      "Functions of runners and wheel modules that may wait in the reactor. When so many wait, it takes no further events until one has ended.",
      { min: 1 },
    ),
    reactor_niceness: intOption(
      null,
      "The nice value that is added to that of the process that renders reactor files.",
      {
        min: 0,
        max: 19,
      },
    ),
    reactor_timeout: floatOption(
      10,
      "Seconds that the files of one event may take to render. Not in Salt.",
      { min: 0.1 },
    ),
    reactor_limits: dictOption(
      new Map(),
      "How many events of one tag start reactions in a minute, by globs of tags; the first glob that matches counts. Further ones start none. Not in Salt.",
    ),
    reactor_loop_limit: intOption(
      20,
      "How often a reactor file may be started by what it has started itself, directly or through others; then the chain is stopped. 0: no limit. Not in Salt.",
      { min: 0 },
    ),
    ...MASTER_FILE_SERVER_OPTIONS,
    ...SSH_OPTIONS,
    pillar_version: planOption(intOption(2, "Form of the pillar reply.", { min: 1, max: 2 })),
    master_roots: planOption(dictOption(
      new Map([["base", ["/srv/salt-master"]]]),
      "File roots for the master's own states.",
    )),
    runner_dirs: strsOption([], "More directories of runners."),
    disable_runners: strsOption([], "Runners that are not loaded."),
    disable_returners: strsOption([], "Returners that are not loaded."),
    runner_returns: boolOption(true, "Whether results of runners are stored as jobs."),
    enforce_mine_cache: boolOption(false, "Whether the mine works without `minion_data_cache`."),
    mine_get: anyOption(
      null,
      "The functions that minions may read of the mine, by minion: both are regular expressions, which match from the beginning. Unset: all functions.",
    ),
    mine_max_bytes: intOption(
      4_194_304,
      "Maximum size of the mine of one minion, in bytes; what would make it larger is refused. Not in Salt.",
      { min: 1_024, max: 67_108_864 },
    ),
    worker_pools_enabled: notNeeded(boolOption(
      true,
      "Accepted for compatibility with Salt: there is one pool here.",
    )),
    worker_pools: planOption(dictOption(new Map(), "The pools of worker threads.")),
  } as const satisfies Readonly<Record<string, Option>>;
}
