/**
 * Equivalent mutants of lib/sockets.
 * @module
 */

import type { EquivalentMutant } from "./equivalent_mutant.ts";

/** See the module. */
export const SOCKETS: readonly EquivalentMutant[] = [
  {
    file: "lib/sockets/connection_limiter.ts",
    code: "for (let inARow = 0; await wait.until(() => socket.readable, Infinity);) {",
    change: "0 → 1",
    why: "other sockets get their turn one event earlier, only the first time",
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
];
