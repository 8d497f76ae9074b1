/**
 * Runs git in a repository that the master keeps. git never asks for a password, and reads only that repository and the
 * remote: a remote must not make it run another program. Source: git(1), git-config(1), gitprotocol-capabilities(5).
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { hideLogins } from "#lib/host/git/logins.ts";
import { isDirectory } from "#lib/os/file_kind.ts";
import { clearTimeout, setTimeout } from "#lib/os/timers.ts";
import { quoteShellWord } from "#lib/text/shell_words.ts";

/** How a remote is reached. */
export interface GitAccess {
  /** Whether certificates are checked. */
  readonly sslVerify: boolean;
  /** `http://host:port`, or empty. */
  readonly proxy: string;
  /** The file of the private key for SSH, or empty. */
  readonly privkey: string;
  /** The passphrase of that key, or empty. */
  readonly passphrase: string;
}

/** The outcome of a run of git. */
export interface GitResult {
  readonly ok: boolean;
  readonly stdout: Uint8Array<ArrayBuffer>;
  /** The first lines of its errors. */
  readonly stderr: string;
}

/** Options for running git. */
export interface GitProgramRun {
  /** The bare repository. */
  readonly directory: string;
  readonly access?: GitAccess;
  /** The file of its own index, in place of the repository's. */
  readonly indexFile?: string;
  readonly stdin?: string;
  /** After this time it is ended, in milliseconds. */
  readonly limitMs?: number;
  readonly signal?: AbortSignal;
}

/** git asks for no password but that of the URL it is given. */
const NONE = { stored: [], configured: [] };

/** Maximum bytes of git's output, such as the file names of a large repository. */
const MAX_OUTPUT = 512 << 20;
const MAX_COMPLAINT = 4_096;
/** Time limit for commands that only read the repository, in milliseconds. */
const LOCAL_LIMIT_MS = 120_000;

/** Runs git and reads all of its output. Fails as a result, not as an error, if git is missing or too slow. */
export async function runGitProgram(args: readonly string[], run: GitProgramRun): Promise<GitResult> {
  await using git = startGit(args, run);
  if (git.process === undefined) return { ok: false, stdout: new Uint8Array(), stderr: git.problem };
  const [stdout, stderr] = await Promise.all([
    collect(git.process.stdout, MAX_OUTPUT),
    collect(git.process.stderr, MAX_COMPLAINT),
  ]);
  const { success } = await git.process.status;
  const complaint = new TextDecoder().decode(stderr.bytes).trim();
  if (!stdout.whole) return { ok: false, stdout: new Uint8Array(), stderr: "git wrote too much" };
  return { ok: success, stdout: stdout.bytes, stderr: git.ended() ?? complaint };
}

/**
 * Writes what git writes to the new file `path`.
 * @returns Whether all of it is there.
 */
export async function runGitInto(path: string, args: readonly string[], run: GitProgramRun): Promise<boolean> {
  await using git = startGit(args, run);
  if (git.process === undefined) return false;
  const file = await Deno.open(path, { write: true, createNew: true, mode: 0o600 });
  const [, , { success }] = await Promise.all([
    git.process.stdout.pipeTo(file.writable),
    collect(git.process.stderr, MAX_COMPLAINT),
    git.process.status,
  ]);
  return success;
}

interface StartedGit extends AsyncDisposable {
  /** `undefined` if it could not be started. */
  readonly process: Deno.ChildProcess | undefined;
  readonly problem: string;
  /** Why it was ended, if it was. */
  ended(): string | undefined;
}

function startGit(args: readonly string[], run: GitProgramRun): StartedGit {
  let ended: string | undefined;
  let process: Deno.ChildProcess;
  // Only a run that reaches the remote has a URL among its arguments.
  const sent = run.access === undefined ? { words: args, env: {} } : hideLogins(args, NONE);
  try {
    process = new Deno.Command("git", {
      args: [
        "-c",
        "core.quotepath=false",
        "-c",
        "gc.autoDetach=false",
        "-c",
        "maintenance.autoDetach=false",
        ...sent.words,
      ],
      cwd: run.directory,
      clearEnv: true,
      env: { ...environment(run), ...sent.env },
      stdin: run.stdin === undefined ? "null" : "piped",
      stdout: "piped",
      stderr: "piped",
      // A process group of its own, because git starts other processes, which hold its pipes open.
      detached: true,
    }).spawn();
  } catch (error) {
    // NotFound is also a repository that is not there.
    const isMissing = error instanceof Deno.errors.NotFound && isDirectory(run.directory);
    const problem = isMissing ? "git is not installed" : messageOf(error);
    return { process: undefined, problem, ended: () => undefined, [Symbol.asyncDispose]: () => Promise.resolve() };
  }
  const end = (reason: string) => {
    ended ??= reason;
    kill(process);
  };
  const limitMs = run.limitMs ?? LOCAL_LIMIT_MS;
  const timer = setTimeout(() => end(`git took longer than ${limitMs / 1000} seconds`), limitMs);
  const abort = () => end("the update was stopped");
  run.signal?.addEventListener("abort", abort, { once: true });
  if (run.signal?.aborted) abort();
  const fed = run.stdin === undefined ? Promise.resolve() : feed(process, run.stdin);
  return {
    process,
    problem: "",
    ended: () => ended,
    async [Symbol.asyncDispose]() {
      clearTimeout(timer);
      run.signal?.removeEventListener("abort", abort);
      await fed;
      await process.status;
    },
  };
}

