/** Files of repositories, as Salt's file server serves them, and remotes that it refuses at start. */

import { ConfigError } from "#lib/errors.ts";
import { gitfsRemotes } from "#lib/files/git/remote_options.ts";
import { assert, assertThrows } from "#tests/support/assert.ts";
import { placed, SALT_OPTIONS } from "#tests/support/files/file_server.ts";
import { testFileServerCases } from "#tests/support/files/file_server_situations.ts";
import { testServices } from "#tests/support/fleet/services.ts";
import { fromTyped } from "#tests/support/typed_values.ts";

testFileServerCases("gitfs");

Deno.test("remotes that Salt's gitfs refuses at start are refused in the same words", async () => {
  using services = await testServices();
  for (const [remotes, messages] of SALT_OPTIONS.refused) {
    const gitfs_remotes = placed(fromTyped(remotes), "{root}", "/srv");
    assert(Array.isArray(gitfs_remotes));
    const refused = () => gitfsRemotes({ ...services.opts, gitfs_remotes }, () => {});
    // The valid parameters depend on Salt's provider.
    for (const words of messages) {
      assertThrows(refused, ConfigError, words.replaceAll("{root}", "/srv").split(" Valid")[0]);
    }
  }
});
