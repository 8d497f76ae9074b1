/**
 * All files of a bank of the data cache in one: ten thousand files of 4 KB take half a second of a processor to open,
 * this one a few milliseconds to read. It is a cache of the files: a change of the directory's time shows that a file
 * was written or removed; then the changed ones are read and appended. Several threads and processes may use it. After
 * a restart of the machine it is made again, so it need not survive a power failure.
 *
 * To find the changed files costs a look at each, 70 ms for ten thousand. Of a bank that is written all the time, the
 * writers append their changes themselves ({@linkcode changeBankFile}), under a lock; then no reader has to look.
 *
 * The file: a head, then records. A record holds the bytes of one file, or the removal of a file, or the time of the
 * last change of the directory that all records before it include, with the bytes that were valid when the files were
 * last compared. Of several records of one name the last one is valid.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { readBootId } from "#lib/os/moment.ts";
import { removeIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { changedMs, type StoreLog } from "#lib/os/store_files.ts";
import { takeFileLock } from "#lib/os/file_lock.ts";
import { joinBytes } from "#lib/values/join_bytes.ts";
import { writeAll } from "#lib/os/write_all.ts";

/**
 * Called with the bytes of a file of the bank, by its name without `.p`, or with `undefined` if the file is gone.
 * Called again for a name, the last call counts. The bytes are valid during the call.
 */
export type BankVisit = (name: string, bytes: Uint8Array | undefined) => void;

/** The place of a pack, and of its files. */
export interface BankPackPlace {
  /** Where its files are. */
  readonly directory: string;
  readonly path: string;
  /** Called if the pack cannot be written. */
  readonly log: StoreLog;
  /**
   * The lock file of the bank, if its writers append to the pack. They hold it while they write. A file that another
   * program changes in the same few milliseconds as a writer may then be seen late: at the next such change.
   */
  readonly lock?: string;
}

/** Identifies the version of a file. */
interface Stamp {
  /** Last modification in milliseconds, or {@linkcode UNSETTLED}. */
  readonly mtime: number;
  readonly inode: number;
  readonly size: number;
}

/**
 * A modification so short before it was read that another one may have the same time. File systems count seconds, or
 * what the kernel's clock counts.
 */
const UNSETTLED = -1, SETTLED_MS = 2_000;

const MAGIC = "saltpack2\n", HEAD_BYTES = 64;
/** The first byte of a record, after its length. */
const FILE = 1, GONE = 2, COMPLETE = 3;
const LENGTH_BYTES = 4;
/** Kind, mtime, inode, length of the name. */
const FILE_HEAD = 1 + 8 + 8 + 2;
/** Kind, time, valid bytes. */
const COMPLETE_BYTES = LENGTH_BYTES + 1 + 8 + 8;
const BUFFER_BYTES = 1 << 20;

const utf8 = new TextEncoder();
const text = new TextDecoder();

/** Calls `begin` and then its result for every file of the bank; calls `begin` again if it has to start again. */
export function scanBank(place: BankPackPlace, begin: () => BankVisit): void {
  const changed = changedMs(place.directory);
  if (changed === undefined) {
    begin();
    return;
  }
  if (readComplete(place, changed, begin)) return;
  if (place.lock === undefined) return compareFiles(place, begin);
  using lock = lockOf(place, place.lock);
  // Whoever has the lock keeps it too long: this reads the files, and leaves the pack alone.
  if (lock === undefined) visitFiles(place, begin());
  else compareFiles(place, begin);
}

function lockOf(place: BankPackPlace, path: string): Disposable | undefined {
  let lock: Disposable | undefined;
  tolerating(place, () => void (lock = takeFileLock(path)));
  return lock;
}

/**
 * Writes a file of the bank, or removes it without `bytes`, and appends the change to the pack. The caller has the
 * lock of the bank.
 * @returns Whether there is a change: no if there was no such file to remove.
 * @throws What writing and removing throw.
 */
