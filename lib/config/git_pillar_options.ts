/**
 * The options of pillar in git repositories (`ext_pillar`'s `git`), for a master and for a minion that compiles its own
 * pillar.
 * @module
 */

import { anyOption, boolOption, intOption, notNeeded, type Option, strOption, strsOption } from "./option_types.ts";

/** The options, by name. */
export const GIT_PILLAR_OPTIONS = {
  git_pillar_base: strOption("master", "The branch that is pillar environment `base`."),
  git_pillar_branch: strOption("master", "The branch of a repository that names none."),
  git_pillar_env: strOption("", "The pillar environment of all repositories; empty: that of the branch's name."),
  git_pillar_fallback: strOption("", "The branch or tag in place of one that a repository does not have."),
  git_pillar_root: strOption("", "The directory in repositories with the pillar files; empty: all of it."),
  git_pillar_includes: boolOption(
    true,
    "Whether files of a repository may include those of the others of the same environment.",
  ),
  git_pillar_update_interval: intOption(60, "Seconds between fetches of a repository.", { min: 1 }),
  git_pillar_verify_config: boolOption(
    true,
    "Whether the master refuses to start with repositories that cannot be used.",
  ),
  git_pillar_refspecs: strsOption(
    ["+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*"],
    "The refspecs that are fetched from repositories.",
  ),
  git_pillar_depth: intOption(1, "How many commits are fetched of each branch and tag; 0: all.", { min: 0 }),
  git_pillar_ssl_verify: boolOption(true, "Whether certificates of HTTPS servers are checked."),
  git_pillar_proxy: strOption("", "Proxy for repositories: `http://host:port`."),
  git_pillar_user: strOption("", "User name for repositories over HTTPS."),
  git_pillar_password: strOption("", "Password for repositories over HTTPS."),
  git_pillar_insecure_auth: boolOption(false, "Whether user name and password are sent over HTTP without TLS."),
  git_pillar_privkey: strOption("", "Private key for repositories over SSH."),
  git_pillar_passphrase: strOption("", "Passphrase of `git_pillar_privkey`; a key in an ssh agent needs none."),
  git_pillar_pubkey: notNeeded(strOption("", "Accepted for compatibility with Salt: ssh needs only the private key.")),
  git_pillar_global_lock: notNeeded(
    boolOption(true, "Accepted for compatibility with Salt: each repository has its own lock."),
  ),
  git_pillar_ref_types: notNeeded(
    anyOption(null, "Accepted for compatibility with Salt: branches and tags are used, and no commits, as in Salt."),
  ),
  git_pillar_disable_saltenv_mapping: notNeeded(
    anyOption(
      null,
      "Accepted for compatibility with Salt: a repository has the environment that its branch names, as in Salt.",
    ),
  ),
  git_pillar_provider: notNeeded(
    anyOption(null, "Accepted for compatibility with Salt: git is always called as a program."),
  ),
} as const satisfies Readonly<Record<string, Option>>;
