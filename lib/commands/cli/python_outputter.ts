/**
 * Outputters in Python, for `--out=NAME`: each value is formatted by a process of Python.
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

/**
 * The outputter in Python of this name; `undefined` if there is none.
 * @param opts The options of the command; those without directories of plugins have no outputters.
 */
export async function pythonOutputter(name: string, opts: object): Promise<OwnOutputter | undefined> {
  if (!hasDirectories(opts)) return undefined;
  const { extension_modules: extensionModules, module_dirs: moduleDirs, outputter_dirs } = opts;
  const { files, names } = findPythonPlugins({
    output: [...moduleDirectories({ extensionModules, moduleDirs }, "output"), ...outputter_dirs],
  }, { allowed: allowedPlugins(opts.python_plugins), isLoaded: () => true, others: () => new Set(), warn: () => {} });
  if (!names.output?.includes(name)) return undefined;
  const program = pythonProgram(opts.python);
  const helper = await writeHelper(opts.cachedir);
  return (data, color) => {
    const values = new Map([...optsValues(opts)].filter(([, value]) => !isMap(value)));
    const given = map({ name, data, files: files.output ?? {}, opts: values.set("color", color) });
    return runOutputter([program, `${helper}/outputter.py`], encode(given, "disk"));
  };
}

function hasDirectories(opts: object): opts is MasterOpts | MinionOpts {
  return "extension_modules" in opts && "outputter_dirs" in opts;
}

/** Maximum length of the reason of a failure, in UTF-16 units. */
const MAX_REASON = 500;

/**
 * Runs the program.
 * @returns Its text.
 * @throws {CommandError} If it fails.
 */
function runOutputter([program, script]: readonly [string, string], given: Uint8Array): string {
  const path = Deno.makeTempFileSync({ prefix: "outputter_" });
  try {
    Deno.writeFileSync(path, given);
    // Standard input is a file: a process that is run synchronously cannot be written to.
    const words = ["-c", 'exec "$0" -E -s -X utf8 "$1" <"$2"', program, script, path];
    const { success, stdout, stderr } = new Deno.Command("/bin/sh", { args: words, stdin: "null" }).outputSync();
    if (success) return new TextDecoder().decode(stdout);
    const said = new TextDecoder().decode(stderr).trim().split("\n").at(-1) ?? "";
    throw new CommandError(said.slice(0, MAX_REASON));
  } catch (error) {
    throw error instanceof CommandError ? error : new CommandError(messageOf(error), { cause: error });
  } finally {
    Deno.removeSync(path);
  }
}
