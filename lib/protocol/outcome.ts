/**
 * The outcome of a job on one minion: exactly one of a few words, decided by a table of known facts.
 * @module
 */

import { plainRetcode } from "./retcode.ts";
import type { Value } from "#lib/values/value.ts";

/** Why a job did not reach a minion of another master of the cluster. */
export const BEYOND = "connected to another master; the database is away";

/** Of a return that the master makes: True if the minion was never sent the job, because its wait was ended. */
export const CANCELLED_JOB = "cancelled";

/** The outcomes, from the best to the worst. */
export const OUTCOMES = [
  /** It returned, and all succeeded. */
  "returned",
  /** It returned, and something failed. */
  "failed",
  /** It has begun the job. */
  "running",
  /** It has the job, and has not begun. */
  "received",
  /** It ended or restarted while it was running the job. */
  "interrupted",
  /** It did not run the job, whose operator's signature is missing or does not hold. */
  "refused",
  /** It was not sent the job: somebody ended it while the minion waited for its turn. */
  "cancelled",
  /** It is connected, and has not acknowledged the job. */
  "not received",
  /** It is connected to another master of the cluster, which cannot get the job. */
  BEYOND,
  /** It is not connected to the master. */
  "not connected",
  /** There is no accepted key with this id. */
  "no such minion",
] as const;

/** The outcome of a job on one minion. */
export type Outcome = typeof OUTCOMES[number];

/** States that a minion acknowledges. */
export type AcknowledgedState = "received" | "running";

/** The state that a stored acknowledgement says; `undefined` if it is none. */
export function acknowledgedState(state: unknown): AcknowledgedState | undefined {
  return state === "received" || state === "running" ? state : undefined;
}

/** The outcomes of a job that has returned. */
export const RETURN_OUTCOMES = ["returned", "failed", "interrupted", "refused", "cancelled"] as const;
/** The outcome of a job that has returned. */
export type ReturnOutcome = typeof RETURN_OUTCOMES[number];

/**
 * The outcome of a return.
 * @param interrupted Whether the minion says that it ended while it was running the job.
 * @param refused Whether it says that it did not run it.
 * @param cancelled Whether the master says that it was not sent it.
 */
export function outcomeOfReturn({ retcode = 0, interrupted, refused, cancelled }: {
  readonly retcode?: Value;
  readonly interrupted?: boolean;
  readonly refused?: boolean;
  readonly cancelled?: boolean;
}): ReturnOutcome {
  if (cancelled) return "cancelled";
  if (refused) return "refused";
  if (interrupted) return "interrupted";
  return plainRetcode(retcode) === 0 ? "returned" : "failed";
}

/** Whether an outcome is one of a job that has returned. */
export function hasReturned(outcome: Outcome): outcome is ReturnOutcome {
  return RETURN_OUTCOMES.some((known) => known === outcome);
}

/** Whether the return of a minion may come. */
export function mayReturn(outcome: Outcome): boolean {
  return ["received", "running", "not received", BEYOND].includes(outcome);
}

/** Salt's text for a minion that did not return, with the reason. */
export function silenceText(outcome: Outcome): string {
  const reason = outcome === "not received" ? "no response" : outcome;
  return `Minion did not return. [${reason.charAt(0).toUpperCase()}${reason.slice(1)}]`;
}

/** The known facts about a job on one minion. */
export interface OutcomeFacts {
  /** Whether the id has an accepted key. */
  readonly accepted: boolean;
  /** The outcome of its return, if it has returned. */
  readonly returned?: ReturnOutcome;
  readonly acknowledged?: AcknowledgedState;
  /** Whether it is connected now. */
  readonly present: boolean;
  /** Whether it is connected to another master of the cluster, which no job reaches. Default: false. */
  readonly beyond?: boolean;
}

/** The first row whose conditions hold decides. */
const RULES: readonly (readonly [when: Partial<OutcomeFacts>, then: Outcome])[] = [
  [{ returned: "returned" }, "returned"],
  [{ returned: "failed" }, "failed"],
  [{ returned: "interrupted" }, "interrupted"],
  [{ returned: "refused" }, "refused"],
  [{ returned: "cancelled" }, "cancelled"],
  [{ accepted: false }, "no such minion"],
  [{ present: false }, "not connected"],
  [{ acknowledged: "running" }, "running"],
  [{ acknowledged: "received" }, "received"],
  [{ beyond: true }, BEYOND],
  [{}, "not received"],
];

/** The outcome that follows from `facts`. */
export function decideOutcome(facts: OutcomeFacts): Outcome {
  const rule = RULES.find(([when]) =>
    (when.returned === undefined || when.returned === facts.returned) &&
    (when.accepted === undefined || when.accepted === facts.accepted) &&
    (when.present === undefined || when.present === facts.present) &&
    (when.beyond === undefined || when.beyond === facts.beyond) &&
    (when.acknowledged === undefined || when.acknowledged === facts.acknowledged)
  );
  return rule?.[1] ?? "not received";
}
