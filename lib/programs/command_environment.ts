/**
 * The environment of a command of `cmd.*`: the minion's own, that of the user it runs as, the caller's variables, and
 * the C locale. Starts only `su`, to read a user's login environment.
 * Source: Salt 3008.3, `salt/modules/cmdmod.py`.
 * @module
 */

import { runChild } from "./child_process.ts";
import { CommandError, InvocationError, messageOf } from "#lib/errors.ts";
import type { User } from "#lib/os/users.ts";
import { truncateRepr } from "#lib/text/truncate.ts";
import { isFloat, isInt, isMap, str, type Value } from "#lib/values/value.ts";
import { which } from "./which.ts";

/** Environment variables by name. */
export type CommandEnvironment = Record<string, string>;

/** Set to `C` unless the caller sets them: programs that parse output know English only. */
const LOCALE = [
  "LC_CTYPE",
  "LC_NUMERIC",
  "LC_TIME",
  "LC_COLLATE",
  "LC_MONETARY",
  "LC_MESSAGES",
  "LC_PAPER",
  "LC_NAME",
  "LC_ADDRESS",
  "LC_TELEPHONE",
  "LC_MEASUREMENT",
  "LC_IDENTIFICATION",
  "LANGUAGE",
];

/** Variables that scripts/build/launcher.sh sets. */
const LAUNCHER_VARIABLES = ["SALT_EXECUTABLE", "DENO_DIR", "DENO_NO_UPDATE_CHECK"];

/** Maximum time of a login, in milliseconds; then the command runs without that user's environment, as in Salt. */
const LOGIN_TIMEOUT_MS = 10_000;

/** The parts of an environment. */
export interface EnvironmentRequest {
  /** The caller's variables, from {@linkcode parseEnvironment}. */
  readonly given: CommandEnvironment;
  /** The user's login environment, from {@linkcode loginEnvironment}. */
  readonly login: CommandEnvironment;
  /** Leaves out the minion's own variables. */
  readonly clean: boolean;
  /** Directories to search first. */
  readonly prependPath: string | null;
  /** Sets the locale to C unless it is set. */
  readonly resetLocale: boolean;
}

/**
 * Parses the caller's `env` argument: a map, or a list of maps with one key each. None becomes an empty string.
 * @throws {InvocationError} For an invalid variable name, and for anything else: Salt runs the command without it.
 */
export function parseEnvironment(env: Value): CommandEnvironment {
  const environment: CommandEnvironment = {};
  for (const [key, value] of entries(env)) {
    const name = str(key);
    if (name === "" || name.includes("=") || name.includes("\0")) {
      throw new InvocationError(`illegal environment variable name: ${JSON.stringify(name)}`);
    }
    environment[name] = value === null ? "" : str(value);
  }
  return environment;
}

function entries(env: Value): [Value, Value][] {
  if (isMap(env)) return [...env];
  if (env === null) return [];
  const refusal = new InvocationError(
    `env must be a map, or a list of maps, not ${truncateRepr(env)}: env='{NAME: value}'`,
  );
  if (!Array.isArray(env)) throw refusal;
  const entries: [Value, Value][] = [];
  for (const element of env) {
    if (isMap(element) && element.size === 1) entries.push(...element);
    else if (typeof element === "string" || isInt(element) || isFloat(element)) entries.push([element, null]);
    else throw refusal;
  }
  return entries;
}

/**
 * Builds an environment; later parts override earlier ones: the minion's own, the locale, the user's login, the
 * caller's.
 */
export function buildEnvironment(
  { given, login, clean, prependPath, resetLocale }: EnvironmentRequest,
): CommandEnvironment {
  const chosen = { ...login, ...given };
  const locale = resetLocale ? Object.fromEntries(LOCALE.map((name) => [name, "C"])) : {};
  const environment: CommandEnvironment = { ...(clean ? {} : ownEnvironment()), ...locale, ...chosen };
  if (prependPath !== null) {
    environment.PATH = environment.PATH === undefined ? prependPath : `${prependPath}:${environment.PATH}`;
  }
  // Otherwise a child could tell systemd that the minion is ready.
  if (!Object.hasOwn(chosen, "NOTIFY_SOCKET")) delete environment.NOTIFY_SOCKET;
  return environment;
}

/** This process's variables without those that the launcher of a packed executable has set. */
function ownEnvironment(): CommandEnvironment {
  const own = Deno.env.toObject();
  if (own.SALT_EXECUTABLE !== undefined) { for (const name of LAUNCHER_VARIABLES) delete own[name]; }
  return own;
}

/** Maximum output of a login, in bytes; above it the login counts as failed. */
const LOGIN_OUTPUT = 4 << 20;

/** Options of {@linkcode loginEnvironment}. */
export interface LoginRequest {
  /** The login shell; `null`: the user's own. */
  readonly shell: string | null;
  /** Aborts the login. */
  readonly signal: AbortSignal;
  /** Called with the reason of a failure. */
  readonly log: (level: "error", message: string) => void;
}

/** The environment of `user` after a login; only `HOME` and `USER` if the login fails. */
export async function loginEnvironment(user: User, request: LoginRequest): Promise<CommandEnvironment> {
  const identity = { USER: user.name, HOME: user.home };
  // Between markers, because a profile may print anything.
  const marker = `<<<${crypto.randomUUID()}>>>`;
  const script = `printf %s '${marker}'; cat /proc/self/environ; printf %s '${marker}'`;
  const shell = request.shell === null ? [] : ["-s", request.shell];
  try {
    const { stdout, stderr } = await runChild({
      argv: [which("su") ?? "su", ...shell, "-", user.name, "-c", script],
      cwd: "/",
      env: ownEnvironment(),
    }, { timeoutMs: LOGIN_TIMEOUT_MS, signal: request.signal, child: () => {}, outputMax: LOGIN_OUTPUT });
    const parts = new TextDecoder().decode(stdout).split(marker);
    if (parts.length === 3) return { ...parseEnviron(parts[1]), ...identity };
    request.log("error", loginFailure(user, new TextDecoder().decode(stderr).trim() || "no answer"));
  } catch (error) {
    request.signal.throwIfAborted();
    request.log("error", loginFailure(user, messageOf(error)));
  }
  return identity;
}

function loginFailure(user: User, why: string): string {
  return `Environment could not be retrieved for user '${user.name}': ${why}`;
}

/** Parses the text of a `/proc/<pid>/environ`. */
function parseEnviron(text: string): CommandEnvironment {
  const environment: CommandEnvironment = {};
  for (const item of text.split("\0")) {
    const equals = item.indexOf("=");
    if (equals > 0) environment[item.slice(0, equals)] = item.slice(equals + 1);
  }
  return environment;
}

/**
 * The working directory of a command without `cwd`: the user's home, or `/` if that cannot be read.
 * @param user The user to run as; without it, this process's.
 */
export function homeDirectory(user: User | undefined, own: () => User | undefined): string {
  const home = user?.home ?? Deno.env.get("HOME") ?? own()?.home ?? "/";
  try {
    Deno.readDirSync(home)[Symbol.iterator]().next();
    return home;
  } catch {
    return "/";
  }
}

/**
 * Checks a working directory.
 * @throws {CommandError} Unless `cwd` is the absolute path of a directory.
 */
export function checkWorkingDirectory(cwd: string): void {
  try {
    if (cwd.startsWith("/") && Deno.statSync(cwd).isDirectory) return;
  } catch {
    // reported below
  }
  throw new CommandError(`Specified cwd '${cwd}' either not absolute or does not exist`);
}
