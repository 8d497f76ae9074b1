/**
 * The grain `fqdns` of a minion that looks its addresses up.
 * @module
 */

import { loadGrains } from "#lib/minion/agent/grains.ts";
import { CORE_GRAINS, thisHost } from "#modules/grains/core.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { testOpts } from "#tests/support/calls/job_context.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

Deno.test("with enable_fqdns_grains a host without addresses has no names, and is asked for none", () =>
  withTemporaryDirectory(async (root) => {
    const opts = { ...testOpts({ enable_fqdns_grains: true, extension_modules: root }), config_dir: root };
    const grains = await loadGrains(opts, { core: CORE_GRAINS, host: { ...thisHost(), addresses: [] } });
    assertEquals(grains.get("fqdns"), []);
  }));