export function changeBankFile(place: BankPackPlace, name: string, bytes: Uint8Array | undefined): boolean {
  const path = `${place.directory}/${name}.p`;
  const before = changedMs(place.directory);
  if (bytes !== undefined) writeFileAtomic(path, bytes, { makeDirectory: true });
  else if (!removeIfExists(path)) return false;
  const pack = openPack(place);
  if (pack === undefined) return true;
  try {
    const state = readState(pack.file);
    const after = changedMs(place.directory);
    // What is not complete is compared by the next reader.
    if (!pack.writable || state === undefined || state.changed !== before || after === undefined) return true;
    const stamp = bytes === undefined ? GONE_STAMP : stampOf(path, undefined);
    if (stamp === undefined) return true;
    const record = fileRecord(bytes === undefined ? GONE : FILE, name, stamp, bytes ?? new Uint8Array(0));
    // Then the next reader writes it again without what is outdated.
    if (state.size + record.length > 2 * state.live + BUFFER_BYTES) return true;
    tolerating(place, () => void writeAll(pack.file, joinBytes([record, completeRecord(after, state.live)])));
    return true;
  } finally {
    pack.file.close();
  }
}

/**
 * Reads a pack that has all changes.
 * @returns False if there is none.
 */
function readComplete(place: BankPackPlace, changed: number, begin: () => BankVisit): boolean {
  const pack = openPack(place);
  if (pack === undefined) return false;
  try {
    const state = readState(pack.file);
    if (state === undefined || state.changed !== changed) return false;
    const visit = begin();
    // Not farther: a writer may be appending.
    return readRecords(pack.file, state.size, (record) => {
      if (record.kind !== COMPLETE) visit(record.name, record.kind === FILE ? record.bytes : undefined);
    });
  } finally {
    pack.file.close();
  }
}

/** Reads the pack and compares it with the files; writes it again if it is damaged. */
function compareFiles(place: BankPackPlace, begin: () => BankVisit): void {
  const changed = changedMs(place.directory);
  const visit = begin();
  if (changed === undefined) return;
  const pack = openPack(place);
  if (pack === undefined) return rebuild(place, changed, visit);
  try {
    const known = new Map<string, Stamp>();
    const { size } = pack.file.statSync();
    const whole = readRecords(pack.file, size, (record) => {
      if (record.kind === COMPLETE) return;
      visit(record.name, record.kind === FILE ? record.bytes : undefined);
      if (record.kind === FILE) known.set(record.name, { ...record.stamp, size: record.bytes.length });
      else known.delete(record.name);
    });
    if (!whole) return rebuild(place, changed, begin());
    update(place, { changed, known, pack }, visit);
  } finally {
    pack.file.close();
  }
}

/** Visits the files themselves. */
function visitFiles(place: BankPackPlace, visit: BankVisit): void {
  for (const name of filesOf(place.directory)) {
    const bytes = readFile(`${place.directory}/${name}.p`);
    if (bytes !== undefined) visit(name, bytes);
  }
}

interface Pack {
  readonly file: Deno.FsFile;
  readonly writable: boolean;
}

/**
 * The pack of this start of the machine. Opened once for reading and adding: another process may replace it meanwhile.
 */
function openPack({ path }: BankPackPlace): Pack | undefined {
  const open = (options: Deno.OpenOptions): Deno.FsFile | undefined => {
    try {
      return Deno.openSync(path, options);
    } catch {
      return undefined;
    }
  };
  const both = open({ read: true, append: true });
  const file = both ?? open({ read: true });
  if (file === undefined) return undefined;
  if (readHead(file) === headText()) return { file, writable: both !== undefined };
  file.close();
  return undefined;
}

function readHead(file: Deno.FsFile): string | undefined {
  const head = new Uint8Array(HEAD_BYTES);
  try {
    return file.readSync(head) === HEAD_BYTES ? text.decode(head) : undefined;
  } catch {
    return undefined; // a directory
  }
}

function headText(): string {
  return `${MAGIC}${readBootId()}`.padEnd(HEAD_BYTES, "\0");
}

/** What the last record says, if it is of that kind. */
interface PackState {
  /** The last modification of the directory that the records include, in milliseconds. */
  readonly changed: number;
  /** Number of valid bytes when the files were last compared. */
  readonly live: number;
  /** Size of the pack up to this record. */
  readonly size: number;
}

/** The state of a pack; `undefined` if it is not complete. Leaves the file at its first record. */
function readState(file: Deno.FsFile): PackState | undefined {
  const { size } = file.statSync();
  let state: PackState | undefined;
  if (size >= HEAD_BYTES + COMPLETE_BYTES) {
    file.seekSync(size - COMPLETE_BYTES, Deno.SeekMode.Start);
    const bytes = new Uint8Array(COMPLETE_BYTES);
    const view = new DataView(bytes.buffer);
    if (file.readSync(bytes) === COMPLETE_BYTES && view.getUint32(0) === COMPLETE_BYTES - LENGTH_BYTES) {
      if (bytes[LENGTH_BYTES] === COMPLETE) {
        state = { changed: view.getFloat64(LENGTH_BYTES + 1), live: view.getFloat64(LENGTH_BYTES + 9), size };
      }
    }
  }
  file.seekSync(HEAD_BYTES, Deno.SeekMode.Start);
  return state;
}

