/**
 * Signals of a service: SIGTERM and SIGINT end it, SIGUSR1 makes every thread report its current activity, SIGUSR2
 * starts and stops a CPU profile.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { signalNumber } from "#lib/libc/signal_actions.ts";
import type { RunningProfile } from "./cpu_profile.ts";
import { closeInspector } from "./inspector.ts";
import type { Logger } from "./log.ts";

/** Reverses something once. */
export interface Undo {
  /** May be called twice. */
  (): void;
}

/** Options of {@linkcode onShutdown}. */
export interface ShutdownOptions {
  /** Aborted at the first signal, with the signal's name as reason. */
  readonly controller: AbortController;
  readonly log: Pick<Logger, "warning">;
  /** The service's name for the log: `salt-master`. */
  readonly name: string;
  /** Called at the second signal, before the process exits immediately. */
  atOnce?(): void;
}

/** Aborts the controller at SIGTERM and SIGINT; a second signal exits immediately. */
export function onShutdown(options: ShutdownOptions): Undo {
  let signalled = false;
  return listen(["SIGTERM", "SIGINT"], (signal) => {
    if (signalled) {
      options.atOnce?.();
      Deno.exit(128 + signalNumber(signal));
    }
    signalled = true;
    options.log.warning(`${options.name} received a ${signal}. Exiting.`);
    options.controller.abort(signal);
  });
}

/** Options of {@linkcode onDiagnostics}. */
export interface DiagnosticsOptions {
  readonly log: Pick<Logger, "critical" | "error">;
  /** The current activity of each thread, one line each. Must end even if a thread hangs. */
  describeThreads(): Promise<string[]>;
  /** Directory for profiles. */
  readonly profileDir: string;
  /** The service's name for file names: `salt-master`. */
  readonly name: string;
}

/** Handles SIGUSR1 and SIGUSR2. */
export function onDiagnostics(options: DiagnosticsOptions): Undo {
  const { log, name } = options;
  let profile: RunningProfile | undefined;
  let turn = Promise.resolve();
  const describe = async () => {
    void closeInspector();
    const lines = await options.describeThreads();
    // The operator asked for it, so every level except quiet shows it.
    log.critical(`${name} received a SIGUSR1: ${lines.length} threads, ${memory()}`);
    for (const line of lines) log.critical(`  ${line}`);
  };
  const toggleProfile = async () => {
    if (profile === undefined) {
      const { startProfile } = await import("./cpu_profile.ts");
      profile = startProfile();
      await profile.started;
      log.critical(`${name} received a SIGUSR2: profiling the main thread until the next one`);
      return;
    }
    const running = profile;
    profile = undefined;
    log.critical(`${name} received a SIGUSR2: CPU profile written to ${await running.stop(options.profileDir, name)}`);
  };
  // One after the other: two signals in quick succession must not start two profiles.
  const queue = (what: () => Promise<void>) => {
    turn = turn.then(what).catch((error) => log.error(messageOf(error)));
  };
  return listen(["SIGUSR1", "SIGUSR2"], (signal) => queue(signal === "SIGUSR1" ? describe : toggleProfile));
}

function memory(): string {
  const { rss, heapUsed } = Deno.memoryUsage();
  return `${(rss / 2 ** 20).toFixed(0)} MiB resident, ${
    (heapUsed / 2 ** 20).toFixed(0)
  } MiB of heap in the main thread`;
}

function listen<S extends Deno.Signal>(signals: readonly S[], act: (signal: S) => void): Undo {
  const listeners = signals.map((signal) => [signal, () => act(signal)] as const);
  for (const [signal, listener] of listeners) Deno.addSignalListener(signal, listener);
  let undone = false;
  return () => {
    if (undone) return;
    undone = true;
    for (const [signal, listener] of listeners) Deno.removeSignalListener(signal, listener);
  };
}
