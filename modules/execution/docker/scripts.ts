/**
 * Runs a script in a container: a copy of it, which is removed afterwards.
 * Source: Salt 3006.28 `salt/modules/dockermod.py` (`_script`).
 * @module
 */

import type { JobContext } from "#lib/plugins/job_context.ts";
import { shlexSplit } from "#lib/text/shlex.ts";
import { map, str, truthy, type Value } from "#lib/values/value.ts";
import { copyIntoContainer } from "./copying.ts";
import { type CommandOptions, type ContainerResult, runInContainer } from "./running.ts";

/** A script for a container. */
export interface ContainerScript {
  readonly name: string;
  readonly source: string;
  readonly saltenv: string;
  readonly args: Value;
  readonly template: string | null;
}

/** What a script has come to that could not be had. */
const NOT_CACHED: ContainerResult = { pid: 0, retcode: 1, stdout: "", stderr: "", cache_error: true };

/** Writes the script to a file of this host; `false`: there is none. */
async function written(context: JobContext, { source, saltenv, template }: ContainerScript, path: string) {
  if (template !== null) {
    return truthy(await context.call("cp.get_template", [source, path, template, saltenv], map({ makedirs: false })));
  }
  const cached = await context.call("cp.cache_file", [source, saltenv]);
  if (!truthy(cached)) return false;
  await Deno.copyFile(str(cached), path);
  return true;
}

/** Copies it into the container, runs it there with its arguments, and removes the copy. */
export async function runContainerScript(
  context: JobContext,
  script: ContainerScript,
  options: CommandOptions,
): Promise<ContainerResult> {
  const { name, source, args } = script;
  const suffix = /\.\w+$/.exec(source)?.[0] ?? "";
  const path = Deno.makeTempFileSync({ dir: "/tmp", prefix: "salt", suffix });
  try {
    if (!await written(context, script, path)) return NOT_CACHED;
    const { exec_driver } = options;
    await copyIntoContainer(context, {
      name,
      source: path,
      dest: path,
      exec_driver,
      overwrite: false,
      makedirs: false,
    });
    const quiet = { ...options, stdin: null, ignore_retcode: true };
    await runInContainer(context, name, ["chmod", "700", path], quiet);
    const more = Array.isArray(args) ? args.map(str) : truthy(args) ? shlexSplit(str(args)) : [];
    try {
      return await runInContainer(context, name, [path, ...more], options);
    } finally {
      await runInContainer(context, name, ["rm", path], quiet);
    }
  } finally {
    Deno.removeSync(path);
  }
}
