/**
 * The options that master and minion share, whose defaults do not depend on the role.
 * @module
 */

import { HASH_TYPES } from "#lib/crypto/hash_types.ts";
import { MAX_KEY_BITS, MIN_NEW_KEY_BITS } from "#lib/crypto/key_bits.ts";
import { LEVEL_ALIASES, LOG_LEVELS } from "#lib/runtime/log_levels.ts";
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
  strOption,
  strsOption,
} from "./option_types.ts";
import { DISPLAY_OPTIONS } from "./display_options.ts";
import { STATE_OPTIONS } from "./state_options.ts";
import { FILE_SERVER_OPTIONS } from "./file_server_options.ts";
import { RENDER_OPTIONS } from "./render_options.ts";
import { GIT_PILLAR_OPTIONS } from "./git_pillar_options.ts";
import { PILLAR_OPTIONS } from "./pillar_options.ts";

/** How RSA encrypts session keys. */
export const ENCRYPTION_ALGORITHMS = ["OAEP-SHA1", "OAEP-SHA224"] as const;

/** How RSA signs messages. */
export const SIGNING_ALGORITHMS = ["PKCS1v15-SHA1", "PKCS1v15-SHA224"] as const;

/** Options of both roles. */
export const COMMON_OPTIONS = {
  root_dir: strOption(
    "/",
    "Directory that every relative or default path below is relative to. A user without special rights sets a directory of that user.",
  ),
  user: strOption(
    null,
    "User to run as; the process changes to this user permanently before it opens sockets. Commands that root calls change to this user as well. Unset: the user who starts it.",
  ),
  verify_env: boolOption(true, "Whether missing directories are created, and modes set, at start."),
  include: strsOption(
    [],
    "More configuration files, as paths or globs relative to the file that names them; read after `default_include`.",
  ),
  hash_type: choiceOption("sha256", "Digest for fingerprints, job directories and file checksums.", HASH_TYPES),
  keysize: intOption(2048, "Bits of a new RSA key.", { min: MIN_NEW_KEY_BITS, max: MAX_KEY_BITS }),
  durability: choiceOption(
    "process",
    "What accepted jobs and acknowledged returns survive: with `process` the end of the process, with `machine` also a power failure, at the " +
      "cost of a disk sync before each answer (Linux; not in Salt).",
    ["process", "machine"],
  ),
  transport: choiceOption("zeromq", "Transport of messages. Only ZeroMQ is built.", ["zeromq"], {
    notBuilt: ["tcp", "ws"],
  }),
  ipv6: boolOption(null, "Whether sockets listen and connect over IPv6; unset: depends on the address."),
  ipc_mode: notNeeded(
    choiceOption("ipc", "Transport between the processes of one host. Only Unix sockets are built.", ["ipc"], {
      notBuilt: ["tcp"],
    }),
  ),
  max_event_size: notNeeded(
    intOption(1_048_576, "Accepted for compatibility with Salt: no event is trimmed here.", { min: 1024 }),
  ),
  tracing: dictOption(
    new Map(),
    "Spans of jobs for an OpenTelemetry collector: `{enabled: true, endpoint: http://collector:4318/v1/traces, sampler: parent_based, sampler_arg: 1.0, " +
      "service_name, resource_attributes, headers}` ([docs/tracing.md](tracing.md)).",
  ),
  zmq_filtering: boolOption(
    false,
    "Whether publishes have a topic, so that a minion receives only its own jobs. Both sides must agree.",
  ),
  zmq_monitor: notNeeded(boolOption(
    false,
    "Accepted for compatibility with Salt: lost connections are always detected, and the states of sockets are never logged.",
  )),
  tcp_keepalive: boolOption(true, "Whether idle TCP connections are probed."),
  tcp_keepalive_idle: intOption(300, "Seconds of silence before the first probe; -1: the system's own.", { min: -1 }),
  tcp_keepalive_cnt: intOption(-1, "Unanswered probes after which a connection is dead; -1: the system's own.", {
    min: -1,
  }),
  tcp_keepalive_intvl: intOption(-1, "Seconds between probes; -1: the system's own.", { min: -1 }),
  log_level: choiceOption("warning", "Minimum level of log messages on the terminal.", LOG_LEVELS, {
    aliases: LEVEL_ALIASES,
  }),
  log_level_logfile: choiceOption(
    null,
    "Minimum level of log messages in the log file; unset: `log_level`.",
    LOG_LEVELS,
    {
      aliases: LEVEL_ALIASES,
    },
  ),
  log_granular_levels: dictOption(
    new Map(),
    "Levels by logger name: `{salt.minion: debug}`. They can only reduce what is logged.",
  ),
  log_dir: strOption(null, "Directory of the log file, where `log_file` is unset or relative."),
  log_datefmt: strOption("%H:%M:%S", "Time in lines on the terminal, as strftime."),
  log_datefmt_logfile: strOption("%Y-%m-%d %H:%M:%S", "Time in lines of the log file, as strftime."),
  log_fmt_console: strOption("[%(levelname)-8s] %(message)s", "A line on the terminal: Python's `%(name)s` fields."),
  log_fmt_logfile: strOption(
    "%(asctime)s,%(msecs)03d [%(name)-17s][%(levelname)-8s][%(process)d] %(message)s",
    "A line of the log file. Salt's default also has a line number; there is none here.",
  ),
  ...RENDER_OPTIONS,
  ...FILE_SERVER_OPTIONS,
  ...PILLAR_OPTIONS,
  ...GIT_PILLAR_OPTIONS,
  ...STATE_OPTIONS,
  schedule: anyOption(
    new Map(),
    "Jobs on a timer, by name, and settings of all of them ([schedule.md](schedule.md)). Those of included files join them.",
  ),
  engines: anyOption(
    [],
    "Programs that run as long as this service does, each in a process: a list of names and of maps from a name to its options, or a map.",
  ),
  engines_dirs: strsOption([], "More directories of engines, which have precedence over those in `module_dirs`."),
  outputter_dirs: strsOption([], "More directories of outputters in Python."),
  module_dirs: strsOption(
    [],
    "More directories of plugins, which have precedence over `extension_modules`; execution modules are in `modules` or `_modules` below each.",
  ),
  custom_module_memory: intOption(
    536_870_912,
    "Bytes of memory that the process of a custom module may take; a job that needs more fails. Not in Salt.",
    { min: 67_108_864 },
  ),
  python: strOption(
    null,
    "The Python that runs plugins in Python, 3.8 or newer: a path, or a name in PATH; unset: `python3`. Not in Salt.",
  ),
  python_plugins: anyOption(
    true,
    "Whether plugins in Python (`_modules/*.py` and so on) are loaded, or a list of the names of those that are. Not in Salt.",
  ),
  extension_modules: pathOption(null, "Directory of plugins of this host; unset: `extmods` in the cache directory."),
  extmod_whitelist: dictOption(
    new Map(),
    "Plugins to fetch from the file server, `{family: [names]}`; families that are not named are fetched whole.",
  ),
  extmod_blacklist: dictOption(new Map(), "Plugins not to fetch, in the same form."),
  clean_dynamic_modules: boolOption(
    true,
    "Whether fetched plugins that no longer exist on the file server are removed.",
  ),
  id: strOption(
    null,
    "Name of this node. Unset: the `minion_id` file of the configuration directory, else the host's name.",
  ),
  append_domain: strOption(null, "Domain that is added to an id without one."),
  minion_id_caching: boolOption(
    true,
    "Whether an id that was made from the host's name is kept in the file `minion_id`.",
  ),
  minion_id_lowercase: boolOption(false, "Whether an id that is made from the host's name is written in lower case."),
  minion_id_remove_domain: anyOption(
    false,
    "true: an id made from the host's name loses its domain; a string: it loses that domain.",
  ),
  http_request_timeout: floatOption(3600, "Seconds that `http.query` waits for an answer.", { min: 0 }),
  output: strOption(null, "Outputter of the commands if `--out` is not given."),
  ...DISPLAY_OPTIONS,
  color: boolOption(true, "Whether output and log lines on a terminal are coloured."),
  strip_colors: notNeeded(
    boolOption(true, "Accepted for compatibility with Salt: control characters in results are always made visible."),
  ),
} as const satisfies Readonly<Record<string, Option>>;
