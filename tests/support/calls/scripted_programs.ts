/**
 * With recorded answers of programs, functions return what Python Salt's return, and write the same files. The table is
 * made by tests/corpus/make_scripted_programs.py.
 * @module
 */

import { isMap, map, str, toValue, type Value, type ValueMap } from "#lib/values/value.ts";
import { messageOf } from "#lib/errors.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { testContext } from "./job_context.ts";
import { casesOf, corpusFile, hasCases } from "./corpus_files.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { type RecordedAnswer, RecordedPrograms } from "./recorded_program.ts";

const FILE = corpusFile("scripted_programs.json");

const GRAINS: ValueMap = map({ kernel: "Linux", os: "Debian", os_family: "Debian", init: "systemd" });

/** A field that is a map; empty if it is missing. */
function part(one: ValueMap, name: string): ValueMap {
  const value = one.get(name) ?? new Map();
  assert(isMap(value));
  return value;
}

function record(programs: RecordedPrograms, recorded: ValueMap): void {
  for (const [name, answers] of recorded) {
    assert(Array.isArray(answers));
    programs.answer(
      str(name),
      answers.map((answer): RecordedAnswer => {
        assert(isMap(answer));
        const text = (key: string) => str(answer.get(key) ?? "");
        return {
          args: text("args"),
          stdout: text("stdout"),
          stderr: text("stderr"),
          code: Number(answer.get("code") ?? 0),
        };
      }),
    );
  }
}

/** The outcome of a case here: its return, and the files afterwards. */
async function outcome(one: ValueMap): Promise<{ returned: Value; after: ValueMap; failed: boolean }> {
  using programs = new RecordedPrograms();
  record(programs, part(one, "programs"));
  const directory = `${programs.path}/files`;
  Deno.mkdirSync(directory);
  for (const [name, text] of part(one, "files")) Deno.writeTextFileSync(`${directory}/${name}`, str(text));
  const placed = (arg: Value) => typeof arg === "string" ? arg.replaceAll("{dir}", directory) : arg;
  const args = one.get("args") ?? [];
  const kwargs = [...part(one, "kwargs")].map(([key, value]): [Value, Value] => [key, placed(value)]);
  assert(Array.isArray(args));
  // Called as one function calls another: a job would read the text size=1G as a keyword.
  const context = testContext({ grains: GRAINS });
  const [returned, failed] = await context.call(str(one.get("fun") ?? ""), args.map(placed), new Map(kwargs)).then(
    (value): [Value, boolean] => [value, false],
    (error): [Value, boolean] => [messageOf(error), true],
  );
  const names = [...Deno.readDirSync(directory)].map(({ name }) => name).sort();
  return {
    returned: unplaced(returned, directory),
    after: new Map(
      names.map((name) => [name, Deno.readTextFileSync(`${directory}/${name}`).replaceAll(directory, "{dir}")]),
    ),
    failed,
  };
}

function unplaced(value: Value, directory: string): Value {
  if (typeof value === "string") {
    return value.replaceAll(directory, "{dir}").replaceAll(directory.replace(/\/files$/, ""), "{bin}");
  }
  if (Array.isArray(value)) return value.map((item) => unplaced(item, directory));
  if (!isMap(value)) return value;
  // Keys in JSON are strings.
  return new Map([...value].map(([key, item]) => [str(unplaced(key, directory)), unplaced(item, directory)]));
}

/** The value after a round trip through JSON: an integral float is written with a point, and read as a float. */
function comparable(value: Value): string {
  return JSON.stringify(toPlain(value));
}

function toPlain(value: Value): unknown {
  if (isMap(value)) {
    return Object.fromEntries([...value].map(([key, item]) => [str(key), toPlain(item)]).sort());
  }
  if (Array.isArray(value)) return value.map(toPlain);
  return typeof value === "object" && value !== null ? str(value) : typeof value === "bigint" ? String(value) : value;
}

/**
 * Registers the test of the cases of `module`, if there are any.
 * @returns The number of tests.
 */
export function testScriptedPrograms(module: string): number {
  if (!hasCases(FILE, module)) return 0;
  const all = parseJson(Deno.readTextFileSync(FILE));
  assert(Array.isArray(all));
  const cases = casesOf(all, module);
  Deno.test(`${module}: ${cases.length} calls with recorded programs return the same as Python Salt`, async () => {
    for (const one of cases) {
      const expected = one.get("return") ?? null;
      const { returned, after, failed } = await outcome(one);
      const label = `${one.get("fun")} ${comparable(one.get("args") ?? null)} ${comparable(one.get("kwargs") ?? null)}`;
      if (typeof expected === "string" && expected.startsWith("ERROR: ")) {
        const returnedText = str(returned);
        assert(
          failed && returnedText.includes(expected.slice("ERROR: ".length).trim()),
          `${label}: ${returnedText} and not ${expected}`,
        );
      } else {
        assertEquals(comparable(toValue(returned)), comparable(expected), label);
      }
      assertEquals(comparable(after), comparable(one.get("after") ?? part(one, "files")), `files of ${label}`);
    }
  });
  return 1;
}
