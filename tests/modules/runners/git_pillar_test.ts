import { optsValues } from "#lib/config/opts_map.ts";
import { CommandError } from "#lib/errors.ts";
import { configuredPillarRepositories } from "#lib/files/git/pillar_updates.ts";
import { isMap, repr } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
import { git } from "#tests/support/files/file_server.ts";
import { withRunnerFixture } from "#tests/support/fleet/runner_services.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

Deno.test("git_pillar.update fetches the repositories of pillar, cache.clear_git_lock removes their locks", () =>
  withTemporaryDirectory(async (repository) => {
    await git(["init", "--quiet", "--initial-branch=main", repository]);
    await git(
      ["-C", repository, "fast-import", "--quiet"],
      "commit refs/heads/main\ncommitter t <t@example.org> 0 +0000\ndata 1\nx\nM 644 inline top.sls\ndata 2\n{}\n",
    );
    const [url, missing] = [`file://${repository}`, `file://${repository}/nowhere`];
    const options = `ext_pillar:\n  - git: ["main ${url}", {"main ${missing}": [{name: gone}]}]\n`;
    await withRunnerFixture(async ({ call }) => {
      const both = `{'main ${url}': True, 'main ${missing}': False}`;
      assertEquals(repr(await call("git_pillar.update")), both);
      assertEquals(repr(await call("git_pillar.update", ["main", url])), `{'main ${url}': None}`);
      assertEquals(repr(await call("git_pillar.update", [], { repo: "gone" })), `{'main ${missing}': False}`);
      await assertRejects(
        () => call("git_pillar.update", ["dev"]),
        CommandError,
        "Specified git branch/repo not found",
      );
      assertEquals(await call("cache.clear_git_lock", ["git_pillar"]), "No locks were removed");
    }, options);
    await withRunnerFixture(async ({ call }) => {
      await assertRejects(() => call("git_pillar.update"), CommandError, "No git_pillar remotes are configured");
    });
  }));

Deno.test("git_pillar.update reports that a repository with a lock is not fetched", () =>
  withTemporaryDirectory(async (repository) => {
    await git(["init", "--quiet", "--initial-branch=main", repository]);
    const url = `file://${repository}`;
    await withRunnerFixture(async ({ call, context, done }) => {
      const [remote] = configuredPillarRepositories(optsValues(context.opts));
      await remote.fetch().catch(() => {});
      await remote.lock.set();
      assertEquals(repr(await call("git_pillar.update")), `{'main ${url}': False}`);
      assertEquals(done, [
        `error: git_pillar remote 'main ${url}' could not be fetched: another process is fetching it, or its updates are locked`,
      ]);
      const cleared = await call("cache.clear_git_lock", ["git_pillar"]);
      assert(isMap(cleared) && cleared.has("cleared"), repr(cleared));
    }, `ext_pillar:\n  - git: ["main ${url}"]\n`);
  }));
