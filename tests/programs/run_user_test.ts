/**
 * The user of a service, and the files that a process can read as that user.
 * @module
 */

import { userToBecome } from "#lib/programs/run_user.ts";
import { findUser } from "#lib/os/users.ts";
import { DENO_RUN } from "#lib/runtime/self_command.ts";
import { PreflightError } from "#lib/errors.ts";
import { assertEquals, assertMatch, assertThrows } from "#tests/support/assert.ts";
import { run } from "#tests/support/processes.ts";

const NOBODY = findUser("nobody");

Deno.test("a process changes its user only as root, and only to another user", () => {
  assertThrows(() => userToBecome("no_user_of_this_name"), PreflightError, "there is no user");
  assertEquals(userToBecome("0", 0), undefined);
  assertEquals(userToBecome("root", 0), undefined);
  assertEquals(userToBecome("root", null), undefined);
  assertThrows(() => userToBecome("root", 65_000), PreflightError, "only root can run this as root");
});

Deno.test({
  name: "a process acts as another user, or changes to it permanently: files that only root may read count as missing",
  ignore: Deno.uid() !== 0 || NOBODY === undefined,
  async fn() {
    const directory = Deno.makeTempDirSync({ prefix: "become_" });
    try {
      Deno.mkdirSync(`${directory}/etc`);
      Deno.mkdirSync(`${directory}/.git`);
      Deno.writeTextFileSync(`${directory}/.git/salt-credentials`, "https://me:secret@host\n", { mode: 0o600 });
      Deno.writeTextFileSync(`${directory}/etc/shadow`, "root:*:1::::::\n", { mode: 0o600 });
      Deno.chmodSync(directory, 0o755);
      const script = new URL("../support/calls/another_user.ts", import.meta.url).pathname;
      const { code, out, err } = await run([Deno.execPath(), ...DENO_RUN, script, "nobody", directory]);
      assertEquals([code, err], [0, ""]);
      const { acting, before, after, back, env, comments } = JSON.parse(out);
      assertMatch(acting.reads, /Permission denied/);
      assertMatch(acting.again, /Permission denied/);
      assertEquals([acting.asRoot, acting.shadow, acting.logins], [true, 0, 0]);
      assertEquals(before, NOBODY?.uid);
      assertMatch(after.reads, /Permission denied/);
      assertEquals([after.shadow, after.logins, after.uid, after.gid], [0, 0, NOBODY?.uid, NOBODY?.gid]);
      assertMatch(back, /^user: cannot become root: initgroups\(\) failed/);
      // As Salt 3008.3 does as another user.
      assertEquals(comments, [
        "Invalid Mode 644",
        "Failed to change mode to 0644",
        "Failed to change user to daemon; Failed to change group to daemon",
      ]);
      assertEquals(env, { HOME: NOBODY?.home, USER: "nobody", LOGNAME: "nobody", SHELL: NOBODY?.shell });
    } finally {
      Deno.removeSync(directory, { recursive: true });
    }
  },
});
