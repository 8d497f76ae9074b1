/**
 * Mutants without an observable effect, each with the reason. They are not made. The folder equivalent/ has a list for
 * each family of sources.
 * @module
 */

import { AUTH } from "#scripts/mutants/equivalent/auth.ts";
import { CRYPTO } from "#scripts/mutants/equivalent/crypto.ts";
import { FILES } from "#scripts/mutants/equivalent/files.ts";
import { FILESYSTEM } from "#scripts/mutants/equivalent/filesystem.ts";
import { JOBS } from "#scripts/mutants/equivalent/jobs.ts";
import { KEYS } from "#scripts/mutants/equivalent/keys.ts";
import { MASTER } from "#scripts/mutants/equivalent/master.ts";
import { MINION } from "#scripts/mutants/equivalent/minion.ts";
import { PILLAR } from "#scripts/mutants/equivalent/pillar.ts";
import { SOCKETS } from "#scripts/mutants/equivalent/sockets.ts";
import type { EquivalentMutant } from "#scripts/mutants/equivalent/equivalent_mutant.ts";

/** All equivalent mutants that are known. A test checks that each of them is still a mutant. */
export const EQUIVALENT: readonly EquivalentMutant[] = [
  ...AUTH,
  ...CRYPTO,
  ...FILES,
  ...FILESYSTEM,
  ...JOBS,
  ...KEYS,
  ...MASTER,
  ...MINION,
  ...PILLAR,
  ...SOCKETS,
];
