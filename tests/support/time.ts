/**
 * How long something took, for tests that must hold on a machine that is busy with other things as well.
 * @module
 */

import { cpuUsage } from "node:process";

/**
 * The bound for "at once", in milliseconds, where the opposite is to wait for twenty seconds or for ever: far above what the
 * act takes, for a machine may stand still for seconds.
 */
export const AT_ONCE_MS = 15_000;

/** The processor time that `act` takes, in milliseconds: what other processes do does not count. */
export function cpuMs(act: () => void): number {
  const before = cpuUsage();
  act();
  const { user, system } = cpuUsage(before);
  return (user + system) / 1000;
}
