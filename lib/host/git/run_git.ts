/**
 * Runs git in a directory, as a user, with keys of ssh. The passwords of URLs are neither in its arguments nor in the
 * shown output.
 * Source: Salt 3008.3, `salt/modules/git.py` _git_run; git(1), GIT_SSH_COMMAND.
 * @module
 */

import { type HiddenLogins, hideLogins } from "./logins.ts";
import { parseGitVersion } from "./output.ts";
import { knownLogins } from "./stored_logins.ts";
import { CommandError } from "#lib/errors.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { findUser } from "#lib/os/users.ts";
import { type ProgramHost, type ProgramResult, runProgram } from "#lib/programs/run_program.ts";
import { expandUser } from "#lib/os/disk_paths.ts";
import { joinPath } from "#lib/os/paths.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { quoteShellWord } from "#lib/text/shell_words.ts";
import { hideCredentials } from "#lib/text/url_credentials.ts";
import { map, str, truthy, type Value } from "#lib/values/value.ts";

/** The common arguments of git functions, by Salt's names. */
export interface GitArguments {
  readonly user?: string | null;
  readonly ignore_retcode?: boolean;
  readonly output_encoding?: string | null;
  /** Paths of private keys, which are tried one after the other. */
  readonly identity?: Value;
  readonly saltenv?: string;
}

/** Options for running git. */
export interface GitRun extends GitArguments {
  /** Absolute; default: the user's home. */
  readonly cwd?: string;
  /** Whether it may access other repositories. Then it gets the passwords of URLs in its environment. */
  readonly remote?: boolean;
  /** Whether stderr is merged into stdout. */
  readonly joined?: boolean;
  /** Whether a failure is a result like others. */
  readonly soft?: boolean;
}

/** Resolves `cwd` for the user: relative paths begin at the home directory. */
export function userPath(cwd: string, user: string | null | undefined): string {
  return joinPath(expandUser(user ? `~${user}` : "~"), cwd);
}

/**
 * Runs git.
 * @throws {CommandError} If it fails, unless that is a result.
 */
export async function runGit(words: readonly string[], run: GitRun, context: JobContext): Promise<ProgramResult> {
  if (truthy(run.identity)) return await runWithKeys(words, run, context);
  const result = await start(words, run, context);
  if (result.retcode === 0 || run.soft) return result;
  const message = run.joined ? result.stdout : result.stderr;
  throw new CommandError(
    `Command '${hideCredentials(["git", ...words].join(" "))}' failed${
      message === "" ? "" : `: ${hideCredentials(message)}`
    }`,
  );
}

/** The same, returns its output. */
export async function gitOutput(words: readonly string[], run: GitRun, context: JobContext): Promise<string> {
  return (await runGit(words, run, context)).stdout;
}

function start(
  words: readonly string[],
  run: GitRun,
  context: JobContext,
  env: Readonly<Record<string, string>> = {},
): Promise<ProgramResult> {
  const cwd = run.cwd ?? expandUser(run.user ? `~${run.user}` : "~");
  const sent = run.remote ? withoutLogins(words, run.cwd) : { words, env: {} };
  const host = { ...context, log: (level: LogLevel, text: string) => context.log(level, hideCredentials(text)) };
  return runProgram(["git", ...sent.words], host, {
    cwd: run.cwd === undefined && !cwd.startsWith("/") ? "/" : cwd,
    env: { ...env, ...sent.env },
    joined: run.joined,
    encoding: run.output_encoding ?? null,
    setsRetcode: run.ignore_retcode !== true,
    ...run.user && { runas: run.user },
  });
}

function withoutLogins(words: readonly string[], cwd: string | undefined): HiddenLogins {
  const logins = cwd === undefined ? { stored: [], configured: [] } : knownLogins(cwd);
  return hideLogins(words, logins, Number(Deno.env.get("GIT_CONFIG_COUNT")) || 0);
}

type LogLevel = Parameters<ProgramHost["log"]>[0];

/** Options of ssh that prevent prompts. */
const SSH_OPTIONS = "-oStrictHostKeyChecking=no -oPasswordAuthentication=no -oKbdInteractiveAuthentication=no " +
  "-oChallengeResponseAuthentication=no";

async function runWithKeys(words: readonly string[], run: GitRun, context: JobContext): Promise<ProgramResult> {
  const errors: string[] = [];
  const missing: string[] = [];
  const identities = Array.isArray(run.identity) ? run.identity : [run.identity ?? null];
  for (const identity of identities.map(str)) {
    const key = await localKey(identity, run, context);
    if (key === undefined) {
      missing.push(identity);
      context.log("error", `identity ${identity} does not exist.`);
      continue;
    }
    try {
      if (isEncrypted(key.path)) {
        errors.push(
          `Identity file ${key.path} is passphrase-protected and cannot be used in a non-interactive command. Using ` +
            "salt-call from the minion will allow a passphrase-protected key to be used.",
        );
        continue;
      }
      context.log("info", `Attempting git authentication using identity file ${key.path}`);
      const command = `ssh ${SSH_OPTIONS} -i ${quoteShellWord(key.path)}`;
      const result = await start(words, run, context, { GIT_SSH_COMMAND: command });
      if (result.retcode === 0) return result;
      const message = run.joined ? result.stdout : result.stderr;
      if (message !== "") errors.push(hideCredentials(message));
    } finally {
      if (key.temporary) Deno.removeSync(key.path);
    }
  }
  throw new CommandError(
    `Unable to authenticate using identity file:\n\n${errors.join("\n")}` +
      (missing.length === 0
        ? ""
        : `${errors.length > 0 ? "\n\n" : ""}The following identity file(s) were not found: ${missing.join(", ")}`),
  );
}

/** The key's path on this host, which git's user can read; `undefined` if it is not there. */
async function localKey(
  identity: string,
  { user, saltenv = "base" }: GitRun,
  context: JobContext,
): Promise<{ readonly path: string; readonly temporary: boolean } | undefined> {
  if (!identity.includes("salt://")) return isFile(identity) ? { path: identity, temporary: false } : undefined;
  const path = Deno.makeTempFileSync({ prefix: "__salt.tmp." });
  Deno.chmodSync(path, 0o600);
  const copied = await context.call("cp.get_file", [identity, path], map({ saltenv }));
  if (!truthy(copied)) {
    Deno.removeSync(path);
    return undefined;
  }
  const owner = user ? findUser(user) : undefined;
  if (owner !== undefined) Deno.chownSync(path, owner.uid, null);
  return { path, temporary: true };
}

function isEncrypted(path: string): boolean {
  const text = Deno.readTextFileSync(path);
  if (/BEGIN (?:\w+\s)*PRIVATE KEY/.test(text)) return text.includes("ENCRYPTED");
  throw new CommandError(`${path} is not a private key`);
}

/** The version of git: `2.39.5`. */
export async function gitVersion(context: JobContext): Promise<string> {
  return parseGitVersion(await gitOutput(["--version"], {}, context));
}
