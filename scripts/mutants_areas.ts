/**
 * Which files guard promises, by area, and which tests look at them from outside: with running masters and minions, which no
 * import leads to.
 * @module
 */

/** Files that keep the same kind of promise. */
export interface Area {
  /** What `--area` is given. */
  readonly name: string;
  /** From the root of the tree. */
  readonly files: readonly string[];
  /** Test files that are run after those which import a file, the fastest first. */
  readonly blackBox: readonly string[];
}

const lib = (...names: readonly string[]) => names.map((name) => `lib/${name}.ts`);
const tests = (...names: readonly string[]) => names.map((name) => `tests/${name}_test.ts`);

/** All of them. A file is in one area alone. */
export const AREAS: readonly Area[] = [
  {
    name: "keys",
    files: lib(
      "atomic_file",
      "autosign",
      "key_manager",
      "key_pair",
      "key_rules",
      "key_store",
      "master_signature",
      "minion_keys",
      "small_files",
    ),
    blackBox: tests("request_handler", "security_lessons"),
  },
  {
    name: "crypto",
    files: lib(
      "aes",
      "crypticle",
      "openssl",
      "pem",
      "proved_tokens",
      "return_key",
      "rsa",
      "rsa_public_pem",
      "same_bytes",
      "sealing",
      "session_keys",
      "shared_key",
      "shared_table",
      "x931",
    ),
    blackBox: tests("master"),
  },
  {
    name: "requests",
    files: lib(
      "clear_commands",
      "held_request",
      "master_auth",
      "minion_commands",
      "msgpack_reader",
      "payload",
      "publish_reader",
      "request_handler",
      "sign_in",
      "target",
    ),
    blackBox: tests("hostile_frames", "security_lessons"),
  },
  {
    name: "spool",
    files: lib("job_cache", "return_spool", "undelivered_jobs", "undelivered_log"),
    blackBox: tests("fleet_jobs"),
  },
  {
    name: "redelivery",
    files: lib("jid_memory", "job_acks", "job_outcomes", "job_watch", "outcome", "recent", "redelivery"),
    blackBox: tests("replay", "fleet_jobs"),
  },
  {
    name: "access",
    files: lib("access", "hidden_return", "minion_tags", "no_log", "permissions", "publish_command"),
    blackBox: tests("security_lessons", "process_rights"),
  },
  {
    name: "limits",
    files: lib(
      "backoff",
      "connection_limits",
      "connection_memory",
      "connection_shares",
      "doorkeeper",
      "rate_limit",
    ),
    blackBox: tests("connection_limits", "master", "hostile_frames"),
  },
];
