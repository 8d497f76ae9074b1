import { assertEquals } from "#tests/support/assert.ts";
import type { Fault } from "#tests/chaos/harness/fault.ts";
import { makeAll } from "./run.ts";

/** A fault whose runs return these figures, each of which must be 0. A run without a figure throws. */
function fault(name: string, figures: readonly number[]): Fault & { runs: number } {
  return {
    name,
    what: "nothing",
    promise: "it is 0",
    runs: 0,
    run() {
      const value = figures[this.runs++];
      if (value === undefined) throw new Error("it could not be made");
      return Promise.resolve([{ name: "figure", value, atMost: 0 }]);
    },
  };
}

const CASES: [what: string, figures: number[], again: boolean, word: string, runs: number, flaky: string[]][] = [
  ["one that holds is made once", [0], true, "holds", 1, []],
  ["one that breaks is made once", [1, 0], false, "BROKEN", 1, []],
  ["with --again it is made twice, and is flaky if it holds then", [1, 0], true, "holds", 2, ["it"]],
  ["with --again it is broken if it breaks twice", [1, 1, 0], true, "BROKEN", 2, []],
  ["with --again it is broken if the second run throws", [1], true, "BROKEN", 2, []],
];
for (const [what, figures, again, word, runs, flaky] of CASES) {
  Deno.test(`deno task chaos: of faults, ${what}`, async () => {
    const it = fault("it", figures);
    const made = await makeAll([fault("before", [0]), it], { long: false, seed: "1", again });
    assertEquals(made.outcomes.map((outcome) => outcome.word), ["holds", word]);
    assertEquals(it.runs, runs);
    assertEquals(
      made.flaky.map(({ file, failures }) => [file, ...failures]),
      flaky.map((name) => ["deno task chaos", name]),
    );
  });
}
