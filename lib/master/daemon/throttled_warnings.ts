/**
 * Warnings about messages of peers, limited per second and thread, so that a peer cannot fill the disk with log lines.
 * @module
 */

import type { Logger } from "#lib/runtime/log.ts";
import { RateLimit } from "#lib/master/requests/rate_limit.ts";

/** Lines per second of one thread. */
const PER_SECOND = 10;

/** A function that logs warnings to `log`; the first suppressed one in a second is reported once. */
export function throttledWarnings(log: Logger): (text: string) => void {
  const limit = new RateLimit(PER_SECOND);
  return (text) => {
    const turn = limit.take();
    if (turn === "granted") log.warning(text);
    if (turn === "first refused") log.warning("More was refused or dropped in this second than is logged");
  };
}
