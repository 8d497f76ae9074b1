/** docs/fleets.md: the functions that it says are there are there, and moving.md names the modules of the others. */

import { assert, assertEquals } from "#tests/support/assert.ts";
import { builtInFunctions, type FunctionFamily, TITLES } from "#tests/interop/formulas/built_in_functions.ts";

const read = (page: string) => Deno.readTextFileSync(new URL(`../../docs/${page}`, import.meta.url));

/** A row of a table: a module, and its functions in either column. */
interface Row {
  readonly module: string;
  readonly there: readonly string[];
  readonly missing: readonly string[];
}

/** The rows below a family's heading. */
function rowsOf(page: string, family: FunctionFamily): Row[] {
  const [section] = page.split(`## ${TITLES[family]}\n`)[1].split("\n## ");
  return section.split("\n").filter((line) => line.startsWith("| `")).map((line) => {
    const [, module, there, missing] = line.split(" | ").join("|").split("|").map((cell) => cell.trim());
    const functions = (cell: string) => [...cell.matchAll(/`(\w+)` \d+\/\d+/g)].map(([, name]) => name);
    return { module: module.replaceAll("`", ""), there: functions(there), missing: functions(missing) };
  });
}

for (const family of ["states", "modules", "runners"] as const) {
  Deno.test(`docs/fleets.md is right about ${TITLES[family].toLowerCase()}`, async () => {
    const built = (await builtInFunctions())[family];
    const rows = rowsOf(read("fleets.md"), family);
    const names = (column: "there" | "missing") =>
      rows.flatMap((row) => row[column].map((name) => `${row.module}.${name}`));
    assertEquals(names("there").filter((name) => !built.has(name)), []);
    assertEquals(names("missing").filter((name) => built.has(name)), []);
    const total = names("there").length + names("missing").length;
    assert(read("fleets.md").includes(`${names("there").length} of ${total} are there.`));
  });
}

Deno.test("docs/moving.md names each module of which public fleets miss functions", () => {
  const [bullet] = read("moving.md").split("- Functions of Salt that").slice(1).join().split("\n- ");
  const missing = (["states", "modules", "runners"] as const).flatMap((family) =>
    rowsOf(read("fleets.md"), family).filter(({ missing }) => missing.length > 0).map(({ module }) => module)
  );
  const unnamed = missing.filter((module) => !bullet.includes(`\`${module.replace(/^boto3?_.*/, "boto")}`));
  assertEquals(unnamed, []);
});
