import { loadMasterConfig, loadMinionConfig } from "#lib/config/load.ts";
import { masterPillarHost } from "#lib/master/processes/pillar_compiler.ts";
import { OwnPillar } from "#lib/minion/agent/own_pillar.ts";
import { pillarRequest } from "#lib/minion/agent/pillar_request.ts";
import { TimeBudget } from "#lib/os/time_budget.ts";
import { masterTops } from "#lib/pillar/master_tops.ts";
import { plainRequest } from "#lib/pillar/request.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { map, repr } from "#lib/values/value.ts";
import { assertEquals, assertStringIncludes } from "#tests/support/assert.ts";

Deno.test("master_tops: a command and custom sources set the states of a minion; a failing one is logged, and the others are used", async () => {
  const root = await Deno.makeTempDir({ prefix: "tops_" });
  try {
    await Deno.mkdir(`${root}/ext/tops`, { recursive: true });
    await Deno.writeTextFile(
      `${root}/nodes.sh`,
      `case "$2" in
  web1) echo "{environment: prod, classes: [web, ntp]}";;
  db1) echo "classes: {db: {port: 1}, ntp: {}}";;
  text1) echo "classes: x";;
  none1) exit 1;;
  much1) head -c 17000000 /dev/zero | tr '\\0' ' '; echo "classes: [web]";;
  *) printf 'classes: ["%s"]' "$2";;
esac
`,
    );
    await Deno.writeTextFile(
      `${root}/ext/tops/own.ts`,
      `export const top = { params: {}, run: (_: unknown, { minionId, grains, setting }: any) =>
        new Map([["dev", [setting.get("prefix") + minionId, grains.get("os")]]]) };`,
    );
    await Deno.writeTextFile(
      `${root}/ext/tops/broken.js`,
      `export const top = { params: {}, run: () => { throw new Error("no") } };`,
    );
    await Deno.writeTextFile(`${root}/ext/tops/list.js`, `export const top = { params: {}, run: () => ["web"] };`);
    const { opts } = loadMasterConfig({
      configDir: root,
      readsFiles: false,
      overrides: {
        root_dir: root,
        id: "m_master",
        extension_modules: `${root}/ext`,
        master_tops: map({
          broken: null,
          ext_nodes: `X=1; sh ${root}/nodes.sh --id`,
          cobbler: {},
          list: {},
          nothing: {},
          own: { prefix: "p-" },
        }),
      },
    });
    const lines: string[] = [];
    const host = {
      ...masterPillarHost(opts, { log: SILENT_LOGGER, signal: new AbortController().signal }),
      log: (_: string, line: string) => void lines.push(line),
    };
    const tops = async (id: string) => repr(await masterTops(plainRequest(id, map({ os: "Debian" }), {}), host));
    assertEquals(await tops("web1"), "{'dev': ['p-web1', 'Debian'], 'prod': ['web', 'ntp']}");
    assertEquals(await tops("db1"), "{'dev': ['p-db1', 'Debian'], 'base': ['db', 'ntp']}");
    for (const id of ["text1", "none1"]) assertEquals(await tops(id), `{'dev': ['p-${id}', 'Debian']}`);
    assertEquals(await tops("much1"), "{'dev': ['p-much1', 'Debian']}");
    assertEquals(await tops("$(id)"), "{'dev': ['p-$(id)', 'Debian'], 'base': ['$(id)']}", "no shell reads the id");
    const logText = lines.join("\n");
    assertStringIncludes(logText, "Top function broken failed with error no for minion web1");
    assertStringIncludes(logText, "prints more than 16777216 bytes for minion much1");
    assertStringIncludes(logText, "Top function list failed with error it gave list and not dict for minion web1");
    assertStringIncludes(logText, "master_tops cobbler: Salt's source of that name is not built");
    assertStringIncludes(logText, "master_tops nothing: there is no such source");
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

Deno.test("master_tops: a minion without a master asks its own sources, with its options and grains", async () => {
  const root = await Deno.makeTempDir({ prefix: "tops_" });
  try {
    await Deno.mkdir(`${root}/ext/tops`, { recursive: true });
    await Deno.writeTextFile(
      `${root}/ext/tops/own.js`,
      `export const top = { params: {}, run: (_, { minionId, minionOpts, grains }) =>
        new Map([["base", [minionId, minionOpts.get("saltenv"), grains.get("os")]]]) };`,
    );
    const { opts } = loadMinionConfig({
      configDir: root,
      readsFiles: false,
      overrides: {
        root_dir: root,
        id: "m1",
        file_client: "local",
        extension_modules: `${root}/ext`,
        master_tops: map({ own: null }),
      },
    });
    const pillar = new OwnPillar(opts, SILENT_LOGGER);
    const load = pillarRequest(opts, map({ os: "Debian" }), { tops: true, saltenv: "dev" });
    assertEquals(repr(await pillar.compile(load)), "{'base': ['m1', 'dev', 'Debian']}");
    await pillar.close(new TimeBudget(5_000));
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});
