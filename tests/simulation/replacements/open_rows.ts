/**
 * Replaces lib/stores/open_rows.ts in a simulation, which would connect to a real database: a command whose master does
 * not run asks the simulated one.
 * @module
 */

import type { JobRows } from "#lib/stores/rows.ts";
import { modelDatabase } from "#tests/simulation/database.ts";

/** The rows of the simulated database. */
export function openRows(): JobRows {
  return modelDatabase().rows;
}