async function feed(process: Deno.ChildProcess, text: string): Promise<void> {
  try {
    const writer = process.stdin.getWriter();
    await writer.write(new TextEncoder().encode(text));
    await writer.close();
  } catch {
    // git ended before it had read all of its input; its exit code shows that.
  }
}

/** Ends git, and what it has started. */
function kill(process: Deno.ChildProcess): void {
  try {
    Deno.kill(-process.pid, "SIGTERM");
  } catch {
    // All of them have ended by themselves.
  }
}

/** Reads to the end, and keeps the first `max` bytes. */
async function collect(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  max: number,
): Promise<{ readonly bytes: Uint8Array<ArrayBuffer>; readonly whole: boolean }> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let length = 0, whole = true;
  for await (const part of stream) {
    if (length + part.length > max) whole = false;
    else parts.push(part), length += part.length;
  }
  return { bytes: new Uint8Array(await new Blob(parts).arrayBuffer()), whole };
}

/** Seconds of silence after which a host counts as gone. */
const SILENCE_S = 60;

/** The environment of git: of the master's own variables only those for the paths of programs and keys. */
function environment({ access, indexFile, directory }: GitProgramRun): Record<string, string> {
  const own = Object.fromEntries(
    ["PATH", "HOME", "SSH_AUTH_SOCK", "TMPDIR"].flatMap((name) => {
      const value = Deno.env.get(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
  const variables: Record<string, string> = {
    ...own,
    LANGUAGE: "C",
    LC_ALL: "C",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "",
    // Not `ext::`, which runs a program.
    GIT_ALLOW_PROTOCOL: "file:git:http:https:ssh",
    GIT_HTTP_LOW_SPEED_LIMIT: "1",
    GIT_HTTP_LOW_SPEED_TIME: String(SILENCE_S),
  };
  if (indexFile !== undefined) variables.GIT_INDEX_FILE = indexFile;
  if (access === undefined) return variables;
  const hasPassphrase = access.passphrase !== "";
  if (hasPassphrase) Object.assign(variables, passphraseVariables(access.passphrase, directory));
  const key = access.privkey === "" ? "" : ` -o IdentitiesOnly=yes -i ${quoteShellWord(access.privkey)}`;
  variables.GIT_SSH_COMMAND = `ssh -o ${
    hasPassphrase ? ONLY_KEYS : "BatchMode=yes"
  } -o StrictHostKeyChecking=accept-new -o ConnectTimeout=${SILENCE_S} -o ServerAliveInterval=${SILENCE_S}${key}`;
  if (!access.sslVerify) variables.GIT_SSL_NO_VERIFY = "true";
  if (access.proxy !== "") variables.http_proxy = variables.https_proxy = access.proxy;
  return variables;
}

/** Instead of `BatchMode`, with which ssh asks for no passphrase: ssh must not ask for anything else. */
const ONLY_KEYS = "PreferredAuthentications=publickey -o PasswordAuthentication=no -o KbdInteractiveAuthentication=no";

const ASK_PASS = "#!/bin/sh\nprintf '%s\\n' \"$SALT_SSH_PASSPHRASE\"\n";

/**
 * The variables that make ssh ask a program for the passphrase. The passphrase is in a variable, because every user of
 * the host can see arguments.
 */
function passphraseVariables(passphrase: string, directory: string): Record<string, string> {
  const program = `${directory}/askpass`;
  writeProgram(program, ASK_PASS);
  return { SSH_ASKPASS: program, SSH_ASKPASS_REQUIRE: "force", DISPLAY: ":", SALT_SSH_PASSPHRASE: passphrase };
}

function writeProgram(path: string, text: string): void {
  try {
    if (Deno.readTextFileSync(path) === text) return;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  const temporary = `${path}.${crypto.randomUUID().slice(0, 8)}`;
  Deno.writeTextFileSync(temporary, text, { mode: 0o700 });
  Deno.renameSync(temporary, path);
}
