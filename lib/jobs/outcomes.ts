/**
 * The outcome of a job on each of its minions, from all that the master stores: keys, returns, acknowledgements, and
 * presence.
 * @module
 */

import { connectedAddresses } from "#lib/fleet/connected_ids.ts";
import type { DataCache } from "#lib/fleet/data_cache.ts";
import type { JobReturn, JobStore } from "./store.ts";
import { KeyStore } from "#lib/keys/store.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { decideOutcome, type Outcome, type OutcomeFacts, outcomeOfReturn } from "#lib/protocol/outcome.ts";
import { minionsBeyond, readPresence } from "#lib/fleet/presence_file.ts";

/** The outcome of a job on one minion. */
export interface JobOutcome {
  readonly outcome: Outcome;
  /** The time of the last return or acknowledgement, in milliseconds since the epoch; `undefined` if there is none. */
  readonly sinceMs: number | undefined;
  /** Whether the minion acknowledges jobs. */
  readonly acknowledges: boolean;
}

/** The master's data that {@linkcode jobOutcomes} reads. */
export interface OutcomeSources {
  readonly opts: Pick<MasterOpts, "cachedir" | "pki_dir">;
  /** The port that minions connect to. */
  readonly publishPort: number;
  readonly jobs: JobStore;
  /** The data of its minions. */
  readonly data: DataCache;
  /** The returns of the job, if they have been read already: of a large job that is most of the work. */
  readonly returns?: ReadonlyMap<string, JobReturn>;
}

/** The outcomes of job `jid` for `ids`. */
export async function jobOutcomes(
  jid: string,
  ids: Iterable<string>,
  { opts, publishPort, jobs, data, returns: read }: OutcomeSources,
): Promise<Map<string, JobOutcome>> {
  const returns = read ?? await jobs.getReturns(jid);
  const acks = await jobs.acks.all(jid);
  const accepted = new Set(new KeyStore(opts.pki_dir).list("accepted"));
  const presence = readPresence(opts.cachedir), beyond = minionsBeyond(opts.cachedir);
  // A Python minion does not report its presence: its address is used, if it is known.
  const connected = connectedAddresses(data, publishPort);
  const seems = (id: string) => connected.size === 0 || connected.has(id) || data.get(id) === undefined;
  const outcomes = new Map<string, JobOutcome>();
  for (const id of ids) {
    const returned = returns.get(id);
    const ack = acks.get(id);
    const present = presence.present.has(id), gone = presence.gone.has(id);
    const facts: OutcomeFacts = {
      accepted: accepted.has(id),
      returned: returned && outcomeOfReturn(returned),
      acknowledged: ack?.state,
      present: present || (!gone && seems(id)),
      beyond: beyond.has(id),
    };
    const sinceMs = returned === undefined ? ack?.sinceMs : await jobs.returnedMs(jid, id);
    outcomes.set(id, { outcome: decideOutcome(facts), sinceMs, acknowledges: present || gone });
  }
  return outcomes;
}
