/**
 * Sources of external pillar without cases in tests/corpus/pillar: those that Salt 3008 has removed, and custom ones.
 * The results of `csv` are those of Salt 3007.15.
 * @module
 */

import { eventually } from "#tests/support/eventually.ts";
import { assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { withPillar } from "#tests/support/files/pillar_scope.ts";

const TABLE = 'id,role,note\nweb1,web,"a, ""b""\nc"\n\ndb1,db\ncache1,cache,x,y,z\nweb1,second,n\n';

const ROWS: readonly (readonly [options: string, id: string, pillar: string])[] = [
  ["{root}/t.csv", "web1", `{'id': 'web1', 'role': 'web', 'note': 'a, "b"\\nc'}`],
  ["{path: '{root}/t.csv', restval: none}", "db1", "{'id': 'db1', 'role': 'db', 'note': 'none'}"],
  [
    "{path: '{root}/t.csv', restkey: more}",
    "cache1",
    "{'id': 'cache1', 'role': 'cache', 'note': 'x', 'more': ['y', 'z']}",
  ],
  ["{root}/t.csv", "cache1", "{'id': 'cache1', 'role': 'cache', 'note': 'x', None: ['y', 'z']}"],
  ["{root}/t.csv", "nobody", "{}"],
  [
    "{path: '{root}/t.csv', idkey: role, namespace: row}",
    "web",
    `{'row': {'id': 'web1', 'role': 'web', 'note': 'a, "b"\\nc'}}`,
  ],
  ["{path: '{root}/t.csv', idkey: nope}", "web1", "{'_errors': [\"Failed to load ext_pillar csv: 'nope'\"]}"],
  [
    "{path: '{root}/tabs.csv', fieldnames: [id, role], dialect: excel-tab}",
    "web1",
    "{'id': 'web1', 'role': 'web'}",
  ],
];

for (const [options, id, expected] of ROWS) {
  Deno.test(`ext_pillar csv: ${options} gives ${id} its row`, () =>
    withPillar(
      { "t.csv": TABLE, "tabs.csv": "web1\tweb\n" },
      `ext_pillar: [{csv: ${options}}]`,
      async ({ pillar }) => assertEquals(await pillar(id), expected),
    ));
}

Deno.test("ext_pillar http_yaml and http_json send a request for each minion each time, with grains in the URL and a password", async () => {
  const requests: string[] = [];
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
    const { pathname, search } = new URL(request.url);
    requests.push(`${pathname}${search} ${request.headers.get("authorization")} ${request.headers.get("x-mine")}`);
    if (pathname === "/no") return new Response("gone", { status: 404 });
    if (pathname === "/list") return new Response("[1]");
    return new Response(pathname.startsWith("/json") ? '{"json": [1, 1.0]}' : "yaml: {n: 0644}\n");
  });
  const at = `http://127.0.0.1:${server.addr.port}`;
  const options = `
ext_pillar:
  - http_json: {url: '${at}/json/%s/<os>', with_grains: true, username: u, password: secret, namespace: j}
  - http_yaml: {url: '${at}/yaml?id=%s', header_dict: {X-Mine: m}}
  - http_json: {url: '${at}/no'}
  - http_yaml: {url: '${at}/list'}
  - http_json: {url: '${at}/<missing>', with_grains: true}
  - http_yaml: {url: 'http://u:secret@127.0.0.1:1/'}
`;
  await withPillar({}, options, async ({ pillar, errors }) => {
    const expected = "{'j': {'json': [1, 1.0]}, 'yaml': {'n': 644}}";
    assertEquals(await pillar("web 1", { os: "Red/Hat & co" }), expected);
    assertEquals(requests, [
      `/json/web%201/Red%2FHat%20%26%20co Basic ${btoa("u:secret")} null`,
      "/yaml?id=web%201 null m",
      "/no null null",
      "/list null null",
    ]);
    assertEquals(await pillar("web 1", { os: "Red/Hat & co" }), expected);
    assertEquals(requests.length, 8, "nothing is kept");
    const logText = errors.join("\n");
    for (const words of ["/no: it answered 404", "/list: it is no map", "grain: missing", "//127.0.0.1:1/"]) {
      assertStringIncludes(logText, words);
    }
    assertEquals(logText.includes("secret"), false);
  });
});

const ASSETS = `
export const ext_pillar = {
  params: { path: { type: "str" }, key: { type: "str", default: "assets" } },
  run: ({ path, key }, { minionId, grains, pillar, notes, opts }) => {
    notes.path(path);
    const all = JSON.parse(Deno.readTextFileSync(path));
    return new Map([[key, { of: all[minionId] ?? null, os: grains.get("os"), seen: [...pillar.keys()], env: opts.get("pillarenv") }]]);
  },
};`;

Deno.test("a custom source gets grains and pillar, and its pillar is cached until a noted dependency changes", () =>
  withPillar(
    {
      "ext/pillar/assets.ts": ASSETS,
      "ext/pillar/broken.ts": "export const ext_pillar = {",
      "assets.json": '{"web1": 1}',
      "pillar/top.sls": "base:\n  '*': [p]\n",
      "pillar/p.sls": "from: roots\n",
    },
    "ext_pillar: [{assets: '{root}/assets.json'}, {broken: x}, {assets: {path: '{root}/nowhere.json'}}, {asets: x}, {postgres: {}}]",
    async ({ pillar, write, errors }) => {
      const first = await pillar("web1", { os: "Debian" });
      assertStringIncludes(first, "'assets': {'of': 1, 'os': 'Debian', 'seen': ['from'], 'env': None}");
      assertStringIncludes(first, "Failed to load ext_pillar assets: ");
      const logText = errors.join("\n");
      assertStringIncludes(logText, "there is no source asets");
      assertStringIncludes(logText, "there is no source postgres: Salt's source of that name is not built");
      assertStringIncludes(logText, "there is no source broken: ");
      write("assets.json", '{"web1": 2}');
      await eventually(async () => (await pillar("web1", { os: "Debian" })).includes("'of': 2"), {
        withinMs: 5_000,
        what: "the new assets",
      });
    },
  ));
