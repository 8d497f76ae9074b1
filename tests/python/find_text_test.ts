import { findLastText, findText, splitAtText } from "#lib/python/find_text.ts";
import { heedStopWord, StopWord } from "#lib/values/stop_word.ts";
import { JobEndedError } from "#lib/errors.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";

/** So long that it is searched in parts. */
const LONG = "xyz".repeat(100_000);
const WANTED = "xyz".repeat(1_000);

Deno.test("long texts are found where short ones are", () => {
  for (const [text, wanted] of [["abcabc", "bc"], ["", "a"], ["a", ""], ["abc", "abcd"]]) {
    assertEquals(findText(text, wanted), text.indexOf(wanted));
    assertEquals(findLastText(text, wanted), text.lastIndexOf(wanted));
  }
  assertEquals(splitAtText("a,b,c", ",", 1), ["a", "b,c"]);
  const marked = [LONG, WANTED, LONG].join("-");
  const cases = [WANTED, `-${WANTED}-`, `${WANTED}-`, `-${WANTED}`, `${WANTED}--`];
  for (const wanted of cases) {
    assertEquals(findText(marked, wanted), marked.indexOf(wanted));
    assertEquals(findText(marked, wanted, 7), marked.indexOf(wanted, 7));
    assertEquals(findLastText(marked, wanted), marked.lastIndexOf(wanted));
    assertEquals(findLastText(marked, wanted, 400_000), marked.lastIndexOf(wanted, 400_000));
    assertEquals(splitAtText(marked, wanted), marked.split(wanted));
  }
});

Deno.test("a search that would take hours ends when its job is ended", () => {
  const text = "a".repeat(50_000_000), wanted = `${"a".repeat(500_000)}b${"a".repeat(500_000)}`;
  const word = new StopWord();
  word.stop(9);
  heedStopWord(word.memory);
  assertThrows(() => findText(text, wanted), JobEndedError);
  assertThrows(() => findLastText(text, wanted), JobEndedError);
  assertThrows(() => splitAtText(text, wanted), JobEndedError);
});
