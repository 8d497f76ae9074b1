import { map, type Value } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { openTree } from "#tests/support/calls/state_tree.ts";

const FILES = {
  "web/map.jinja": '{% import_yaml "web/d.yaml" as d %}\n{% set web = {"pkg": d.pkg, "list": [1, none, 1.5]} %}\n',
  "web/d.yaml": "pkg: nginx\nports: [80, 443]\n",
  "web/d.json": '{"a": {"b": null}}\n',
};

Deno.test("jinja.* return what templates load of a formula, and refuse what would become a template", async () => {
  await using tree = await openTree({ files: FILES });
  const call = async (fun: string, ...args: Value[]) => (await tree.call(`jinja.${fun}`, args)).returned;
  assertEquals(await call("load_map", "web/map.jinja", "web"), map({ pkg: "nginx", list: [1, null, 1.5] }));
  assertEquals(await call("import_yaml", "web/d.yaml"), map({ pkg: "nginx", ports: [80, 443] }));
  assertEquals(await call("import_json", "web/d.json"), map({ a: { b: null } }));
  const refused = [
    await call("load_map", 'a" %}{{ 1 }}{% import "b', "web"),
    await call("load_map", "web/map.jinja", "web %}{{ grains"),
    await call("import_yaml", "{{ grains.id }}"),
  ];
  assertEquals(refused.map((text) => String(text).match(/Invalid (path|name)/)?.[1]), ["path", "name", "path"]);
});
