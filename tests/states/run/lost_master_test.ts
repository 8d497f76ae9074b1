/**
 * States that need a file of an unreachable master: each fails after the time limit of one request, as in Python.
 * @module
 */

import { RequestTimeoutError } from "#lib/errors.ts";
import { isMap, str, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { openTree } from "#tests/support/calls/state_tree.ts";
import { testContext } from "#tests/support/calls/job_context.ts";

const MAX_WAIT_MS = 180_000;

const STATES: Readonly<Record<string, string>> = {
  "file.managed": "source: salt://a.txt",
  "file.managed with a template": "source: salt://a.txt\n    - template: jinja",
  "file.managed with sources to choose from": "source: [salt://a.txt, salt://b.txt]",
  "file.recurse": "source: salt://folder",
  "file.append": "source: salt://a.txt",
  "cmd.script": "source: salt://a.sh",
};

for (const [what, source] of Object.entries(STATES)) {
  Deno.test(`${what} of an unreachable master fails, and the next state runs`, async () => {
    let waitedMs = 0;
    const request = (load: ValueMap) => {
      if (load.get("cmd") === "_master_opts") return Promise.resolve(new Map());
      waitedMs += MAX_WAIT_MS;
      return Promise.reject(new RequestTimeoutError("tcp://master:4506", MAX_WAIT_MS));
    };
    await using tree = await openTree({
      opts: { file_client: "remote" },
      context: { outside: { ...testContext().outside, request } },
    });
    const name = `${tree.root}/target`;
    if (what === "file.append") await Deno.writeTextFile(name, "line\n");
    const fun = what.split(" ")[0];
    const { returned } = await tree.call("state.template_str", [
      `fetched:\n  ${fun}:\n    - name: ${name}\n    - ${source}\nbehind: test.nop\n`,
    ]);
    assert(isMap(returned), str(returned));
    const [fetched, behind] = [...returned.values()];
    assert(isMap(fetched) && isMap(behind));
    assertEquals([fetched.get("result"), behind.get("result")], [false, true]);
    // For a script Salt's message says only that it was not fetched.
    const why = what === "cmd.script"
      ? "Unable to cache script salt://a.sh"
      : "No reply from tcp://master:4506 in 180000 ms";
    assertStringIncludes(str(fetched.get("comment") ?? ""), why);
    assertEquals(waitedMs, MAX_WAIT_MS);
  });
}
