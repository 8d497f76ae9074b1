/**
 * The short form of a fault of `deno task chaos` as a test.
 * @module
 */

import { type Fault, holds } from "#tests/chaos/harness/fault.ts";
import { Random } from "#tests/fuzz/mutate.ts";

/**
 * Registers a test that the promise holds. If this machine cannot cause the fault, the test is ignored, and its name
 * has the reason.
 */
export function chaosTest(fault: Fault): void {
  const missing = fault.missing?.();
  const name = `${fault.what}: ${fault.promise}${missing === undefined ? "" : ` (left out: ${missing})`}`;
  Deno.test({
    name,
    ignore: missing !== undefined,
    async fn() {
      const figures = await fault.run({ long: false, random: new Random(`1/${fault.name}`), say: () => {} });
      const lines = figures.map(({ name, value, atMost, atLeast }) =>
        `${name}: ${value}${atMost === undefined ? "" : ` of at most ${atMost}`}${
          atLeast === undefined ? "" : ` of at least ${atLeast}`
        }`
      );
      if (!figures.every(holds)) throw new Error(`the promise did not hold:\n${lines.join("\n")}`);
    },
  });
}
