import { STATE_DISPLAY } from "#lib/output/highstate.ts";
import { formatOutput } from "#lib/output/outputters.ts";
import { toValue } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";

const RUN = toValue({
  m1: {
    "file_|-a_|-a_|-managed": {
      __run_num__: 0,
      result: true,
      comment: "one\ntwo\nthree",
      changes: { diff: "1\n2\n3\n4\n", stdout: ["x\ny\nz"], mode: "0644", size: 5 },
    },
  },
});

function shown(maxLines: number): string {
  return formatOutput(RUN, { out: "highstate", color: false, states: { ...STATE_DISPLAY, maxLines } });
}

Deno.test("long texts in the changes are cut after the given number of lines, and the rest is counted", () => {
  const lines = shown(2).split("\n").map((line) => line.trim());
  assertEquals(lines.slice(lines.indexOf("diff:"), lines.indexOf("stdout:")), [
    "diff:",
    "1",
    "2",
    "… 2 more lines",
    "mode:",
    "0644",
    "size:",
    "5",
  ]);
});

Deno.test("a text that is one line longer, and a comment, are shown completely", () => {
  const text = shown(2);
  for (const line of ["z", "three"]) assert(text.split("\n").some((one) => one.trim() === line), line);
});

Deno.test("by default nothing is cut", () => assertEquals(shown(0).includes("more lines"), false));
