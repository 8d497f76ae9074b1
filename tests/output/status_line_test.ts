import { StatusLine } from "#lib/output/status_line.ts";
import { assertEquals } from "#tests/support/assert.ts";

Deno.test("the status line is truncated to the terminal's width, and only written if it changes", () => {
  const written: string[] = [];
  const line = new StatusLine({ write: (text) => void written.push(text), columns: 6 });
  for (const text of ["1 of 3", "1 of 9", "2 of", "2 of"]) line.show(text);
  line.clear();
  line.clear();
  assertEquals(written, ["\r1 of…\x1b[K", "\r2 of\x1b[K", "\r\x1b[K"]);
});
