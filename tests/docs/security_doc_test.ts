import { sourceFiles } from "#scripts/source_files.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";

const PAGE = new URL("../../docs/security.md", import.meta.url);

/** The last cells of the tables of guarantees: test names. */
function citedTests(): string[] {
  const section = /## Promises\n([\s\S]*?)\n## /.exec(Deno.readTextFileSync(PAGE))?.[1] ?? "";
  const rows = section.split("\n").filter((line) => line.startsWith("| ") && !/^\| (?:against|---) \|/.test(line));
  return rows.map((row) => row.split("|").at(-2)?.trim() ?? "");
}

Deno.test("every test that docs/security.md cites exists under that name", () => {
  const tests = new URL("..", import.meta.url);
  const sources = sourceFiles(decodeURIComponent(tests.pathname), "_test.ts")
    .map((name) => Deno.readTextFileSync(new URL(name, tests)).replaceAll(/"\s*\+\s*"/g, ""));
  const cited = citedTests();
  assert(cited.length > 100);
  const missing = cited.filter((name) => !sources.some((text) => text.includes(`"${name}"`)));
  assertEquals(missing, []);
});
