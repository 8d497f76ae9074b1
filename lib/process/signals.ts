/**
 * What a service does on signals: SIGTERM and SIGINT end it, SIGUSR1 has every thread say what it is doing, SIGUSR2 starts
 * and stops a CPU profile.
 * @module
 */

import type { RunningProfile } from "./cpu_profile.ts";
import { closeInspector } from "./inspector.ts";
import type { Logger } from "./log.ts";

/** Something that is undone once. */
export interface Undo {
  /** Undoes it. Twice is fine. */
  (): void;
}

/** What ends a service. */
const ENDING = { SIGTERM: 15, SIGINT: 2 } as const;

/** How a service is ended. */
export interface ShutdownOptions {
  /** Aborted at the first signal, with the signal's name as reason. */
  readonly controller: AbortController;
  readonly log: Pick<Logger, "warning">;
  /** The service's name, for the log: `salt-master`. */
  readonly name: string;
  /** Called at the second signal, before the process exits at once. */
  atOnce?(): void;
}

/** Has SIGTERM and SIGINT abort the controller; a second one ends the process there and then. */
export function onShutdown(options: ShutdownOptions): Undo {
  let signalled = false;
  return listen(Object.keys(ENDING) as (keyof typeof ENDING)[], (signal) => {
    if (signalled) {
      options.atOnce?.();
      Deno.exit(128 + ENDING[signal]);
    }
    signalled = true;
    options.log.warning(`${options.name} received a ${signal}. Exiting.`);
    options.controller.abort(signal);
  });
}

/** What SIGUSR1 and SIGUSR2 need to know. */
export interface DiagnosticsOptions {
  readonly log: Logger;
  /** One line for each thread: what it is doing now. Must come to an end even if a thread hangs. */
  describeThreads(): Promise<string[]>;
  /** Directory for profiles. */
  readonly profileDir: string;
  /** The service's name, for the files: `salt-master`. */
  readonly name: string;
}

/** Answers SIGUSR1 and SIGUSR2. */
export function onDiagnostics(options: DiagnosticsOptions): Undo {
  const { log, name } = options;
  let profile: RunningProfile | undefined;
  let turn = Promise.resolve();
  const describe = async () => {
    void closeInspector();
    const lines = await options.describeThreads();
    // Asked for by the operator, so written whatever the level is, short of quiet.
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
  // One after the other: two signals in a row must not start two profiles.
  const queue = (what: () => Promise<void>) => {
    turn = turn.then(what).catch((error) => log.error(error instanceof Error ? error.message : String(error)));
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
