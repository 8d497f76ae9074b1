/** What reactor files would do about an event, for operators. */

import { explainEvent } from "#lib/master/reactor/explain.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { testServices } from "#tests/support/fleet/services.ts";

Deno.test("reactions are shown with what their kind has; files of the master's file server can be imported", async () => {
  using services = await testServices();
  const { root } = services, opts = { ...services.opts, file_roots: map({ base: [`${root}/srv`] }) };
  Deno.mkdirSync(`${root}/srv/react`, { recursive: true });
  Deno.writeTextFileSync(`${root}/srv/names.jinja`, "{% set name = 'web1' %}\n");
  Deno.writeTextFileSync(
    `${root}/srv/react/a.sls`,
    "{% from 'names.jinja' import name %}\n" +
      "a:\n  local.test.arg:\n    - tgt: {{ name }}\n    - ret: mongo\n    - metadata: {n: 1}\n    - args: {x: 2}\n" +
      "b:\n  runner.jobs.active: []\n",
  );
  const ending = new AbortController();
  try {
    const explained = await explainEvent({ tag: "t/a", data: map({}), files: ["salt://react/a.sls"] }, {
      opts,
      log: services.log,
      signal: ending.signal,
    });
    assertEquals(explained.get("mistakes"), []);
    const file = `${opts.cachedir}/files/base/react/a.sls`;
    assertEquals(explained.get("reactions"), [
      map({
        id: "a",
        file,
        call: "local.test.arg",
        args: [],
        kwargs: map({ x: 2 }),
        tgt: "web1",
        tgt_type: "glob",
        ret: "mongo",
        metadata: map({ n: 1 }),
      }),
      map({ id: "b", file, call: "runner.jobs.active", args: [], kwargs: map({}) }),
    ]);
  } finally {
    ending.abort(new Error("the test ends"));
  }
});
