/** State module `module`, compared with Python Salt's results: tests/corpus/state_runs/module.json. */

import { CommandError } from "#lib/errors.ts";
import { isMap, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { Fleet } from "#tests/support/fleet/fleet.ts";
import { scriptedState, throwing } from "#tests/support/calls/state_call.ts";
import { parseJson } from "#lib/values/json_read.ts";

testRecordedCases("states", "module");

Deno.test("module.run gives returns to its returner, and says which it could not give", async () => {
  await using fleet = new Fleet({ minion: { file_client: "local" } });
  const store = `${fleet.root}/returns`;
  const config = {
    root_dir: `${fleet.root}/web1`,
    id: "web1",
    file_client: "local",
    rawfile_json: { filename: store },
  };
  Deno.mkdirSync(fleet.minionConfigDir("web1"), { recursive: true });
  Deno.writeTextFileSync(`${fleet.minionConfigDir("web1")}/minion`, JSON.stringify(config));
  const run = async (...words: string[]): Promise<ValueMap> => {
    const { out, err } = await fleet.saltCall("web1", "--local", "--out=json", "state.single", "module.run", ...words);
    const answer = parseJson(out);
    const results = isMap(answer) ? answer.get("local") : undefined;
    const [result]: Value[] = isMap(results) ? [...results.values()] : [];
    assert(isMap(result), out + err);
    return result;
  };
  const given = await run("test.echo", "text=hello", "returner=rawfile_json");
  assertEquals([given.get("result"), given.get("warnings")], [true, undefined]);
  const [line] = Deno.readTextFileSync(store).split("\n");
  const ret = parseJson(line);
  assert(isMap(ret));
  assertEquals([ret.get("id"), ret.get("fun"), ret.get("ret")], ["web1", "test.echo", "hello"]);
  const missing = await run("test.echo", "text=hello", "returner=nosuch");
  assertStringIncludes(String(missing.get("warnings")), "There is no returner 'nosuch'. Nothing was sent to it.");
});

Deno.test("module.run is as the function was, whatever became of its returner", async () => {
  const given = await scriptedState("module.run", { name: "test.echo", text: "x", returner: "rawfile_json" }, {
    "test.echo": "x",
    "returners/rawfile_json.returner": throwing(new CommandError("the disk is full")),
  });
  const warning = "The returner 'rawfile_json' did not take the return: the disk is full";
  assertEquals([given.result, given.warnings], [true, [warning]]);
});
