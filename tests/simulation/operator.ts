/**
 * The operator of a simulated fleet: publishes jobs as `salt` does, with the real client, and notes what it is told of
 * each minion.
 * @module
 */

import { LocalClient } from "#lib/client/local.ts";
import type { PublishedJob } from "#lib/client/job.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { NoMasterError } from "#lib/errors.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { OP } from "#lib/protocol/operator_field.ts";
import { NO_LOG } from "#lib/protocol/no_log.ts";
import { map } from "#lib/values/value.ts";
import type { ConfirmedBy, Ledger } from "./ledger.ts";
import { TTL_FIELD } from "./publish_check.ts";
import { world } from "#tests/simulation/world/world.ts";

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

/** A job of the operator. */
export interface SimulatedJob {
  readonly tgt: string;
  /** How long it may be delivered, in seconds. Default: as the master's option says. */
  readonly ttlS?: number;
  /** Whether it has the signature of an operator, which the minions do not ask for. */
  readonly isSigned?: boolean;
  /** The public key that hides its arguments and returns. Default: they are not hidden. */
  readonly hiddenBy?: string;
}

/** Publishes a job, and notes who must return it; its id, if the master has given it one. */
export async function publishJob(
  { opts, log, ledger, master }: OperatorParts,
  { tgt, ttlS, isSigned = false, hiddenBy }: SimulatedJob,
  told: Pick<ConfirmedBy, "isTold" | "isPromised">,
): Promise<{ readonly client: LocalClient; readonly job: PublishedJob }> {
  const client = await LocalClient.connect(opts, { user: "root", log });
  const startMs = world().nowMs;
  const kwargs = new Map([
    ...ttlS === undefined ? [] : map({ job_ttl: ttlS, metadata: map({ [TTL_FIELD]: ttlS }) }),
    ...isSigned ? map({ [OP]: map({ alg: "ed25519", body: "", key: "", sig: "" }) }) : [],
    ...hiddenBy === undefined ? [] : map({ [NO_LOG]: hiddenBy }),
  ]);
  const job = await client.publish({ tgt, tgtType: "glob", fun: "test.ping", arg: [], kwargs });
  ledger.confirm(job.jid, job.minions, { master, ...told, ...ttlS !== undefined && { endMs: startMs + 1000 * ttlS } });
  return { client, job };
}

/** Publishes one job, and waits for its end; a master that does not run, or does not answer, has promised nothing. */
export async function runJob(parts: OperatorParts, wanted: SimulatedJob): Promise<void> {
  const { ledger } = parts;
  let jid: string | undefined;
  try {
    const { client: opened, job } = await publishJob(parts, wanted, { isTold: true });
    using client = opened;
    jid = job.jid;
    for await (const { id, outcome } of client.collect(job, TIMEOUTS)) ledger.tell(jid, id, outcome);
    ledger.close(jid);
  } catch (error) {
    if (!(error instanceof NoMasterError)) throw error;
    if (jid !== undefined) ledger.loseMaster(jid);
  }
}
