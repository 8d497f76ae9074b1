/** Runner `cluster` of a master that is in no cluster; in one: tests/cluster. */

import { CommandError } from "#lib/errors.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";
import { withRunnerFixture } from "#tests/support/fleet/runner_services.ts";

Deno.test("cluster.rotate of the key of publishes asks the master for another one", () =>
  withRunnerFixture(async ({ call, context }) => {
    assertEquals(isFile(`${context.opts.cachedir}/.dfn`), false);
    assertEquals(await call("cluster.rotate", ["publish"]), true);
    assertEquals(Deno.readTextFileSync(`${context.opts.cachedir}/.dfn`), "host_master");
  }));

Deno.test("cluster.rotate refuses other keys, and overlaps that are no time", () =>
  withRunnerFixture(async ({ call }) => {
    await assertRejects(
      () => call("cluster.rotate", ["minion"]),
      CommandError,
      "must be publish or master, and is minion",
    );
    for (const overlap of ["soon", "0", "-1d", "11y", "100000d"]) {
      await assertRejects(
        () => call("cluster.rotate", ["master"], { overlap }),
        CommandError,
        `overlap must be a time like 90d, 12h or 3600, and is ${overlap}`,
      );
    }
  }));

Deno.test("cluster.rotate makes no next key pair beside a signature that a file has", () =>
  withRunnerFixture(async ({ call, context }) => {
    await assertRejects(
      () => call("cluster.rotate", ["master"]),
      CommandError,
      "master_use_pubkey_signature: the signature in the file is of one key pair",
    );
    assertEquals(isFile(`${context.opts.pki_dir}/master_next.pem`), false);
  }, "master_sign_pubkey: True\nmaster_use_pubkey_signature: True\n"));
