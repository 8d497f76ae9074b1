/**
 * Replaces lib/fleet/connected_ids.ts in a simulation, which would look at the connections of the real host: no minion
 * is known by its address alone.
 * @module
 */

/** The minions by their addresses. */
export function connectedAddresses(): Map<string, string> {
  return new Map();
}

/** The minions at an address. */
export function minionsAt(): string[] {
  return [];
}
