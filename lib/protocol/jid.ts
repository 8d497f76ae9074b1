/**
 * Job ids: twenty digits of UTC time down to the microsecond, so that their order is the order of the jobs.
 *
 * Knows nothing of the job cache; {@linkcode jidDirectory} only names the place in it.
 * Source: Salt's `jid` texts, `20140523101112123456`, with `unique_jid` followed by `_<pid>`.
 * @module
 */

import { hashHex } from "../crypto/hash.ts";
import { MONTHS } from "../text/calendar.ts";

const MONTH_NAMES = MONTHS.map((month) => month.slice(0, 3));

// What follows the digits ends up in file names, so it holds nothing that a path could be made of.
const JID = /^\d{20}(?:_[0-9A-Za-z-]{1,64})?$/;

/** The microseconds of the last jid, of all threads that share them. */
let last = new BigInt64Array(jidMemory());

/** Memory for the threads of one process that are to make no jid twice. */
export function jidMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT);
}

/** Has this thread make jids that no other with the same {@linkcode jidMemory} makes. */
export function shareJids(memory: SharedArrayBuffer): void {
  last = new BigInt64Array(memory);
}

/** How {@linkcode makeJid} makes a jid. */
export interface JidOptions {
  /** Whether to append `_<pid>`, as the option `unique_jid` asks. @default {false} */
  readonly unique?: boolean;
}

/**
 * A new jid, later than every other that this thread made, and those that it shares jids with, if need be by a microsecond.
 * Other processes can hit on the same one.
 * @param nowMs Milliseconds since the epoch; fractions count.
 */
export function makeJid(nowMs: number = clockMs(), options: JidOptions = {}): string {
  const microseconds = laterThanLast(Math.floor(nowMs * 1000));
  const ms = Math.floor(microseconds / 1000);
  const micro = String(microseconds - ms * 1000).padStart(3, "0");
  const jid = new Date(ms).toISOString().replace(/[^0-9]/g, "") + micro;
  return options.unique ? `${jid}_${Deno.pid}` : jid;
}

function laterThanLast(microseconds: number): number {
  for (;;) {
    const before = Atomics.load(last, 0);
    const after = Math.max(microseconds, Number(before) + 1);
    if (Atomics.compareExchange(last, 0, before, BigInt(after)) === before) return after;
  }
}

/** The wall clock; below the millisecond, where it says nothing, the digits of another clock keep threads apart. */
function clockMs(): number {
  return Date.now() + (performance.timeOrigin + performance.now()) % 1;
}

/** Whether `text` is a jid. Stricter than Salt, which takes anything, `../` too, after the underscore. */
export function isJid(text: string): boolean {
  return JID.test(text);
}

/** The time in a jid as `jobs.list_jobs` shows it: `2014, May 23 10:11:12.123456`; empty if `jid` is no jid. */
export function jidToStartTime(jid: string): string {
  const month = MONTH_NAMES[Number(jid.slice(4, 6)) - 1];
  if (month === undefined || !isJid(jid)) return "";
  // Not by the expression's groups: a list of jobs does this ten thousand times.
  const time = `${jid.slice(8, 10)}:${jid.slice(10, 12)}:${jid.slice(12, 14)}.${jid.slice(14, 20)}`;
  return `${jid.slice(0, 4)}, ${month} ${jid.slice(6, 8)} ${time}`;
}

/**
 * Where the job cache keeps the job, below its `jobs` directory: the first two digits of the jid's digest, a slash, the
 * rest.
 * @throws {ConfigError} If `hashType` is no digest.
 */
export function jidDirectory(jid: string, hashType: string): string {
  const digest = hashHex(jid, hashType);
  return `${digest.slice(0, 2)}/${digest.slice(2)}`;
}
