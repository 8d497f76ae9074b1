/**
 * Mutants without an observable effect, each with the reason. They are not made.
 * @module
 */

/** One of them, by its text, so that lines above it may come and go. */
export interface Equivalent {
  /** From the root of the tree. */
  readonly file: string;
  /** The line where it begins, without the spaces around it. */
  readonly code: string;
  /** As `deno task mutants` prints it. */
  readonly change: string;
  /** Why the state is not known. */
  readonly why: string;
}

/** All that were found so far. A test sees to it that each still is a mutant. */
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
    why: "others get their turn one event earlier, the first time",
  },
  {
    file: "lib/keys/shared_table.ts",
    code: "for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);",
    change: "< → <=",
    why: "past the end is NaN, which is 0 there: another hash, as good",
  },
  {
    file: "lib/keys/shared_key.ts",
    code: "const HEADER_BYTES = 8;",
    change: "8 → 9",
    why: "a byte more than needed, for every view alike",
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
    why: "a longer digest is as good",
  },
  {
    file: "lib/keys/shared_table.ts",
    code: "const DIGEST_BYTES = 16;",
    change: "16 → 17",
    why: "a longer digest is as good",
  },
  {
    file: "lib/crypto/same_bytes.ts",
    code: "for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;",
    change: "< → <=",
    why: "both have nothing past their common length",
  },
  {
    file: "lib/minion/publish_reader.ts",
    code: "#lastSerial = 0;",
    change: "0 → 1",
    why: "nothing is read before a sign-in, and that sets it",
  },
  {
    file: "lib/crypto/aes.ts",
    code: "for (let byte = 0; byte < 256; byte++) {",
    change: "< → <=",
    why: "what is written past the end of a table is not kept",
  },
  {
    file: "lib/crypto/aes.ts",
    code: "for (let i = length, constant = 1; i < words.length; i++) {",
    change: "< → <=",
    why: "what is written past the end of a table is not kept",
  },
  {
    file: "lib/crypto/aes.ts",
    code: "for (let i = 0; i < words.length; i++) {",
    change: "< → <=",
    why: "what is written past the end of a table is not kept",
  },
];
