import { pformat } from "#lib/values/pformat.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { fromTyped, readCorpus, type Typed } from "#tests/support/typed_values.ts";

interface Case {
  value: Typed;
  /** The expected text, by width, or by width and indentation with a comma between them. */
  pformat: Record<string, string>;
}

const cases = (await readCorpus<Case | { repr: string }>("python_values.json")).filter((entry) => "pformat" in entry);

for (const layout of ["80", "40", "80,4"]) {
  Deno.test(`pformat() writes as Python does: ${layout}`, () => {
    const [width, indent] = layout.split(",").map(Number);
    for (const entry of cases) {
      assertEquals(pformat(fromTyped(entry.value), width, { indent }), entry.pformat[layout]);
    }
  });
}

Deno.test("pformat() wraps to 80 characters by default", () => {
  assertEquals(pformat(["x".repeat(40), "y".repeat(40)]), `['${"x".repeat(40)}',\n '${"y".repeat(40)}']`);
  assertEquals(pformat(["x".repeat(40), "y".repeat(30)]), `['${"x".repeat(40)}', '${"y".repeat(30)}']`);
});
