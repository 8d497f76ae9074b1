/**
 * Extremely large trees and pillars: they end in an error message or take long, and the next request is served.
 * @module
 */

import { isMap, map, repr } from "#lib/values/value.ts";
import { loadCatalogue } from "#lib/minion/catalogue/catalogue.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { run, testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { withPillar } from "#tests/support/files/pillar_scope.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

Deno.test("a file that includes 10,000 others is compiled, also with a circular include", () =>
  withTemporaryDirectory(async (root) => {
    await Deno.mkdir(`${root}/srv/many`, { recursive: true });
    const names = Array.from({ length: 10_000 }, (_, i) => `s${i}`);
    for (const [i, name] of names.entries()) {
      // Every thousandth file includes the first one, which includes all of them.
      const include = i % 1_000 === 0 ? "include: [all]\n" : "";
      Deno.writeTextFileSync(`${root}/srv/many/${name}.sls`, `#!yaml\n${include}${name}: test.nop\n`);
    }
    const all = `#!yaml\ninclude:\n${names.map((name) => `  - many.${name}\n`).join("")}`;
    Deno.writeTextFileSync(`${root}/srv/all.sls`, all);
    const opts = testOpts({ root_dir: root, file_client: "local", file_roots: map({ base: [`${root}/srv`] }) });
    const context = testContext({ opts, catalogue: loadCatalogue() });
    const { return: low } = await run("state.show_low_sls", ["all"], context);
    assert(Array.isArray(low), repr(low).slice(0, 500));
    assertEquals(low.length, 10_000);
    assertEquals(low.every(isMap), true);
  }));

Deno.test("a pillar of 50 MB is an error message, and the next minion gets its own pillar", () =>
  withPillar(
    {
      "pillar/top.sls": "base:\n  'big*': [big]\n  'web*': [web]\n",
      "pillar/big.sls": "{% for i in range(500) %}k{{ i }}: {{ 'x' * 100000 }}\n{% endfor %}",
      "pillar/web.sls": "web: 1\n",
    },
    "{}",
    async ({ pillar, errors }) => {
      const result = await pillar("big1");
      assertStringIncludes(result, "The pillar of big1 has 50");
      assertStringIncludes(result, "more than the 33554432 that pillar_max_bytes allows");
      assertEquals(await pillar("web1"), "{'web': 1}");
      assertEquals(errors.length, 1);
    },
  ));
