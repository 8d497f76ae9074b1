/**
 * Outputters in Python, for `--out=NAME`: one process of Python formats the values of a command.
 * Source: Salt 3008.3 `salt/output/__init__.py`.
 * @module
 */

import { optsValues } from "#lib/config/opts_map.ts";
import type { MasterOpts, MinionOpts } from "#lib/config/options.ts";
import { CommandError, messageOf } from "#lib/errors.ts";
import type { OwnOutputter } from "#lib/output/printer.ts";
import { moduleDirectories } from "#lib/plugins/module_directories.ts";
import { allowedPlugins, findPythonPlugins } from "#lib/python_bridge/loader/python_files.ts";
import { writeHelper } from "#lib/python_bridge/zygote/helper_files.ts";
import { pythonProgram } from "#lib/python_bridge/zygote/python_program.ts";
import { encode } from "#lib/values/msgpack.ts";
import { isMap, map } from "#lib/values/value.ts";

/** The outputter in Python of this name; `undefined` if there is none. */
export async function pythonOutputter(name: string, opts: MasterOpts | MinionOpts): Promise<OwnOutputter | undefined> {
  const { extension_modules: extensionModules, module_dirs: moduleDirs, outputter_dirs } = opts;
  const { files, names } = findPythonPlugins({
    output: [...moduleDirectories({ extensionModules, moduleDirs }, "output"), ...outputter_dirs],
  }, { allowed: allowedPlugins(opts.python_plugins), isLoaded: () => true, others: () => new Set(), warn: () => {} });
  if (!names.output?.includes(name)) return undefined;
  const program = pythonProgram(opts.python);
  const helper = await writeHelper(opts.cachedir);
  let kept: OutputterProcess | undefined;
  return (data, color) => {
    const values = new Map([...optsValues(opts)].filter(([, value]) => !isMap(value)));
    const given = map({ name, data, files: files.output ?? {}, opts: values.set("color", color) });
    try {
      kept ??= new OutputterProcess(program, `${helper}/outputter.py`);
      return kept.format(encode(given, "disk"));
    } catch (error) {
      // One that has ended is started again for the next value.
      if (kept?.hasEnded) kept = undefined;
      throw error instanceof CommandError ? error : new CommandError(messageOf(error), { cause: error });
    }
  };
}

/** Maximum length of the reason of a failure, in UTF-16 units. */
const MAX_REASON = 500;

/** The first byte of an answer: what is shown, or why the outputter failed; else the process has ended. */
const SHOWN = 0, FAILED = 1;

/** Runs the program $0 with the script $1, says when it has ended, and removes the directory $4. */
const SCRIPT = `trap exit INT TERM; trap 'rm -rf "$4"' EXIT
"$0" -E -s -X utf8 "$1" "$4/question" <"$2" >"$3"; printf '\\002\\000\\000\\000\\000' 1<>"$3"`;

/**
 * The process that formats values. A command prints without waiting for promises, and a process can be asked so only
 * through named pipes. They are open for both directions here, so that opening them waits for nobody. The values are
 * in a file, so that writing a question does not either.
 */
class OutputterProcess {
  readonly #directory = Deno.makeTempDirSync({ prefix: "outputter_" });
  readonly #questions: Deno.FsFile;
  readonly #answers: Deno.FsFile;
  hasEnded = false;

  constructor(program: string, script: string) {
    const paths = ["questions", "answers"].map((name) => `${this.#directory}/${name}`);
    try {
      const made = new Deno.Command("mkfifo", { args: ["-m", "600", ...paths], stdin: "null" }).outputSync();
      if (!made.success) throw new CommandError("the pipes to Python cannot be made");
      [this.#questions, this.#answers] = paths.map((path) => Deno.openSync(path, { read: true, write: true }));
      const args = ["-c", SCRIPT, program, script, ...paths, this.#directory];
      new Deno.Command("/bin/sh", { args, stdin: "null", stdout: "null", stderr: "null" }).spawn().unref();
    } catch (error) {
      Deno.removeSync(this.#directory, { recursive: true });
      throw error;
    }
  }

  /**
   * The text of a value.
   * @throws {CommandError} If the outputter fails, or the process has ended.
   */
  format(given: Uint8Array): string {
    Deno.writeFileSync(`${this.#directory}/question`, given);
    this.#questions.writeSync(new Uint8Array(1));
    const [kind, ...length] = this.#read(5);
    const text = new TextDecoder().decode(this.#read(new DataView(new Uint8Array(length).buffer).getUint32(0)));
    if (kind === SHOWN) return text;
    if (kind === FAILED) throw new CommandError(text.slice(0, MAX_REASON));
    this.hasEnded = true;
    this.#questions.close();
    this.#answers.close();
    throw new CommandError("Python has ended");
  }

  #read(size: number): Uint8Array {
    const bytes = new Uint8Array(size);
    for (let at = 0; at < size;) at += this.#answers.readSync(bytes.subarray(at)) ?? 0;
    return bytes;
  }
}
