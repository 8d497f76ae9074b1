/**
 * Pillar of git that a minion without a master fetches itself, for each compilation.
 * @module
 */

import { optsValues } from "#lib/config/opts_map.ts";
import { configuredPillarRepositories } from "#lib/files/git/pillar_updates.ts";
import { localPillar } from "#lib/minion/local_call/pillar.ts";
import { type Logger, SILENT_LOGGER } from "#lib/runtime/log.ts";
import { map, repr } from "#lib/values/value.ts";
import { loadCatalogue } from "#lib/minion/catalogue/catalogue.ts";
import { assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { testOpts } from "#tests/support/calls/job_context.ts";
import { git } from "#tests/support/files/file_server.ts";

Deno.test("a minion without a master fetches its pillar, waits for another process that does, and not for ever", async () => {
  const root = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "git_minion_" }));
  const repository = `${root}/repo`;
  const commit = (n: number) =>
    git(
      ["-C", repository, "fast-import", "--quiet", "--force"],
      `commit refs/heads/main\ncommitter t <t@example.org> ${n} +0000\ndata 1\nx\n` +
        `M 644 inline top.sls\ndata 22\nbase:\n  '*': [numbers]\nM 644 inline numbers.sls\ndata 5\nn: ${n}\n\n`,
    );
  const own = Date.now;
  try {
    await git(["init", "--quiet", "--initial-branch=main", repository]);
    await commit(1);
    const opts = testOpts({
      root_dir: root,
      file_client: "local",
      pillar_roots: map({ base: [] }),
      ext_pillar: [map({ git: [{ [`main file://${repository}`]: [{ env: "base" }] }] })],
    });
    const logged: string[] = [];
    const log: Logger = {
      ...SILENT_LOGGER,
      named: () => log,
      error: (text) => void logged.push(typeof text === "string" ? text : text()),
    };
    const parts = {
      grains: map({ id: "web1" }),
      catalogue: loadCatalogue(),
      log,
      signal: new AbortController().signal,
    };
    const pillar = async () => repr((await localPillar(opts, parts)).pillar);
    assertEquals(await pillar(), "{'n': 1}");
    const [remote] = configuredPillarRepositories(optsValues(opts));

    await commit(2);
    await remote.lock.set();
    const waiting = pillar();
    await new Promise<void>((resolve) => setTimeout(resolve, 300));
    await remote.lock.clear();
    assertEquals([await waiting, logged], ["{'n': 2}", []]);

    await commit(3);
    await remote.lock.set();
    let hours = 0;
    Date.now = () => own() + 3_600_000 * hours++;
    assertEquals(await pillar(), "{'n': 2}", "what was fetched last");
    assertStringIncludes(logged.join("\n"), "Timed out waiting for update lock to be released for git_pillar remote");
  } finally {
    Date.now = own;
    Deno.removeSync(root, { recursive: true });
  }
});
