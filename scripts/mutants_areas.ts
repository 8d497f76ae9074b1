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

/** All of them. A file is in one area alone. */
export const AREAS: readonly Area[] = [
  {
    name: "keys",
    files: [
      "lib/atomic_file.ts",
      "lib/autosign.ts",
      "lib/key_manager.ts",
      "lib/key_pair.ts",
      "lib/key_rules.ts",
      "lib/key_store.ts",
      "lib/master_signature.ts",
      "lib/minion_keys.ts",
      "lib/small_files.ts",
      "lib/trusted_path.ts",
    ],
    blackBox: ["tests/request_handler_test.ts", "tests/security_lessons_test.ts"],
  },
  {
    name: "crypto",
    files: [
      "lib/aes.ts",
      "lib/crypticle.ts",
      "lib/openssl.ts",
      "lib/pem.ts",
      "lib/proved_tokens.ts",
      "lib/return_key.ts",
      "lib/rsa.ts",
      "lib/rsa_public_pem.ts",
      "lib/same_bytes.ts",
      "lib/sealing.ts",
      "lib/session_keys.ts",
      "lib/shared_key.ts",
      "lib/shared_table.ts",
      "lib/x931.ts",
    ],
    blackBox: ["tests/master_test.ts"],
  },
  {
    name: "requests",
    files: [
      "lib/acknowledgement.ts",
      "lib/clear_commands.ts",
      "lib/dict.ts",
      "lib/frames.ts",
      "lib/held_request.ts",
      "lib/keyed_hash.ts",
      "lib/master_auth.ts",
      "lib/minion_commands.ts",
      "lib/msgpack_reader.ts",
      "lib/payload.ts",
      "lib/publish_reader.ts",
      "lib/request_handler.ts",
      "lib/sign_in.ts",
      "lib/target.ts",
    ],
    blackBox: ["tests/hostile_frames_test.ts", "tests/security_lessons_test.ts"],
  },
  {
    name: "spool",
    files: [
      "lib/job_cache.ts",
      "lib/journal.ts",
      "lib/journal_file.ts",
      "lib/kept_returns.ts",
      "lib/master_journal.ts",
      "lib/minion_journal.ts",
      "lib/oversized_return.ts",
      "lib/return_spool.ts",
      "lib/undelivered_jobs.ts",
      "lib/undelivered_log.ts",
    ],
    blackBox: ["tests/fleet_jobs_test.ts"],
  },
  {
    name: "redelivery",
    files: [
      "lib/jid_memory.ts",
      "lib/job_acks.ts",
      "lib/job_outcomes.ts",
      "lib/job_watch.ts",
      "lib/outcome.ts",
      "lib/recent.ts",
      "lib/redelivery.ts",
    ],
    blackBox: ["tests/replay_test.ts", "tests/fleet_jobs_test.ts"],
  },
  {
    name: "access",
    files: [
      "lib/access.ts",
      "lib/command_user.ts",
      "lib/declared_permissions.ts",
      "lib/guests.ts",
      "lib/hidden_return.ts",
      "lib/minion_tags.ts",
      "lib/module_messages.ts",
      "lib/no_log.ts",
      "lib/permissions.ts",
      "lib/publish_command.ts",
    ],
    blackBox: ["tests/security_lessons_test.ts", "tests/process_rights_test.ts"],
  },
  {
    name: "limits",
    files: [
      "lib/backoff.ts",
      "lib/connection_limits.ts",
      "lib/connection_memory.ts",
      "lib/connection_shares.ts",
      "lib/cut_connections.ts",
      "lib/doorkeeper.ts",
      "lib/rate_limit.ts",
      "lib/sign_in_turns.ts",
    ],
    blackBox: ["tests/connection_limits_test.ts", "tests/master_test.ts", "tests/hostile_frames_test.ts"],
  },
];
