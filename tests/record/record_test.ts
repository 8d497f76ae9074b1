import { usablePython } from "#tests/interop/python_salt.ts";
import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { run } from "#tests/support/processes.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";
import { CORPORA, NOT_AGAIN } from "./corpora.ts";
import { difference, makeAgain, RecordError } from "./recording.ts";

const ROOT = decodeURIComponent(new URL("../../", import.meta.url).pathname);
const CORPUS = "tests/corpus";

/** A program that writes no file: it prints the names of runners, for modules/runners/_unbuilt.ts. */
const WRITES_NOTHING: readonly string[] = ["make_runner_names.py"];

/** The JSON files and folders of tests/corpus. */
function recorded(): string[] {
  const entries = [...Deno.readDirSync(`${ROOT}${CORPUS}`)];
  const shown = entries.filter(({ name, isDirectory }) =>
    name.endsWith(".json") || isDirectory && !name.startsWith("_")
  );
  return shown.map(({ name, isDirectory }) => `${CORPUS}/${name}${isDirectory ? "/" : ""}`).sort();
}

Deno.test("each recorded file is made by one program, or has the reason why it is not made again", () => {
  const made = CORPORA.flatMap(({ files }) => files).filter((file) => file.startsWith(`${CORPUS}/`));
  const others = Object.keys(NOT_AGAIN).filter((file) => file.startsWith(`${CORPUS}/`));
  assertEquals([...made, ...others].sort(), recorded());
  const programs = [...Deno.readDirSync(`${ROOT}${CORPUS}`)].map(({ name }) => name).filter((name) =>
    /^make_/.test(name)
  );
  const used = new Set([...CORPORA.map(({ program }) => program), ...WRITES_NOTHING]);
  assertEquals([...used].sort(), programs.sort());
  assertEquals(new Set(CORPORA.map(({ name }) => name)).size, CORPORA.length);
});

const DIFFERENT: [
  what: string,
  before: string | undefined,
  after: string,
  shape: boolean,
  expected: RegExp | undefined,
][] = [
  ["the same text", "[1]\n", "[1]\n", false, undefined],
  ["another order of keys, and another form", '{"a": 1, "b": 2}', '{\n "b": 2,\n "a": 1\n}', false, undefined],
  ["another address of an object", '["at 0x7f95d8561260"]', '["at 0x7fd876e27560"]', false, undefined],
  ["another value", '{"a": [1, "x"]}', '{"a": [1, "y"]}', false, /^x\.json is not .* at \.a\.1:\n- "x"\n\+ "y"$/],
  ["another order of a list", "[1, 2]", "[2, 1]", false, /, at \.0:\n- 1\n\+ 2$/],
  ["a missing file", undefined, "[]\n", false, /^x\.json is not in the tree$/],
  ["another value of the same shape", '{"a": ["x", null]}', '{"a": ["y", null]}', true, undefined],
  ["another kind of value", '{"a": ["x"]}', '{"a": [1]}', true, /, at \.a\.0:\n- "x"\n\+ 1$/],
  ["one more entry", "[1]", "[1, 2]", true, /, at \.1:\n- nothing\n\+ 2$/],
  ["another key", '{"a": {"b": 1}}', '{"a": {"c": 1}}', true, /, at \.a\.b:\n- 1\n\+ nothing$/],
  ["a list for a map", "[]", "{}", true, /, at the top:\n- \[\]\n\+ \{\}$/],
];
for (const [what, before, after, shape, expected] of DIFFERENT) {
  Deno.test(`a check of ${what}${shape ? ", by shape" : ""}: ${expected === undefined ? "equal" : "different"}`, () => {
    const found = difference({ path: "x.json", after, ...before !== undefined && { before } }, shape);
    if (expected === undefined) assertEquals(found, undefined);
    else assertMatch(found ?? "", expected);
  });
}

Deno.test("a check of a text that is not JSON names its first line that differs", () => {
  const found = difference({ path: "x.ts", before: "a\nb\n", after: "a\nc\n" }, false);
  assertEquals(found, "x.ts:2 is not what its program writes:\n- b\n+ c");
});

const COMMANDS: [args: string, code: number, said: RegExp][] = [
  ["--help", 0, /^Usage: deno task record /],
  [
    "--list",
    0,
    /^argspec +make_argspec\.py, Salt 3008\.3, then 3006\.28\n[^]*\nNot made again:\n(?:tests\/corpus\/.*\n .*\n)*tests\/corpus\/jinja\.json\n/,
  ],
  ["", 64, /record: Which corpus\?\nUsage/],
  ["nothing", 64, /There is no corpus nothing; --list names them/],
  ["states/web", 64, /states is no folder of corpora/],
  ["--checks states", 64, /Unknown option '--checks'/],
  ["--check program_calls/nothing", 1, /program_calls: FAILED: program_calls has no file nothing\.json/],
];
for (const [args, code, said] of COMMANDS) {
  Deno.test(`deno task record ${args}: exit code ${code}`, async () => {
    const words = args.split(" ").filter((word) => word !== "");
    const ran = await run([Deno.execPath(), "run", "-A", "--no-check", `${ROOT}tests/record/run.ts`, ...words]);
    assertMatch(ran.out + ran.err, said);
    assertEquals(ran.code, code);
  });
}

const python = await usablePython();

Deno.test({
  name: `a corpus is made in a copy, and the check names the case that its program does not write${
    python === undefined ? " (ignored: there is no python3 with venv here)" : ""
  }`,
  ignore: python === undefined,
  fn: () =>
    withTemporaryDirectory(async (directory) => {
      const corpus = CORPORA.find(({ name }) => name === "shell_words");
      assert(corpus !== undefined);
      const [file] = corpus.files;
      const root = `${directory}/`;
      Deno.mkdirSync(`${root}${CORPUS}`, { recursive: true });
      Deno.copyFileSync(`${ROOT}${CORPUS}/${corpus.program}`, `${root}${CORPUS}/${corpus.program}`);
      const text = Deno.readTextFileSync(`${ROOT}${file}`);
      Deno.writeTextFileSync(`${root}${file}`, text);
      const check = async () => (await makeAgain(corpus, root)).map((made) => difference(made, false));
      assertEquals(await check(), [undefined]);
      const [first, ...rest]: unknown[] = JSON.parse(text);
      assert(first !== undefined);
      const edited = JSON.stringify(["edited", ...rest]);
      Deno.writeTextFileSync(`${root}${file}`, edited);
      assertStringIncludes((await check())[0] ?? "", `${file} is not what its program writes, at .0:\n- "edited"\n`);
      assertEquals(Deno.readTextFileSync(`${root}${file}`), edited, "the tree is as it was");
      Deno.writeTextFileSync(`${root}${CORPUS}/${corpus.program}`, "raise SystemExit('no case')\n");
      assertStringIncludes((await check())[0] ?? "", `${file}: make_shell_words.py ended with 1:\nno case`);
      const needy = { ...corpus, needs: ["no-such-program"] };
      await assertRejects(() => makeAgain(needy, root), RecordError, "shell_words needs no-such-program");
    }),
});
