/**
 * What counts as a difference of two files.
 * @module
 */

import { diffFiles } from "#lib/host/filesystem/diffs.ts";
import { assertEquals } from "#tests/support/assert.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

Deno.test("a line more or less counts as a difference, also where the other lines differ in white space alone", () => {
  const counts = (old: string, now: string) =>
    diffFiles(bytes(old), bytes(now), { ignoring: { whitespace: true } }).counts;
  assertEquals(counts("a \n", "a\n"), false);
  assertEquals(counts("a \nb\n", "a\n"), true);
  assertEquals(counts("a \n", "a\nb\n"), true);
  assertEquals(counts("a \nb\n", "a\nc\n"), true);
});

Deno.test("files of more than 16 MiB are not compared line by line", () => {
  const large = (byte: number) => new Uint8Array(16 * 2 ** 20 + 1).fill(byte);
  assertEquals(diffFiles(large(0x61), large(0x62)), {
    text: "Replace a file of 16777217 bytes with one of 16777217 bytes, too large for a diff",
    counts: true,
  });
});
