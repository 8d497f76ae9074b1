import { JobProgress, progressScreen } from "#lib/commands/report/progress.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";

Deno.test("a job's progress counts returns, failures and disconnected minions, and names the awaited minions", () => {
  const progress = new JobProgress(["a", "b", "c", "d", "e", "f", "g", "h"]);
  assertEquals(progress.text(0), `[${" ".repeat(20)}] 0/8 returned, 0 s, waiting for a, b, c and 5 more`);
  progress.answered({ id: "a", retcode: 0, outcome: "returned" });
  progress.answered({ id: "b", retcode: 3, outcome: "failed" });
  progress.answered({ id: "b", retcode: 3, outcome: "failed" });
  progress.answered({ id: "stranger", retcode: 0, outcome: "returned" });
  progress.absent(["c", "d", "a"]);
  assertEquals(
    progress.text(75.9),
    `[#####${" ".repeat(15)}] 2/8 returned, 1 failed, 2 not connected, 75 s, waiting for e, f, g and 1 more`,
  );
  for (const id of ["c", "d"]) progress.answered({ id, retcode: 1, outcome: "not connected" });
  for (const id of ["e", "f", "g", "h"]) progress.answered({ id, retcode: 0, outcome: "returned" });
  assertEquals(progress.text(80), `[${"#".repeat(15)}${" ".repeat(5)}] 6/8 returned, 1 failed, 2 not connected, 80 s`);
});

Deno.test("a job's progress counts the states of minions that report them", () => {
  const progress = new JobProgress(["a", "b", "c"]);
  progress.state("a", 3);
  progress.state("a", 3);
  progress.state("b", 5);
  assertEquals(progress.text(2), `[${" ".repeat(20)}] 0/3 returned, 2 s, 3 of 8 states, waiting for a, b, c`);
});

/** A command's input and output, with everything that it writes, in order. */
function terminal(more: { isDumb?: boolean; columns?: number } = {}) {
  const written: string[] = [];
  const io = {
    write: (text: string) => void written.push(`out ${text}`),
    writeError: (text: string) => void written.push(`err ${text}`),
    isTerminal: true,
    isErrorTerminal: true,
    readStdin: () => Promise.resolve(""),
    signal: new AbortController().signal,
    ...more,
  };
  return { io, written };
}

Deno.test("the status line is below the output: it is removed before output, shown again, and removed at the end", async () => {
  const { io, written } = terminal({ columns: 30 });
  const screen = progressScreen(io);
  if (screen === undefined) throw new Error("no screen");
  const progress = new JobProgress(["web1", "web2"]);
  const line = `err \r[${" ".repeat(20)}] 0/2 r…\x1b[K`;
  {
    using _shown = screen.follow(progress, 0);
    assertEquals(written, [line]);
    screen.io.write("web1: True\n");
    assertEquals(written, [line, "err \r\x1b[K", "out web1: True\n"]);
    await eventually(() => written.length === 4, { what: "the line again" });
    assertEquals(written[3], line);
  }
  assertEquals(written.slice(4), ["err \r\x1b[K"]);
  screen.io.writeError("done\n");
  assertEquals(written.slice(5), ["err done\n"]);
});

Deno.test("a short command shows no status line, and neither does a terminal that cannot redraw", () => {
  const { io, written } = terminal();
  const screen = progressScreen(io);
  screen?.follow(new JobProgress(["web1"]), 60_000)[Symbol.dispose]();
  assertEquals(written, []);
  assertEquals(progressScreen(terminal({ isDumb: true }).io), undefined);
});
