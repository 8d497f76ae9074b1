import { assertEquals, assertRejects } from "#tests/support/assert.ts";
import { withRunnerFixture } from "#tests/support/fleet/runner_services.ts";

Deno.test("error.error fails with the given name and text, and succeeds without them", () =>
  withRunnerFixture(async ({ call }) => {
    assertEquals(await call("error.error"), new Map());
    const error = await assertRejects(() => call("error.error", ["SaltSystemExit", "boom"]), Error, "boom");
    assertEquals(error.name, "SaltSystemExit");
  }));
