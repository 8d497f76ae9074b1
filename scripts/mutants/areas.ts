/**
 * The files that implement documented guarantees, by area, and their black-box tests: tests with running masters and
 * minions, which do not import the files.
 * @module
 */

/** Files that implement the same kind of guarantee. */
export interface Area {
  /** The value of `--area`. */
  readonly name: string;
  /** Paths from the root of the tree. */
  readonly files: readonly string[];
  /** Test files that run after the tests that import a file, the fastest first. */
  readonly blackBox: readonly string[];
}

/** All areas. Each file is in one area only. */
export const AREAS: readonly Area[] = [
  {
    name: "keys",
    files: [
      "lib/os/atomic_file.ts",
      "lib/keys/autosign.ts",
      "lib/keys/manager.ts",
      "lib/keys/pair.ts",
      "lib/keys/rules.ts",
      "lib/keys/store.ts",
      "lib/keys/master_signature.ts",
      "lib/keys/accepted_keys.ts",
      "lib/os/small_files.ts",
      "lib/os/trusted_path.ts",
    ],
    blackBox: ["tests/master/requests/request_handler_test.ts", "tests/system/security_lessons_test.ts"],
  },
  {
    name: "crypto",
    files: [
      "lib/crypto/aes.ts",
      "lib/crypto/crypticle.ts",
      "lib/crypto/openssl_rsa.ts",
      "lib/crypto/pem.ts",
      "lib/keys/verified_tokens.ts",
      "lib/protocol/return_key.ts",
      "lib/crypto/rsa.ts",
      "lib/crypto/rsa_public_pem.ts",
      "lib/crypto/same_bytes.ts",
      "lib/crypto/sealing.ts",
      "lib/keys/sessions.ts",
      "lib/keys/shared_key.ts",
      "lib/keys/shared_table.ts",
      "lib/crypto/x931.ts",
    ],
    blackBox: ["tests/master/requests/key_rotation_test.ts", "tests/master/daemon/master_test.ts"],
  },
  {
    name: "requests",
    files: [
      "lib/protocol/acknowledgement.ts",
      "lib/master/requests/clear_commands.ts",
      "lib/values/dict.ts",
      "lib/protocol/frames.ts",
      "lib/master/daemon/in_flight_request.ts",
      "lib/values/keyed_hash.ts",
      "lib/master/requests/sign_in.ts",
      "lib/master/requests/minion_commands.ts",
      "lib/master/requests/auth_commands.ts",
      "lib/master/requests/minion_data.ts",
      "lib/values/msgpack_reader.ts",
      "lib/protocol/payload.ts",
      "lib/minion/masters/publish_reader.ts",
      "lib/master/requests/request_handler.ts",
      "lib/minion/masters/sign_in.ts",
      "lib/targeting/target.ts",
    ],
    blackBox: ["tests/master/hostile/frames_test.ts", "tests/system/security_lessons_test.ts"],
  },
  {
    name: "spool",
    files: [
      "lib/jobs/file_store.ts",
      "lib/os/journal.ts",
      "lib/os/record_file.ts",
      "lib/jobs/kept_returns.ts",
      "lib/master/daemon/journal.ts",
      "lib/minion/agent/journal.ts",
      "lib/jobs/oversized_return.ts",
      "lib/minion/masters/return_spool.ts",
      "lib/jobs/undelivered.ts",
      "lib/jobs/undelivered_log.ts",
    ],
    blackBox: ["tests/system/fleet_jobs_test.ts"],
  },
  {
    name: "redelivery",
    files: [
      "lib/minion/masters/jid_memory.ts",
      "lib/jobs/acks.ts",
      "lib/jobs/outcomes.ts",
      "lib/client/watch.ts",
      "lib/protocol/outcome.ts",
      "lib/values/bounded_map.ts",
      "lib/jobs/redelivery.ts",
    ],
    blackBox: ["tests/system/replay_test.ts", "tests/system/fleet_jobs_test.ts"],
  },
  {
    name: "access",
    files: [
      "lib/auth/access.ts",
      "lib/commands/cli/command_user.ts",
      "lib/plugins/declared_permissions.ts",
      "lib/bus/acl_users.ts",
      "lib/protocol/hidden_return.ts",
      "lib/bus/minion_tags.ts",
      "lib/minion/worker/module_messages.ts",
      "lib/protocol/no_log.ts",
      "lib/plugins/permissions.ts",
      "lib/master/requests/publish.ts",
    ],
    blackBox: ["tests/system/security_lessons_test.ts", "tests/system/process_rights_test.ts"],
  },
  {
    name: "limits",
    files: [
      "lib/minion/masters/backoff.ts",
      "lib/config/connection_limits.ts",
      "lib/sockets/connection_memory.ts",
      "lib/sockets/connection_shares.ts",
      "lib/sockets/cut_connections.ts",
      "lib/sockets/connection_limiter.ts",
      "lib/master/requests/rate_limit.ts",
      "lib/master/requests/sign_in_turns.ts",
    ],
    blackBox: [
      "tests/master/requests/connection_limits_test.ts",
      "tests/master/daemon/master_test.ts",
      "tests/master/hostile/frames_test.ts",
    ],
  },
];

/**
 * The rooms whose guards `--guards` breaks: at least 95 of 100 breaks must be noticed. For each, the tests of other
 * rooms that reach its files through modules or processes, the fastest first.
 */
export const GUARDED_ROOMS: Readonly<Record<string, readonly string[]>> = {
  auth: ["tests/master/requests/function_commands_test.ts", "tests/api/server/oidc_test.ts"],
  "files/client": [],
  "files/backends": [
    "tests/modules/wheel/wheel_test.ts",
    "tests/files/server/file_server_test.ts",
    "tests/files/server/hostile_requests_test.ts",
  ],
  "host/filesystem": ["tests/modules/execution/file_test.ts", "tests/modules/execution/file_backups_test.ts"],
  "master/functions": [],
  "files/git": [
    "tests/files/server/gitfs_refs_test.ts",
    "tests/files/server/gitfs_choices_test.ts",
    "tests/files/server/gitfs_base_test.ts",
    "tests/files/server/gitfs_test.ts",
  ],
  keys: [],
  pillar: [],
};
