/**
 * Time limits and processor time for tests that must also pass on a busy machine.
 * @module
 */

import { cpuUsage } from "node:process";

/**
 * The limit for "at once", in milliseconds, where a failure would wait for twenty seconds or for ever. It is far above
 * the normal time, since a machine may stall for seconds.
 */
export const AT_ONCE_MS = 15_000;

/** The processor time that `act` takes, in milliseconds, without that of other processes. */
export function cpuMs(act: () => void): number {
  const before = cpuUsage();
  act();
  const { user, system } = cpuUsage(before);
  return (user + system) / 1000;
}
