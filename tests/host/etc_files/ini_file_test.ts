import { IniSection } from "#lib/host/etc_files/ini_file.ts";
import { assertEquals } from "#tests/support/assert.ts";

Deno.test("a file that was made to take long is read at once", () => {
  const hostile = [
    " ".repeat(1_000_000),
    `a${" ".repeat(1_000_000)}b`,
    `[${"] ".repeat(500_000)}x`,
    "\n".repeat(1_000_000),
    "x",
  ];
  const file = IniSection.parse(["top = 1", ...hostile, "[s]", "", "k = v", ""].join("\n"), { separator: "=" });
  assertEquals(file.get("top"), `1\n${hostile[0]}`);
  const section = file.get("s");
  assertEquals(section instanceof IniSection ? section.get("k") : undefined, "v");
});

Deno.test("blank lines around the head of a section belong to it", () => {
  const text = "a = 1\n \n\n[s] \n\n  \nb = 2\n   = x\n";
  assertEquals(IniSection.parse(text, { separator: "=" }).text(), "a = 1\n\n[s]\nb = 2\n   = x\n");
});
