/**
 * Runs the commands of the benchmark; a command that fails is an error, because its time means nothing.
 * @module
 */

import { type Ran, run as runToEnd } from "#tests/support/processes.ts";

/** Time limit of a command, in milliseconds. */
const RUN_MS = 180_000;

/**
 * Runs a command to its end.
 * @throws {Error} If its exit code is not 0, or it takes longer than three minutes.
 */
export async function run(words: readonly string[]): Promise<Ran> {
  const ran = await runToEnd(words, RUN_MS);
  if (ran.code !== 0) throw new Error(`${words.join(" ")} ended with ${ran.code}:\n${ran.out}${ran.err}`);
  return ran;
}
