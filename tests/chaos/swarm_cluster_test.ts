/**
 * `deno task scale` with few minions: a cluster of three masters, and the shares of its parts.
 * @module
 */

import { removeRoots } from "#tests/bench/fleets/fleet.ts";
import { measureScale, scaleText } from "#tests/bench/scale.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { serverProgram } from "#tests/support/database_servers.ts";

const MINIONS = 30;
const missing = serverProgram("postgres") === undefined;

Deno.test({
  name: `simulated minions at three masters of a cluster all answer a job of the first, and each part is measured${
    missing ? " (skipped: there is no postgres)" : ""
  }`,
  ignore: missing,
  async fn() {
    const asked = { minions: MINIONS, masters: 3, jobs: 1, restS: 1, progress: () => {} };
    const figures = await measureScale(asked).finally(removeRoots);
    assertEquals(figures.answered, [MINIONS]);
    for (const part of ["masters: MWorkers", "masters: Cluster thread", "database", "minions (simulated)"]) {
      assert((figures.signIn.get(part) ?? 0) > 0, part);
    }
    assertStringIncludes(scaleText(figures), `${MINIONS} answers in`);
  },
});
