import { dpkgStamp } from "#lib/host/debian_packages/package_stamps.ts";
import { assertEquals } from "#tests/support/assert.ts";

Deno.test("dpkg in an unknown directory has no stamp", () => {
  assertEquals(dpkgStamp(undefined), undefined);
});
