import { judgeFlaky } from "#scripts/flaky.ts";
import { assertEquals } from "#tests/support/assert.ts";

const RUNS = Array.from({ length: 7 }, (_, n) => ({ file: `tests/${n}_test.ts`, failures: ["it"] }));

for (const [count, seconds, failed] of [[3, 60, 0], [4, 2_400, 1], [6, 2_401, 0], [7, 4_000, 1]]) {
  Deno.test(`${count} flaky files count as ${failed} failures in a run of ${seconds} s`, () => {
    const judged = judgeFlaky({ flaky: RUNS.slice(0, count), list: [], ran: RUNS.map(({ file }) => file), seconds });
    assertEquals([judged.failed, judged.lines.length], [failed, count + failed]);
  });
}
