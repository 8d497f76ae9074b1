/**
 * Filling of paragraphs. The lines are those of Python 3.11: `textwrap.fill`.
 * @module
 */

import { fillText } from "#lib/text/textwrap.ts";
import { assertEquals } from "#tests/support/assert.ts";

Deno.test("a tab in a paragraph reaches to the next multiple of 8 columns, counted from the last line end", () => {
  const rows: readonly (readonly [text: string, width: number, indent: string, lines: string])[] = [
    ["a\tb", 20, "", "a       b"],
    ["xxxxxxx\ty", 10, "", "xxxxxxx y"],
    ["12345678\t9", 20, "", "12345678        9"],
    ["ä€😀\tx", 80, "", "ä€😀     x"],
    ["ab\tc\nd\te\rf\tg", 9, "  ", "  ab\n  c d\n  e f\n  g"],
    ["a\r\n\tb", 20, "", "a          b"],
    ["\t", 10, "", ""],
    [
      "word\tanother-word\tlongerthanthewidth",
      12,
      "- ",
      "- word\n- another-\n- word    lo\n- ngerthanth\n- ewidth",
    ],
  ];
  for (const [text, width, indent, lines] of rows) assertEquals(fillText(text, { width, indent }), lines);
});
