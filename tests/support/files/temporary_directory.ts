/**
 * A directory for the time of one test.
 * @module
 */

/** Runs `act` with the path of a new temporary directory, then removes it with all that is in it. */
export async function withTemporaryDirectory(act: (directory: string) => Promise<void> | void): Promise<void> {
  const directory = Deno.makeTempDirSync({ prefix: "salt_test_" });
  try {
    await act(directory);
  } finally {
    Deno.removeSync(directory, { recursive: true });
  }
}
