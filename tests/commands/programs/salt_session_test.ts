/** The wait of a job for its turn, as `salt` shows it. */

import { turnOf } from "#lib/commands/programs/salt_session.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";

Deno.test("a job waits for its turn as long as for minions, and says so on standard error", () => {
  const written: string[] = [];
  const io = {
    signal: new AbortController().signal,
    columns: 80,
    isTerminal: false,
    isErrorTerminal: false,
    readStdin: () => Promise.resolve(""),
    write: () => {},
    writeError: (text: string) => void written.push(text),
  };
  const timeouts = { timeoutMs: 5_000, gatherMs: 10_000 };
  const turn = turnOf({ timeouts, io });
  turn.onWait("It waits");
  const leftMs = turn.untilMs - performance.now();
  assert(leftMs > 0 && leftMs <= 5_000, `${leftMs}`);
  assertEquals([written, turn.signal, turnOf({ timeouts, io }, Infinity).untilMs], [
    ["It waits\n"],
    io.signal,
    Infinity,
  ]);
});