type PackRecord =
  | { readonly kind: typeof COMPLETE }
  | {
    readonly kind: typeof FILE | typeof GONE;
    readonly name: string;
    readonly stamp: Omit<Stamp, "size">;
    readonly bytes: Uint8Array;
  };

/**
 * Calls `each` with the records from the first one to `size`.
 * @returns Whether all of them are complete.
 */
function readRecords(file: Deno.FsFile, size: number, each: (record: PackRecord) => void): boolean {
  let buffer = new Uint8Array(BUFFER_BYTES);
  let filled = 0;
  for (let left = size - HEAD_BYTES; left > 0;) {
    const read = file.readSync(buffer.subarray(filled, Math.min(buffer.length, filled + left)));
    if (read === null) return false;
    filled += read;
    left -= read;
    let at = 0;
    const view = new DataView(buffer.buffer);
    while (filled - at >= LENGTH_BYTES) {
      const end = at + LENGTH_BYTES + view.getUint32(at);
      if (end > filled) {
        if (end - at > size) return false;
        if (end - at > buffer.length) {
          const larger = new Uint8Array(end - at);
          larger.set(buffer.subarray(at, filled));
          [buffer, filled, at] = [larger, filled - at, 0];
        }
        break;
      }
      const record = parseRecord(buffer.subarray(at + LENGTH_BYTES, end));
      if (record === undefined) return false;
      each(record);
      at = end;
    }
    buffer.copyWithin(0, at, filled);
    filled -= at;
  }
  return filled === 0;
}

function parseRecord(bytes: Uint8Array): PackRecord | undefined {
  const [kind] = bytes;
  if (kind === COMPLETE) return { kind };
  if ((kind !== FILE && kind !== GONE) || bytes.length < FILE_HEAD) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const end = FILE_HEAD + view.getUint16(FILE_HEAD - 2);
  if (end > bytes.length) return undefined;
  return {
    kind,
    stamp: { mtime: view.getFloat64(1), inode: view.getFloat64(9) },
    name: text.decode(bytes.subarray(FILE_HEAD, end)),
    bytes: bytes.subarray(end),
  };
}

function fileRecord(kind: typeof FILE | typeof GONE, name: string, stamp: Stamp, bytes: Uint8Array): Uint8Array {
  const nameBytes = utf8.encode(name);
  const record = new Uint8Array(LENGTH_BYTES + FILE_HEAD + nameBytes.length + bytes.length);
  const view = new DataView(record.buffer);
  view.setUint32(0, record.length - LENGTH_BYTES);
  view.setUint8(4, kind);
  view.setFloat64(5, stamp.mtime);
  view.setFloat64(13, stamp.inode);
  view.setUint16(21, nameBytes.length);
  record.set(nameBytes, LENGTH_BYTES + FILE_HEAD);
  record.set(bytes, LENGTH_BYTES + FILE_HEAD + nameBytes.length);
  return record;
}

function completeRecord(changed: number, live: number): Uint8Array {
  const record = new Uint8Array(COMPLETE_BYTES);
  const view = new DataView(record.buffer);
  view.setUint32(0, COMPLETE_BYTES - LENGTH_BYTES);
  view.setUint8(LENGTH_BYTES, COMPLETE);
  view.setFloat64(LENGTH_BYTES + 1, changed);
  view.setFloat64(LENGTH_BYTES + 9, live);
  return record;
}

/** The files of the bank, by name. */
function* filesOf(directory: string): Iterable<string> {
  for (const { name } of Deno.readDirSync(directory)) {
    if (name.endsWith(".p") && !name.startsWith(".")) yield name.slice(0, -2);
  }
}

const GONE_STAMP: Stamp = { mtime: UNSETTLED, inode: 0, size: 0 };

/** @param nowMs The time, if a file that was just written may be written again within the same tick of the clock. */
function stampOf(path: string, nowMs: number | undefined): Stamp | undefined {
  try {
    const { mtime, ino, size, isFile } = Deno.lstatSync(path);
    if (!isFile) return undefined;
    const time = mtime?.getTime() ?? UNSETTLED;
    const isSettled = nowMs === undefined || nowMs - time >= SETTLED_MS;
    return { mtime: isSettled ? time : UNSETTLED, inode: ino ?? 0, size };
  } catch {
    return undefined; // removed meanwhile
  }
}

