/**
 * Mutants without an observable effect, each with the reason. They are not made.
 * @module
 */

/** An equivalent mutant, identified by its text: line numbers may change. */
export interface Equivalent {
  /** The path from the root of the tree. */
  readonly file: string;
  /** The line where the mutant begins, trimmed. */
  readonly code: string;
  /** As `deno task mutants` prints it. */
  readonly change: string;
  /** Why no test can observe it. */
  readonly why: string;
}

/** All equivalent mutants that are known. A test checks that each of them is still a mutant. */
export const EQUIVALENT: readonly Equivalent[] = [
  {
    file: "lib/crypto/crypticle.ts",
    code: "if (bytes >= SMALL_BYTES) {",
    change: ">= → >",
    why: "both ways to seal give the same bytes; the bound is one of speed",
  },
  {
    file: "lib/sockets/connection_shares.ts",
    code: "#max = 0;",
    change: "0 → 1",
    why: "it is not read while there is no connection, and the first makes it 1",
  },
  {
    file: "lib/sockets/connection_shares.ts",
    code: "this.#max = to > from ? Math.max(this.#max, to) : this.#bySize.has(this.#max) ? this.#max : this.#max - 1;",
    change: "> → >=",
    why: "the count of an address changes by one each time: it is never the same",
  },
  {
    file: "lib/sockets/connection_limiter.ts",
    code: "for (let inARow = 0; await this.#wait.until(() => socket.readable, Infinity);) {",
    change: "0 → 1",
    why: "other sockets get their turn one event earlier, only the first time",
  },
  {
    file: "lib/keys/shared_table.ts",
    code: "for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);",
    change: "< → <=",
    why: "the code past the end is NaN, which counts as 0: another hash, equally good",
  },
  {
    file: "lib/keys/shared_key.ts",
    code: "const HEADER_BYTES = 8;",
    change: "8 → 9",
    why: "one byte more than needed, in every view",
  },
  {
    file: "lib/keys/sessions.ts",
    code: "const READY = 512;",
    change: "512 → 513",
    why: "the size of a cache",
  },
  {
    file: "lib/keys/verified_tokens.ts",
    code: "const DIGEST_BYTES = 16;",
    change: "16 → 17",
    why: "a longer digest is equally good",
  },
  {
    file: "lib/keys/shared_table.ts",
    code: "const DIGEST_BYTES = 16;",
    change: "16 → 17",
    why: "a longer digest is equally good",
  },
  {
    file: "lib/crypto/same_bytes.ts",
    code: "for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;",
    change: "< → <=",
    why: "both are undefined past their common length",
  },
  {
    file: "lib/minion/publish_reader.ts",
    code: "#lastSerial = 0;",
    change: "0 → 1",
    why: "it is read only after a sign-in, which sets it",
  },
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
];
