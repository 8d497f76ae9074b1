/**
 * Runner `git_pillar`: fetches the repositories of pillar now.
 * Source: the functions and results of Salt 3008.3 `salt/runners/git_pillar.py`.
 * @module
 */

import { runner, runnerDoc, type RunnerFunction } from "#lib/client/runner_context.ts";
import { optsValues } from "#lib/config/opts_map.ts";
import { CommandError, messageOf } from "#lib/errors.ts";
import { configuredPillarRepositories, fetchPillarRepository } from "#lib/files/git/pillar_updates.ts";
import { p } from "#lib/plugins/module.ts";
import { hideCredentials } from "#lib/text/url_credentials.ts";
import type { ValueMap } from "#lib/values/value.ts";

export const update: RunnerFunction = runner({
  doc: runnerDoc(
    `Fetch the git repositories of pillar. Returns for each repository True (changed), None (unchanged) or False (not fetched; the log has the
reason).

branch : None
    Only repositories of this branch.

repo : None
    Only repositories with this URL or name.`,
    "git_pillar.update",
    "git_pillar.update branch=main repo=https://git.example.org/pillar.git",
  ),
  params: { branch: p.str(null), repo: p.str(null) },
  async run({ branch, repo }, { opts, log, signal }) {
    const results: ValueMap = new Map();
    for (const remote of configuredPillarRepositories(optsValues(opts))) {
      const { options } = remote;
      if (branch !== null && branch !== options.branch) continue;
      if (repo !== null && repo !== options.url && repo !== options.name) continue;
      try {
        const result = await fetchPillarRepository(remote, signal);
        if (result === "locked") throw new Error("another process is fetching it, or its updates are locked");
        results.set(options.id, result === "changed" ? true : null);
      } catch (error) {
        log("error", `git_pillar remote '${hideCredentials(options.id)}' could not be fetched: ${messageOf(error)}`);
        results.set(options.id, false);
      }
    }
    if (results.size > 0) return results;
    throw new CommandError(
      branch !== null || repo !== null
        ? "Specified git branch/repo not found in ext_pillar config"
        : "No git_pillar remotes are configured",
    );
  },
});
