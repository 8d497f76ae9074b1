/**
 * The modes of `file.line`.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { editLine, type LineEdit, lineMode } from "#lib/host/filesystem/line_editing.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";

Deno.test("a line is edited in one of four modes, which must be named", () => {
  assertEquals(["Insert", "ensure", "DELETE", "replace"].map(lineMode), ["insert", "ensure", "delete", "replace"]);
  for (const mode of [null, ""]) assertThrows(() => lineMode(mode), CommandError, "Mode was not defined");
  assertThrows(() => lineMode("append"), CommandError, 'Unknown mode: "append"');
});

const TEXT = "[main]\na = 1\n[other]\na = 1\n[end]\n";

function edited(mode: LineEdit["mode"], more: Partial<LineEdit>): string {
  return editLine(TEXT, { content: "new", indent: false, mode, ...more }).join("");
}

Deno.test("a line is put to a place that is found once", () => {
  assertEquals(edited("insert", { after: "other" }), TEXT.replace("[other]\n", "[other]\nnew\n"));
  assertEquals(edited("insert", { before: "other" }), TEXT.replace("[other]\n", "new\n[other]\n"));
  assertEquals(edited("insert", { after: "other", before: "end" }), TEXT.replace("[end]\n", "new\n[end]\n"));
  assertEquals(edited("ensure", { after: "other", before: "end" }), TEXT.replace(/a = 1\n\[end/, "new\n[end"));
  assertEquals(edited("ensure", { after: "main" }), TEXT.replace("[main]\n", "[main]\nnew\n"));
  assertEquals(edited("ensure", { before: "end" }), TEXT.replace("[end]\n", "new\n[end]\n"));
});

Deno.test("a place that is found twice is refused, on either side and in either mode", () => {
  for (const mode of ["insert", "ensure"] as const) {
    for (
      const [places, name] of [
        [{ after: "a = 1" }, "after"],
        [{ before: "a = 1" }, "before"],
        [{ after: "a = 1", before: "end" }, "after"],
        [{ after: "main", before: "a = 1" }, "before"],
      ] as const
    ) {
      const text = `Found more than expected occurrences in "${name}" expression`;
      assertThrows(() => edited(mode, places), CommandError, text, `${mode} ${JSON.stringify(places)}`);
    }
  }
});

Deno.test("an edit that says too little changes nothing", () => {
  assertThrows(() => edited("insert", {}), CommandError, 'either "location" or');
  assertThrows(() => edited("insert", { after: "none" }), CommandError, "Neither before or after was found in file");
  assertThrows(() => edited("ensure", { after: "none" }), CommandError, "Wrong conditions?");
  assertThrows(() => edited("ensure", { after: "main", before: "end" }), CommandError, "more than one line between");
  assertThrows(() => edited("insert", { content: null }), CommandError, "Content can only be empty");
});

Deno.test("a line is deleted without contents, and put to a place that is named alone", () => {
  assertEquals(edited("delete", { content: null, match: "other" }), TEXT.replace("[other]\n", ""));
  assertEquals(edited("insert", { location: "start" }), `new\n${TEXT}`);
  // As in Salt: behind the empty line that follows the last end.
  assertEquals(edited("insert", { location: "end" }), `${TEXT}\nnew`);
});

Deno.test("a line gets the end that its neighbours have, and a text without lines has no place", () => {
  const text = editLine("a\r\nb\r\nc\r\n", { content: "new", indent: false, mode: "insert", after: "b" });
  assertEquals(text, ["a\r\n", "b\r\n", "new\r\n", "c\r\n"]);
  const mixed = editLine("a\r\nb\nc\nd\n", { content: "new", indent: false, mode: "insert", after: "c" });
  assertEquals(mixed, ["a\r\n", "b\n", "c\n", "new\n", "d\n"]);
  const nowhere = () => editLine("", { content: "new", mode: "insert", after: "a" });
  assertThrows(nowhere, CommandError, 'either "location" or');
});

Deno.test("an expression that is none is refused with its text", () => {
  assertThrows(() => edited("insert", { after: "(other" }), CommandError, ": '(other'");
});
