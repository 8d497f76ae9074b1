/**
 * The rules of `flow` with what all threads of a master share for them.
 * @module
 */

import type { Value } from "#lib/values/value.ts";
import { FlowCounts } from "./flow_counts.ts";
import { type MinionRule, parseFlow } from "./flow_rules.ts";
import { JobFlow } from "./job_flow.ts";
import { SharedBuckets } from "./shared_buckets.ts";

/** The memory that the threads share. */
export interface FlowMemory {
  readonly buckets: SharedArrayBuffer;
  readonly counts: SharedArrayBuffer;
}

/** The rules, as one thread sees them. */
export interface OpenFlow {
  readonly jobs: JobFlow;
  readonly minions: readonly MinionRule[];
  readonly counts: FlowCounts;
}

/**
 * The memory for the rules of the option; `undefined` if there are none.
 * @throws {ConfigError} If a rule cannot be read.
 */
export function flowMemory(option: Value): FlowMemory | undefined {
  const { jobs, minions } = parseFlow(option);
  const rules = jobs.length + minions.length;
  return rules === 0 ? undefined : { buckets: new SharedBuckets().memory, counts: new FlowCounts(rules).memory };
}

/** The rules with that memory. */
export function openFlow(option: Value, memory: FlowMemory): OpenFlow {
  const { jobs, minions } = parseFlow(option);
  const counts = new FlowCounts(jobs.length + minions.length, memory.counts);
  return { jobs: new JobFlow(jobs, { buckets: new SharedBuckets(memory.buckets), counts }), minions, counts };
}
