/**
 * Mistakes that are held from the terminal until the result is shown.
 * @module
 */

import { HeldMistakes } from "#lib/runtime/held_mistakes.ts";
import { createLogger, LEVEL_NUMBERS } from "#lib/runtime/log.ts";
import { assertEquals } from "#tests/support/assert.ts";

/** What the terminal and the file get of a command that logs, prints and ends. */
function shownOf(mistakes: readonly string[], printed: string): { terminal: string[]; file: string[] } {
  const terminal: string[] = [], file: string[] = [];
  const sinkOf = (lines: string[]) => ({
    level: LEVEL_NUMBERS.warning,
    write: ({ message }: { readonly message: string }) => void lines.push(message),
    close: () => {},
  });
  const held = new HeldMistakes();
  const sinks = [held.before(sinkOf(terminal)), sinkOf(file)];
  const log = createLogger(sinks);
  for (const text of mistakes) log.mistake(text);
  log.error("other");
  held.printed(printed);
  for (const sink of sinks) sink.close();
  return { terminal, file };
}

Deno.test("a mistake whose lines are all printed is not logged on the terminal, and is in the file", () => {
  const text = "Pillar render error of m1: Rendering failed\n\n  a: {{ x }}    <====\nat p.sls:1:2";
  const printed =
    "local:\n\u001b[0;31m    Rendering failed\u001b[0;0m\n        a: {{ x }}    <====\n    at p.sls:1:2\n";
  assertEquals(shownOf([text, text], printed), { terminal: ["other"], file: [text, text, "other"] });
});

Deno.test("a mistake that is an item of a printed list is not logged again", () => {
  const text = "The target 'x and' of the top file matches no minion: a term is missing";
  assertEquals(shownOf([text], `local:\n    - ${text}\n      top.sls:2:3\n`).terminal, ["other"]);
  assertEquals(shownOf([text], `local:\n    - see ${text}\n`).terminal, ["other", text]);
});

Deno.test("a mistake that no result shows is logged once, after the result", () => {
  const text = "Rendering failed\nat p.sls:1:2";
  assertEquals(shownOf([text, text], "local:\n    Rendering failed\n").terminal, ["other", text]);
  assertEquals(shownOf([text], '{"local": "Rendering failed\\nat p.sls:1:2"}').terminal, ["other", text]);
  assertEquals(shownOf([text], "").terminal, ["other", text]);
});

Deno.test("a mistake with control characters is that which the result shows escaped", () => {
  assertEquals(shownOf(["bad \u001b[2J name"], "    bad \\x1b[2J name\n").terminal, ["other"]);
});
