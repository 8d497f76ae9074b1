/**
 * Templates of pillar that read or change shared data: their results are cached only while they are valid.
 * @module
 */

import { eventually } from "#tests/support/eventually.ts";
import { isUnsettled } from "#lib/pillar/stamps.ts";
import { assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { withPillar } from "#tests/support/files/pillar_scope.ts";
import { filesBelow } from "#tests/support/tree.ts";

const top = (...names: string[]) => ({ "pillar/top.sls": `base:\n  '*': [${names.join(", ")}]\n` });

/** Waits until the files that were just written may be cached. */
const settled = (root: string) =>
  eventually(() => [...filesBelow(root)].every((path) => !isUnsettled(path, Date.now())), {
    what: "files that are old enough",
  });

Deno.test("a template that changes grains, options or pillar is rendered for each request", () =>
  withPillar(
    {
      ...top("change", "read"),
      "pillar/change.sls": "{% do grains.update({'mine': grains.id}) %}{% do opts.update({'mine': grains.id}) %}" +
        "{% do pillar.update({'mine': grains.id}) %}done: {{ grains.mine }}\n",
      "pillar/read.sls": "seen: {{ grains.get('mine') }} {{ opts.get('mine') }}\n",
    },
    "{}",
    async ({ pillar, root }) => {
      await settled(root);
      for (let i = 0; i < 3; i++) {
        for (const id of ["web1", "web2"]) {
          assertEquals(await pillar(id, { id }), `{'done': '${id}', 'seen': '${id} ${id}'}`);
        }
      }
    },
  ));

Deno.test("a template that reads all grains is rendered again when one of them changes, a template that reads a missing grain when it is added", () =>
  withPillar(
    {
      ...top("all", "one"),
      "pillar/all.sls": "names: {{ grains | sort | join(' ') }}\n",
      "pillar/one.sls": "role: {{ grains.get('role', 'none') }}\n",
    },
    "{}",
    async ({ pillar, root }) => {
      await settled(root);
      for (let i = 0; i < 2; i++) {
        assertEquals(await pillar("web1", { a: 1 }), "{'names': 'a id', 'role': 'none'}");
        assertEquals(await pillar("web1", { a: 1, b: 2 }), "{'names': 'a b id', 'role': 'none'}");
        assertEquals(await pillar("web1", { a: 1, role: "db" }), "{'names': 'a id role', 'role': 'db'}");
      }
    },
  ));

Deno.test("a file with very many values is rendered each time, with the same result", () =>
  withPillar(
    { ...top("many"), "pillar/many.sls": "{% for i in range(21000) %}k{{ i }}: [{{ i }}]\n{% endfor %}" },
    "{}",
    async ({ pillar }) => {
      const first = await pillar("web1");
      assertStringIncludes(first, "'k20999': [20999]}");
      assertEquals(await pillar("web2"), first);
    },
  ));

Deno.test("pillar_opts puts the master's options and its version into pillar", () =>
  withPillar({ ...top("a"), "pillar/a.sls": "n: 1\n" }, "pillar_opts: true\ntimeout: 7\n", async ({ pillar }) => {
    const all = await pillar();
    assertStringIncludes(all, "{'n': 1, 'master': {");
    assertStringIncludes(all, "'timeout': 7,");
    assertStringIncludes(all, "'saltversion': '");
  }));

Deno.test("with ext_pillar_first a file that reads the external pillar is rendered again when that is another", () =>
  withPillar(
    {
      ...top("role"),
      "pillar/role.sls": "role: {{ pillar.get('secret', 'none') }}\n",
      "secrets.csv": "id,secret\nweb2,s2\n",
    },
    "{ext_pillar_first: true, ext_pillar: [{csv: {path: '{root}/secrets.csv'}}]}",
    async ({ pillar, root, write }) => {
      await settled(root);
      const withSecret = (id: string, secret: string) => `{'id': '${id}', 'secret': '${secret}', 'role': '${secret}'}`;
      // Without an external pillar the rendered file is kept.
      for (let i = 0; i < 2; i++) assertEquals(await pillar("web1"), "{'role': 'none'}");
      assertEquals(await pillar("web2"), withSecret("web2", "s2"));
      for (const secret of ["s1", "other"]) {
        write("secrets.csv", `id,secret\nweb1,${secret}\n`);
        await settled(root);
        for (let i = 0; i < 2; i++) assertEquals(await pillar("web1"), withSecret("web1", secret));
      }
      assertEquals(await pillar("web2"), "{'role': 'none'}");
    },
  ));
