/**
 * A file that is tried out before it is put in place: what `check_cmd` of `file.managed` and `file.serialize` gets.
 * Source: Salt 3008.3 `salt/states/file.py` mod_run_check_cmd.
 * @module
 */

import { isHostError, reasonOf } from "./common.ts";
import { removeIfExists } from "#lib/os/atomic_file.ts";
import { isFile } from "#lib/os/file_kind.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { isMap, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** The refusal of a file by a command. */
export interface FileRefusal {
  readonly comment: string;
  readonly result: false;
  readonly skip_watch: true;
}

/**
 * Runs `command` with the path of the file appended.
 * @returns `undefined` if it accepts the file.
 */
export async function refusalOf(
  command: string,
  path: string,
  context: StateContext,
  options: ValueMap = shellOf(context),
): Promise<FileRefusal | undefined> {
  const done = await context.call("cmd.run_all", [`${command} ${path}`], options);
  if (!isMap(done) || done.get("retcode") === 0) return undefined;
  const outputs = ["stdout", "stderr"].map((key) => done.get(key) ?? null).filter(truthy).map(str);
  return { comment: ["check_cmd execution failed", ...outputs].join("\n"), skip_watch: true, result: false };
}

/**
 * Copies the file at `name`, if there is one, to the trial file at `path`.
 * @returns Why that failed.
 */
export async function copyForTrial(name: string, path: string, context: StateContext): Promise<string | undefined> {
  if (!isFile(name)) return undefined;
  try {
    await context.call("file.copy", [name, path]);
    return undefined;
  } catch (error) {
    if (!isHostError(error)) throw error;
    return `Unable to copy file ${name} to ${path}: ${reasonOf(error)}`;
  }
}

/** The shell of this host, as its grain tells. */
function shellOf({ grains }: StateContext): ValueMap {
  const shell = grains.get("shell");
  return shell === undefined ? new Map() : new Map<Value, Value>([["shell", shell]]);
}

/** A temporary file, which is removed at the end; what is at `path` is in it. */
export class TrialFile implements Disposable {
  readonly path: string;

  constructor(directory: string | null, suffix: string) {
    this.path = Deno.makeTempFileSync({
      prefix: "__salt.tmp.",
      suffix,
      ...directory === null ? {} : { dir: directory },
    });
  }

  [Symbol.dispose](): void {
    removeIfExists(this.path);
  }
}
