/** @module */
import { ProgramLines } from "#lib/programs/program_lines.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { SkippedTime } from "#tests/support/skipped_time.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

/** Runs a script until `wanted` holds of its lines and ends. */
async function told(script: string, wanted: (lines: readonly string[], ends: readonly string[]) => boolean) {
  const lines: string[] = [], ends: string[] = [];
  const program = new ProgramLines(["sh", "-c", script], {
    onLines: (some) => void lines.push(...some),
    onEnd: (reason) => void ends.push(reason),
  });
  try {
    await eventually(() => wanted(lines, ends), { what: "the lines of the program" });
  } finally {
    program.close();
    program.close();
  }
  return { lines, ends };
}

Deno.test("a line that is too long is left out as a whole, and those around it are told", async () => {
  const script = "echo before; head -c 3000000 /dev/zero | tr '\\0' x; echo end; echo after; exec sleep 100";
  const { lines, ends } = await told(script, (lines) => lines.includes("after"));
  assertEquals([lines, ends], [["before", "after"], []]);
});

Deno.test("a program that ends says why, and is started again", async () => {
  const { lines, ends } = await told("echo once; echo bad >&2; exit 3", (lines) => lines.length === 2);
  assertEquals([lines, ends[0]], [["once", "once"], "sh ended with exit code 3: bad"]);
});

Deno.test("a program that ends at once waits longer each time, and after a long run only a second again", () =>
  withTemporaryDirectory(async (root) => {
    using time = new SkippedTime();
    const ends: string[] = [];
    // The sixth run lasts until there is a file.
    const script = "echo >>runs; while [ $(wc -l <runs) = 6 ] && [ ! -e end ]; do sleep 0.02; done";
    const program = new ProgramLines(["sh", "-c", `cd ${root}; ${script}`], {
      onLines: () => {},
      onEnd: (reason) => void ends.push(reason),
    });
    const runs = () => Deno.readTextFileSync(`${root}/runs`).length;
    try {
      let ms = 0;
      for (let run = 1; run < 6; run++) {
        await eventually(() => ends.length === run, { what: `the end of run ${run}` });
        await time.to(ms += 20_000);
      }
      await eventually(() => runs() === 6, { what: "the long run" });
      await time.to(ms += 70_000);
      Deno.writeTextFileSync(`${root}/end`, "");
      await eventually(() => ends.length === 6, { what: "its end" });
      // Without it the next run would come after 32 seconds.
      await time.to(ms += 5_000);
      await eventually(() => runs() === 7, { what: "the run after it", withinMs: 15_000 });
    } finally {
      program.close();
    }
    assertEquals(ends[0], "sh ended with exit code 0");
  }));
