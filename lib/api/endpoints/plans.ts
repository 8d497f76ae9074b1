/**
 * Plans of states that users have made by the API: which plan each minion has. Each is kept for half an hour, and by
 * this process alone; the plans themselves are on the minions.
 * @module
 */

import { hashHex } from "#lib/crypto/hash.ts";
import { compareStrings } from "#lib/values/value.ts";

/** A plan for some minions. */
export interface FleetPlan {
  /** A digest of the plans of all its minions. */
  readonly hash: string;
  /** Its maker, who alone may apply it: `eauth name`. */
  readonly owner: string;
  readonly madeMs: number;
  /** The plan of each minion, as state.plan named it. */
  readonly minions: ReadonlyMap<string, string>;
}

/** How long a plan may be applied, in milliseconds. */
const VALID_MS = 30 * 60_000;
/** The plans that are kept; the oldest go. */
const MAX_PLANS = 500;

/** The plans of one API. */
export class Plans {
  readonly #plans = new Map<string, FleetPlan>();

  /** Keeps the plans of some minions as one. */
  keep(minions: ReadonlyMap<string, string>, owner: string, nowMs: number = Date.now()): FleetPlan {
    const sorted = [...minions].sort(([a], [b]) => compareStrings(a, b));
    const hash = hashHex(sorted.map(([id, plan]) => `${id}\0${plan}\n`).join(""), "sha256");
    const plan = { hash, owner, madeMs: nowMs, minions: new Map(sorted) };
    const key = keyOf(plan);
    this.#plans.delete(key);
    this.#plans.set(key, plan);
    for (const oldest of [...this.#plans.keys()].slice(0, this.#plans.size - MAX_PLANS)) this.#plans.delete(oldest);
    return plan;
  }

  /** The plan with this hash, if this user made it within the last half hour. */
  get(hash: string, owner: string, nowMs: number = Date.now()): FleetPlan | undefined {
    const plan = this.#plans.get(keyOf({ hash, owner }));
    return plan === undefined || nowMs - plan.madeMs > VALID_MS ? undefined : plan;
  }
}

function keyOf({ hash, owner }: Pick<FleetPlan, "hash" | "owner">): string {
  return `${owner}\0${hash}`;
}
