/**
 * Equivalent mutants of lib/auth and modules/auth.
 * @module
 */

import type { EquivalentMutant } from "./equivalent_mutant.ts";

/** See the module. */
export const AUTH: readonly EquivalentMutant[] = [
  {
    file: "lib/auth/audit_log.ts",
    code: "const TAIL_BYTES = 8192;",
    change: "8192 → 8192 * 1000",
    why: "the last line is the same; more is read to find it",
  },
  {
    file: "lib/auth/audit_log.ts",
    code: "for (let n: number | null = 0; n !== null && read < bytes.length; read += n ?? 0) {",
    change: "0 → 1",
    why: "the first read sets it",
  },
  {
    file: "lib/auth/audit_log.ts",
    code: "let low = 0, high = size;",
    change: "0 → 1",
    why: "a byte of a place that is known to 64 KiB",
  },
  {
    file: "lib/auth/auth_list.ts",
    code: 'if (typeof name !== "string" || name === "*" || !Array.isArray(entries)) continue;',
    change: 'typeof name !== "string" || name === "*" → typeof name !== "string"',
    why: "the entry is taken for a user of that name alone, who has its rules either way",
  },
  {
    file: "lib/auth/first_user.ts",
    code: "const own = { mode: 0o600, makeDirectory: true };",
    change: "mode: 0o600,  → ",
    why: "the mode of writeFileAtomic is 0600 if none is given",
  },
  {
    file: "lib/auth/first_user.ts",
    code: "const PASSWORD_BYTES = 15;",
    change: "15 → 16",
    why: "a longer random password is equally good",
  },
  {
    file: "lib/auth/libpam.ts",
    code: "const PAM_BUF_ERR = 5;",
    change: "5 → 6",
    why: "PAM and its modules look only whether it is 0",
  },
  {
    file: "lib/auth/libpam.ts",
    code: "const PAM_CONV_ERR = 19;",
    change: "19 → 20",
    why: "PAM and its modules look only whether it is 0",
  },
  {
    file: "lib/auth/libpam.ts",
    code: "const MAX_MESSAGES = 32;",
    change: "32 → 33",
    why: "libpam itself passes on no more than 32",
  },
  {
    file: "lib/auth/tokens.ts",
    code: "writeFileAtomic(this.#path(token), file, { mode: 0o600, makeDirectory: true });",
    change: "mode: 0o600,  → ",
    why: "the mode of writeFileAtomic is 0600 if none is given",
  },
  {
    file: "lib/auth/tokens.ts",
    code: "const ENTROPY_BYTES = 512;",
    change: "512 → 513",
    why: "more random bytes give a token of the same length",
  },
  {
    file: "lib/auth/tokens.ts",
    code:
      "if (file !== undefined) return writeFileAtomic(this.#path(token), file, { mode: 0o600, makeDirectory: true });",
    change: "mode: 0o600,  → ",
    why: "the mode of writeFileAtomic is 0600 if none is given",
  },
  {
    file: "lib/auth/tokens.ts",
    code: "if (own.length <= MAX_OF_USER) return;",
    change: "<= → <",
    why: "of as many as there may be, none is beyond",
  },
  {
    file: "modules/auth/pam.ts",
    code: "if (Deno.uid() === 0) return true;",
    change: "return true; → {}",
    why: "root can read /etc/shadow, which is looked at next",
  },
];
