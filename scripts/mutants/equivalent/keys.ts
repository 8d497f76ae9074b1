/**
 * Equivalent mutants of lib/keys.
 * @module
 */

import type { EquivalentMutant } from "./equivalent_mutant.ts";

/** See the module. */
export const KEYS: readonly EquivalentMutant[] = [
  {
    file: "lib/keys/accepted_keys.ts",
    code: "const KNOWN = 512;",
    change: "512 → 513",
    why: "the size of a cache",
  },
  {
    file: "lib/keys/accepted_keys.ts",
    code: "if (proof?.version === version && sameBytes(proof.token, token)) return true;",
    change: "return true; → {}",
    why: "the threads' common memory of tokens says the same, after two digests more",
  },
  {
    file: "lib/keys/derived_sessions.ts",
    code: "const READY = 512;",
    change: "512 → 513",
    why: "the size of a cache",
  },
  {
    file: "lib/keys/followers.ts",
    code: 'if (statIfExists(path) === undefined) writeFileAtomic(path, "", { mode: 0o600, makeDirectory: true });',
    change: "mode: 0o600,  → ",
    why: "the mode of writeFileAtomic is 0600 if none is given",
  },
  {
    file: "lib/keys/sessions.ts",
    code: "const READY = 512;",
    change: "512 → 513",
    why: "the size of a cache",
  },
  {
    file: "lib/keys/sessions.ts",
    code: "writeFileAtomic(this.#path(id), generateKeyString(), { mode: 0o600, makeDirectory: true });",
    change: "mode: 0o600,  → ",
    why: "the mode of writeFileAtomic is 0600 if none is given",
  },
  {
    file: "lib/keys/shared_key.ts",
    code: "const HEADER_BYTES = 8;",
    change: "8 → 9",
    why: "one byte more than needed, in every view",
  },
  {
    file: "lib/keys/shared_key.ts",
    code: "const KEYS = 3;",
    change: "3 → 4",
    why: "memory for one key more, which nobody uses",
  },
  {
    file: "lib/keys/shared_key.ts",
    code: "const KEY_LENGTH = 76;",
    change: "76 → 77",
    why: "one byte more than needed, which is cut off again",
  },
  {
    file: "lib/keys/shared_table.ts",
    code: "for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);",
    change: "< → <=",
    why: "the code past the end is NaN, which counts as 0: another hash, equally good",
  },
  {
    file: "lib/keys/shared_table.ts",
    code: "const DIGEST_BYTES = 16;",
    change: "16 → 17",
    why: "a longer digest is equally good",
  },
  {
    file: "lib/keys/store.ts",
    code: "writeFileAtomic(this.#path(id, state), pem, { mode: 0o600, sync: true });",
    change: "mode: 0o600,  → ",
    why: "the mode of writeFileAtomic is 0600 if none is given",
  },
  {
    file: "lib/keys/verified_tokens.ts",
    code: "const DIGEST_BYTES = 16;",
    change: "16 → 17",
    why: "a longer digest is equally good",
  },
];
