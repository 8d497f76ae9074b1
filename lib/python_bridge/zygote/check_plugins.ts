/**
 * Checks plugins in Python without running them (`helper/checker.py`): what each imports, and whether it is there.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { isMap, str, type Value } from "#lib/values/value.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { writeHelper } from "./helper_files.ts";
import { pluginPython, type PythonChoice } from "./requirements.ts";

/** What was found in one file. */
export interface CheckedPlugin {
  readonly path: string;
  /** Whether it loads, as far as its imports show. */
  readonly works: boolean;
  /** What is worth to know, a line each. */
  readonly notes: readonly string[];
}

/** The options that say how. */
export interface CheckOptions extends PythonChoice {
  readonly signal: AbortSignal;
}

/**
 * Checks files, and all files in directories.
 * @param paths Absolute paths.
 * @throws {CommandError} If there is no Python, or it fails.
 */
export async function checkPlugins(paths: readonly string[], options: CheckOptions): Promise<CheckedPlugin[]> {
  const program = pluginPython(options);
  const helper = await writeHelper(options.cachedir);
  const { success, stdout, stderr } = await new Deno.Command(program, {
    args: ["-E", "-s", "-X", "utf8", `${helper}/checker.py`, ...paths],
    stdin: "null",
    signal: options.signal,
  }).output();
  if (!success) throw new CommandError(`The plugins cannot be checked: ${lastLine(stderr)}`);
  const found = parseJson(new TextDecoder().decode(stdout));
  return (Array.isArray(found) ? found : []).filter(isMap).map((one) => {
    const notes = one.get("notes") ?? null;
    return {
      path: str(one.get("path") ?? null),
      works: one.get("works") === true,
      notes: Array.isArray(notes) ? notes.map(str) : [],
    };
  });
}

function lastLine(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes).trim().split("\n").at(-1) ?? "";
}

/** The result for people and programs: `works`, or a list of notes, by the path; and whether all work. */
export function checkResult(checked: readonly CheckedPlugin[]): { readonly result: Value; readonly works: boolean } {
  const result = new Map(checked.map(({ path, works, notes }): [Value, Value] => {
    const says = works ? ["works", ...notes] : ["does not load", ...notes];
    return [path, says.length === 1 ? says[0] : says];
  }));
  return { result, works: checked.every(({ works }) => works) };
}
