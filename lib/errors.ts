/**
 * All errors that this project throws on purpose: flat classes with data in fields, and a text that says what failed.
 * Code checks the class, never the text.
 * @module
 */

/** An invalid command line. The command prints its usage and exits with 64 (sysexits EX_USAGE). */
export class UsageError extends Error {
  override name = "UsageError";
}

/** An invalid configuration. `file`, `line` (from 1) and `option` say where, as far as they are known. */
export class ConfigError extends Error {
  override name = "ConfigError";
  constructor(
    message: string,
    readonly where: { readonly file?: string; readonly line?: number; readonly option?: string } = {},
  ) {
    const place = where.file === undefined ? "" : `${where.file}${where.line === undefined ? "" : `:${where.line}`}: `;
    const option = where.option === undefined ? "" : `${where.option}: `;
    super(place + option + message);
  }
}

/** The host is not ready for the service (port in use, directory not writable, …): one line, exit code 1. */
export class PreflightError extends Error {
  override name = "PreflightError";
}

/** A call of libzmq failed: an address is in use, or there are too many sockets. */
export class SocketError extends Error {
  override name = "SocketError";
  /**
   * @param call What was called.
   * @param reason libzmq's word for it.
   */
  constructor(readonly call: string, reason: string) {
    super(`${call}: ${reason}`);
  }
}

/** This thread was declared dead but is still running: another thread has its sockets, so it may not use them. */
export class ThreadReplacedError extends Error {
  override name = "ThreadReplacedError";
  constructor() {
    super("This thread was replaced: its sockets are another's now");
  }
}

/** YAML that Salt's loader would refuse. Lines and columns count from 1. */
export class YamlError extends Error {
  override name = "YamlError";
  /** The text of Salt's loader, if that is known: shown where operators expect Salt's words. */
  salt?: string;
  constructor(readonly problem: string, readonly file: string, readonly line: number, readonly column: number) {
    super(`${file}:${line}:${column}: ${problem}`);
  }
}

/** A text that is not JSON. Lines and columns count from 1; the message is Python's. */
export class JsonError extends Error {
  override name = "JsonError";
  readonly line: number;
  readonly column: number;
  /** @param where.offset Characters before the place. */
  constructor(
    readonly problem: string,
    where: { readonly line: number; readonly column: number; readonly offset: number },
  ) {
    super(`${problem}: line ${where.line} column ${where.column} (char ${where.offset})`);
    this.line = where.line;
    this.column = where.column;
  }
}

/** Bytes that are not MessagePack, or out of bounds. */
export class MsgpackError extends Error {
  override name = "MsgpackError";
}

/** A message from the network is not what is expected. `field` names the wrong field. */
export class WireError extends Error {
  override name = "WireError";
  constructor(message: string, readonly field?: string) {
    super(message);
  }
}

/** A crypticle, signature or nonce could not be verified. It never gives the reason, so that it is no oracle. */
export class AuthenticationError extends Error {
  override name = "AuthenticationError";
}

/** A key (PEM text, key file, minion's key) cannot be used. The text never quotes the key. */
export class KeyError extends Error {
  override name = "KeyError";
}

/** The master refused the credentials. `kind` is Salt's name of the error. */
export class RefusedError extends Error {
  override name = "RefusedError";
  constructor(readonly kind: string, message: string) {
    super(message);
  }
}

/** The master refused a job until the user's turn comes. `rule`: its place in the option `flow`, from 1. */
export class ThrottledError extends RefusedError {
  override name = "ThrottledError";
  constructor(message: string, readonly rule: number, readonly retryAfterMs: number) {
    super("SaltThrottled", message);
  }
}

/**
 * A sign-in failed, and waiting would not help. The minion exits with `exitCode` (77 rejected, 42 wrong fingerprint,
 * else 1).
 */
export class SignInError extends Error {
  override name = "SignInError";
  constructor(message: string, readonly exitCode: number) {
    super(message);
  }
}

/** A request to the master got no reply. */
export class RequestTimeoutError extends Error {
  override name = "RequestTimeoutError";
  constructor(readonly address: string, readonly waitedMs: number) {
    super(`No reply from ${address} in ${waitedMs} ms`);
  }
}

/** The connection to a master has ended, because the minion ends or takes another master. */
export class MasterLeftError extends Error {
  override name = "MasterLeftError";
}

/**
 * A request is larger than the master accepts. It was not sent, since the master would close the connection without a
 * reply.
 */
export class RequestTooLargeError extends Error {
  override name = "RequestTooLargeError";
  /**
   * @param bytes Of the request.
   * @param limit Bytes of the largest that the master takes.
   */
  constructor(readonly bytes: number, readonly limit: number) {
    super(`A request of ${bytes} bytes is too large for the master: it takes ${limit} (max_request_bytes)`);
  }
}

/** What was asked for cannot be done now, and may be asked for again later: commands exit with 75. */
export class TemporaryError extends Error {
  override name = "TemporaryError";
}

