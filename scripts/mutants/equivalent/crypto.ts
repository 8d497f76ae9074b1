/**
 * Equivalent mutants of lib/crypto.
 * @module
 */

import type { EquivalentMutant } from "./equivalent_mutant.ts";

/** See the module. */
export const CRYPTO: readonly EquivalentMutant[] = [
  {
    file: "lib/crypto/aes.ts",
    code: "for (let byte = 0; byte < 256; byte++) {",
    change: "< → <=",
    why: "a write past the end of a typed array has no effect",
  },
  {
    file: "lib/crypto/aes.ts",
    code: "for (let i = length, constant = 1; i < words.length; i++) {",
    change: "< → <=",
    why: "a write past the end of a typed array has no effect",
  },
  {
    file: "lib/crypto/aes.ts",
    code: "for (let i = 0; i < words.length; i++) {",
    change: "< → <=",
    why: "a write past the end of a typed array has no effect",
  },
  {
    file: "lib/crypto/crypticle.ts",
    code: "if (bytes >= SMALL_BYTES) {",
    change: ">= → >",
    why: "both ways to seal give the same bytes; the bound is one of speed",
  },
  {
    file: "lib/crypto/same_bytes.ts",
    code: "for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;",
    change: "< → <=",
    why: "both are undefined past their common length",
  },
];
