/**
 * The parsers of the output of Deno's tools, run on real output.
 * @module
 */

import { complainedFiles, coveredNothing, failedTests, lacksDenort, testCounts } from "#scripts/deno_output.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { run } from "#tests/support/processes.ts";

/** An empty cache, and a proxy address where nothing listens: nothing can be downloaded, even with a network. */
const OFFLINE_ENV = (root: string) => [`DENO_DIR=${root}/cache`, "HTTPS_PROXY=http://127.0.0.1:1", "DENORT_BIN="];

/** Runs Deno in a directory with these files. */
async function inDirectory(
  files: Readonly<Record<string, string>>,
  act: (root: string, deno: (...words: string[]) => Promise<{ code: number; text: string }>) => Promise<void>,
): Promise<void> {
  const root = Deno.makeTempDirSync({ prefix: "deno_output_" });
  try {
    for (const [name, text] of Object.entries(files)) Deno.writeTextFileSync(`${root}/${name}`, text);
    await act(root, async (...words) => {
      const { code, out, err } = await run(["env", "-C", root, ...OFFLINE_ENV(root), Deno.execPath(), ...words]);
      return { code, text: out + err };
    });
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
}

Deno.test("testCounts() and failedTests() read what deno test writes", () => {
  const tests = `
    Deno.test("good", () => {});
    Deno.test.ignore("later", () => {});
    Deno.test("bad", () => { throw new Error("=> ./x:1:1"); });
    Deno.test("in steps", async (t) => void await t.step("a step", () => { throw new Error("no"); }));
  `;
  return inDirectory({ "x_test.js": tests, "y_test.js": 'Deno.test("good", () => {});' }, async (_root, deno) => {
    const { code, text } = await deno("test", "--no-config", "x_test.js");
    assert(code !== 0);
    assertEquals(testCounts(text), { passed: 1, failed: 2, ignored: 1 });
    assertEquals(failedTests(text), ["bad", "in steps"]);
    const good = await deno("test", "--no-config", "y_test.js");
    assertEquals([testCounts(good.text), failedTests(good.text)], [{ passed: 1, failed: 0, ignored: 0 }, []]);
    assertEquals(testCounts((await deno("test", "--no-config", "no_test.js")).text), {
      passed: 0,
      failed: 0,
      ignored: 0,
    });
  });
});

Deno.test("complainedFiles() reads what deno check writes", () =>
  inDirectory({
    "good.ts": "export const a: number = 1;",
    "bad.ts": 'import { a } from "./good.ts";\nexport const b: string = a;\nexport const c: number = "";',
  }, async (root, deno) => {
    const { code, text } = await deno("check", "--quiet", "--no-config", "good.ts", "bad.ts");
    assert(code !== 0);
    assertEquals([...complainedFiles(text)], [Deno.realPathSync(`${root}/bad.ts`)]);
    assertEquals([...complainedFiles((await deno("check", "--no-config", "good.ts")).text)], []);
  }));

Deno.test("coveredNothing() recognizes the output of deno coverage without a measured file", () =>
  inDirectory({ "x_test.js": 'Deno.test("good", () => {});' }, async (root, deno) => {
    assertEquals((await deno("test", "--no-config", `--coverage=${root}/figures`, "x_test.js")).code, 0);
    const { code, text } = await deno("coverage", "--lcov", "--include=^file:///none", `${root}/figures`);
    assert(code !== 0);
    assert(coveredNothing(text), text);
  }));

Deno.test("coveredNothing() recognizes the output of deno coverage after a test file that could not be loaded", () =>
  inDirectory({ "x_test.js": "syntax error" }, async (root, deno) => {
    assert((await deno("test", "--no-config", `--coverage=${root}/figures`, "x_test.js")).code !== 0);
    Deno.mkdirSync(`${root}/figures`, { recursive: true });
    const { code, text } = await deno("coverage", "--lcov", `${root}/figures`);
    assert(code !== 0);
    assert(coveredNothing(text), text);
  }));

Deno.test("lacksDenort() recognizes the output of deno compile that cannot download denort", () =>
  inDirectory({ "x.js": "" }, async (root, deno) => {
    const { code, text } = await deno("compile", "--no-config", "--output", `${root}/x`, "x.js");
    assert(code !== 0);
    assert(lacksDenort(text), text);
    assert(!lacksDenort((await deno("compile", "--no-config", "--output", `${root}/y`, "none.js")).text));
  }));
