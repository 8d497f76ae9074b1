/**
 * Which branches, tags and commits of a remote are environments, and which of them one can ask for by name.
 * @module
 */

import { loadMasterConfig } from "#lib/config/load.ts";
import { RemoteEnvs } from "#lib/files/git/remote_envs.ts";
import { gitfsRemotes } from "#lib/files/git/remote_options.ts";
import { GitRemote } from "#lib/files/git/remote.ts";
import { toValue } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { git } from "#tests/support/files/file_server.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

/** Three branches; each has one file with its own name. */
const HISTORY = ["main", "dev", "live"].map((name) =>
  `commit refs/heads/${name}
committer t <t@example.com> 1 +0000
data 1
x
M 644 inline ${name}.sls
data 1
x
`
).join("\n");

Deno.test("only exposed environments have files: a branch that another environment names is none, one that no remote knows only with fallback", () =>
  withTemporaryDirectory(async (root) => {
    await git(["init", "--quiet", "--bare", "--initial-branch=main", `${root}/served`]);
    await git(["-C", `${root}/served`, "fast-import", "--quiet"], HISTORY);
    /** The environments of a remote, and for each name the files that it has; `undefined`: there is no such one. */
    const opened = async (options: Readonly<Record<string, unknown>>, exposes: (saltenv: string) => boolean) => {
      const gitfs_remotes = [{
        [`file://${root}/served`]: Object.entries(options).map(([key, value]) => ({ [key]: value })),
      }];
      const overrides = { root_dir: root, id: "m_master", gitfs_base: "main", gitfs_remotes: toValue(gitfs_remotes) };
      const { opts } = loadMasterConfig({ configDir: root, readsFiles: false, overrides });
      const [read] = gitfsRemotes(opts, () => {});
      const remote = new GitRemote(read, { cacheRoot: `${root}/cache`, hashType: "sha256" });
      await remote.fetch();
      const envs = new RemoteEnvs(remote, exposes);
      const known = await envs.envs();
      return {
        known,
        files: async (saltenv: string) => [...(await envs.tree(saltenv, known))?.files.keys() ?? ["none"]].join(),
        commit: (await remote.refs()).get("refs/remotes/origin/dev") ?? "",
      };
    };
    const named = await opened({ saltenv: [{ prod: [{ ref: "live" }] }] }, (saltenv) => saltenv !== "dev");
    assertEquals([...named.known].sort(), ["base", "prod"]);
    assertEquals([await named.files("base"), await named.files("prod")], ["main.sls", "live.sls"]);
    // "live" is a branch and no environment; "dev" is not exposed; "other" is nothing.
    for (const saltenv of ["live", "dev", "other"]) assertEquals(await named.files(saltenv), "none", saltenv);
    // A commit is no environment that is listed, but one that can be asked for.
    assertEquals(await named.files(named.commit), "dev.sls");
    const falling = await opened({ fallback: "dev" }, () => true);
    assertEquals([...falling.known].sort(), ["base", "dev", "live"]);
    assertEquals([await falling.files("live"), await falling.files("other")], ["live.sls", "dev.sls"]);
  }));
