/**
 * The key that signs the jobs of a command: `--sign`, or `sign` of `~/.saltrc`.
 * @module
 */

import type { JobIo } from "#lib/commands/cli/run_command.ts";
import type { JobSigner } from "#lib/operators/job_signer.ts";
import type { Value } from "#lib/values/value.ts";

/**
 * Finds the key, with the rights of the calling user; `undefined`: jobs are not signed.
 * @throws As `JobSigner.open`.
 */
export async function openSigner(sign: Value, ask: JobIo["ask"]): Promise<JobSigner | undefined> {
  if (sign === false || sign === null || sign === "false") return undefined;
  const { JobSigner, wantedKey } = await import("#lib/operators/job_signer.ts");
  return await JobSigner.open(wantedKey(sign), ask && ((question) => ask(question, { hidden: true })));
}
