/** What the templates of a pillar may call and import: what may change makes that pillar be compiled each time. */

import { assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { withPillar } from "#tests/support/files/pillar_scope.ts";

const TOP = "base: {'*': [a]}";

Deno.test("a pillar that calls a function whose answer may change is compiled each time", async () => {
  await withPillar(
    { "pillar/top.sls": TOP, "pillar/a.sls": "a: {{ salt['file.read'](opts['root_dir'] ~ '/fact') }}", fact: "one" },
    "{}",
    async ({ pillar, write }) => {
      assertEquals(await pillar(), "{'a': 'one'}");
      write("fact", "two");
      assertEquals(await pillar(), "{'a': 'two'}");
    },
  );
});

Deno.test("a pillar's template sees the names of the functions, and refreshes nothing", async () => {
  const template = "many: {{ salt.keys() | list | length > 500 }}\nin: {{ 'test.ping' in salt }}\n" +
    "refreshed: {{ salt['saltutil.refresh_pillar']() }}\n" +
    "{% include 'nowhere.jinja' ignore missing %}";
  await withPillar({ "pillar/top.sls": TOP, "pillar/a.sls": template }, "{}", async ({ pillar }) => {
    assertEquals(await pillar(), "{'many': True, 'in': True, 'refreshed': False}");
  });
});

Deno.test("a pillar's template that asks a master fails, with the reason in the log", async () => {
  const template = "a: {{ salt['pillar.items'](pillarenv='base') }}";
  await withPillar({ "pillar/top.sls": TOP, "pillar/a.sls": template }, "{}", async ({ pillar, errors }) => {
    assertStringIncludes(await pillar(), "{'_errors': [");
    assertStringIncludes(errors.join("\n"), "There is no master to ask while pillar is compiled");
  });
});
