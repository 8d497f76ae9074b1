/**
 * States in a whole fleet: their files and pillar come from the master, or from the minion's own host, and
 * `state.show_*` shows what a minion would run.
 * @module
 */

import { isMap, repr, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually, type Fleet, fleetTest, startFleet } from "#tests/support/fleet/fleet.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const STATES = {
  "top.sls": "base:\n  '*': [common]\n  'web*': [web]\n",
  "common.sls": "/etc/motd:\n  test.nop:\n    - order: last\n",
  "web/init.sls": "{% from 'web/map.jinja' import web with context %}\ninclude: [.deep]\n{{ web.name }}:\n" +
    "  test.nop:\n    - port: {{ pillar['port'] }}\n    - require:\n      - test: deep\n",
  "web/deep.sls": "deep:\n  test.nop: []\n",
  "web/map.jinja":
    "{% set web = salt['grains.filter_by']({'Debian': {'name': 'apache2'}, 'default': {'name': 'httpd'}}) %}",
  "broken.sls": "{% if %}\n",
};
const PILLAR = { "top.sls": "base:\n  'web*': [web]\n", "web.sls": "port: {{ 80 + 8 }}\nwho: {{ opts.id }}\n" };

function place(root: string, files: Readonly<Record<string, string>>): string {
  for (const [name, text] of Object.entries(files)) {
    const path = `${root}/${name}`;
    Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    Deno.writeTextFileSync(path, text);
  }
  return root;
}

async function of(fleet: Fleet, id: string, ...words: string[]): Promise<Value> {
  const answer = await fleet.saltJson(id, ...words);
  return isMap(answer) ? answer.get(id) ?? null : null;
}

/** The checks that do not depend on where the files are. */
async function checkShown(fleet: Fleet): Promise<void> {
  const low = await of(fleet, "web1", "state.show_lowstate");
  assert(Array.isArray(low), repr(low));
  const name = low.map((chunk) => isMap(chunk) ? chunk.get("__id__") : chunk);
  assert(["deep,apache2,/etc/motd", "deep,httpd,/etc/motd"].includes(name.join()), repr(low));
  assertEquals(isMap(low[1]) && low[1].get("port"), 88);
  assertEquals(repr(await of(fleet, "web1", "state.show_top")), "{'base': ['common', 'web']}");
  assertEquals(repr(await of(fleet, "web1", "state.show_states")), "['web.deep', 'web', 'common']");
  assertEquals(await of(fleet, "web1", "state.sls_exists", "web.deep"), true);
  const own = repr(await of(fleet, "web1", "state.show_sls", "web", "pillar={'port': 5}"));
  assertStringIncludes(own, "{'port': 5}");
  const { out, code } = await fleet.salt("web1", "state.show_sls", "broken");
  assertEquals(code, 1);
  assertStringIncludes(out, "Rendering SLS 'base:broken' failed: Jinja syntax error");
  // Places are for people, in every form for people; programs get Salt's words alone.
  const shown = (...words: string[]) => fleet.salt(...words, "web1", "state.show_sls", "broken");
  assertStringIncludes((await shown("--static")).out, "broken.sls:1");
  assertEquals((await shown("--static", "--out=json")).out.includes("broken.sls:1"), false);
}

Deno.test("state.show_* shows states with the files and pillar of the master", () =>
  withTemporaryDirectory(async (root) => {
    // Data from another source than the top file.
    place(root, {
      "nodes.sh": 'case "$1" in db1) echo "classes: {nodes: {}, common: {}}";; esac\n',
    });
    await using fleet = await startFleet({
      minions: ["web1", "db1"],
      master: {
        file_roots: { base: [place(`${root}/salt`, STATES)] },
        pillar_roots: { base: [place(`${root}/pillar`, PILLAR)] },
        fileserver_list_cache_time: 0,
        master_tops: { ext_nodes: `sh ${root}/nodes.sh` },
      },
    });
    await checkShown(fleet);

    assertEquals(repr(await of(fleet, "db1", "state.show_top")), "{'base': ['common', 'nodes']}");
    assertEquals(repr(await of(fleet, "web1", "state.show_top")), "{'base': ['common', 'web']}");
    place(root, { "nodes.sh": "exit 1\n" });
    // A change of a file takes effect at the next call, and a change of pillar at the next refresh.
    place(`${root}/salt`, { "web/deep.sls": "deep:\n  test.nop:\n    - new: {{ pillar['port'] }}\n" });
    place(`${root}/pillar`, { "web.sls": "port: 99\n" });
    await fleet.salt("web1", "saltutil.refresh_pillar");
    await eventually(
      async () => repr(await of(fleet, "web1", "state.show_sls", "web.deep")).includes("{'new': 99}"),
      { withinMs: 20_000, what: "the new pillar in the new file" },
    );
  }));

const ROOT = Deno.makeTempDirSync({ prefix: "shown_own_" });

fleetTest("a minion with file_client: local has states and pillar of its own host", {
  minions: ["web1"],
  minion: {
    file_client: "local",
    file_roots: { base: [place(`${ROOT}/salt`, STATES)] },
    pillar_roots: { base: [place(`${ROOT}/pillar`, PILLAR)] },
  },
}, async (fleet) => {
  try {
    assertEquals(repr(await of(fleet, "web1", "pillar.raw")), "{'port': 88, 'who': 'web1'}");
    await checkShown(fleet);
    place(`${ROOT}/pillar`, { "web.sls": "port: {{ 'x' | nosuch }}\n" });
    await fleet.salt("web1", "saltutil.refresh_pillar");
    await eventually(async () => repr(await of(fleet, "web1", "pillar.raw")).includes("Rendering SLS 'web' failed"), {
      withinMs: 20_000,
      what: "the errors of the new pillar",
    });
    const refused = repr(await of(fleet, "web1", "state.show_lowstate"));
    assertStringIncludes(refused, "Pillar failed to render. Additional info follows:");
  } finally {
    Deno.removeSync(ROOT, { recursive: true });
  }
});
