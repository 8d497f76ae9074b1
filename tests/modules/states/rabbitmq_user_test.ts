import { CommandError, InvocationError } from "#lib/errors.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";
import { map } from "#lib/values/value.ts";
import { scriptedState, throwing } from "#tests/support/calls/state_call.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";

testRecordedCases("states", "rabbitmq_user");

Deno.test("rabbitmq_user.present: wrong permissions are refused before anything is done", async () => {
  for (
    const [perms, text] of [
      [["/"], "perms is a list of maps, from a virtual host to three patterns"],
      [[{ "/": [".*", ".*"] }], "The permissions in / are not three patterns: configure, write and read"],
      [[{ "/": ".*" }], "The permissions in / are not three patterns: configure, write and read"],
    ] as const
  ) {
    await assertRejects(
      () => scriptedState("rabbitmq_user.present", { name: "web", perms }, {}),
      InvocationError,
      text,
    );
  }
});

Deno.test("rabbitmq_user.present tells only of the permissions that differ, and sets tags that cannot be read", async () => {
  const all = [".*", ".*", ".*"], granted = { configure: ".*", write: ".*", read: ".*" };
  const given = await scriptedState(
    "rabbitmq_user.present",
    { name: "web", tags: "monitoring", perms: [{ "/": all }, { "/app": all }] },
    {
      "rabbitmq.user_exists": true,
      "rabbitmq.list_users": throwing(new CommandError("the node is down")),
      "rabbitmq.set_user_tags": true,
      "rabbitmq.list_user_permissions": () => map({ "/": granted, "/app": { ...granted, read: "" } }),
      "rabbitmq.set_permissions": true,
    },
  );
  assertEquals([given.result, given.comment], [true, "'web' was configured."]);
  assertEquals(
    given.changes,
    map({
      tags: { old: [], new: ["monitoring"] },
      perms: { old: { configure: ".*", write: ".*", read: "" }, new: { "/app": granted } },
    }),
  );
});
