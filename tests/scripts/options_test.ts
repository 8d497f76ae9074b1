import { OptionError, parseOptions } from "#scripts/options.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";

const OPTIONS = { out: { type: "string" }, pack: { type: "boolean", default: false } } as const;

Deno.test("options of a script: values, defaults, and the last one of two values", () => {
  const { values } = parseOptions({ args: ["--out", "a", "--out=b"], options: OPTIONS });
  assertEquals({ ...values }, { out: "b", pack: false });
});

for (const args of [["--out"], ["--nope"], ["--out", "x", "y"], ["--out", "--pack"], ["--pack=maybe"]]) {
  Deno.test(`options of a script: ${args.join(" ")} is refused`, () => {
    assertThrows(() => parseOptions({ args, options: OPTIONS }), OptionError);
  });
}
