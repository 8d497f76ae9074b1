/**
 * Waits for a time, or until an abort.
 * @module
 */

import { clearTimeout, setTimeout } from "./timers.ts";

/**
 * Resolves after `ms` milliseconds.
 * @throws {unknown} The signal's reason, as soon as it is aborted.
 */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
