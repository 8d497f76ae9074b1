/** @module */
import { ProgramLines } from "#lib/programs/program_lines.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";

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
