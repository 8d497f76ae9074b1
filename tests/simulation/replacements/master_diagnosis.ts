/**
 * Replaces lib/minion/masters/master_diagnosis.ts in a simulation, which would look at the real network.
 * @module
 */

/** Why there is no answer. */
export interface Reach {
  readonly kind: "nameless" | "unreachable" | "silent";
  readonly text: string;
}

/** A simulated master has an address, and nobody listens there or it is slow. */
export function reachOf(address: string): Promise<Reach> {
  return Promise.resolve({ kind: "unreachable", text: `nobody listens at ${address}` });
}
