import { resolvePlainScalar, scalarValue } from "#lib/yaml/scalar.ts";
import { assertEquals } from "#tests/support/assert.ts";

Deno.test("an int of base 60 or 16 that longer than any decimal is refused", () => {
  assertEquals(resolvePlainScalar("1:10"), 70);
  assertEquals(resolvePlainScalar(`1${":1".repeat(2_000_000)}`), undefined);
  assertEquals(resolvePlainScalar(`0x${"f".repeat(200_000)}`), undefined);
  assertEquals(scalarValue("float", `${"0".repeat(5_000_000)}x`), undefined);
});
