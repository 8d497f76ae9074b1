/**
 * Whether a user may publish a job now, by the rules of `flow`.
 * @module
 */

import { FIND_JOB } from "#lib/protocol/about_jobs.ts";
import type { FlowCounts } from "./flow_counts.ts";
import type { JobRule, Rate } from "./flow_rules.ts";
import type { SharedBuckets } from "./shared_buckets.ts";

/** A job that must wait for its turn. */
export interface Throttled {
  /** The place of the rule in the option, from 1. */
  readonly rule: number;
  /** Seconds until the job may be published. */
  readonly retryAfter: number;
}

/** The rules for jobs, as one thread sees them. */
export class JobFlow {
  readonly #rules: readonly JobRule[];
  readonly #buckets: SharedBuckets;
  readonly #counts: FlowCounts;
  readonly #masters: () => number;

  /** @param parts.masters The number of masters that share the rates. Default: 1. */
  constructor(
    rules: readonly JobRule[],
    { buckets, counts, masters = () => 1 }: {
      readonly buckets: SharedBuckets;
      readonly counts: FlowCounts;
      masters?(): number;
    },
  ) {
    this.#rules = rules;
    this.#buckets = buckets;
    this.#counts = counts;
    this.#masters = masters;
  }

  /** Counts a job; `undefined` if it may be published. */
  admit(user: string, funs: readonly string[], nowMs: number): Throttled | undefined {
    // A question of a command about its job, which has passed.
    if (funs.every((fun) => fun === FIND_JOB)) return undefined;
    const found = this.#rules.find((rule) => rule.matches(user, funs));
    if (found === undefined) return undefined;
    const waitMs = this.#buckets.take(`${found.rule}:${user}`, shareOf(found.jobs, this.#masters()), nowMs);
    this.#counts.add(found.rule, waitMs === 0 ? "passed" : "throttled");
    return waitMs === 0 ? undefined : { rule: found.rule, retryAfter: Math.ceil(waitMs / 100) / 10 };
  }
}

/** One master's share of a rate. */
function shareOf({ burst, perSecond }: Rate, masters: number): Rate {
  return masters <= 1 ? { burst, perSecond } : { burst: Math.max(1, burst / masters), perSecond: perSecond / masters };
}
