/**
 * One connection of OpenSSH to one host, and the sessions in it. A first ssh is the connection's master and runs
 * nothing; each session is an ssh that uses the master's socket, so a password is asked for once, and what ssh says
 * about the connection is apart from what a session writes.
 * Source: ssh(1), ssh_config(5), OpenSSH 8.4 and later (`SSH_ASKPASS_REQUIRE`).
 * @module
 */

import { messageOf, SshError, type SshFailure } from "#lib/errors.ts";
import { statIfExists } from "#lib/os/atomic_file.ts";
import { clearTimeout, setTimeout } from "#lib/os/timers.ts";
import type { RosterHost } from "./roster.ts";
import { KeptText } from "./kept_text.ts";

/** What all connections of a run share. */
export interface SshPlace {
  /** A directory of this user alone, with a short path: sockets have paths of at most 104 bytes. */
  readonly directory: string;
  /** Whether hosts with unknown keys are connected to. */
  readonly ignoreHostKeys: boolean;
  /** Whether keys of hosts are neither checked nor kept. */
  readonly noHostKeys: boolean;
  /** Aborted by the operator. */
  readonly signal: AbortSignal;
}

/** A running session. */
export interface SshSession {
  readonly stdin: WritableStreamDefaultWriter<Uint8Array>;
  readonly stdout: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly stderr: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** The exit code of the command there; 255 if the connection ended. */
  readonly code: Promise<number>;
  /** Ends it. The command there gets the end of its input. */
  kill(): void;
}

/**
 * Answers ssh's questions: the passphrase for the question of ssh itself about this key, the password for those about a
 * password, and `no` for all others. A host words questions of its own, before which ssh writes `(user@host) `: so it
 * gets no passphrase. The ssh to a host before the host (`ProxyJump`) has the same variables, and gets nothing.
 */
const ASK_PASS = `#!/bin/sh
[ "$PPID" = "$SALT_SSH_PID" ] || exit 1
case $1 in
  "Enter passphrase for key '$SALT_SSH_KEY"*) printf '%s\\n' "$SALT_SSH_PASSPHRASE" ;;
  *assword* | "Enter PIN for "*) printf '%s\\n' "$SALT_SSH_PASSWORD" ;;
  *) echo no ;;
esac
`;

/** Runs a command whose process is known to its children. */
const WITH_PID = 'SALT_SSH_PID=$$; export SALT_SSH_PID; exec "$0" "$@"';
/** Bytes of a key's path that ssh's question has. */
const ASKED_PATH = 100;

/**
 * Makes the directory for the sockets of a run.
 * @returns Its path.
 */
export function makeSshDirectory(): string {
  const directory = makeShortDirectory();
  Deno.writeTextFileSync(`${directory}/askpass`, ASK_PASS, { mode: 0o700 });
  return directory;
}

function makeShortDirectory(): string {
  const prefix = "salt-ssh-", given = Deno.env.get("XDG_RUNTIME_DIR") ?? "";
  if (given !== "" && given.length < 40) {
    try {
      return Deno.makeTempDirSync({ dir: given, prefix });
    } catch {
      // It is missing, or not this user's.
    }
  }
  return Deno.makeTempDirSync({ dir: "/tmp", prefix });
}

/** Number of connections of this process: each has a socket of its own. */
let opened = 0;

/** A connection; disposing of it ends it. */
export class SshConnection implements Disposable {
  readonly #host: RosterHost;
  readonly #socket: string;
  readonly #master: Deno.ChildProcess;
  readonly #said: KeptText;
  #isOver = false;

