/** @module */
import { returnText } from "#lib/master/requests/job_text.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";

const state = (result: boolean | null, number: number) => ({
  result,
  comment: "secret",
  changes: {},
  __run_num__: number,
});

Deno.test("the log says of a return whether it failed, and which states did", () => {
  const run = (results: Record<string, boolean>) =>
    Object.fromEntries(
      Object.entries(results).map(([id, result], i) => [`file_|-${id}_|-/x/${id}_|-managed`, state(result, i)]),
    );
  const said = (load: Record<string, unknown>) => returnText(map(load));
  assertEquals(said({ return: true, retcode: 0 }), "succeeded");
  assertEquals(said({ return: "secret", retcode: 4 }), "failed, return code 4");
  assertEquals(said({ return: "secret", retcode: 1, interrupted: true }), "interrupted");
  assertEquals(said({ return: run({ one: true }), retcode: 0 }), "succeeded, 1 state");
  assertEquals(said({ return: run({ one: true, src: false }), retcode: 2 }), "failed, 1 of 2 states: src");
  assertEquals(said({ return: ["secret"], retcode: 1 }), "failed, return code 1");
  const many = Object.fromEntries(Array.from({ length: 7 }, (_, i) => [`s${i}`, false]));
  assertEquals(said({ return: run(many), retcode: 2 }), "failed, 7 of 7 states: s0, s1, s2, s3, s4 and 2 more");
});
