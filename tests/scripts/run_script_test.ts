import { assertEquals, assertMatch } from "#tests/support/assert.ts";

const RUN_SCRIPT = import.meta.resolve("../../scripts/run_script.ts");
const OPTIONS = import.meta.resolve("../../scripts/options.ts");

/**
 * Runs a script whose `main` has this body.
 * @returns Its exit code and what it wrote to standard error.
 */
async function outcome(body: string, printed = ""): Promise<[code: number, errors: string]> {
  const script = `
    import { runScript } from ${JSON.stringify(RUN_SCRIPT)};
    import { OptionError } from ${JSON.stringify(OPTIONS)};
    class Failure extends Error {}
    await runScript(async () => { ${body} }, { name: "example", usage: "Usage: example\\n", failures: [Failure] });
    console.log("main returned");`;
  const child = new Deno.Command(Deno.execPath(), { args: ["eval", script], env: { NO_COLOR: "1" } });
  const { code, stdout, stderr } = await child.output();
  assertEquals(new TextDecoder().decode(stdout), printed);
  return [code, new TextDecoder().decode(stderr)];
}

Deno.test("a script ends with the exit code of main; without one it ends when its work is done", async () => {
  assertEquals(await outcome("return 3;"), [3, ""]);
  assertEquals(await outcome(`setTimeout(() => console.log("late"), 50);`, "main returned\nlate\n"), [0, ""]);
});

Deno.test("an invalid option and a known failure are messages; a fault of the script has its place in the code", async () => {
  assertEquals(await outcome(`throw new OptionError("no option");`), [64, "example: no option\nUsage: example\n"]);
  assertEquals(await outcome(`throw new Failure("no disk");`), [1, "example: no disk\n"]);
  const [code, errors] = await outcome(`throw new TypeError("a fault");`);
  assertEquals(code, 1);
  assertMatch(errors, /^error: Uncaught .*a fault\n[^]*\n +at runScript/);
});
