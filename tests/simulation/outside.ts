/**
 * Guards in the files of {@linkcode file://./mutants.ts} that the simulation does not look for, each with the reason:
 * they bound memory or are about what no simulated machine has. The tests of their rooms are for them
 * (`deno task mutants --guards`).
 * @module
 */

import type { EquivalentMutant } from "#scripts/mutants/equivalent/equivalent_mutant.ts";

const MEMORY = "a bound of memory: no simulated minion has so many jobs";
const FLOW = "the simulation has no rules of flow";
const NO_DIFFERENCE = "what is promised stays true: a little is done once more, or is asked for in vain";
const REPEATED =
  "what has been answered is neither published nor run again: a job is waited for once more, until it ends";
const OWN_FILES = "only what the master itself has written could say so";

/** See the module. */
export const OUTSIDE: readonly EquivalentMutant[] = [
  {
    file: "lib/jobs/redelivery.ts",
    code: "const NAMED = 1_000;",
    change: "1_000 → 1_000 * 1000",
    why: "the simulation has five minions",
  },
  {
    file: "lib/jobs/undelivered.ts",
    code: "if (!isJid(jid) || this.#over.has(jid)) return;",
    change: "!isJid(jid) || this.#over.has(jid) → this.#over.has(jid)",
    why: OWN_FILES,
  },
  {
    file: "lib/jobs/undelivered.ts",
    code: "if (!isJid(jid)) return;",
    change: "return; → {}",
    why: OWN_FILES,
  },
  {
    file: "lib/jobs/undelivered_log.ts",
    code: 'if (typeof jid !== "string" || !isJid(jid) || sealed === undefined) return undefined;',
    change: 'typeof jid !== "string" || !isJid(jid) → typeof jid !== "string"',
    why: OWN_FILES,
  },
  {
    file: "lib/jobs/undelivered_log.ts",
    code: "if (error instanceof Deno.errors.NotFound) return []; // another process has removed it",
    change: "return []; → {}",
    why: "nobody removes directories of a simulated master: the fault cache-removed does",
  },
  {
    file: "lib/keys/shared_key.ts",
    code: "if (before % 2 === 1) continue; // another thread is writing, for a few microseconds",
    change: "continue; → {}",
    why: "a simulated master is one thread",
  },
  {
    file: "lib/master/publisher/delivery.ts",
    code: "const PACED_TTL_MS = 60_000;",
    change: "60_000 → 60_000 * 1000",
    why: FLOW,
  },
  {
    file: "lib/master/publisher/delivery.ts",
    code: "await paced.take({ ...delivery, minions, sent, ttlMs });",
    change: "ttlMs → ",
    why: FLOW,
  },
  {
    file: "lib/master/publisher/delivery.ts",
    code:
      "if (silent.length > 0) this.#redelivery.publishedMore({ ...delivery, minions: silent, ttlMs }, performance.now());",
    change: "ttlMs → ",
    why: FLOW,
  },
  {
    file: "lib/master/publisher/delivery.ts",
    code: "const NAMED_IDS = 10;",
    change: "10 → 11",
    why: "the simulation has five minions",
  },
  {
    file: "lib/minion/masters/jid_memory.ts",
    code: "const KEEP_MS = 24 * 3_600_000;",
    change: "24 * 3_600_000 → 24 * 3_600_000 * 1000",
    why: MEMORY,
  },
  {
    file: "lib/minion/masters/jid_memory.ts",
    code: "const MAX_JIDS = 100_000;",
    change: "100_000 → 100_000 * 1000",
    why: MEMORY,
  },
  {
    file: "lib/minion/masters/jid_memory.ts",
    code: "const MAX_KEYS = 64;",
    change: "64 → 65",
    why: MEMORY,
  },
  {
    file: "lib/minion/masters/jid_memory.ts",
    code: "if (!aged && size < Math.max(MAX_JIDS, this.#options.min)) return false;",
    change: "!aged && size < Math.max(MAX_JIDS, this.#options.min) → !aged",
    why: MEMORY,
  },
  {
    file: "lib/minion/masters/jid_memory.ts",
    code: "if (!aged && size < Math.max(MAX_JIDS, this.#options.min)) return false;",
    change: "!aged && size < Math.max(MAX_JIDS, this.#options.min) → size < Math.max(MAX_JIDS, this.#options.min)",
    why: MEMORY,
  },
  {
    file: "lib/minion/masters/jid_memory.ts",
    code: "if (!aged && size < Math.max(MAX_JIDS, this.#options.min)) return false;",
    change: "< → <=",
    why: MEMORY,
  },
  {
    file: "lib/minion/masters/jid_memory.ts",
    code: "sinceMs: since === undefined ? undefined : Number(since),",
    change: "sinceMs: since === undefined ? undefined : Number(since), → ",
    why: MEMORY,
  },
  {
    file: "lib/minion/masters/publish_reader.ts",
    code: "const OVERLAP = 64;",
    change: "64 → 65",
    why: "it decides about a line of the log alone",
  },
  {
    file: "lib/minion/masters/publish_reader.ts",
    code: "return matchesTarget(target, subject, { delimiter });",
    change: "delimiter → ",
    why: "targets by grains are no part of the simulation",
  },
  {
    file: "lib/minion/masters/return_spool.ts",
    code: "const SHORTEST_REST_MS = 50, LONGEST_REST_MS = 600_000;",
    change: "600_000 → 600_000 * 1000",
    why: "no simulated master refuses the same return for ten minutes",
  },
  {
    file: "lib/jobs/undelivered.ts",
    code: "if (!isJid(jid) || this.#over.has(jid)) return;",
    change: "!isJid(jid) || this.#over.has(jid) → !isJid(jid)",
    why: NO_DIFFERENCE,
  },
  {
    file: "lib/jobs/undelivered.ts",
    code: "if (!isJid(jid) || this.#over.has(jid)) return;",
    change: "return; → {}",
    why: NO_DIFFERENCE,
  },
  {
    file: "lib/jobs/undelivered.ts",
    code: "if (found !== undefined && this.#open(jid, found, now) !== undefined) return;",
    change: "return; → {}",
    why: FLOW,
  },
  {
    file: "lib/jobs/undelivered_log.ts",
    code: "return old.length < files.length;",
    change: "< → <=",
    why: NO_DIFFERENCE,
  },
  {
    file: "lib/minion/masters/jid_memory.ts",
    code: "if (this.has(jid)) return;",
    change: "return; → {}",
    why: NO_DIFFERENCE,
  },
  {
    file: "lib/minion/masters/jid_memory.ts",
    code: "else Deno.writeTextFileSync(path, line(jid, mark), { append: true, mode: 0o600 });",
    change: "mode: 0o600 → ",
    why: "nobody removes files of a simulated minion: the fault cache-removed does",
  },
  {
    file: "lib/minion/masters/jid_memory.ts",
    code: "else Deno.writeTextFileSync(path, line(jid, mark), { append: true, mode: 0o600 });",
    change: "0o600 → 0o644",
    why: "nobody removes files of a simulated minion: the fault cache-removed does",
  },
  {
    file: "lib/minion/masters/jid_memory.ts",
    code: "if (!isJid(jid)) continue;",
    change: "continue; → {}",
    why: NO_DIFFERENCE,
  },
  {
    file: "lib/minion/masters/jid_memory.ts",
    code: "if (!MARK.test(`${serial} ${key}`)) continue;",
    change: "continue; → {}",
    why: NO_DIFFERENCE,
  },
  {
    file: "lib/master/publisher/delivery.ts",
    code: "if (this.#redelivery.has(delivery.jid) || missing.length === 0) return;",
    change: "this.#redelivery.has(delivery.jid) || missing.length === 0 → missing.length === 0",
    why: REPEATED,
  },
  {
    file: "lib/master/publisher/delivery.ts",
    code: "if (this.#redelivery.has(delivery.jid) || missing.length === 0) return;",
    change: "return; → {}",
    why: REPEATED,
  },
  {
    file: "lib/minion/masters/return_spool.ts",
    code: "if (this.#entries.length === 0 || this.#closing.signal.aborted) return;",
    change: "this.#entries.length === 0 || this.#closing.signal.aborted → this.#closing.signal.aborted",
    why: "a timer of weeks is set that the next return ends",
  },
  {
    file: "lib/minion/masters/return_spool.ts",
    code: "if (failure === undefined) continue;",
    change: "continue; → {}",
    why: "no simulated return is too large for a master",
  },
  {
    file: "lib/cluster/publish_log.ts",
    code: 'for (const one of written) if (one.status === "rejected") throw one.reason;',
    change: "throw one.reason; → {}",
    why: "a simulated database is away, and refuses nothing",
  },
];
