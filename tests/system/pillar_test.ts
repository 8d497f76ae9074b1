/**
 * Pillar in a whole fleet: the master compiles it in its processes, for each minion separately, and uses it for
 * targets.
 * @module
 */

import { isMap, repr, type Value } from "#lib/values/value.ts";
import { MasterLink } from "#lib/minion/masters/link.ts";
import { applicantOf, linkSettings } from "#lib/minion/masters/link_settings.ts";
import { pillarRequest } from "#lib/minion/agent/pillar_request.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually, startFleet } from "#tests/support/fleet/fleet.ts";
import { filesBelow } from "#tests/support/tree.ts";

const FILES = {
  "top.sls": "base:\n  '*': [common]\n  'web*': [web]\n  'db*': [db]\n",
  "common.sls": "id: {{ grains.id }}\nroles: [{{ opts.id }}]\n",
  "web.sls": "secret: secret-of-web\n",
  "db.sls": "secret: secret-of-db\n",
};

Deno.test("each minion gets its own pillar, and no other minion's", async () => {
  const root = Deno.makeTempDirSync({ prefix: "pillar_roots_" });
  const write = (files: Readonly<Record<string, string>>) => {
    for (const [name, text] of Object.entries(files)) Deno.writeTextFileSync(`${root}/${name}`, text);
  };
  write(FILES);
  const ext = [{ cmd_yaml: "echo 'ext: {of: %s}'" }, { nodegroups: {} }];
  try {
    await using fleet = await startFleet({
      minions: ["web1", "db1"],
      master: {
        pillar_roots: { base: [root] },
        ext_pillar: ext,
        on_demand_ext_pillar: ["cmd_json"],
        nodegroups: { webs: "web*" },
        pillar_max_bytes: 1_000_000,
        pillar_timeout: 20,
      },
    });
    const of = async (tgt: string, ...words: string[]) => {
      const answer = await fleet.saltJson(tgt, ...words);
      return isMap(answer) ? answer.get(tgt) ?? null : null;
    };

    assertEquals(
      repr(await of("web1", "pillar.raw")),
      "{'id': 'web1', 'roles': ['web1'], 'secret': 'secret-of-web', 'ext': {'of': 'web1'}, 'nodegroups': ['webs']}",
    );
    assertEquals(
      repr(await of("db1", "pillar.raw")),
      "{'id': 'db1', 'roles': ['db1'], 'secret': 'secret-of-db', 'ext': {'of': 'db1'}, 'nodegroups': []}",
    );

    // Values are masked unless they are requested.
    assertEquals(repr(await of("web1", "pillar.get", "secret")), "'**********'");
    assertEquals(repr(await of("web1", "pillar.get", "secret", "unmask=True")), "'secret-of-web'");
    assertEquals(
      repr(await of("web1", "pillar.item", "ext:of", "nope", "unmask=True")),
      "{'ext:of': 'web1', 'nope': ''}",
    );
    assertEquals(repr(await of("web1", "pillar.ls")), "['id', 'roles', 'secret', 'ext', 'nodegroups']");
    const ours = await of("web1", "pillar.items", "pillar={'secret': 'mine', 'more': 1}", "unmask=True");
    assertStringIncludes(repr(ours), "'secret': 'mine'");
    const demanded = await of("web1", "pillar.ext", `{cmd_json: 'echo {\\"on\\": \\"%s\\"}'}`, "unmask=True");
    assertStringIncludes(repr(demanded), "'on': 'web1'");
    assertEquals(repr(await of("web1", "config.get", "ext:of")), "'web1'");

    // Targets match the pillar that each minion got.
    const ids = async (...words: string[]) => {
      const answer = await fleet.saltJson(...words, "test.ping");
      return isMap(answer) ? [...answer.keys()].map(String).sort() : [];
    };
    assertEquals(await ids("-I", "secret:secret-of-w*"), ["web1"]);
    assertEquals(await ids("-C", "I@id:db1 or J@ext:of:^web"), ["db1", "web1"]);

    // A change on the master arrives with the next refresh.
    write({ "web.sls": "secret: another-secret-of-web\n" });
    await fleet.salt("web1", "saltutil.refresh_pillar");
    await eventually(async () => repr(await of("web1", "pillar.raw", "secret")) === "'another-secret-of-web'", {
      withinMs: 20_000,
      what: "the new pillar of web1",
    });

    // A minion gets its own pillar, whatever id and grains it sends.
    const opts = fleet.minionOpts("db1");
    const link = new MasterLink(
      linkSettings(opts, { applicant: await applicantOf(opts, new Map()), log: SILENT_LOGGER, timeouts: {} }),
    );
    const { signal } = new AbortController();
    await link.signIn(signal);
    const pillarFor = async (change: (load: Map<Value, Value>) => void): Promise<Value> => {
      const load = pillarRequest(opts, new Map<Value, Value>([["id", "web1"], ["os", "Debian"]]));
      change(load);
      return await link.requestPillar(load, signal);
    };
    const its = repr(await pillarFor(() => {}));
    assertStringIncludes(its, "'secret': 'secret-of-db'");
    assert(!its.includes("of-web"), its);
    const asAnother = await pillarFor((load) => load.set("id", "web1")).then(repr, String);
    assert(!asAnother.includes("of-web"), asAnother);
    link.close();

    // A pillar that is too large ends with an error message, and the next one is served.
    write({ "db.sls": "{% for i in range(20000) %}k{{ i }}: {{ 'x' * 100 }}\n{% endfor %}" });
    assertStringIncludes(
      repr(await of("db1", "pillar.items", "unmask=True")),
      "more than the 1000000 that pillar_max_bytes allows",
    );
    assertStringIncludes(repr(await of("web1", "pillar.items", "unmask=True")), "another-secret-of-web");

    const copies = [...filesBelow(`${fleet.root}/db1`)].filter((path) =>
      new TextDecoder("latin1").decode(Deno.readFileSync(path)).includes("of-web")
    );
    assertEquals(copies, []);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
});
