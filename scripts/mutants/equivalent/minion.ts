/**
 * Equivalent mutants of lib/minion.
 * @module
 */

import type { EquivalentMutant } from "./equivalent_mutant.ts";

/** See the module. */
export const MINION: readonly EquivalentMutant[] = [
  {
    file: "lib/minion/masters/jid_memory.ts",
    code: 'writeFileAtomic(path, lines.join(""), { mode: 0o600, sync: this.#options.journal !== undefined });',
    change: "mode: 0o600,  → ",
    why: "the mode of writeFileAtomic is 0600 if none is given",
  },
  {
    file: "lib/minion/masters/publish_reader.ts",
    code: "#lastSerial = 0;",
    change: "0 → 1",
    why: "it is read only after a sign-in, which sets it",
  },
  {
    file: "lib/minion/masters/return_spool.ts",
    code: "if (at < 0) return true; // it was dropped while it was being sent",
    change: "return true; → {}",
    why: "the last entry is put where it is, and true is returned too",
  },
  {
    file: "lib/minion/masters/return_spool.ts",
    code: "const AT_HAND = 16;",
    change: "16 → 17",
    why: "the size of a cache",
  },
  {
    file: "lib/minion/masters/return_spool.ts",
    code: "writeFileAtomic(`${this.#options.directory}/${entry.name}`, encoded, { mode: 0o600 });",
    change: "mode: 0o600 → ",
    why: "the mode of writeFileAtomic is 0600 if none is given",
  },
];
