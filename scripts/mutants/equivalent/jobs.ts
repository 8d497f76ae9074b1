/**
 * Equivalent mutants of lib/jobs and lib/cluster.
 * @module
 */

import type { EquivalentMutant } from "./equivalent_mutant.ts";

/** See the module. */
export const JOBS: readonly EquivalentMutant[] = [
  {
    file: "lib/cluster/publish_log.ts",
    code: "const MOST_ROWS = 200;",
    change: "200 → 201",
    why: "the number of rows of one statement",
  },
  {
    file: "lib/cluster/publish_log.ts",
    code: 'if (Date.now() > (toNumber(stored.get("until_ms")) ?? 0) + SKEW_MS) {',
    change: "> → >=",
    why: "one millisecond of a minute",
  },
  {
    file: "lib/jobs/redelivery.ts",
    code: "if (nowMs > untilMs) {",
    change: "> → >=",
    why: "one millisecond, by a clock with fractions of it",
  },
  {
    file: "lib/jobs/undelivered.ts",
    code: "mode: 0o600,",
    change: "mode: 0o600, → ",
    why: "the mode of writeFileAtomic is 0600 if none is given",
  },
  {
    file: "lib/jobs/undelivered.ts",
    code: 'if (!isMap(record) || record.get("kind") !== "undelivered") return false;',
    change: '!isMap(record) || record.get("kind") !== "undelivered" → !isMap(record)',
    why: "no other record of the journal has a field of that name",
  },
  {
    file: "lib/jobs/undelivered.ts",
    code: "writeFileAtomic(path, sealed, { mode: 0o600, makeDirectory: true });",
    change: "mode: 0o600,  → ",
    why: "the mode of writeFileAtomic is 0600 if none is given",
  },
];
