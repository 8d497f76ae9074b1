import { isMap, map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
import { testContext } from "#tests/support/calls/job_context.ts";
import { callState } from "#tests/support/calls/state_call.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";

testRecordedCases("states", "test");

const CHANGES = { testing: { old: "Unchanged", new: "Something pretended to change" } };

/** Function, arguments, then result, comment and whether there are changes, for a run and for test mode. */
const OUTCOMES: readonly [
  string,
  Record<string, Value>,
  [boolean | null, string, boolean],
  [boolean | null, string, boolean],
][] = [
  ["nop", { any: 1 }, [true, "Success!", false], [true, "Success!", false]],
  ["succeed_without_changes", {}, [true, "Success!", false], [true, "Success!", false]],
  ["succeed_without_changes", { comment: "x" }, [true, "x", false], [true, "x", false]],
  ["fail_without_changes", {}, [false, "Failure!", false], [
    false,
    "If we weren't testing, this would be a failure!",
    false,
  ]],
  ["succeed_with_changes", {}, [true, "Success!", true], [
    null,
    "If we weren't testing, this would be successful with changes",
    true,
  ]],
  ["fail_with_changes", {}, [false, "Failure!", true], [
    null,
    "If we weren't testing, this would be failed with changes",
    true,
  ]],
  ["configurable_test_state", {}, [true, "", true], [null, "This is a test", true]],
  ["configurable_test_state", { changes: false, comment: "c" }, [true, "c", false], [true, "c", false]],
  ["configurable_test_state", { result: false }, [false, "", true], [null, "This is a test", true]],
  ["configurable_test_state", { result: false, allow_test_mode_failure: true }, [false, "", true], [
    false,
    "This is a test",
    true,
  ]],
  ["show_notification", { text: "hello" }, [true, "hello", false], [true, "hello", false]],
  ["mod_watch", {}, [true, "Watch statement fired.", true], [true, "Watch statement fired.", true]],
];

for (const [name, args, run, tested] of OUTCOMES) {
  Deno.test(`test.${name} with ${JSON.stringify(args)}`, async () => {
    for (const [test, [result, comment, changed]] of [[false, run], [true, tested]] as const) {
      const ret = await callState(`test.${name}`, { name: "a", ...args }, { test });
      assertEquals([ret.get("name"), ret.get("result"), ret.get("comment")], ["a", result, comment]);
      const changes = ret.get("changes");
      assert(isMap(changes));
      if (name === "mod_watch") assertEquals(changes, map({ "Requisites with changes": [] }));
      else assertEquals(changes, changed ? map(CHANGES) : new Map());
    }
  });
}

Deno.test("test.configurable_test_state passes warnings on, and refuses other values", async () => {
  const one = await callState("test.configurable_test_state", { name: "a", warnings: "w" });
  assertEquals(one.get("warnings"), ["w"]);
  for (const bad of [{ changes: "maybe" }, { result: 3 }, { warnings: 3 }]) {
    await assertRejects(() => callState("test.configurable_test_state", { name: "a", ...bad }));
  }
  await assertRejects(() => callState("test.show_notification", { name: "a" }));
});

Deno.test("test.mod_watch names the watched states that have changed", async () => {
  const watched = ["one", "two"].map((id) => map({ state: "test", __id__: id, name: id, fun: "nop" }));
  const tag = (id: string) => `test_|-${id}_|-${id}_|-nop`;
  const ret = await callState("test.mod_watch", { name: "a" }, {
    state: {
      low: map({ __reqs__: { watch: watched } }),
      running: new Map([[tag("one"), map({ changes: { a: 1 } })], [tag("two"), map({ changes: {} })]]),
    },
  });
  assertEquals(ret.get("changes"), map({ "Requisites with changes": ["test: one"] }));
});

Deno.test("test.check_pillar names keys that are missing or of another type", async () => {
  const job = testContext({ pillar: map({ a: 1, b: "x", c: [1], d: { e: true } }), showsPillar: true });
  const good = {
    name: "p",
    present: ["a"],
    integer: "a",
    string: ["b"],
    listing: "c",
    dictionary: "d",
    boolean: "d:e",
  };
  assertEquals((await callState("test.check_pillar", good, { job })).get("comment"), "");
  const bad = await callState("test.check_pillar", {
    name: "p",
    present: ["nope"],
    integer: "b",
    verbose: true,
    string: "b",
  }, {
    job,
  });
  assertEquals(bad.get("result"), false);
  assertEquals(
    bad.get("comment"),
    `Pillar key "nope" is missing.\nPillar key "b" is not <class 'int'>.\n` +
      "Those keys passed the check:\n- b ((<class 'str'>,))\n",
  );
  await assertRejects(() => callState("test.check_pillar", { name: "p" }, { job }));
});
