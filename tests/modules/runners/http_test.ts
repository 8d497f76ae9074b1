import { assertEquals } from "#tests/support/assert.ts";
import { withRunnerFixture } from "#tests/support/fleet/runner_services.ts";

Deno.test("http.query and http.update_ca_bundle run here with what they are given", () =>
  withRunnerFixture(async ({ call, done }) => {
    assertEquals(
      await call("http.query", ["http://web/", false], { method: "POST", status: true }),
      "http.query['http://web/']{'node': 'master', 'method': 'POST', 'status': True}",
    );
    assertEquals(done, ["warning: Output option has been deprecated. Please use --quiet."]);
    assertEquals(
      await call("http.update_ca_bundle", ["/ca.pem"], { merge_files: ["/a"] }),
      "http.update_ca_bundle[]{'target': '/ca.pem', 'source': None, 'merge_files': ['/a']}",
    );
  }));
