import { NoMasterError } from "#lib/errors.ts";
import { checkMasterRunning, isMasterRunning } from "#lib/client/master_running.ts";
import { publishPullPath } from "#lib/config/master_paths.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { OtherUser } from "#tests/support/other_user.ts";

async function inDirectory(act: (sockDir: string) => Promise<void>): Promise<void> {
  const sockDir = Deno.makeTempDirSync({ prefix: "running_" });
  try {
    await act(sockDir);
  } finally {
    Deno.chmodSync(sockDir, 0o700);
    Deno.removeSync(sockDir, { recursive: true });
  }
}

Deno.test("a master is running if a process listens on the socket, not if only a socket file is left", () =>
  inDirectory(async (sockDir) => {
    assert(!await isMasterRunning(sockDir), "nothing is there");
    const error = await assertRejects(() => checkMasterRunning(sockDir), NoMasterError);
    assertStringIncludes(error.message, sockDir);
    const listener = Deno.listen({ transport: "unix", path: publishPullPath(sockDir) });
    assertEquals(await isMasterRunning(sockDir), true);
    listener.close();
    assertEquals(await isMasterRunning(sockDir), false);
  }));

Deno.test("a user without access to the master gets an error with its address", () =>
  inDirectory(async (sockDir) => {
    using _listener = Deno.listen({ transport: "unix", path: publishPullPath(sockDir) });
    Deno.chmodSync(sockDir, 0);
    const expected = `no right to reach the master at ${publishPullPath(sockDir)}`;
    if (Deno.uid() === 0) return assertEquals(await answerOfOther(sockDir), expected); // root has every permission
    await assertRejects(() => isMasterRunning(sockDir), Deno.errors.PermissionDenied, expected);
  }));

/** The error that a user without rights gets. */
async function answerOfOther(sockDir: string): Promise<string> {
  using daemon = new OtherUser("daemon");
  return await daemon.code(
    `import { isMasterRunning } from "~/lib/client/master_running.ts";
     console.log(await isMasterRunning(${JSON.stringify(sockDir)}).catch((error) => error.message));`,
  );
}
