/**
 * Shared parts of the module `pip`: choosing pip, running it, and its version. Source: the functions of Salt 3008.3
 * `salt/modules/pip.py`.
 * @module
 */

import { callRunAll } from "#modules/execution/_file_host.ts";
import { CommandError, CommandNotFoundError } from "#lib/errors.ts";
import { pipEnvironment, pipWords } from "#lib/host/language_packages/pip_command.ts";
import { PrivateRequirements, withoutPasswords } from "#lib/host/language_packages/pip_passwords.ts";
import { parsePipVersion } from "#lib/host/language_packages/pip_output.ts";
import { changeFailure } from "#lib/host/packages/changes.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { ownKeywords } from "#lib/plugins/keywords.ts";
import { p } from "#lib/plugins/module.ts";
import { compareLooseVersions } from "#lib/text/loose_version.ts";
import { str, type Value, type ValueMap } from "#lib/values/value.ts";

/** Which pip runs, as whom, and where. */
export interface Pip {
  readonly bin_env: string | null;
  readonly user: string | null;
  readonly cwd: string | null;
  readonly env_vars?: Value;
}

export const WHERE = { bin_env: p.str(null), user: p.str(null), cwd: p.str(null) };

/**
 * Runs pip by `cmd.run_all`; no password in a URL is among its arguments.
 * @param more Keywords of that.
 */
export async function runPip(
  words: readonly string[],
  { bin_env, user, cwd, env_vars = null }: Pip,
  { context, more = new Map(), joined }: {
    readonly context: JobContext;
    readonly more?: ValueMap;
    readonly joined?: boolean;
  },
): Promise<ValueMap> {
  const keywords: ValueMap = new Map<Value, Value>([["runas", user], ["cwd", cwd], ...ownKeywords(more)]);
  const call = withoutPasswords(words);
  const environment = new Map([...pipEnvironment(bin_env, env_vars), ...call.environment]);
  if (environment.size > 0) keywords.set("env", environment);
  using file = call.requirements.length === 0 ? undefined : new PrivateRequirements(call.requirements, user);
  const argv = [...pipWords(bin_env), ...call.words, ...file?.words ?? []];
  return await callRunAll(context, argv, { more: keywords, joined });
}

/**
 * What pip prints, as `read` reads it.
 * @throws {CommandError} If it fails, or prints something else.
 */
export async function readPip<T>(
  words: readonly string[],
  pip: Pip,
  options: {
    readonly context: JobContext;
    readonly more?: ValueMap;
    readonly read: (text: string) => T | undefined;
  },
): Promise<T> {
  const result = await runPip(words, pip, options);
  if (result.get("retcode") !== 0) throw failure(str(result.get("stderr") ?? ""), result);
  const parsed = options.read(str(result.get("stdout") ?? ""));
  if (parsed === undefined) throw failure("Invalid JSON", result);
  return parsed;
}

function failure(message: string, result: ValueMap): CommandError {
  return changeFailure(message, Object.fromEntries([...result].map(([key, value]) => [str(key), value])));
}

/** The versions that a job has asked for, by what `bin_env` names. */
const VERSIONS = new WeakMap<JobContext, Map<string | null, string | null>>();

/** @throws {CommandNotFoundError} If there is no pip. */
export async function versionOf(pip: Pip, context: JobContext): Promise<string | null> {
  const byPip = VERSIONS.getOrInsertComputed(context, () => new Map());
  const version = byPip.get(pip.bin_env);
  if (version !== undefined) return version;
  const answer = await askVersion(pip, context);
  byPip.set(pip.bin_env, answer);
  return answer;
}

/** Forgets pip's version, because it may have been upgraded. */
export function forgetVersion({ bin_env }: Pip, context: JobContext): void {
  VERSIONS.get(context)?.delete(bin_env);
}

async function askVersion(pip: Pip, context: JobContext): Promise<string | null> {
  const result = await runPip(["--version"], { ...pip, env_vars: null, bin_env: pip.bin_env }, { context });
  if (result.get("retcode") !== 0) throw new CommandNotFoundError("Could not find a `pip` binary");
  return parsePipVersion(str(result.get("stdout") ?? "")) ?? null;
}

/** Whether this version of pip is older than `min`; not if it is not known. */
export function isPipOlderThan(version: string | null, min: string): boolean {
  return version !== null && compareLooseVersions(version, min) < 0;
}
