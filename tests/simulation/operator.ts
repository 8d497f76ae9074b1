/**
 * The operator of a simulated fleet: publishes jobs as `salt` does, with the real client, and notes what it is told of
 * each minion.
 * @module
 */

import { LocalClient } from "#lib/client/local.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { NoMasterError } from "#lib/errors.ts";
import type { Logger } from "#lib/runtime/log.ts";
import type { Ledger } from "./ledger.ts";

/** Salt's time limits of a job, in milliseconds. */
const TIMEOUTS = { timeoutMs: 5_000, gatherMs: 10_000 };

/** What the operator uses. */
export interface OperatorParts {
  readonly opts: MasterOpts;
  readonly log: Logger;
  readonly ledger: Ledger;
  /** The process of the master that is asked. */
  readonly master: string;
}

/** Publishes one job, and waits for its end; a master that does not run, or does not answer, has promised nothing. */
export async function runJob(parts: OperatorParts, tgt: string): Promise<void> {
  const { opts, log, ledger, master } = parts;
  let jid: string | undefined;
  try {
    using client = await LocalClient.connect(opts, { user: "root", log });
    const job = await client.publish({ tgt, tgtType: "glob", fun: "test.ping", arg: [] });
    jid = job.jid;
    ledger.confirm(jid, job.minions, master);
    for await (const { id, outcome } of client.collect(job, TIMEOUTS)) ledger.tell(jid, id, outcome);
    ledger.close(jid);
  } catch (error) {
    if (!(error instanceof NoMasterError)) throw error;
    if (jid !== undefined) ledger.loseMaster(jid);
  }
}