/** No master is running where the command looked for it. */
export class NoMasterError extends Error {
  override name = "NoMasterError";
}

/** An entry of a schedule that cannot run. The text says why; it is shown to operators as `_error`. */
export class ScheduleEntryError extends Error {
  override name = "ScheduleEntryError";
}

/** Details of a failed change: Salt's `info` of a CommandExecutionError, for states. */
export interface FailureInfo {
  /** What has changed nevertheless, a map of values; absent: not known. */
  readonly changes?: unknown;
  /** The error's text without what has changed. */
  readonly message: string;
}

/**
 * A returner cannot store a return or event because of what is in it: it would fail again, however often it is tried.
 * Other errors of returners may end by themselves, as that of a server that is away.
 */
export class UnstorableError extends Error {
  override name = "UnstorableError";
}

/** A function of a module failed; Salt's CommandExecutionError. */
export class CommandError extends Error {
  override name = "CommandError";
  /** Further facts. */
  readonly info?: FailureInfo;
  constructor(message: string, { info, ...options }: ErrorOptions & { readonly info?: FailureInfo } = {}) {
    super(message, options);
    this.info = info;
  }
}

/** No minion is running where a command looked for it. */
export class NoMinionError extends CommandError {
  override name = "NoMinionError";
}

/**
 * Arguments do not fit a function's parameters. With `usage` (the function's documentation) their number or type is
 * wrong, as Python's TypeError; without it, this is Salt's SaltInvocationError.
 */
export class InvocationError extends Error {
  override name = "InvocationError";
  /** Whether the usage is shown as it is written: it is a docstring of a plugin in Python. */
  readonly isVerbatim: boolean;
  /** The docstring of the function in Python that has raised it itself: `salt-call` shows it, a job does not. */
  readonly docstring: string | undefined;
  constructor(
    message: string,
    readonly usage?: string,
    { isVerbatim = false, docstring }: { readonly isVerbatim?: boolean; readonly docstring?: string } = {},
  ) {
    super(message);
    this.isVerbatim = isVerbatim;
    this.docstring = docstring;
  }
}

/** A plugin in Python raised an exception that has no class here. */
export class PluginError extends Error {
  override name = "PluginError";
  /**
   * @param kind The name of the exception's class.
   * @param trace Python's traceback, with the plugin's own frames.
   */
  constructor(readonly kind: string, message: string, readonly trace: string) {
    super(message);
  }
}

/** A program that a function needs is not installed; Salt's CommandNotFoundError. */
export class CommandNotFoundError extends Error {
  override name = "CommandNotFoundError";
}

/** A job was ended by a signal of `saltutil.term_job` or a similar function. */
export class JobEndedError extends Error {
  override name = "JobEndedError";
  /** @param signal The number of the signal. */
  constructor(readonly signal: number) {
    super(`The job was told to end by signal ${signal}`);
  }
}

/** A signal ended this command: why its waits are aborted. */
export class InterruptedError extends Error {
  override name = "InterruptedError";
  /**
   * @param signal Its name: `SIGTERM`.
   * @param number Its number.
   */
  constructor(readonly signal: "SIGINT" | "SIGTERM", readonly number: number) {
    super(signal === "SIGINT" ? "Ctrl-C" : signal);
  }
}

/** The outcome of a command is lost, because the process that read its output has ended. */
export class CommandLostError extends Error {
  override name = "CommandLostError";
}

/** No module has the function. */
export class UnavailableError extends Error {
  override name = "UnavailableError";
  /**
   * @param why.meant The function that was probably meant.
   * @param why.state The state function that was probably meant.
   * @param why.planned Whether Salt has the function, and this program does not yet.
   * @param why.instead The module whose functions do the work of that one.
   * @param why.refusal Why its module does not serve this host; empty: it gives no reason.
   */
  constructor(
    readonly fun: string,
    { nearest, state, planned, instead, refusal }: {
      readonly nearest?: string;
      readonly state?: string;
      readonly planned?: boolean;
      readonly instead?: string;
      readonly refusal?: string;
    } = {},
  ) {
    const hint = state !== undefined
      ? ` ${state} is a state function: state.single ${state} …`
      : nearest === undefined
      ? ""
      : ` Did you mean ${nearest}?`;
    const missing = planned && instead !== undefined
      ? `'${fun}' is not available: it is a function of Salt that is not built. The module ${instead} does this work.`
      : planned
      ? `'${fun}' is not available: it is a function of Salt that is not built yet.`
      : `'${fun}' is not available.${hint}`;
    super(
      refusal === undefined
        ? missing
        : `'${fun.split(".", 1)[0]}' __virtual__ returned False${refusal === "" ? "" : `: ${refusal}`}`,
    );
  }
}

/** A call of the C library failed. */
export class LibcError extends Error {
  override name = "LibcError";
  constructor(readonly call: string) {
    super(`${call}() failed: no right to do so, or no more resources`);
  }
}

