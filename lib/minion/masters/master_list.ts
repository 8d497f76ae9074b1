/**
 * The masters of a minion when it starts: those that the option `master` lists, those that a DNS service names, or
 * those that an execution function returns (`master_type: func`).
 * Source: Salt 3008.3 `salt/minion.py` eval_master_func.
 * @module
 */

import {
  distinctMasters,
  isOneOfMany,
  type MasterEntry,
  orderMasters,
  readMasterEntries,
} from "#lib/config/master_entries.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import { SignInError } from "#lib/errors.ts";
import { sleep } from "#lib/os/sleep.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { truncateRepr } from "#lib/text/truncate.ts";
import type { Value } from "#lib/values/value.ts";
import { resolveServices, type ServiceLookUp } from "./master_services.ts";

/** Look-ups of DNS services at a start, if `retry_dns_count` does not say. */
const LOOK_UPS = 3;

/** What finding masters needs. */
export interface MasterListParts {
  readonly log: Logger;
  readonly signal: AbortSignal;
  /**
   * Calls an execution function without arguments.
   * @throws {CommandError} If it fails.
   */
  call(fun: string): Promise<Value>;
  /** Asks the DNS. Default: the resolver of the host. */
  readonly lookUp?: ServiceLookUp;
}

/**
 * The masters in the order in which they are tried.
 * @throws {SignInError} If there is none.
 * @throws {CommandError} If the function of `master_type: func` fails.
 */
export async function findMasters(opts: MinionOpts, parts: MasterListParts): Promise<MasterEntry[]> {
  const texts = opts.master_type === "func" ? await textsOfFunction(opts, parts) : opts.masters;
  const { entries, problems } = readMasterEntries(texts, opts);
  for (const problem of problems) parts.log.error(`master: ${problem}: the others of the list are used`);
  if (entries.length === 0) throw new SignInError(`No master is configured: ${problems.join("; ")}`, 1);
  const masters = distinctMasters(await withServices(entries, opts, parts));
  return isOneOfMany(opts) ? orderMasters(masters, opts) : masters;
}

async function textsOfFunction(opts: MinionOpts, { call, log }: MasterListParts): Promise<string[]> {
  const [fun = ""] = opts.masters;
  const returned = await call(fun);
  const texts = typeof returned === "string" ? [returned] : returned;
  if (!Array.isArray(texts) || texts.length === 0 || !texts.every((text) => typeof text === "string")) {
    throw new SignInError(`${truncateRepr(returned)} returned from ${fun} is not a string`, 1);
  }
  log.info(`Evaluated master from module: ${fun}`);
  return texts;
}

async function withServices(
  entries: readonly MasterEntry[],
  { retry_dns, retry_dns_count }: MinionOpts,
  { log, signal, lookUp }: MasterListParts,
): Promise<MasterEntry[]> {
  for (let tried = 1;; tried++) {
    try {
      return await resolveServices(entries, (text) => log.error(text), lookUp);
    } catch (error) {
      if (!(error instanceof SignInError) || retry_dns === 0 || tried >= (retry_dns_count ?? LOOK_UPS)) throw error;
      log.error(`${error.message}; looking again in ${retry_dns} seconds (retry_dns)`);
      await sleep(retry_dns * 1000, signal);
    }
  }
}
