/**
 * Warnings about what peers send: so many a second and thread, that nobody fills the disk, or keeps the log busy, by nonsense.
 * @module
 */

import type { Logger } from "../process/log.ts";
import { RateLimit } from "./rate_limit.ts";

/** Lines a second of one thread. */
const PER_SECOND = 10;

/** A way to complain to `log`; what is too much in a second is told once. */
export function throttledWarnings(log: Logger): (text: string) => void {
  const limit = new RateLimit(PER_SECOND);
  return (text) => {
    const turn = limit.take();
    if (turn === "granted") log.warning(text);
    if (turn === "first refused") log.warning("More was refused or dropped in this second than is told");
  };
}
