import { colours, sanitize, sanitizeJson, sanitizeLine, useColours } from "#lib/text/terminal.ts";
import { assertEquals } from "#tests/support/assert.ts";

const SANITIZED = [
  ["plain text, ümläut ☃ 🎉", "plain text, ümläut ☃ 🎉"],
  ["tab\tand\nnewline", "tab\tand\nnewline"],
  ["\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"],
  ["\x1b]0;title\x07", "\\x1b]0;title\\x07"],
  ["\x9b2J", "\\x9b2J"],
  ["back\bspace\x7f\r\x00", "back\\x08space\\x7f\\x0d\\x00"],
  ["evil\u202ecod.exe\u2066", "evil\\u202ecod.exe\\u2066"],
  ["nel\x85", "nel\\x85"],
] as const;

for (const [text, expected] of SANITIZED) {
  Deno.test(`sanitize() shows ${JSON.stringify(text)} as ${JSON.stringify(expected)}`, () => {
    assertEquals(sanitize(text), expected);
    assertEquals(sanitize(expected), expected, "a second time changes nothing");
  });
}

Deno.test("sanitize() removes all characters of C0, C1 and DEL except tab and newline", () => {
  for (let code = 0; code < 0x100; code++) {
    const char = String.fromCharCode(code);
    const printable = (code >= 0x20 && code < 0x7f) || code >= 0xa0 || char === "\n" || char === "\t";
    assertEquals(sanitize(char) === char, printable, `U+${code.toString(16)}`);
  }
});

Deno.test("sanitizeLine() keeps a text on one line", () => {
  assertEquals(sanitizeLine("web1\nweb2:\ttrue"), "web1\\x0aweb2:\ttrue");
});

Deno.test("sanitizeJson() keeps the data", () => {
  const json = JSON.stringify({ a: "\x9b\x7f\u202e" });
  assertEquals(sanitizeJson(json), '{"a":"\\u009b\\u007f\\u202e"}');
  assertEquals(JSON.parse(sanitizeJson(json)), JSON.parse(json));
});

const COLOUR_RULES = [
  ["a terminal", { isTerminal: true }, true],
  ["a pipe", { isTerminal: false }, false],
  ["--no-color on a terminal", { isTerminal: true, noColor: true }, false],
  ["--force-color into a pipe", { isTerminal: false, forceColor: true }, true],
  ["--force-color beside --no-color and NO_COLOR", {
    isTerminal: true,
    forceColor: true,
    noColor: true,
    noColorVariable: "1",
  }, true],
  ["NO_COLOR on a terminal", { isTerminal: true, noColorVariable: "1" }, false],
  ["an empty NO_COLOR on a terminal", { isTerminal: true, noColorVariable: "" }, true],
  ["color: False on a terminal", { isTerminal: true, configured: false }, false],
  ["color: True on a terminal", { isTerminal: true, configured: true }, true],
  ["color: True into a pipe", { isTerminal: false, configured: true }, false],
  ["color: True beside NO_COLOR", { isTerminal: true, configured: true, noColorVariable: "1" }, false],
] as const;

for (const [name, facts, expected] of COLOUR_RULES) {
  Deno.test(`useColours() returns ${expected} for ${name}`, () => assertEquals(useColours(facts), expected));
}

Deno.test("colours() are Salt's sequences, or nothing", () => {
  assertEquals(colours(true).LIGHT_YELLOW, "\x1b[0;1;33m");
  assertEquals(colours(true).ENDC, "\x1b[0;0m");
  assertEquals(Object.values(colours(false)).join(""), "");
});
