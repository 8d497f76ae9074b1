import type { Answer } from "#lib/commands/report/answers.ts";
import { summaryText } from "#lib/commands/report/summary.ts";
import { assertEquals, assertStringIncludes } from "#tests/support/assert.ts";

const ANSWERS: readonly Answer[] = [
  { id: "web1", return: 1, retcode: 0, outcome: "returned", tookMs: 20 },
  { id: "web2", return: 1, retcode: 0, outcome: "returned", tookMs: 1_204.4 },
  { id: "web3", return: 1, retcode: 3, outcome: "failed", tookMs: 30 },
  { id: "db1", return: 1, retcode: 127, outcome: "failed", tookMs: 25 },
  { id: "off", return: "", retcode: 1, outcome: "not connected" },
];

Deno.test("a summary has a row for each outcome and return code, and the response times", () => {
  assertEquals(
    summaryText(ANSWERS, { verbose: false, color: false }).split("\n").slice(5, -2),
    [
      "# of minions targeted: 5",
      "# of minions returned: 4",
      "# of minions that did not return: 1",
      "# of minions with errors: 2",
      "outcome        code  minions  which",
      "returned          0        2  web1, web2",
      "failed            3        1  web3",
      "failed          127        1  db1",
      "not connected     -        1  off",
      "response times: 0.020 s to 1.204 s, median 0.025 s; the slowest: web2",
    ],
  );
});

Deno.test("a summary for a terminal has a colour for each outcome; with -v it names all minions", () => {
  const many = Array.from({ length: 12 }, (_, i): Answer => ({ ...ANSWERS[2], id: `m${i}` }));
  const text = summaryText(many, { verbose: true, color: true });
  assertStringIncludes(text, "\x1b[0;31mfailed      3       12  m0, m1, m10, m11, m2");
  assertStringIncludes(summaryText(many, { verbose: false, color: false }), " and 2 more\n");
  assertStringIncludes(text, "\nMinions with failures: m0 m1 m2");
});

Deno.test("a summary of no minions has only counts, and one without returns has no response times", () => {
  const lines = (answers: readonly Answer[]) =>
    summaryText(answers, { verbose: true, color: false }).split("\n").slice(5, -2);
  const counts = (targeted: number) => [
    `# of minions targeted: ${targeted}`,
    "# of minions returned: 0",
    `# of minions that did not return: ${targeted}`,
    "# of minions with errors: 0",
  ];
  assertEquals(lines([]), counts(0));
  assertEquals(lines(ANSWERS.slice(4)), [
    ...counts(1),
    "outcome        code  minions  which",
    "not connected     -        1  off",
    "Minions not connected: off",
  ]);
});
