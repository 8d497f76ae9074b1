/**
 * Closes the debugger that Deno (since 2.9.2) opens on 127.0.0.1:9229 when a process gets SIGUSR1.
 *
 * Salt's services have always answered SIGUSR1 with a report, and a debugger that every local user can reach is a door
 * into the service. Deno has no option to keep it shut, so it is shut as soon as it is open.
 * Source: denoland/deno#35738.
 * @module
 */

/** How often to look, and for how long the debugger may take to come up, in milliseconds. */
const LOOK_MS = 1;
const LOOK_FOR_MS = 2_000;

/** Waits for the debugger to come up, and closes it. @returns Whether one did. */
export async function closeInspector(): Promise<boolean> {
  const inspector = await import("node:inspector");
  const deadline = Date.now() + LOOK_FOR_MS;
  while (inspector.url() === undefined) {
    if (Date.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  inspector.close();
  return true;
}
