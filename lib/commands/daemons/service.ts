/**
 * `salt-master` and `salt-minion` from the command line to the exit code: configuration, background, checks of the
 * host, user, log, signals. The services themselves are in other files.
 * @module
 */

import type { CommandLine } from "#lib/commands/cli/command_line.ts";
import { openCommandLine } from "#lib/commands/cli/run_command.ts";
import type { ConfigRequest, LoadedConfig } from "#lib/config/load.ts";
import { daemonize, type DaemonRole, takeDaemonRole } from "#lib/runtime/daemon.ts";
import {
  ConfigError,
  describeError,
  KeyError,
  LibcError,
  messageOf,
  PreflightError,
  SignInError,
} from "#lib/errors.ts";
import { EX_SOFTWARE } from "#lib/runtime/sysexits.ts";
import { returnLargeBlocks } from "#lib/libc/libc.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { type LogOpts, type OpenLog, openLog } from "#lib/runtime/log_sinks.ts";
import type { Role } from "#lib/config/options.ts";
import { claimPidFile, type PidFile } from "#lib/runtime/pid_file.ts";
import type { Ready } from "./preflight.ts";
import { writeError, writeOut } from "#lib/commands/cli/process_io.ts";
import { becomeRunUser } from "#lib/programs/run_user.ts";
import { onDiagnostics, onShutdown } from "#lib/runtime/signals.ts";
import type { ServiceTable } from "./service_options.ts";
import { startUp } from "#lib/commands/cli/start_up.ts";
import { CLOSE_MS, TimeBudget } from "#lib/os/time_budget.ts";
import { sanitize, useColours } from "#lib/text/terminal.ts";
import { surviveErrors } from "#lib/runtime/thread.ts";

/** A running service. */
export interface Service {
  /** Rejects with the error that ended it, if it ends by itself. */
  readonly closed: Promise<void>;
  /** The current activity of each thread, one line each. */
  describeThreads(): Promise<string[]>;
  /** Ends it, within `budget`. */
  close(budget: TimeBudget): Promise<void>;
}

/** The options that both services have. */
export interface ServiceOpts extends LogOpts {
  /** The file for the process id. */
  readonly pidfile: string;
  /** The directory for profiles. */
  readonly cachedir: string;
  /** Whether the terminal may be coloured. */
  readonly color: boolean;
}

/** The definition of one service. */
export interface ServiceDefinition<O extends ServiceOpts> {
  readonly command: CommandLine<ServiceTable>;
  /** The role whose configuration it uses. */
  readonly role: Role;
  load(request: ConfigRequest): LoadedConfig<O>;
  /** Checks and prepares the host, as far as root is needed. */
  preflight(opts: O): Ready;
  /** Starts the service; resolves when it is running. */
  start(opts: O, log: Logger): Promise<Service>;
  /** Its umask. Default: that of the starting process, which commands of jobs inherit. */
  readonly umask?: number;
  /** Time limit for closing, after which the process exits anyway, in milliseconds. Default: {@linkcode CLOSE_MS}. */
  readonly closeMs?: number;
}

/** The umask of a service in the background, as in Salt: that of the starting shell is ignored. */
const DAEMON_UMASK = 0o022;

/**
 * Runs a service until it ends.
 * @returns The exit code.
 */
export async function runService<O extends ServiceOpts>(
  definition: ServiceDefinition<O>,
  argv: readonly string[],
): Promise<number> {
  const daemon = takeDaemonRole();
  const { command } = definition;
  const opening = await openCommandLine(command, argv, { write: writeOut, writeError });
  if ("exitCode" in opening) return opening.exitCode;
  try {
    const loaded = startUp(command, opening.parsed, definition);
    if (opening.parsed.options.daemon && daemon === undefined) {
      // By its name: the executable may be another program's, and this one a link to it.
      const outcome = await daemonize({ args: ["--as", command.prog, ...argv] });
      if (outcome.kind === "ready") return 0;
      writeError(`${outcome.message}\n`);
      return 1;
    }
    return await serve(definition, loaded, daemon);
  } catch (error) {
    const text = isExpected(error) ? error.message : String(error);
    writeError(sanitize(`${command.prog}: ${text}\n`));
    return isExpected(error) ? 1 : EX_SOFTWARE;
  }
}

