import { map, type Value } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { callState, scriptedState } from "#tests/support/calls/state_call.ts";

testRecordedCases("states", "rvm");

for (
  const [installs, comment] of [[true, "Successfully installed ruby."], [false, "RVM failed to install."]] as const
) {
  Deno.test(`rvm.installed installs RVM first: ${comment}`, async () => {
    const called: string[] = [];
    const answers: Readonly<Record<string, Value>> = {
      "rvm.is_installed": false,
      "rvm.install": installs,
      "rvm.list": [],
      "rvm.install_ruby": "done",
    };
    const call = (fun: string): Promise<Value> => {
      called.push(fun);
      return Promise.resolve(answers[fun] ?? null);
    };
    const outcome = await callState("rvm.installed", { name: "2.0.0" }, { state: { call } });
    assertEquals([outcome.get("comment"), outcome.get("result")], [comment, installs]);
    assertEquals(called, Object.keys(answers).slice(0, installs ? 4 : 2));
  });
}

Deno.test("rvm.gemset_present makes a gemset of the Ruby in its name", async () => {
  const answers = { "rvm.is_installed": true, "rvm.list": [["ruby", "2.0.0-p0", true]], "rvm.gemset_list": ["global"] };
  const made = await scriptedState("rvm.gemset_present", { name: "2.0.0@app" }, {
    ...answers,
    "rvm.gemset_create": true,
  });
  assertEquals([made.result, made.comment, made.changes], [
    true,
    "Gemset successfully created.",
    map({ app: "created" }),
  ]);
  assertEquals(made.calls.at(-1), "rvm.gemset_create 2.0.0 app");
  const failed = await scriptedState("rvm.gemset_present", { name: "app" }, { ...answers, "rvm.gemset_create": false });
  assertEquals([failed.result, failed.comment], [false, "Gemset could not be created."]);
});
