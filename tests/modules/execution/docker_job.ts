/**
 * Tests with Docker's engine, and jobs that ask it.
 * @module
 */

import type { Value } from "#lib/values/value.ts";
import { type TestContext, testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { noEngine, startDockerEngine, type TestEngine } from "#tests/support/servers/docker_engine.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const MISSING = noEngine();
const SKIPPED = MISSING === undefined ? "" : ` (skipped: ${MISSING})`;

/** A test with an engine, whose logins are kept in its directory. */
export function withEngine(name: string, test: (server: TestEngine, root: string) => Promise<void>): void {
  Deno.test({
    name: `${name}${SKIPPED}`,
    ignore: MISSING !== undefined,
    fn: () =>
      withTemporaryDirectory(async (root) => {
        await using server = await startDockerEngine();
        const before = Deno.env.get("DOCKER_CONFIG");
        Deno.env.set("DOCKER_CONFIG", `${server.directory}/config`);
        try {
          await test(server, root);
        } finally {
          if (before === undefined) Deno.env.delete("DOCKER_CONFIG");
          else Deno.env.set("DOCKER_CONFIG", before);
        }
      }),
  });
}

/** The options of a job that asks the engine. */
export function engineOptions(server: TestEngine, root: string): Readonly<Record<string, Value>> {
  return { root_dir: root, "docker.url": server.url, "docker.update_mine": false, file_client: "local" };
}

/** The context of a job that asks the engine. */
export function contextFor(
  server: TestEngine,
  root: string,
  more: Readonly<Record<string, Value>> = {},
): TestContext {
  return testContext({
    opts: testOpts({ ...engineOptions(server, root), ...more }),
    signal: new AbortController().signal,
  });
}