/** Whether an error's text is sufficient for an operator. */
function isExpected(error: unknown): error is Error {
  return [ConfigError, PreflightError, KeyError, LibcError].some((kind) => error instanceof kind);
}

async function serve<O extends ServiceOpts>(
  definition: ServiceDefinition<O>,
  { opts, warnings, steps = [] }: LoadedConfig<O>,
  daemon: DaemonRole | undefined,
): Promise<number> {
  const { prog } = definition.command;
  // A service must not keep the starting directory's file system busy.
  if (daemon !== undefined) Deno.chdir("/");
  const umask = definition.umask ?? (daemon === undefined ? undefined : DAEMON_UMASK);
  if (umask !== undefined) Deno.umask(umask);
  returnLargeBlocks();
  const ready = definition.preflight(opts);
  let pidFile: PidFile | undefined;
  let opened: OpenLog | undefined;
  let service: Service | undefined;
  let exitCode = 0;
  const stop = new AbortController();
  const undo: (() => void)[] = [() => pidFile?.release()];
  try {
    // Signals first: one that comes during the start must also stop the service, and leave no files.
    undo.push(onShutdown({
      controller: stop,
      log: { warning: (text) => opened?.log.warning(text) },
      name: prog,
      atOnce: () => pidFile?.release(),
    }));
    // Before the file of the process id, which tells others where to send a SIGUSR1.
    undo.push(onDiagnostics({
      log: {
        critical: (text) => opened?.log.named(`salt.${definition.role}`).critical(text),
        error: (text) => opened?.log.named(`salt.${definition.role}`).error(text),
      },
      name: prog,
      profileDir: opts.cachedir,
      describeThreads: () => service?.describeThreads() ?? Promise.resolve(["Main: starting"]),
    }));
    if (ready.rootsPidFile) pidFile = claimPidFile(opts.pidfile, prog, ready.user);
    if (ready.user !== undefined) becomeRunUser(ready.user);
    const odd = ready.finish();
    pidFile ??= claimPidFile(opts.pidfile, prog);
    opened = openServiceLog(opts, daemon === undefined);
    const { close } = opened;
    const log = opened.log.named(`salt.${definition.role}`), config = opened.log.named("salt.config");
    undo.push(close, surviveErrors(log));
    for (const step of steps) config.debug(step);
    for (const warning of [...warnings, ...odd]) config.warning(warning);
    service = await definition.start(opts, log).catch((error) => {
      if (!isExpected(error)) log.critical(`Cannot start: ${describeError(error)}`);
      throw error;
    });
    daemon?.ready();
    exitCode = await untilEnded(service, stop.signal, log);
    const closeMs = definition.closeMs ?? CLOSE_MS;
    const budget = new TimeBudget(closeMs);
    if (!await budget.allows(service.close(budget))) {
      log.error(`${prog} did not end within ${closeMs / 1000} seconds; the process exits with work unfinished`);
    }
  } finally {
    for (const step of undo.reverse()) step();
  }
  return exitCode;
}

function openServiceLog(opts: ServiceOpts, hasTerminal: boolean): OpenLog {
  return openLog(opts, {
    terminal: hasTerminal ? writeError : undefined,
    colours: useColours({
      isTerminal: Deno.stderr.isTerminal(),
      noColorVariable: Deno.env.get("NO_COLOR"),
      configured: opts.color,
    }),
  });
}

/**
 * Waits until the service has ended, or is to end.
 * @returns The exit code.
 */
function untilEnded(service: Service, signal: AbortSignal, log: Logger): Promise<number> {
  return Promise.race([service.closed, untilAborted(signal)]).then(() => 0, (error) => {
    log.critical(messageOf(error));
    return error instanceof SignInError ? error.exitCode : 1;
  });
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
