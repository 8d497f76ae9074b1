/**
 * Where reading of an event log begins, as operators write it: an offset, a moment, or a duration before now.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { parseOffset } from "./offset.ts";
import type { EventLogReader } from "./reader.ts";

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/**
 * Puts a reader where `since` says.
 * @param since An offset (`3f2a9c01.12345`: the events after it), `start`, `now`, a duration (`90`, `90s`, `15m`,
 * `2h`, `1d`), or a moment (`2026-11-23T12:00:00Z`; without a zone: the local one).
 * @throws {CommandError} If it is none of them, or an offset of another log.
 */
export function seekSince(reader: EventLogReader, since: string, nowMs: number = Date.now()): void {
  const text = since.trim();
  const offset = parseOffset(text);
  if (offset !== undefined) {
    if (offset.log !== reader.id) {
      throw new CommandError(`The offset ${text} is gone: it belongs to another event log than today's, ${reader.id}`);
    }
    return reader.seek(offset.number + 1);
  }
  if (text === "now") return reader.seekEnd();
  if (text === "start") return reader.seek(0);
  const duration = /^(\d+(?:\.\d+)?)\s*([smhd]?)$/.exec(text);
  if (duration !== null) return reader.seekTime(nowMs - Number(duration[1]) * UNITS[duration[2] || "s"] * 1000);
  const moment = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text.replace(/^(\S+) (\d)/, "$1T$2")) : NaN;
  if (!Number.isNaN(moment)) return reader.seekTime(moment);
  throw new CommandError(
    `since: ${text} is neither an offset, start, now, a duration such as 15m, nor a moment such as 2026-11-23T12:00:00Z`,
  );
}
