/**
 * The rules of `flow` with what all threads of a master share for them.
 * @module
 */

import { ConfigError } from "#lib/errors.ts";
import type { Value } from "#lib/values/value.ts";
import { FlowCounts } from "./flow_counts.ts";
import { type MinionRule, parseFlow } from "./flow_rules.ts";
import { JobFlow } from "./job_flow.ts";
import { RunningPlaces } from "./running_places.ts";
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
 * Checks the rules.
 * @throws {ConfigError} If one cannot be read, or cannot hold.
 */
export function checkFlow({ flow, order_masters }: { readonly flow: Value; readonly order_masters: boolean }): void {
  const { running: [rule] } = parseFlow(flow);
  if (rule !== undefined && order_masters) {
    throw new ConfigError(
      `rule ${rule.rule}: \`running\` cannot count minions below syndics: set it on their masters, or order_masters to false`,
      { option: "flow" },
    );
  }
}

/** The memory for the rules of the option; `undefined` if there are none. */
export function flowMemory(option: Value): FlowMemory | undefined {
  const rules = numberOfRules(option);
  return rules === 0 ? undefined : { buckets: new SharedBuckets().memory, counts: new FlowCounts(rules).memory };
}

/**
 * The rules with that memory.
 * @param masters The number of masters that share the rules for jobs. Default: 1.
 */
export function openFlow(option: Value, memory: FlowMemory, masters?: () => number): OpenFlow {
  const { jobs, minions } = parseFlow(option);
  const counts = new FlowCounts(numberOfRules(option), memory.counts);
  const buckets = new SharedBuckets(memory.buckets);
  return { jobs: new JobFlow(jobs, { buckets, counts, masters }), minions, counts };
}

/** The places of the rules with `running`, for the one thread that gives them; `undefined` if there are none. */
export function openRunningPlaces(
  option: Value,
  memory: FlowMemory | undefined,
  masters?: () => number,
): RunningPlaces | undefined {
  const { running } = parseFlow(option);
  if (memory === undefined || running.length === 0) return undefined;
  return new RunningPlaces(running, { counts: new FlowCounts(numberOfRules(option), memory.counts), masters });
}

function numberOfRules(option: Value): number {
  return Array.isArray(option) ? option.length : 0;
}
