import { failuresText } from "#lib/commands/report/failures.ts";
import type { Outcome } from "#lib/protocol/outcome.ts";
import { assertEquals } from "#tests/support/assert.ts";

const end = (id: string, retcode: number, outcome: Outcome = retcode === 0 ? "returned" : "failed") => ({
  id,
  retcode,
  outcome,
});
const WORDS = "ERROR: Minions returned with non-zero exit code: ";

Deno.test("one line names the minions of each return code and each reason, without those that succeeded", () => {
  const ends = [
    end("web3", 127),
    end("web1", 0),
    end("web2", 3),
    end("db1", 3),
    end("db2", -9),
    end("off", 1, "not connected"),
    end("new", 1, "no such minion"),
    end("dead", 1, "interrupted"),
  ];
  assertEquals(
    failuresText(ends, { color: false }),
    `${WORDS}-9 (db2), 3 (db1, web2), 127 (web3), interrupted (dead), no such minion (new), not connected (off)\n`,
  );
  assertEquals(failuresText([end("a", 1)], { color: true }), `\x1b[0;31m${WORDS}1 (a)\x1b[0;0m\n`);
});

Deno.test("if there are many minions, some are named and the rest is counted; an id cannot control the terminal", () => {
  const ends = Array.from({ length: 25 }, (_, i) => end(`m${String(i).padStart(2, "0")}\x1b[2J`, 1));
  const named = ends.slice(0, 10).map(({ id }) => id.replace("\x1b", "\\x1b")).join(", ");
  assertEquals(failuresText(ends, { color: false }), `${WORDS}1 (${named} and 15 more)\n`);
});
