import { ALIASES } from "#lib/plugins/aliases.ts";
import { RETURNERS } from "#modules/returners/_built_in.ts";
import { RENDERERS } from "#modules/renderers/_built_in.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { testContext } from "#tests/support/calls/job_context.ts";

Deno.test("sys lists states, documents them and shows their arguments", async () => {
  const { call } = testContext();
  assertEquals(await call("sys.list_state_modules", ["at", "tes*"]), ["at", "test"]);
  assertEquals(await call("sys.list_state_functions", ["logrotate", "at.p*"]), ["at.present", "logrotate.set"]);
  assertEquals(
    await call("sys.state_argspec", ["at.present"]),
    map({
      "at.present": {
        args: ["name", "timespec", "tag", "user", "job", "unique_tag"],
        defaults: [null, null, null, false],
        varargs: null,
        kwargs: null,
      },
    }),
  );
  const docs = await call("sys.state_doc", ["logrotate.set"]);
  assert(isMap(docs));
  assertStringIncludes(String(docs.get("logrotate.set")), "    conf_file\n        Default: /etc/logrotate.conf.");
});

Deno.test("sys.state_schema returns the schema that Python Salt makes for these arguments", async () => {
  const types = (name: string, more = {}) =>
    ["boolean", "integer", "number", "string"].map((type) => ({ type, title: name, description: name, ...more }));
  // As in the output of `salt-call --local sys.state_schema` of Salt 3008.3 for such functions: a default of None is
  // left out.
  const expected: Value = map({
    $schema: "http://json-schema.org/draft-04/schema#",
    title: "iptables.chain_present",
    description: "iptables.chain_present",
    type: "object",
    properties: {
      name: { oneOf: types("name") },
      table: { oneOf: types("table", { default: "filter" }) },
      family: { oneOf: types("family", { default: "ipv4" }) },
    },
    "x-ordering": ["name", "table", "family"],
    additionalProperties: false,
  });
  const { call } = testContext();
  assertEquals(await call("sys.state_schema", ["iptables.chain_present"]), [expected]);
  assertEquals(await call("sys.state_schema", ["nope"]), []);
});

Deno.test("sys.list_renderers lists all renderers, and each is documented", async () => {
  const { call } = testContext();
  assertEquals(await call("sys.list_renderers"), Object.keys(RENDERERS).sort());
  assertEquals(await call("sys.list_renderers", ["j*"]), ["jinja", "json", "json5"]);
  assertEquals(await call("sys.renderer_doc", ["yaml"]), map({ yaml: "\n    Reads YAML, as Salt does.\n    " }));
});

Deno.test("sys lists all returners, and each is documented", async () => {
  const { call } = testContext();
  assertEquals(await call("sys.list_returners"), [...Object.keys(RETURNERS), ...Object.keys(ALIASES.returners)].sort());
  assertEquals(await call("sys.list_returner_functions", ["syslog"]), ["syslog.returner"]);
  const documented = await call("sys.returner_doc", ["local.returner"]);
  assertEquals(
    documented,
    map({
      "local.returner": "\n    Print the return on the standard output of the minion, as Python shows a dict.\n    ",
    }),
  );
});
