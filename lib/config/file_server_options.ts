/**
 * The options of the file server and its backends, for both roles: a master serves its minions, a minion without a
 * master itself.
 * @module
 */

import {
  anyOption,
  boolOption,
  dictOption,
  intOption,
  listOption,
  notNeeded,
  strOption,
  strsOption,
} from "./option_types.ts";

/** Seconds between updates of a backend. */
const INTERVAL = 60;

/** The options, by name. */
export const FILE_SERVER_OPTIONS = {
  file_roots: dictOption(
    new Map([["base", ["/srv/salt", "/srv/spm/salt"]]]),
    "Directories of files and states to serve, a list for each environment. `__env__` as an environment, or in a directory of it, stands for every environment that is not named.",
  ),
  fileserver_backend: strsOption(
    ["roots"],
    "The backends of served files, in this order: `roots`, `gitfs` (or `git`), `minionfs` (or `minion`).",
  ),
  file_ignore_regex: strsOption(
    [],
    "Files whose path has a part that matches one of these expressions are not served.",
  ),
  file_ignore_glob: strsOption([], "Files whose path matches one of these globs are not served."),
  fileserver_followsymlinks: boolOption(
    true,
    "Whether links in file roots are followed, also those that lead elsewhere.",
  ),
  fileserver_ignoresymlinks: boolOption(false, "Whether links are left out of the lists of files."),
  fileserver_list_cache_time: intOption(
    20,
    "Seconds for which a list of files is kept at most; one whose directories have changed is made again.",
    { min: 0 },
  ),
  gitfs_remotes: listOption([], "Git repositories to serve files from: URLs, or `{URL: [{option: value}, …]}`."),
  gitfs_base: strOption("master", "The branch, tag or commit that is environment `base`."),
  gitfs_fallback: strOption("", "The branch, tag or commit to use for environments that a repository does not have."),
  gitfs_root: strOption("", "The directory in repositories whose files are served; empty: all of them."),
  gitfs_mountpoint: strOption("", "The directory in which files of repositories appear: `salt://name`."),
  gitfs_saltenv: listOption([], "Per environment, `mountpoint`, `root` and `ref`: `[{dev: [{ref: develop}]}]`."),
  gitfs_saltenv_whitelist: strsOption(
    [],
    "If not empty, only environments that match are served: globs, or expressions.",
  ),
  gitfs_saltenv_blacklist: strsOption([], "Environments that are not served: globs, or expressions."),
  gitfs_ref_types: strsOption(
    ["branch", "tag", "sha"],
    "Types of references that are environments: `branch`, `tag`, `sha`.",
  ),
  gitfs_disable_saltenv_mapping: boolOption(
    false,
    "Whether only environments that the configuration names are served.",
  ),
  gitfs_refspecs: strsOption(
    ["+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*"],
    "The refspecs that are fetched from repositories.",
  ),
  gitfs_depth: intOption(1, "How many commits are fetched of each branch and tag; 0: all.", { min: 0 }),
  gitfs_global_lock: notNeeded(
    boolOption(true, "Accepted for compatibility with Salt: each repository has its own lock."),
  ),
  gitfs_update_interval: intOption(INTERVAL, "Seconds between fetches of a repository.", { min: 1 }),
  gitfs_ssl_verify: boolOption(true, "Whether certificates of HTTPS servers are checked."),
  gitfs_proxy: strOption("", "Proxy for repositories: `http://host:port`."),
  gitfs_user: strOption("", "User name for repositories over HTTPS."),
  gitfs_password: strOption("", "Password for repositories over HTTPS."),
  gitfs_insecure_auth: boolOption(false, "Whether user name and password are sent over HTTP without TLS."),
  gitfs_privkey: strOption("", "Private key for repositories over SSH."),
  gitfs_pubkey: notNeeded(strOption("", "Accepted for compatibility with Salt: ssh needs only the private key.")),
  gitfs_passphrase: strOption("", "Passphrase of `gitfs_privkey`; a key in an ssh agent needs none."),
  minionfs_env: strOption("base", "The environment that files pushed by minions are in."),
  minionfs_mountpoint: strOption("", "The directory in which files pushed by minions appear: `salt://name`."),
  minionfs_whitelist: strsOption(
    [],
    "If not empty, only files of minions that match are served: globs, or expressions.",
  ),
  minionfs_blacklist: strsOption([], "Minions whose files are not served: globs, or expressions."),
  gitfs_provider: notNeeded(
    anyOption(null, "Accepted for compatibility with Salt: git is always called as a program."),
  ),
};

/** The options of the master's file server alone, by name. */
export const MASTER_FILE_SERVER_OPTIONS = {
  file_buffer_size: intOption(1_048_576, "Bytes of a piece of a served file.", { min: 1024 }),
  file_recv: boolOption(false, "Whether minions may push files to the master."),
  file_recv_max_size: intOption(100, "Maximum size of a file that a minion pushes, in MiB.", { min: 0 }),
  fileserver_events: boolOption(
    false,
    "Whether `salt/fileserver/BACKEND/update` events report updates and changed files.",
  ),
  fileserver_interval: intOption(3600, "Seconds between removals of cached data of files that no longer exist.", {
    min: 1,
  }),
  roots_update_interval: intOption(
    INTERVAL,
    "Seconds between updates of `roots`: checks for changes in the file roots.",
    {
      min: 1,
    },
  ),
  minionfs_update_interval: intOption(INTERVAL, "Seconds between updates of `minionfs`.", { min: 1 }),
  fileserver_update_niceness: notNeeded(
    intOption(null, "Accepted for compatibility with Salt: no process updates the file server."),
  ),
  fileserver_verify_config: boolOption(true, "Whether the master refuses to start with backends that cannot be used."),
};
