/**
 * `deno task record`: makes corpora of tests/corpus again with Python Salt, or checks that they are what their programs
 * write. {@linkcode USAGE} has its options.
 * @module
 */

import { OptionError, parseOptions } from "#scripts/options.ts";
import { runScript } from "#scripts/run_script.ts";
import { CORPORA, type Corpus, NOT_AGAIN } from "./corpora.ts";
import { difference, makeAgain, RecordError } from "./recording.ts";

const USAGE = `Usage: deno task record [--check] CORPUS…
       deno task record [--check] --all
       deno task record --list

  CORPUS   a name of the list, or one file of a folder: program_calls/git
  --check  changes nothing: exit code 1 if a file is not what its program writes
  --all    every corpus of the list; takes an hour
  --list   the corpora, with their programs, and the recorded files that cannot be made again
`;

const ROOT = decodeURIComponent(new URL("../../", import.meta.url).pathname);

const say = (text: string) => Deno.stdout.writeSync(new TextEncoder().encode(text));

/** A corpus of the command line, and the name of one of its files. */
interface Chosen {
  readonly corpus: Corpus;
  readonly only?: string;
}

/** @throws {OptionError} If there is no such corpus. */
function chosen(name: string): Chosen {
  const [first, only] = name.replace(/\.json$/, "").split("/");
  const corpus = CORPORA.find((one) => one.name === first);
  if (corpus === undefined) throw new OptionError(`There is no corpus ${first}; --list names them`);
  if (only === undefined) return { corpus };
  if (!corpus.files[0].endsWith("/")) throw new OptionError(`${first} is no folder of corpora`);
  return { corpus, only };
}

/** The list of the option `--list`. */
function listed(): string {
  const rows = CORPORA.map(({ name, files, program, runs, needs = [], varies }) => {
    const salts = runs.map(({ salt = "3008.3" }) => salt).join(", then ");
    const notes = [
      files.length > 1 || !files[0].endsWith(`/${name}.json`) ? `files: ${files.join(", ")}` : "",
      needs.length > 0 ? `needs ${needs.join(", ")}` : "",
      varies === undefined ? "" : `varies: ${varies}`,
    ].filter((note) => note !== "");
    return `${name.padEnd(22)} ${program}, Salt ${salts}\n${
      notes.map((note) => `${" ".repeat(23)}${note}\n`).join("")
    }`;
  });
  const others = Object.entries(NOT_AGAIN).map(([file, why]) => `${file}\n${" ".repeat(23)}${why}\n`);
  return `${rows.join("")}\nNot made again:\n${others.join("")}`;
}

async function main(argv: string[]): Promise<number> {
  const flag = { type: "boolean" } as const;
  const { values, positionals } = parseOptions({
    args: argv,
    options: { check: flag, all: flag, list: flag, help: { ...flag, short: "h" } },
    allowPositionals: true,
  });
  if (values.help || values.list) {
    say(values.help ? USAGE : listed());
    return 0;
  }
  if (values.all !== true && positionals.length === 0) throw new OptionError("Which corpus?");
  const wanted = values.all === true ? CORPORA.map((corpus) => ({ corpus })) : positionals.map(chosen);
  let failed = 0;
  for (const one of wanted) failed += await recordOne(one, values.check === true);
  return failed === 0 ? 0 : 1;
}

/** @returns 1 if the corpus cannot be made, or is not what its program writes. */
async function recordOne({ corpus, only }: Chosen, isCheck: boolean): Promise<number> {
  try {
    const made = await makeAgain(corpus, ROOT, only);
    const different = made.flatMap((file) => difference(file, corpus.varies !== undefined) ?? []);
    const failed = made.flatMap(({ path, failed }) => failed === undefined ? [] : [`${path}: ${failed}\n`]);
    const changed = made.flatMap(({ path, before, after }) =>
      after === undefined || before === after ? [] : [{ path, after }]
    );
    if (!isCheck) { for (const { path, after } of changed) Deno.writeTextFileSync(`${ROOT}${path}`, after); }
    const words = isCheck
      ? different.length === 0 ? "is what its program writes" : "DIFFERS"
      : `written: ${changed.length}`;
    say(`${corpus.name}: ${words} (${made.length} files)\n`);
    say((isCheck ? different.map((text) => `${text}\n`) : failed).join(""));
    return (isCheck ? different : failed).length > 0 ? 1 : 0;
  } catch (error) {
    if (!(error instanceof RecordError)) throw error;
    say(`${corpus.name}: FAILED: ${error.message}\n`);
    return 1;
  }
}

if (import.meta.main) await runScript(main, { name: "record", usage: USAGE });
