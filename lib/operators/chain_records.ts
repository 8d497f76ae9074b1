/**
 * The chain of a minion's jobs on disk: `<cachedir>/jobs.chain`, before it `jobs.chain.old`. Each record has the
 * SHA-256 of the one before, so that none can be changed, put in or taken out without changing all that follow. The
 * file begins with the number and the digest of its last record, so that a file that was cut is found.
 *
 * ```text
 * saltjobs, 8 bytes: number, 32 bytes: digest      the last record; may be one behind after a crash
 * length, crc, {n, prev, at, kind, jid, fun, …}     as record_file.ts frames them
 * ```
 *
 * @module
 */

import { hashBytes } from "#lib/crypto/hash.ts";
import { readFileIfExists } from "#lib/os/atomic_file.ts";
import { readRecords, type RecordForm } from "#lib/os/record_file.ts";
import { decodeIfWhole } from "#lib/values/msgpack.ts";
import { isMap, map, str, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";

/** What a record is about: an accepted job, one that was refused, or the return of one. */
export type ChainKind = "job" | "refused" | "return";

/** A record's place in its chain. */
export interface ChainLink {
  readonly n: number;
  /** The SHA-256 of its bytes, as hexadecimal digits. */
  readonly hash: string;
}

/** A record as it was read. */
export interface ChainRecord extends ChainLink {
  /** As they are in the file; a copy. */
  readonly bytes: Uint8Array;
  /** Its fields: `n`, `prev`, `at` (milliseconds since the epoch), `kind`, `jid`, `fun`, `body`, `key`, `retcode`. */
  readonly fields: ValueMap;
}

/** What the files hold. */
export interface ReadChain {
  readonly records: readonly ChainRecord[];
  /** The last record that was written; `undefined`: there is no chain. */
  readonly head: ChainLink | undefined;
  /** What is wrong with them, a sentence each. */
  readonly problems: readonly string[];
}

/** Where a chain goes on. */
export interface ChainEnd {
  /** The last record that was written; `undefined`: there is no chain. */
  readonly head: ChainLink | undefined;
  /** What is wrong at the end, a sentence each. */
  readonly problems: readonly string[];
  /** Bytes of the whole records of the newer file, its beginning included; 0: there is no such file. */
  readonly bytes: number;
}

/** The frames of the records. */
export const CHAIN_FORM: RecordForm = { checked: true };
/** Bytes before the first record. */
const HEAD_BYTES = 48;
/** The digest before the first record of all. */
export const NO_RECORD = "0".repeat(64);

const MAGIC = new TextEncoder().encode("saltjobs");

/** The newer file. */
export function chainPath(cachedir: string): string {
  return `${cachedir}/jobs.chain`;
}

/** The older file, whose last record is before the first one of the newer. */
export function olderChainPath(cachedir: string): string {
  return `${chainPath(cachedir)}.old`;
}

/** The beginning of a file. */
export function chainHead({ n, hash }: ChainLink): Uint8Array {
  const bytes = new Uint8Array(HEAD_BYTES);
  bytes.set(MAGIC);
  new DataView(bytes.buffer).setBigUint64(MAGIC.length, BigInt(n));
  bytes.set(Uint8Array.fromHex(hash), MAGIC.length + 8);
  return bytes;
}

/** The digest of a record's bytes. */
export function recordHash(record: Uint8Array): string {
  return hashBytes(record, "sha256").toHex();
}

/**
 * Reads and checks both files.
 * @throws What reading them throws, except that they are missing.
 */
export function readChain(cachedir: string): ReadChain {
  const older = readFile(olderChainPath(cachedir));
  const newer = readFile(chainPath(cachedir), { before: () => older?.records.at(-1) });
  const records = [...older?.records ?? [], ...newer?.records ?? []];
  const problems = [...older?.problems ?? [], ...newer?.problems ?? [], ...brokenLinks(records)];
  return { records, head: newer?.head ?? older?.head, problems };
}

/**
 * Reads where a chain goes on: the end of the newer file, without what is before.
 * @throws As {@linkcode readChain}.
 */
export function readChainEnd(cachedir: string): ChainEnd {
  const older = () => readFile(olderChainPath(cachedir), { onlyEnd: true });
  const newer = readFile(chainPath(cachedir), { onlyEnd: true, before: () => older()?.records.at(-1) });
  const { head, problems } = newer ?? older() ?? { head: undefined, problems: [] };
  return { head, problems, bytes: newer?.bytes ?? 0 };
}

interface ReadFile extends ReadChain, ChainEnd {}

/** How a file is read. */
interface ReadOptions {
  /** Whether only the last record is. */
  readonly onlyEnd?: boolean;
  /** The last record of the file before: one that has just begun has none of its own. */
  before?(): ChainRecord | undefined;
}

function readFile(path: string, { onlyEnd = false, before }: ReadOptions = {}): ReadFile | undefined {
  const file = readFileIfExists(path);
  if (file === undefined) return undefined;
  const told = readHead(file);
  const read = readRecords(file.subarray(HEAD_BYTES), CHAIN_FORM, (record) => record);
  const records = (onlyEnd ? read.records.slice(-1) : read.records).flatMap((bytes) => toRecord(bytes) ?? []);
  const problems = told === undefined ? [`${path} does not begin as a chain of jobs does`] : [];
  const bytes = Math.min(HEAD_BYTES, file.length) + read.bytes;
  const last = records.at(-1) ?? before?.(), n = last?.n ?? 0;
  if (bytes < file.length) problems.push(`${path}: after record ${n} there are bytes that are no whole record`);
  if (told !== undefined && told.n > n) {
    problems.push(`${path} is cut: its last record is ${n}, and ${told.n} was written`);
  } else if (told !== undefined && records.some((record) => record.n === told.n && record.hash !== told.hash)) {
    problems.push(`${path}: record ${told.n} is not the one that was written`);
  }
  return { records, head: told !== undefined && told.n > n ? told : last, problems, bytes };
}

function readHead(file: Uint8Array): ChainLink | undefined {
  if (file.length < HEAD_BYTES || !MAGIC.every((byte, i) => file[i] === byte)) return undefined;
  const n = Number(new DataView(file.buffer, file.byteOffset).getBigUint64(MAGIC.length));
  return { n, hash: file.subarray(MAGIC.length + 8, HEAD_BYTES).toHex() };
}

/** A record of its bytes; `undefined` if they are none. */
export function toRecord(bytes: Uint8Array): ChainRecord | undefined {
  const fields = decodeIfWhole(bytes), n = isMap(fields) ? toNumber(fields.get("n")) : undefined;
  return isMap(fields) && n !== undefined ? { n, hash: recordHash(bytes), bytes: bytes.slice(), fields } : undefined;
}

/** Where a record is not the next one after the one before it. */
export function brokenLinks(records: readonly ChainRecord[]): string[] {
  const problems: string[] = [];
  for (let i = 1; i < records.length; i++) {
    const { n, hash } = records[i - 1], next = records[i];
    if (next.n !== n + 1) problems.push(`after record ${n} comes record ${next.n}`);
    else if (next.fields.get("prev") !== hash) problems.push(`record ${next.n} does not follow record ${n}`);
  }
  return problems;
}

/** The place of a record in a return, `[n, hash]`; `undefined`: it is none. */
export function readLink(value: Value | undefined): ChainLink | undefined {
  if (!Array.isArray(value) || value.length !== 2) return undefined;
  const n = toNumber(value[0]);
  return n === undefined ? undefined : { n, hash: str(value[1]) };
}

/** The fields of a new record. */
export function recordFields(n: number, prev: string, about: Readonly<Record<string, Value>>): ValueMap {
  return map({ n, prev, at: Date.now(), ...about });
}
