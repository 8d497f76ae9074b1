import { assertEquals, assertThrows } from "#tests/support/assert.ts";
import { withLateImports } from "#scripts/build/late_imports.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const START = { fileName: "salt.start.mjs", code: `var a=1,b=()=>2;export{a as x,b}` };
const PASSES = { fileName: "salt.a.mjs", code: `export{x as one,b}from"./salt.start.mjs";` };
const LATE = { fileName: "salt.modules-b.mjs", code: "export var c=3;" };

Deno.test("an import() of a file that only re-exports from the start file is resolved there; another import() names no file in its text", () =>
  withTemporaryDirectory(async (directory) => {
    const code = "export var both=async()=>[await import(`./salt.a.mjs`),await import(`./salt.modules-b.mjs`)];" +
      "export var at=new Error().stack.match(/:(\\d+:\\d+)\\)?$/m)[1];\n//# sourceMappingURL=salt.mjs.map";
    const files = withLateImports([{ fileName: "salt.mjs", code }, START, PASSES, LATE], "salt");
    assertEquals(files.map(({ fileName }) => fileName), ["salt.mjs", "salt.start.mjs", "salt.modules-b.mjs"]);
    assertEquals(files[0].code.includes("import(`./"), false);
    assertEquals(files[0].code.endsWith("//# sourceMappingURL=salt.mjs.map"), true);
    for (const file of files) Deno.writeTextFileSync(`${directory}/${file.fileName}`, file.code);
    const { both, at } = await import(`file://${directory}/salt.mjs`);
    const [passed, late] = await both();
    assertEquals([passed.one, passed.b(), late.c], [1, 2, 3]);
    assertEquals(at, `1:${code.indexOf("new Error") + 1}`);
  }));

Deno.test("an import() of a file that only re-exports from another late file imports that one, and only when it is called", () =>
  withTemporaryDirectory(async (directory) => {
    const code = "export var late=async()=>await import(`./salt.a.mjs`);\n//# sourceMappingURL=salt.mjs.map";
    const passes = { fileName: "salt.a.mjs", code: `export{x as one,b}from"./salt.group.mjs";` };
    const group = { fileName: "salt.group.mjs", code: "globalThis.loaded=true;var x=1,b=2;export{x,b}" };
    const files = withLateImports([{ fileName: "salt.mjs", code }, START, passes, group], "salt");
    assertEquals(files.map(({ fileName }) => fileName), ["salt.mjs", "salt.start.mjs", "salt.group.mjs"]);
    // Deno reads at the start what it can compute from the text.
    assertEquals(/import\("[^"]*"\)/.test(files[0].code), false);
    assertEquals(files[0].code.includes("salt.group.mjs"), false);
    for (const file of files) Deno.writeTextFileSync(`${directory}/${file.fileName}`, file.code);
    const { late } = await import(`file://${directory}/salt.mjs`);
    assertEquals("loaded" in globalThis, false);
    assertEquals(await late(), { one: 1, b: 2 });
    assertEquals("loaded" in globalThis, true);
  }));

Deno.test("an import() of a file that is not part of the script is rejected", () => {
  assertThrows(
    () => withLateImports([{ fileName: "salt.mjs", code: "import(`./other.mjs`)" }, START], "salt"),
    RangeError,
    "salt.mjs imports other.mjs",
  );
});
