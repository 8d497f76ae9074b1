/**
 * Runs the programs of apt and dpkg without prompts, and retries while another program holds dpkg's lock.
 * Source: Salt 3008.3, `salt/modules/aptpkg.py`, `_call_apt`; apt-get(8).
 * @module
 */

import { aptCache } from "./package_cache.ts";
import { scopeWords } from "#lib/host/packages/scope.ts";
import { type ProgramOptions, type ProgramResult, runProgram } from "#lib/programs/run_program.ts";
import { sleep } from "#lib/os/sleep.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";

/** Prevents prompts. */
const DPKG_ENVIRONMENT = {
  APT_LISTBUGS_FRONTEND: "none",
  APT_LISTCHANGES_FRONTEND: "none",
  DEBIAN_FRONTEND: "noninteractive",
  UCF_FORCE_CONFFOLD: "1",
};

/** Number of retries while another program holds dpkg's lock; the waits are 2, 4, 8, … seconds. */
const LOCK_TRIES = 10;

/**
 * Runs a program of apt; retries while another one holds dpkg's lock.
 * @param options.scope Whether it runs in a systemd scope.
 */
export async function runApt(
  words: readonly string[],
  context: JobContext,
  options: ProgramOptions & { readonly scope?: boolean } = {},
): Promise<ProgramResult> {
  const { scope = true, env, ...how } = options;
  const inScope = scope ? scopeWords(context, '"salt.modules.aptpkg"') : [];
  if (words[0] !== "apt-cache" && !words.includes("update")) aptCache(context).forget();
  const run = () => runProgram([...inScope, ...words], context, { ...how, env: { ...DPKG_ENVIRONMENT, ...env } });
  let result = await run();
  for (let tries = 1; tries <= LOCK_TRIES && result.stderr.includes("Could not get lock"); tries++) {
    context.log("warning", `Waiting for dpkg lock release: retrying... ${tries}/${LOCK_TRIES}`);
    await sleep(2 ** tries * 1000, context.signal);
    result = await run();
  }
  return result;
}
