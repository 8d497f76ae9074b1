/**
 * `<cachedir>/schedule`: up to which moment the jobs have run that say what to do with missed ones (`missed: run` or
 * `once`). So a minion that was off runs what it missed.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { readFileIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import type { Logger } from "#lib/runtime/log.ts";
import type { Schedule, ScheduleItem } from "#lib/schedule/schedule.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { sameBytes } from "#lib/crypto/same_bytes.ts";
import { isMap, map, toNumber, type ValueMap } from "#lib/values/value.ts";

/** Moments that are older do not count, in milliseconds: 31 days. */
const OLDEST_MS = 31 * 86_400_000;

/** Keeps up to which moments the jobs of a schedule have run. */
export class ScheduleHistory {
  readonly #path: string;
  readonly #log: Logger;
  #written: Uint8Array = new Uint8Array();

  /** @param path Its file. */
  constructor(path: string, log: Logger) {
    this.#path = path;
    this.#log = log;
  }

  /** Gives the jobs of a schedule the moments up to which they have run. */
  restore(schedule: Schedule, nowMs: number): void {
    const history = this.#read();
    for (const item of schedule.items.values()) {
      const stored = isKept(item) ? history.get(item.name) : undefined;
      if (!isMap(stored)) continue;
      const [cursor, anchor] = [toNumber(stored.get("cursor")), toNumber(stored.get("anchor"))];
      if (cursor === undefined || anchor === undefined || cursor > nowMs || cursor < nowMs - OLDEST_MS) continue;
      item.state.cursor = cursor;
      item.state.anchor = anchor;
      item.state.planned = undefined;
    }
  }

  /** Writes it if it has changed. With a full disk the jobs run anyway. */
  write(schedule: Schedule): void {
    const kept = [...schedule.items.values()].filter(isKept);
    if (kept.length === 0 && this.#written.length === 0) return;
    const entries = kept.map(({ name, state: { cursor, anchor } }) => [name, map({ cursor, anchor })] as const);
    const bytes = encode(new Map(entries), "disk");
    if (sameBytes(bytes, this.#written)) return;
    try {
      writeFileAtomic(this.#path, bytes, { mode: 0o600 });
      this.#written = bytes;
    } catch (error) {
      this.#log.error(`Missed runs of scheduled jobs would not be known after a restart: ${messageOf(error)}`);
    }
  }

  #read(): ValueMap {
    try {
      const bytes = readFileIfExists(this.#path);
      const value = bytes === undefined ? undefined : decode(bytes, "disk");
      return isMap(value) ? value : new Map();
    } catch (error) {
      const reason = messageOf(error);
      this.#log.error(`${this.#path} cannot be read, so missed runs of scheduled jobs are not known: ${reason}`);
      return new Map();
    }
  }
}

function isKept({ job }: ScheduleItem): boolean {
  return job?.missed === "run" || job?.missed === "once";
}
