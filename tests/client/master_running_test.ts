import { NoMasterError } from "../../lib/errors.ts";
import { checkMasterRunning, isMasterRunning } from "../../lib/client/master_running.ts";
import { publishPullPath } from "../../lib/config/master_paths.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "../support/assert.ts";

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

// root has every permission
Deno.test(
  "a user without access to the master gets an error with its address",
  { ignore: Deno.uid() === 0 },
  () =>
    inDirectory(async (sockDir) => {
      using _listener = Deno.listen({ transport: "unix", path: publishPullPath(sockDir) });
      Deno.chmodSync(sockDir, 0);
      const error = await assertRejects(() => isMasterRunning(sockDir), Deno.errors.PermissionDenied);
      assertStringIncludes(error.message, publishPullPath(sockDir));
    }),
);
