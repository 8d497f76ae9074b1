/**
 * The modes of `file.line`.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { lineMode } from "#lib/host/filesystem/line_editing.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";

Deno.test("a line is edited in one of four modes, which must be named", () => {
  assertEquals(["Insert", "ensure", "DELETE", "replace"].map(lineMode), ["insert", "ensure", "delete", "replace"]);
  for (const mode of [null, ""]) assertThrows(() => lineMode(mode), CommandError, "Mode was not defined");
  assertThrows(() => lineMode("append"), CommandError, 'Unknown mode: "append"');
});
