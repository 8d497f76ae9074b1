/**
 * Waits for a time, or until an abort.
 * @module
 */

import { clearTimeout, setTimeout } from "./timers.ts";

/**
 * Resolves after `ms` milliseconds.
 * Rejects with the signal's reason as soon as it is aborted, or if it is already.
 */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  // As a rejection too: a caller may have only a handler for that.
  if (signal?.aborted) return Promise.reject(signal.reason);
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