  private constructor(host: RosterHost, socket: string, master: Deno.ChildProcess, said: KeptText) {
    this.#host = host;
    this.#socket = socket;
    this.#master = master;
    this.#said = said;
    void master.status.then(() => this.#isOver = true);
  }

  /**
   * Connects.
   * @throws {SshError} If that fails, with ssh's own words.
   */
  static async open(host: RosterHost, place: SshPlace): Promise<SshConnection> {
    place.signal.throwIfAborted();
    const socket = `${place.directory}/${++opened}`;
    const master = new Deno.Command("/bin/sh", {
      args: ["-c", WITH_PID, "ssh"].concat(connectionWords(host, place), ["-M", "-N", "-S", socket])
        .concat(READY, ["--", host.host]),
      env: environment(host, place),
      clearEnv: true,
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const said = new KeptText();
    const read = said.readAll(master.stderr);
    const connection = new SshConnection(host, socket, master, said);
    const give = () => connection[Symbol.dispose]();
    place.signal.addEventListener("abort", give);
    let isLate = false;
    const late = setTimeout(() => {
      isLate = true;
      give();
    }, (host.timeoutS + GRACE_S) * 1000);
    try {
      if (await isReady(master.stdout)) return connection;
      await Promise.all([master.status, read]);
      place.signal.throwIfAborted();
      throw connectionError(isLate ? `ssh: no connection to ${host.host} within ${host.timeoutS} s` : said.text);
    } catch (error) {
      give();
      throw error;
    } finally {
      clearTimeout(late);
      place.signal.removeEventListener("abort", give);
    }
  }

  /** The error for a command whose connection has ended. */
  lost(): SshError {
    return new SshError("connection lost", `The connection to ${this.#host.host} ended: ${this.said.trim()}`);
  }

  /** What ssh has said about the connection: banners, and why it ended. */
  get said(): string {
    return this.#said.text;
  }

  /** Whether the connection has ended. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /**
   * Runs a command line of the host's shell.
   * @param options.tty Whether the host gives a terminal. Default: what its entry says.
   */
  run(command: string, { tty = this.#host.tty }: { readonly tty?: boolean } = {}): SshSession {
    const child = new Deno.Command("ssh", {
      // Without the socket there is no way: a session must not become a connection of its own.
      args: ["-S", this.#socket, "-o", "ControlMaster=no", "-o", "ProxyCommand=exit 255", "-o", "LogLevel=ERROR"]
        .concat(tty ? ["-tt"] : ["-T"], ["-e", "none", "--", this.#host.host, command]),
      env: ownEnvironment(),
      clearEnv: true,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    return {
      stdin: child.stdin.getWriter(),
      stdout: child.stdout,
      stderr: child.stderr,
      code: child.status.then(({ code }) => code),
      kill: () => end(child),
    };
  }

  [Symbol.dispose](): void {
    end(this.#master);
  }
}

/** Seconds beyond the host's own limit after which a connection is given up: ssh does not count the sign-in. */
const GRACE_S = 5;

/** Makes ssh run a command of this host when it is connected, which tells it; its socket is there then. */
const READY: readonly string[] = [
  ...["-o", "PermitLocalCommand=yes", "-o", "LocalCommand=echo ready", "-o", "ControlPersist=no"],
  ...["-o", "ExitOnForwardFailure=yes"],
];

async function isReady(stdout: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<boolean> {
  for await (const piece of stdout.values({ preventCancel: true })) {
    if (piece.length > 0) return true;
  }
  return false;
}

function end(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGTERM");
  } catch {
    // It has ended by itself.
  }
}

/** ssh's words for a connection to this host. */
function connectionWords(host: RosterHost, { ignoreHostKeys, noHostKeys }: SshPlace): string[] {
  const asks = host.passwd !== "" || host.privPasswd !== "";
  const options = [
    ...host.sshOptions,
    `Port=${host.port}`,
    `ConnectTimeout=${Math.ceil(host.timeoutS)}`,
    "NumberOfPasswordPrompts=1",
    "GSSAPIAuthentication=no",
    `BatchMode=${asks ? "no" : "yes"}`,
    `PasswordAuthentication=${host.passwd === "" ? "no" : "yes"}`,
    `KbdInteractiveAuthentication=${host.passwd === "" ? "no" : "yes"}`,
  ];
  if (noHostKeys) {
    options.push("StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "GlobalKnownHostsFile=/dev/null");
  } else if (ignoreHostKeys) {
    // Not `no`, with which ssh also connects to a host whose key is another one than before.
    options.push("StrictHostKeyChecking=accept-new");
  }
  if (host.identitiesOnly) options.push("IdentitiesOnly=yes");
  options.push(`ServerAliveInterval=${host.keepaliveS ?? 0}`, `ServerAliveCountMax=${host.keepaliveCount}`);
  return [
    ...options.flatMap((option) => ["-o", option]),
    ...host.priv === null ? [] : ["-i", host.priv],
    ...host.remotePortForwards.flatMap((forward) => ["-R", forward]),
    ...["-l", host.user, "-T"],
  ];
}

/** The variables of ssh that it takes from this process. */
function ownEnvironment(): Record<string, string> {
  const own = ["PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "SSH_AUTH_SOCK", "XDG_RUNTIME_DIR"].flatMap((name) => {
    const value = Deno.env.get(name);
    return value === undefined ? [] : [[name, value]];
  });
  // ssh runs its local command with it.
  return { ...Object.fromEntries(own), SHELL: "/bin/sh", LC_ALL: "C" };
}

/** With the secrets: every user of this host can see a command's words, and only this one its variables. */
function environment({ passwd, priv, privPasswd }: RosterHost, { directory }: SshPlace): Record<string, string> {
  if (passwd === "" && privPasswd === "") return ownEnvironment();
  return {
    ...ownEnvironment(),
    SSH_ASKPASS: `${directory}/askpass`,
    SSH_ASKPASS_REQUIRE: "force",
    DISPLAY: ":",
    SALT_SSH_KEY: askedPath(priv ?? ""),
    SALT_SSH_PASSPHRASE: privPasswd,
    SALT_SSH_PASSWORD: passwd,
  };
}

/** A key's path as ssh's question has it; empty if ssh puts something else into it. */
function askedPath(path: string): string {
  if (/[%$]|^~[^/]/.test(path)) return "";
  const whole = path.replace(/^~(?=\/)/, () => Deno.env.get("HOME") ?? "");
  return new TextDecoder().decode(new TextEncoder().encode(whole).subarray(0, ASKED_PATH), { stream: true });
}

/** What ssh says, and what it means; the first that matches. */
const MEANINGS: readonly (readonly [RegExp, SshFailure])[] = [
  [/Host key verification failed|REMOTE HOST IDENTIFICATION HAS CHANGED|host key is known for/, "host key"],
  [/Permission denied|Too many authentication failures|No more authentication methods/, "refused"],
];

/** The error for what ssh said when it could not connect. */
function connectionError(said: string): SshError {
  const kind = MEANINGS.find(([pattern]) => pattern.test(said))?.[1] ?? "unreachable";
  const text = said.split("\n").map((line) => line.trimEnd()).filter((line) => line !== "").join("\n");
  const hint = kind === "host key"
    ? "\nThe host key needs to be accepted: look at it and add it to known_hosts, or run salt-ssh with the -i flag"
    : "";
  return new SshError(kind, `${text === "" ? "ssh ended without a word" : text}${hint}`);
}

/**
 * Makes the key of hosts that name none, if it is not there.
 * @throws {SshError} If it cannot be made.
 */
export async function makeKey(path: string): Promise<void> {
  try {
    if (statIfExists(path) !== undefined) return;
    Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true, mode: 0o700 });
    const { success, stderr } = await new Deno.Command("ssh-keygen", {
      args: ["-q", "-t", "rsa", "-b", "3072", "-N", "", "-C", "salt-ssh", "-f", path],
      stdin: "null",
    }).output();
    if (!success) throw new Error(new TextDecoder().decode(stderr).trim());
  } catch (error) {
    throw new SshError("refused", `The key ${path} cannot be made: ${messageOf(error)}`);
  }
}