function readFile(path: string): Uint8Array | undefined {
  try {
    return Deno.readFileSync(path);
  } catch {
    return undefined; // removed meanwhile
  }
}

/** Checks the files, visits those that are missing or outdated in the pack, and adds them to it. */
function update(
  place: BankPackPlace,
  { changed, known, pack }: { readonly changed: number; readonly known: Map<string, Stamp>; readonly pack: Pack },
  visit: BankVisit,
): void {
  const nowMs = Date.now();
  const records: Uint8Array[] = [];
  let live = 0;
  for (const name of filesOf(place.directory)) {
    const path = `${place.directory}/${name}.p`;
    const stamp = stampOf(path, place.lock === undefined ? nowMs : undefined);
    const old = known.get(name);
    if (stamp === undefined) continue;
    live += stamp.size;
    const same = old?.mtime === stamp.mtime && old.inode === stamp.inode && old.size === stamp.size;
    if (same && stamp.mtime !== UNSETTLED) {
      known.delete(name);
      continue;
    }
    const bytes = readFile(path);
    if (bytes === undefined) continue;
    known.delete(name);
    visit(name, bytes);
    records.push(fileRecord(FILE, name, stamp, bytes));
  }
  for (const [name, stamp] of known) {
    visit(name, undefined);
    records.push(fileRecord(GONE, name, stamp, new Uint8Array(0)));
  }
  if (isSettled(place, changed, nowMs)) records.push(completeRecord(changed, live));
  if (records.length === 0 || !pack.writable) return;
  const added = records.reduce((sum, { length }) => sum + length, 0);
  // Rewritten when more than half of it is outdated.
  if (pack.file.statSync().size + added > 2 * live + BUFFER_BYTES) return rebuild(place, changed, () => {});
  // One write, so that what another process adds comes before or after all of it.
  tolerating(place, () => void writeAll(pack.file, joinBytes(records)));
}

/** Reads all files, visits them, and makes a new pack of them. */
function rebuild(place: BankPackPlace, changed: number, visit: BankVisit): void {
  const nowMs = Date.now();
  const temporary = `${place.path}.${crypto.randomUUID()}.tmp`;
  let file: Deno.FsFile | undefined;
  const write = (bytes: Uint8Array) =>
    tolerating(place, () => {
      file ??= Deno.openSync(temporary, { write: true, createNew: true, mode: 0o600 });
      writeAll(file, bytes);
    });
  let works = write(utf8.encode(headText()));
  let waiting: Uint8Array[] = [], waitingBytes = 0, live = 0;
  const flush = () => {
    works = works && write(joinBytes(waiting));
    [waiting, waitingBytes] = [[], 0];
  };
  const add = (record: Uint8Array) => {
    waiting.push(record);
    waitingBytes += record.length;
    if (waitingBytes >= BUFFER_BYTES) flush();
  };
  try {
    for (const name of filesOf(place.directory)) {
      const path = `${place.directory}/${name}.p`;
      const stamp = stampOf(path, place.lock === undefined ? nowMs : undefined);
      const bytes = stamp === undefined ? undefined : readFile(path);
      if (stamp === undefined || bytes === undefined) continue;
      visit(name, bytes);
      live += bytes.length;
      if (works) add(fileRecord(FILE, name, stamp, bytes));
    }
  } catch (error) {
    file?.close();
    if (file !== undefined) tolerating(place, () => Deno.removeSync(temporary));
    throw error;
  }
  if (isSettled(place, changed, nowMs)) add(completeRecord(changed, live));
  flush();
  file?.close();
  works = works && tolerating(place, () => Deno.renameSync(temporary, place.path));
  if (!works && file !== undefined) tolerating(place, () => Deno.removeSync(temporary));
}

/** Whether a later change of the directory has another time, or is appended by who makes it. */
function isSettled({ lock }: BankPackPlace, changed: number, nowMs: number): boolean {
  return lock !== undefined || nowMs - changed > SETTLED_MS;
}

/**
 * The pack is only an optimisation.
 * @returns Whether `act` succeeded.
 */
function tolerating({ path, log }: BankPackPlace, act: () => void): boolean {
  try {
    act();
    return true;
  } catch (error) {
    log(`Cannot write ${path}: ${messageOf(error)}`, error);
    return false;
  }
}
