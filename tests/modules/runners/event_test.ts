import { CommandError } from "#lib/errors.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";
import { withRunnerFixture } from "#tests/support/fleet/runner_services.ts";

Deno.test("event.send fires its data with its tag, without control characters in the tag", () =>
  withRunnerFixture(async ({ call, done }) => {
    assertEquals(await call("event.send", ["my/tag", { foo: "bar" }]), true);
    assertEquals(await call("event.send", ["my/tag"]), true);
    assertEquals(done, ["fire my/tag {'foo': 'bar'}", "fire my/tag {}"]);
    for (const tag of ["", "salt/auth\n\n\x80", "a\0b"]) {
      await assertRejects(() => call("event.send", [tag]), CommandError);
    }
  }));
