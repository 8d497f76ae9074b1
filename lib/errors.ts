/**
 * Every error that this project throws on purpose: flat classes, data in fields, text that says what failed.
 * Callers match the class; nobody matches the text.
 * @module
 */

/** A command line that cannot be understood; the face prints its usage and exits 64 (sysexits EX_USAGE). */
export class UsageError extends Error {
  override name = "UsageError";
}

/** A configuration that cannot be used. `file`, `line` (from 1) and `option` say where, as far as they are known. */
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

/** A host that is not ready for the service (port taken, directory unwritable, …): one line, exit code 1. */
export class PreflightError extends Error {
  override name = "PreflightError";
}

/** A call of libzmq that failed: an address that is taken, too many sockets. */
export class SocketError extends Error {
  override name = "SocketError";
  /** @param call What was called. @param reason libzmq's word for it. */
  constructor(readonly call: string, reason: string) {
    super(`${call}: ${reason}`);
  }
}

/** A thread that was declared dead and goes on: another has its sockets, and it may touch none of them any more. */
export class ThreadReplacedError extends Error {
  override name = "ThreadReplacedError";
  constructor() {
    super("This thread was replaced: its sockets are another's now");
  }
}

/** YAML that Salt's loader would refuse. Lines and columns count from 1. */
export class YamlError extends Error {
  override name = "YamlError";
  constructor(readonly problem: string, readonly file: string, readonly line: number, readonly column: number) {
    super(`${file}:${line}:${column}: ${problem}`);
  }
}

/** Bytes that are not msgpack within the bounds. */
export class MsgpackError extends Error {
  override name = "MsgpackError";
}

/** A message off the wire that is not what its place asks for. `field` names the culprit. */
export class WireError extends Error {
  override name = "WireError";
  constructor(message: string, readonly field?: string) {
    super(message);
  }
}

/** A crypticle, signature or nonce that does not prove what it should. Never says more, so that it is no oracle. */
export class AuthenticationError extends Error {
  override name = "AuthenticationError";
}

/** A key (PEM text, key file, minion's key) that cannot be used. Never quotes the key. */
export class KeyError extends Error {
  override name = "KeyError";
}

/** Credentials that the master refused. `kind` is Salt's name of the error. */
export class RefusedError extends Error {
  override name = "RefusedError";
  constructor(readonly kind: string, message: string) {
    super(message);
  }
}

/** A sign-in that cannot succeed by waiting; the minion exits with `exitCode` (77 rejected, 42 wrong finger, 1 else). */
export class SignInError extends Error {
  override name = "SignInError";
  constructor(message: string, readonly exitCode: number) {
    super(message);
  }
}

/** A request to the master that got no reply. */
export class RequestTimeoutError extends Error {
  override name = "RequestTimeoutError";
  constructor(readonly address: string, readonly waitedMs: number) {
    super(`No reply from ${address} in ${waitedMs} ms`);
  }
}

/** A request that is larger than the master takes: it was not sent, as the master would end the connection without a word. */
export class RequestTooLargeError extends Error {
  override name = "RequestTooLargeError";
  /** @param bytes Of the request. @param limit Bytes of the largest that the master takes. */
  constructor(readonly bytes: number, readonly limit: number) {
    super(`A request of ${bytes} bytes is too large for the master: it takes ${limit} (max_request_bytes)`);
  }
}

/** No master is running where the command looked for one. */
export class NoMasterError extends Error {
  override name = "NoMasterError";
}

/** A function of a module could not do what it was asked to; Salt's CommandExecutionError. */
export class CommandError extends Error {
  override name = "CommandError";
}

/**
 * Arguments that do not fit a function's parameters. With `usage` (the function's documentation) their number or type is
 * wrong, Python's TypeError; without, it is Salt's SaltInvocationError.
 */
export class InvocationError extends Error {
  override name = "InvocationError";
  constructor(message: string, readonly usage?: string) {
    super(message);
  }
}

/** A program that a function needs is not on this host; Salt's CommandNotFoundError. */
export class CommandNotFoundError extends Error {
  override name = "CommandNotFoundError";
}

/** A function that no module has. */
export class UnavailableError extends Error {
  override name = "UnavailableError";
  /** @param meant The function that was probably meant. */
  constructor(readonly fun: string, meant?: string) {
    super(`'${fun}' is not available.${meant === undefined ? "" : ` Did you mean ${meant}?`}`);
  }
}

/** A call of the C library failed. */
export class LibcError extends Error {
  override name = "LibcError";
  constructor(readonly call: string) {
    super(`${call}() failed: no right to do so, or no more resources`);
  }
}

/** A regular expression in Python's syntax that cannot be read, or that asks for what cannot be had here. */
export class RegexError extends Error {
  override name = "RegexError";
  /** @param pattern The whole pattern; the message shows its beginning. */
  constructor(readonly pattern: string, readonly problem: string) {
    super(`Cannot read the regular expression ${JSON.stringify(pattern.slice(0, 200))}: ${problem}`);
  }
}

/** A target that cannot be resolved. `tgtType` is its type. */
export class TargetError extends Error {
  override name = "TargetError";
  /** @param tgtType Salt's name of the target's type. */
  constructor(message: string, readonly tgtType: string) {
    super(message);
  }
}

/** A cache of the master that cannot be written or read. `path` says where; `cause` says why. */
export class StoreError extends Error {
  override name = "StoreError";
  /** @param path What could not be written or read. */
  constructor(message: string, readonly path: string, options?: ErrorOptions) {
    super(message, options);
  }
}

/** A file of `salt-cp` that cannot be sent. */
export class SourceError extends Error {
  override name = "SourceError";
  /** @param exitCode Salt's exit code for that. */
  constructor(message: string, readonly exitCode: number) {
    super(message);
  }
}
