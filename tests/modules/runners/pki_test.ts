import { CommandError } from "#lib/errors.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";
import { withRunnerFixture } from "#tests/support/fleet/runner_services.ts";

Deno.test("pki.status counts the keys of each state, in Salt's words", () =>
  withRunnerFixture(async ({ call, root }) => {
    for (const [state, ids] of [["minions", ["a", "b"]], ["minions_pre", ["c"]], ["minions_denied", ["d"]]] as const) {
      Deno.mkdirSync(`${root}/pki/${state}`, { recursive: true });
      for (const id of ids) Deno.writeTextFileSync(`${root}/pki/${state}/${id}`, "key");
    }
    const text = "PKI migration dry-run (no changes written):\n  Accepted: 2\n  Pending:  1\n  Rejected: 0\n" +
      "  Denied:   1\n  Total:    4";
    assertEquals(await call("pki.status"), text);
    assertEquals(await call("pki.migrate_to_mmap", [true]), text);
    await assertRejects(() => call("pki.migrate_to_mmap"), CommandError, "keys stay in the files of pki_dir");
  }));
