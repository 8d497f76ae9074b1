/**
 * debconf answers, with recorded programs.
 * @module
 */
import { map, toValue, type Value } from "#lib/values/value.ts";
import { loadCatalogue } from "#lib/minion/catalogue/catalogue.ts";
import { assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { run, testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { RecordedPrograms } from "#tests/support/calls/recorded_program.ts";

const GRAINS = map({ os: "Debian", os_family: "Debian", kernel: "Linux" });
const SELECTIONS = "# Choices:\ntzdata\ttzdata/Zones/Europe\tselect\tVienna\nmysql mysql/root password \nbad\n";

Deno.test("answers are listed, and set through a file that debconf reads", async () => {
  using programs = new RecordedPrograms();
  programs.answer("debconf-get-selections", [{ args: "", stdout: SELECTIONS }]);
  Deno.writeTextFileSync(`${programs.path}/debconf-set-selections`, `#!/bin/sh\ncat "$1" >> ${programs.path}/set\n`, {
    mode: 0o755,
  });
  const opts = testOpts({ root_dir: `${programs.path}/salt`, file_client: "local" });
  const context = testContext({ opts, grains: GRAINS, catalogue: loadCatalogue({ grains: () => GRAINS }) });
  const call = async (name: string, ...args: unknown[]): Promise<Value> =>
    (await run(`debconf.${name}`, args.map(toValue), context)).return;
  const took = () => {
    const text = Deno.readTextFileSync(`${programs.path}/set`);
    Deno.removeSync(`${programs.path}/set`);
    return text;
  };
  const zone = ["tzdata/Zones/Europe", "select", "Vienna"];
  assertEquals(await call("show", "tzdata"), [zone]);
  assertEquals(await call("show", "nosuch"), null);
  assertEquals(await call("get_selections"), map({ tzdata: [zone], mysql: [["mysql/root", "password", ""]] }));
  assertEquals(await call("get_selections", false), map({ tzdata: [zone] }));
  assertEquals(await call("set", "tzdata", "tzdata/Areas", "select", "Europe", "more"), true);
  assertEquals(took(), "tzdata tzdata/Areas select Europe more");
  assertStringIncludes(String(await call("set", "a", "b", "c", "d\ne f g h")), "several lines");
  const source = `${programs.path}/selections`;
  Deno.writeTextFileSync(source, "p p/q string {{ a }}{{ b }}\n");
  assertEquals(await call("set_file", source), true);
  assertEquals(took(), "p p/q string {{ a }}{{ b }}\n");
  assertEquals(await call("set_template", source, "jinja", { a: 1 }, { a: 2, b: 3 }), true);
  assertEquals(took().trim(), "p p/q string 13");
  assertEquals(await call("set_file", "salt://nosuch"), false);
});
