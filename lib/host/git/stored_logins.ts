/**
 * The passwords that a repository keeps for its remotes, so that it can be fetched later without them. Salt leaves them
 * in the URLs of `.git/config`, which all users can read, and from which git takes them into the arguments of its
 * programs. Here they are in `salt-credentials` beside it, a file of `git credential-store` that only its owner can
 * read, and `.git/config` names a helper that reads it; so git also finds them if an operator runs it. The helper only
 * reads: git would remove a password that a server has refused once. git looks up passwords by user and host, so a
 * repository has one password for each pair. Source: git-credential-store(1), gitrepository-layout(5).
 * @module
 */

import { helperKey, isFor, type KnownLogins, type Login, readingHelper, splitLogin, urlOf } from "./logins.ts";
import { CommandError } from "#lib/errors.ts";
import { dirName, joinPath } from "#lib/os/paths.ts";
import { type ProgramHost, runProgram } from "#lib/programs/run_program.ts";
import { isDirectory, isFile } from "#lib/os/file_kind.ts";
import { splitLines } from "#lib/text/split_lines.ts";

const NAME = "salt-credentials";

/** With a path that stays valid when the repository is moved. */
const HELPER = readingHelper(`git credential-store --file "$(git rev-parse --git-common-dir)/${NAME}" get`);

/** Replaces the file `$1` with standard input; a link in its place, to a directory too, is not followed. */
const WRITE = 'umask 077 && rm -f "$1.new" && set -C && cat > "$1.new" && { [ ! -d "$1" ] || rm -f "$1"; } && ' +
  'mv -f "$1.new" "$1"';

/** The directory with the configuration of the repository that `path` is in; `undefined` if it is in none. */
function gitDirectory(path: string): string | undefined {
  const inside = `${path}/.git`;
  if (isDirectory(inside)) return inside;
  if (isFile(inside)) {
    const named = /^gitdir: (.+)/.exec(linesOf(inside)[0] ?? "")?.[1];
    if (named === undefined) return undefined;
    const directory = joinPath(path, named);
    const common = `${directory}/commondir`;
    return isFile(common) ? joinPath(directory, linesOf(common)[0] ?? "") : directory;
  }
  if (isFile(`${path}/HEAD`) && isDirectory(`${path}/objects`)) return path;
  const above = dirName(path);
  return above === path ? undefined : gitDirectory(above);
}

/**
 * The passwords that a repository has.
 * @param path A directory in it.
 */
export function knownLogins(path: string): KnownLogins {
  const directory = gitDirectory(path);
  if (directory === undefined) return { stored: [], configured: [] };
  const lines = linesOf(`${directory}/config`).flatMap((line) =>
    /^\s*(?:push)?url\s*=\s*"?([^"]+)/i.exec(line)?.[1] ?? []
  );
  return { stored: storedLogins(directory), configured: loginsOf(lines) };
}

function storedLogins(directory: string): Login[] {
  return loginsOf(linesOf(`${directory}/${NAME}`));
}

function loginsOf(urls: readonly string[]): Login[] {
  return urls.flatMap((url) => splitLogin(url).login ?? []);
}

/** The lines of a file; none if it does not exist or belongs to another user. */
function linesOf(path: string): string[] {
  try {
    return isFile(path) ? splitLines(Deno.readTextFileSync(path)) : [];
  } catch (error) {
    if (error instanceof Deno.errors.PermissionDenied) return [];
    throw error;
  }
}

/** A repository, and the user who writes in it. */
export interface LoginStore {
  readonly cwd: string;
  readonly user?: string | null;
}

/**
 * Stores the passwords `added`, and keeps previous ones only for the URLs `kept`.
 * @throws {CommandError} If they cannot be written.
 */
export async function storeLogins(
  { cwd, user }: LoginStore,
  { kept, added }: { readonly kept: readonly string[]; readonly added: readonly Login[] },
  host: ProgramHost,
): Promise<void> {
  const directory = gitDirectory(cwd);
  if (directory === undefined) {
    if (added.length === 0) return;
    throw new CommandError(`${cwd} is not in a git repository`);
  }
  const before = storedLogins(directory);
  const logins = new Map(before.filter((one) => kept.some((url) => isFor(one, url))).map((one) => [one.origin, one]));
  for (const login of added) {
    if (added.some((one) => one.origin === login.origin && one.password !== login.password)) {
      host.log("warning", `git can keep one password for ${login.origin}: the last one is used for all of its URLs`);
    }
    logins.set(login.origin, login);
  }
  const lines = [...logins.values()].map((one) => `${urlOf(one)}\n`);
  if (lines.join("") === before.map((one) => `${urlOf(one)}\n`).join("")) return;
  const run = async (words: readonly string[], stdin?: string) => {
    const { retcode, stderr } = await runProgram(words, host, { cwd: directory, runas: user, secret: true, stdin });
    if (retcode !== 0) throw new CommandError(`The login cannot be stored in ${directory}: ${stderr}`);
  };
  const file = `${directory}/${NAME}`;
  if (lines.length === 0) await run(["rm", "-f", file]);
  else await run(["sh", "-c", WRITE, "sh", file], lines.join(""));
  const config = ["git", "config", "--file", `${directory}/config`];
  for (const login of before) if (!logins.has(login.origin)) await run([...config, "--unset-all", helperKey(login)]);
  for (const login of logins.values()) {
    if (before.some(({ origin }) => origin === login.origin)) continue;
    await run([...config, "--replace-all", helperKey(login), ""]);
    await run([...config, "--add", helperKey(login), HELPER]);
  }
}
