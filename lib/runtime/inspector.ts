/**
 * Closes the debugger that Deno (since 2.9.2) opens on 127.0.0.1:9229 when a process gets SIGUSR1. Salt's services
 * answer SIGUSR1 with a report, and every local user could control the service through the debugger. Deno has no option
 * against it, so it is closed as soon as it opens.
 * Source: denoland/deno#35738.
 * @module
 */

import { sleep } from "#lib/os/sleep.ts";

/** Interval of the checks, and maximum time for the debugger to open, in milliseconds. */
const LOOK_MS = 1;
const LOOK_FOR_MS = 2_000;

/**
 * Waits for the debugger to open, and closes it.
 * @returns Whether it opened.
 */
export async function closeInspector(): Promise<boolean> {
  const inspector = await import("node:inspector");
  const deadline = Date.now() + LOOK_FOR_MS;
  while (inspector.url() === undefined) {
    if (Date.now() > deadline) return false;
    await sleep(LOOK_MS);
  }
  inspector.close();
  return true;
}
