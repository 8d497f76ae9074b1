import { judgeFlaky } from "#scripts/flaky.ts";
import { assertEquals } from "#tests/support/assert.ts";

const RUNS = ["a", "b", "c", "d"].map((name) => ({ file: `tests/${name}_test.ts`, failures: ["it"] }));

for (const [count, failed] of [[3, 0], [4, 1]]) {
  Deno.test(`${count} flaky files count as ${failed} failures`, () => {
    const judged = judgeFlaky({ flaky: RUNS.slice(0, count), list: [], ran: RUNS.map(({ file }) => file) });
    assertEquals([judged.failed, judged.lines.length], [failed, count + failed]);
  });
}
