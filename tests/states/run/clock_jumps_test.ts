/**
 * A wall clock that jumps while states run: durations and the pauses of `retry` are those of the monotonic clock.
 * @module
 */

import { isMap, toNumber } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { resultOf } from "#tests/support/calls/returned_states.ts";
import { openTree } from "#tests/support/calls/state_tree.ts";

const DAY_MS = 86_400_000;

/** Runs `run` with a wall clock that jumps by `jumpMs` at each reading. */
async function withJumps<T>(jumpMs: number, run: () => Promise<T>): Promise<T> {
  const { now } = Date;
  let looks = 0;
  Date.now = () => now() + ++looks * jumpMs;
  try {
    return await run();
  } finally {
    Date.now = now;
  }
}

const SLS = `quick: test.nop
again:
  test.fail_without_changes:
    - retry: {attempts: 2, interval: 1, splay: 0}
beside:
  test.nop:
    - parallel: True
waits:
  loop.until_no_eval:
    - name: test.ping
    - expected: True
    - timeout: 10
file:
  file.managed:
    - name: {ROOT}/file
    - contents: new
`;

for (const [where, jumpMs] of [["back", -DAY_MS], ["forward", DAY_MS]] as const) {
  Deno.test(`a clock that jumps ${where} in a run makes no duration negative, and no pause of retry longer or shorter`, async () => {
    await using tree = await openTree({});
    await Deno.writeTextFile(`${tree.root}/srv/t.sls`, SLS.replace("{ROOT}", tree.root));
    const begun = performance.now();
    const { returned } = await withJumps(jumpMs, () => tree.call("state.sls", ["t"]));
    const tookMs = performance.now() - begun;
    for (const id of ["quick", "again", "beside", "waits", "file"]) {
      const duration = toNumber(resultOf(returned, id).get("duration"));
      assert(duration !== undefined && duration >= 0 && duration <= tookMs + 1000, `${id} took ${duration} ms`);
    }
    assert((toNumber(resultOf(returned, "again").get("duration")) ?? 0) >= 1000, "the pause counts");
    assert(tookMs >= 990, `the pause was ${tookMs} ms`);
    for (const id of ["file", "waits"]) assertEquals(resultOf(returned, id).get("result"), true, id);
    const last = (await tree.call("state.last_run")).returned;
    assertEquals(isMap(last) && last.get("outcome"), "finished");
  });
}
