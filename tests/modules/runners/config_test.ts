import { assertEquals } from "#tests/support/assert.ts";
import { withRunnerFixture } from "#tests/support/fleet/runner_services.ts";

const ROOTS = 'file_roots:\n  base: ["/srv/a", "/srv/b"]\nmy_option: {deep: [1, {k: v}]}\n';

Deno.test("config.get finds options of the master, by path and with another delimiter, and unknown options", () =>
  withRunnerFixture(async ({ call }) => {
    assertEquals(await call("config.get", ["file_roots:base"]), ["/srv/a", "/srv/b"]);
    assertEquals(await call("config.get", ["file_roots,base"], { delimiter: "," }), ["/srv/a", "/srv/b"]);
    assertEquals(await call("config.get", ["my_option:deep:k"]), "v");
    assertEquals(await call("config.get", ["id"]), "host_master");
    assertEquals(await call("config.get", ["nope"]), "");
    assertEquals(await call("config.get", ["nope:x"], { default: 5 }), 5);
  }, ROOTS));
