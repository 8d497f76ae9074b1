import { type BlockEdit, replaceBlock } from "#lib/host/filesystem/block_replacing.ts";
import { CommandError } from "#lib/errors.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";

const EDIT = { markerStart: "# begin", markerEnd: "# end", content: "x", appendNewline: true } as const;

function put(text: string, absent: BlockEdit["absent"]): string {
  return replaceBlock(text, { ...EDIT, absent }).after.join("");
}

Deno.test("a block goes before or after the first line that matches, also the first one of the file", () => {
  const block = "# begin\nx\n# end\n";
  assertEquals(put("a\nb\n", { put: "before match", regex: "a" }), `${block}a\nb\n`);
  assertEquals(put("a\nb\n", { put: "after match", regex: "a" }), `a\n${block}b\n`);
  assertEquals(put("a\nb\na\n", { put: "after match", regex: "b" }), `a\nb\n${block}a\n`);
  assertThrows(() => put("a\n", { put: "after match", regex: "c" }), CommandError, "Markers were not found in file.");
});
