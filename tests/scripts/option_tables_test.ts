import { assert, assertEquals, assertThrows } from "#tests/support/assert.ts";
import { OPTION_TABLES, type Role } from "#lib/config/options.ts";
import { OPTION_FILES, optionTable } from "#scripts/build/option_tables.ts";
import { withYamlTables } from "#scripts/build/yaml_tables.ts";

for (const role of ["master", "minion"] satisfies Role[]) {
  Deno.test(`options of ${role} as data: those of its table, without documentation`, async () => {
    const path = `/x/lib/config/${role}_options.ts`;
    assert(OPTION_FILES.test(path));
    const made: { readonly [name: string]: () => object } = await import(
      `data:text/javascript,${encodeURIComponent(optionTable(path))}`
    );
    const table = made[`${role}Options`]();
    const expected: [string, unknown][] = Object.entries(OPTION_TABLES[role]).map((
      [name, option],
    ) => [name, { ...option, doc: "" }]);
    assertEquals(Object.entries(table), expected);
    assert(made[`${role}Options`]() === table);
  });
}

Deno.test("js-yaml with fewer tables has the same lines; a changed js-yaml stops the build", () => {
  const text = Deno.readTextFileSync(new URL(import.meta.resolve("js-yaml")));
  const changed = withYamlTables(text);
  assertEquals(changed.split("\n").length, text.split("\n").length);
  assert(!changed.includes("simpleEscapeMap[escaped]"));
  assertThrows(() => withYamlTables("export {};"), Error, "yaml_tables.ts");
});
