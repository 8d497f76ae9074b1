import { assert, assertEquals } from "./assert.ts";

const PAGE = new URL("../docs/security.md", import.meta.url);

/** The last cells of the rows of the table of promises: names of tests. */
function citedTests(): string[] {
  const section = /## Who is kept out\n([\s\S]*?)\n## /.exec(Deno.readTextFileSync(PAGE))?.[1] ?? "";
  const rows = section.split("\n").filter((line) => line.startsWith("| ")).slice(2);
  return rows.map((row) => row.split("|").at(-2)?.trim() ?? "");
}

Deno.test("every test that docs/security.md cites exists under that name", () => {
  const directory = new URL(".", import.meta.url);
  const sources = [...Deno.readDirSync(directory)].filter(({ name }) => name.endsWith("_test.ts"))
    .map(({ name }) => Deno.readTextFileSync(new URL(name, directory)).replaceAll(/"\s*\+\s*"/g, ""));
  const cited = citedTests();
  assert(cited.length > 20);
  const missing = cited.filter((name) => !sources.some((text) => text.includes(`"${name}"`)));
  assertEquals(missing, []);
});
