/**
 * `-a`, `-T`, `--username`, `--password`: the credentials that a command sends to the master instead of the key file of
 * a user of the host. Prompts on the terminal for missing values; stores a token in `token_file`. Source: Salt 3008.3
 * `salt/cli/salt.py`, `salt/auth/__init__.py` (`Resolver`), `salt/config/__init__.py` (`client_config`).
 * @module
 */

import { callingUser } from "#lib/commands/cli/calling_user.ts";
import type { JobIo } from "#lib/commands/cli/run_command.ts";
import { requestToken } from "#lib/client/token_request.ts";
import { EAUTH_NAMES, isEauthName } from "#lib/auth/eauth_names.ts";
import { messageOf, RefusedError, UsageError } from "#lib/errors.ts";
import { isDirectory } from "#lib/os/file_kind.ts";
import { readTextFileIfExists, statIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import type { Logger } from "#lib/runtime/log.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { accessKeyPath } from "#lib/config/master_paths.ts";
import { sanitizeLine } from "#lib/text/terminal.ts";
import { didYouMean } from "#lib/text/nearest_name.ts";
import { map, str, type ValueMap } from "#lib/values/value.ts";

/** The options on the command line. */
export interface EauthOptions {
  readonly eauth: string | null;
  readonly mktoken: boolean;
  readonly username: string | null;
  readonly password: string | null;
}

/** The run of a command that needs credentials. */
export interface EauthRun {
  readonly opts: MasterOpts;
  readonly io: Pick<JobIo, "ask">;
  readonly log: Logger;
}

/**
 * Checks the options before any prompt.
 * @throws {UsageError}
 */
export async function checkEauthOptions({ eauth, mktoken }: EauthOptions, opts: MasterOpts): Promise<void> {
  if (eauth === null || eauth === "") {
    if (mktoken) throw new UsageError("--make-token needs --auth: the system that knows the user");
  } else if (!isEauthName(eauth) && !await isInPython(eauth, opts)) {
    throw new UsageError(
      `The specified external authentication system "${eauth}" is not available${
        didYouMean(eauth, EAUTH_NAMES) || "."
      } ` +
        `Available eauth types: ${EAUTH_NAMES.join(", ")}`,
    );
  }
}

async function isInPython(eauth: string, opts: MasterOpts): Promise<boolean> {
  const { masterPlugins } = await import("#lib/master/functions/python_plugins.ts");
  return masterPlugins(opts, () => {}).names.auth?.includes(eauth) ?? false;
}

/** The credentials of the command, as {@linkcode credentialsBy}; `undefined`: the key file of the calling user. */
export async function eauthCredentials(options: EauthOptions, run: EauthRun): Promise<ValueMap | undefined> {
  const { opts } = run;
  if (options.eauth) return await credentialsBy(options.eauth, options, run);
  return mayReadKey(opts) ? undefined : cachedToken(tokenFile(opts), opts);
}

/**
 * The credentials of a command with `-a EAUTH`: `{token}`, or `{eauth, username, password}`.
 * @throws {UsageError} If something is missing and there is no terminal to ask on.
 * @throws {RefusedError} If the master makes no token.
 * @throws {NoMasterError} If there is no master to ask for one.
 */
export async function credentialsBy(eauth: string, options: EauthOptions, run: EauthRun): Promise<ValueMap> {
  const { opts, log } = run;
  const path = tokenFile(opts);
  const hasCredentials = options.username !== null || options.password !== null;
  // The stored token is used, unless the command names another user.
  const cached = hasCredentials || options.mktoken ? undefined : cachedToken(path, opts);
  if (cached !== undefined) return cached;
  const caller = callingUser();
  const username = options.username ?? (await question(run, `${eauth} username [${caller}]: `, false) || caller);
  const password = options.password ?? await question(run, `${eauth} password of ${sanitizeLine(username)}: `, true);
  const proof = map({ eauth, username, password });
  if (!options.mktoken) return proof;
  const data = await requestToken(opts, proof);
  if (data === undefined) throw new RefusedError("EauthAuthenticationError", "Authentication error occurred.");
  const token = str(data.get("token") ?? "");
  try {
    writeFileAtomic(path, token, { mode: 0o600 });
  } catch (error) {
    log.warning(`The token is not kept in ${path}: ${messageOf(error)}`);
  }
  return map({ token });
}

/** The file of the user's token. */
function tokenFile({ token_file }: MasterOpts): string {
  const home = Deno.env.get("HOME") ?? "/";
  if (token_file !== null && token_file !== "") return token_file.replace(/^~(?=\/)/, () => home);
  const xdg = `${Deno.env.get("XDG_CONFIG_HOME") || `${home}/.config`}/salt`;
  return isDirectory(xdg) ? `${xdg}/salt_token` : `${home}/salt_token`;
}

/** The stored token, unless it has expired. */
function cachedToken(path: string, { token_expire }: MasterOpts): ValueMap | undefined {
  const madeMs = statIfExists(path)?.mtime?.getTime();
  if (madeMs === undefined || madeMs + token_expire * 1000 < Date.now()) return undefined;
  const token = readTextFileIfExists(path)?.trim();
  return token ? map({ token }) : undefined;
}

/** Whether the calling user can read a key file: the key has precedence over a token. */
function mayReadKey({ cachedir, user }: MasterOpts): boolean {
  const caller = callingUser();
  const owner = caller === "root" || caller.startsWith("sudo_") ? user : caller;
  try {
    return readTextFileIfExists(accessKeyPath(cachedir, owner)) !== undefined;
  } catch {
    return false;
  }
}

async function question({ io }: EauthRun, text: string, hidden: boolean): Promise<string> {
  if (io.ask === undefined) {
    throw new UsageError("--auth needs --username and --password if there is no terminal for prompts");
  }
  const answer = await io.ask(text, { hidden });
  if (answer === undefined) throw new UsageError("--auth needs a name and a password");
  return answer;
}
