/** @module */
import { assertEquals, assertStringIncludes, assertThrows } from "#tests/support/assert.ts";
import { loadMasterConfig } from "#lib/config/load.ts";
import { ConfigError } from "#lib/errors.ts";
import { map } from "#lib/values/value.ts";
import { ConfigPlace } from "./config_place.ts";

Deno.test("addresses of sdb in options are replaced by what they lead to, in maps and lists too", () => {
  using place = new ConfigPlace();
  place.write("facts.yaml", "ports: {publish: 4605}\n");
  place.write(
    "etc/salt/master",
    `osenv: {driver: env}
facts: {driver: yaml, files: [${place.path("facts.yaml")}]}
interface: sdb://osenv/ADDRESS
publish_port: sdb://facts/ports:publish
my.module: {list: [sdb://osenv/TOKEN, sdb://osenv/NONE, sdb://nothing/x]}
`,
  );
  Object.assign(place.variables, { ADDRESS: "127.0.0.9", TOKEN: "t0ken" });
  const { opts, warnings } = loadMasterConfig(place.request());
  assertEquals([opts.interface, opts.publish_port], ["127.0.0.9", 4605]);
  assertEquals(opts.extra.get("my.module"), map({ list: ["t0ken", null, "sdb://nothing/x"] }));
  assertEquals(warnings, []);
});

Deno.test("files of a sdb profile that cannot be read are named, and the others are used", () => {
  using place = new ConfigPlace({ "list.yaml": "- 1\n", "broken.yaml": "a: [\n", "good.yaml": "port: 4605\n" });
  const file = (name: string) => place.path(`${name}.yaml`);
  const files = ["list", "gone", "broken", "good"].map(file);
  Deno.mkdirSync(place.path("directory.yaml"));
  place.write(
    "etc/salt/master",
    `facts: {driver: yaml, files: [${[...files, file("directory")].join(", ")}]}\npublish_port: sdb://facts/port\n`,
  );
  const { opts, warnings } = loadMasterConfig(place.request());
  assertEquals(opts.publish_port, 4605);
  const [list, gone, broken, directory, ...others] = warnings;
  assertStringIncludes(list, `Error deserializing sdb file '${file("list")}': it is no map`);
  assertStringIncludes(gone, `File '${file("gone")}' not found`);
  assertStringIncludes(broken, `Error deserializing sdb file '${file("broken")}': `);
  assertStringIncludes(directory, `File '${file("directory")}' cannot be read: `);
  assertEquals(others, []);
});

Deno.test("an address of sdb that only a service could answer stops the start, with its place", () => {
  using place = new ConfigPlace();
  place.write("etc/salt/master", "kv: {driver: consul}\n\ninterface: sdb://kv/address\n");
  const error = assertThrows(() => loadMasterConfig(place.request()), ConfigError);
  assertStringIncludes(error.message, "sdb://kv/address cannot be read: in options the drivers env, and yaml without");
  assertStringIncludes(error.message, "master:3");
});