/** A regular expression in Python's syntax is invalid, or uses something that is not supported here. */
export class RegexError extends Error {
  override name = "RegexError";
  /** @param pattern The whole pattern; the message shows its beginning. */
  constructor(readonly pattern: string, readonly problem: string) {
    super(`Cannot read the regular expression ${JSON.stringify(pattern.slice(0, 200))}: ${problem}`);
  }
}

/** A target cannot be resolved. `tgtType` is its type. */
export class TargetError extends Error {
  override name = "TargetError";
  /** @param tgtType Salt's name of the target's type. */
  constructor(message: string, readonly tgtType: string) {
    super(message);
  }
}

/** A top file of pillar does not have the right form. */
export class PillarTopError extends Error {
  override name = "PillarTopError";
}

/** A store of the master cannot be read or written. `path` says where; `cause` says why. */
export class StoreError extends Error {
  override name = "StoreError";
  /** @param path What could not be written or read. */
  constructor(message: string, readonly path: string, options?: ErrorOptions) {
    super(message, options);
  }
}

/** Another master of the cluster may have a lease by now. */
export class LeaseLostError extends Error {
  override name = "LeaseLostError";
}

/** A file of `salt-cp` cannot be sent. */
export class SourceError extends Error {
  override name = "SourceError";
  /** @param exitCode Salt's exit code for that. */
  constructor(message: string, readonly exitCode: number) {
    super(message);
  }
}

/**
 * An exception of Python, as operations on Python's values raise it: in templates, and in functions that behave as
 * Python's.
 */
export class PythonError extends Error {
  override name = "PythonError";
  /** @param type Python's name of its class: `TypeError`, `ZeroDivisionError`. */
  constructor(readonly type: string, message: string) {
    super(message);
  }
}

/** A place in a file; lines and columns count from 1. */
export interface Place {
  /** The path of the file, as requested: `web/init.sls`. `undefined` for a text that came from no file. */
  readonly file?: string;
  readonly line: number;
  /** `undefined` where a template made the text. */
  readonly column?: number;
}

/** Details of an error besides its message. */
export interface RenderErrorDetail {
  readonly place?: Place;
  /** The lines around the place, with a mark, as Salt shows them: `---`, lines, `---`. */
  readonly excerpt?: string;
  /** What included or imported the file of the place: the nearest first. */
  readonly chain?: readonly Place[];
  /** A sentence that helps: `Did you mean 'name'?` */
  readonly hint?: string;
  /** Whether the renderer itself failed: in Salt, an exception that is no SaltRenderError. */
  readonly isFailure?: boolean;
}

/**
 * A file or text cannot be rendered; Salt's SaltRenderError. The message is Salt's first line:
 * `Jinja variable 'x' is undefined; line 2`.
 */
export class RenderError extends Error {
  override name = "RenderError";
  constructor(message: string, readonly detail: RenderErrorDetail = {}, options?: ErrorOptions) {
    super(message, options);
  }

  /** What Python's `str()` of the error says: the message and the excerpt. */
  get saltText(): string {
    const { excerpt } = this.detail;
    return excerpt === undefined ? this.message : `${this.message}\n\n${excerpt}`;
  }

  /** {@linkcode saltText}, then the place with its column, what included the file, and the hint, a line each. */
  get text(): string {
    const { place, chain = [], hint } = this.detail;
    const lines = place === undefined ? [] : [`at ${placeText(place)}`, ...chain.map((by) => `from ${placeText(by)}`)];
    return [this.saltText, ...lines, ...hint === undefined ? [] : [hint]].join("\n");
  }
}

/** A place as editors and compilers write it: `web/init.sls:12:5`. */
export function placeText({ file = "the text", line, column }: Place): string {
  return `${file}:${line}${column === undefined ? "" : `:${column}`}`;
}

/** The message of a thrown error, or the text of another thrown value. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The same for a log: with the places in the code. */
export function describeError(thrown: unknown): string {
  return thrown instanceof Error ? thrown.stack ?? thrown.message : String(thrown);
}

/** What keeps `salt-ssh` from a result of a host. */
export type SshFailure =
  /** Nothing answers at the address. */
  | "unreachable"
  /** The key of the host is unknown, or another one than before. */
  | "host key"
  /** The host refuses the user. */
  | "refused"
  /** sudo wants another password, or one at all. */
  | "sudo"
  /** The host has no place for the executable: no space, no directory, programs may not run there. */
  | "deploy"
  /** There is no executable for the host's machine. */
  | "no executable"
  /** The script of `ssh_pre_flight` failed. */
  | "pre-flight"
  /** The connection ended before the result. */
  | "connection lost"
  /** The host sent what the executable never sends. */
  | "protocol";

/** A host of `salt-ssh` gives no result. The message is for the operator. */
export class SshError extends Error {
  override name = "SshError";
  constructor(readonly kind: SshFailure, message: string) {
    super(message);
  }
}

/** A roster that cannot be read, or an entry of it. */
export class RosterError extends Error {
  override name = "RosterError";
}
