/**
 * Directories for the time of one test.
 * @module
 */

/** Deno ends the name with a random number of up to 16 digits. */
const FULL_NUMBER = /_[0-9a-f]{16}$/;

/**
 * A new temporary directory, always with a path of the same length: Salt's x509 functions take the path of a missing
 * file for base64, and the length then decides which error they return.
 */
export function makeTemporaryDirectory(prefix: string): string {
  for (let tries = 1;; tries++) {
    const directory = Deno.makeTempDirSync({ prefix });
    if (FULL_NUMBER.test(directory)) return directory;
    Deno.removeSync(directory);
    if (tries === 100) throw new Error(`Deno no longer ends names such as ${directory} with 16 digits`);
  }
}

/** Runs `act` with the path of a new temporary directory, then removes it with all that is in it. */
export async function withTemporaryDirectory(act: (directory: string) => Promise<void> | void): Promise<void> {
  const directory = makeTemporaryDirectory("salt_test_");
  try {
    await act(directory);
  } finally {
    Deno.removeSync(directory, { recursive: true });
  }
}
