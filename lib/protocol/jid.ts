/**
 * Job ids: twenty digits of UTC time down to the microsecond, so that their order is the order of the jobs. {@linkcode
 * jidDirectory} gives a job's path in the job cache.
 * Source: Salt's `jid` texts, `20140523101112123456`, with `unique_jid` followed by `_<pid>`.
 * @module
 */

import { hashHex } from "#lib/crypto/hash.ts";
import { MONTHS } from "#lib/text/calendar.ts";

const MONTH_NAMES = MONTHS.map((month) => month.slice(0, 3));

// The text after the digits becomes part of file names, so it may not contain path characters.
const JID = /^\d{20}(?:_[0-9A-Za-z-]{1,64})?$/;

/** The microseconds of the last jid of all threads that share this memory. */
let last = new BigInt64Array(jidMemory());

/** What the memory of jids holds: the last one, and which of the masters of a cluster makes them, plus one. */
const LAST = 0, OWNER = 1;
/** Masters of a cluster whose jids differ: the microseconds of each are congruent to its number modulo this. */
const MASTERS = 16;

/** Memory for the threads of one process that must not make the same jid. */
export function jidMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(2 * BigInt64Array.BYTES_PER_ELEMENT);
}

/**
 * Makes all threads with this memory create jids that differ from those of the other masters of a cluster.
 * @param origin The number of this master: those of sixteen masters differ.
 */
export function setJidOrigin(memory: SharedArrayBuffer, origin: number): void {
  Atomics.store(new BigInt64Array(memory), OWNER, BigInt(origin % MASTERS) + 1n);
}

/** Makes this thread create jids that differ from those of all threads with the same {@linkcode jidMemory}. */
export function shareJids(memory: SharedArrayBuffer): void {
  last = new BigInt64Array(memory);
}

/** Options of {@linkcode makeJid}. */
export interface JidOptions {
  /**
   * Whether to append `_<pid>` (option `unique_jid`).
   * @default {false}
   */
  readonly unique?: boolean;
}

/**
 * Makes a jid that is later than every other jid of this thread and of threads that share its memory, if necessary by a
 * microsecond. Other processes may make the same jid.
 * @param nowMs Milliseconds since the epoch, with fractions.
 */
export function makeJid(nowMs: number = clockMs(), options: JidOptions = {}): string {
  const microseconds = laterThanLast(Math.floor(nowMs * 1000));
  const ms = Math.floor(microseconds / 1000);
  const micro = String(microseconds - ms * 1000).padStart(3, "0");
  const jid = new Date(ms).toISOString().replace(/[^0-9]/g, "") + micro;
  return options.unique ? `${jid}_${Deno.pid}` : jid;
}

function laterThanLast(microseconds: number): number {
  const owner = Number(Atomics.load(last, OWNER));
  for (;;) {
    const before = Atomics.load(last, LAST);
    const after = ofOwner(Math.max(microseconds, Number(before) + 1), owner);
    if (Atomics.compareExchange(last, LAST, before, BigInt(after)) === before) return after;
  }
}

/** The first microsecond from `from` on that is the master's; without a cluster each is. */
function ofOwner(from: number, owner: number): number {
  return owner === 0 ? from : from + (owner - 1 - from % MASTERS + MASTERS) % MASTERS;
}

/** The wall clock with the sub-millisecond digits of another clock, so that threads seldom get the same time. */
function clockMs(): number {
  return Date.now() + (performance.timeOrigin + performance.now()) % 1;
}

/** Whether `text` is a jid. Stricter than Salt, which accepts any text after the underscore, even `../`. */
export function isJid(text: string): boolean {
  return JID.test(text);
}

/** The time in a jid as in `jobs.list_jobs`: `2014, May 23 10:11:12.123456`; empty if `jid` is not a jid. */
export function jidToStartTime(jid: string): string {
  const month = MONTH_NAMES[Number(jid.slice(4, 6)) - 1];
  if (month === undefined || !isJid(jid)) return "";
  // Faster than groups of the expression: a list of jobs does this ten thousand times.
  const time = `${jid.slice(8, 10)}:${jid.slice(10, 12)}:${jid.slice(12, 14)}.${jid.slice(14, 20)}`;
  return `${jid.slice(0, 4)}, ${month} ${jid.slice(6, 8)} ${time}`;
}

/** The time in a jid, in milliseconds since the epoch; `NaN` if `jid` is not a jid. */
export function jidMs(jid: string): number {
  if (!isJid(jid)) return NaN;
  const [year, month, day] = [jid.slice(0, 4), jid.slice(4, 6), jid.slice(6, 8)];
  return Date.parse(
    `${year}-${month}-${day}T${jid.slice(8, 10)}:${jid.slice(10, 12)}:${jid.slice(12, 14)}.${jid.slice(14, 17)}Z`,
  );
}

/**
 * The job's path below the `jobs` directory of the job cache: the first two digits of the jid's digest, a slash, the
 * rest.
 * @throws {ConfigError} If `hashType` is not supported.
 */
export function jidDirectory(jid: string, hashType: string): string {
  const digest = hashHex(jid, hashType);
  return `${digest.slice(0, 2)}/${digest.slice(2)}`;
}
