/**
 * Backups of files below the minion's cache: `file_backup/<directory>/<name>_<time>`.
 * Source: Salt 3008.3, `salt/utils/files.py` backup_minion, copyfile; `salt/modules/file.py` list_backups.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { createDirectory } from "#lib/os/new_files.ts";
import { DAYS, MONTHS } from "#lib/text/calendar.ts";
import { isDirectory, isFile } from "#lib/os/file_kind.ts";
import { copyAttributes } from "#lib/libc/inodes.ts";
import { baseName, dirName, joinPath } from "#lib/os/paths.ts";
import { copyBytes, copyOpen, putBeside } from "./contents.ts";
import { createHeld, type Held, holdDirectory, holdTarget, inDirectoryOf } from "#lib/os/held_path.ts";
import { writeAll } from "#lib/os/write_all.ts";
import { compareStrings } from "#lib/values/value.ts";

/** The directory of all backups. */
function backupRoot(cachedir: string): string {
  return joinPath(cachedir, "file_backup");
}

/** One backup of a file. */
export interface Backup {
  /** When it was made, as Salt shows it: `Sat Jan 02 2026 10:11:12.000345`. */
  readonly time: string;
  /** Its bytes. */
  readonly size: number;
  readonly location: string;
  /** When it was made, as text that sorts by time. */
  readonly moment: string;
}

function directoryOf(path: string, cachedir: string): string {
  return joinPath(backupRoot(cachedir), dirName(path).slice(1));
}

const STAMP = /^([A-Z][a-z]{2})_([A-Z][a-z]{2})_(\d{2})_(\d{2}):(\d{2}):(\d{2})_(\d{1,6})_(\d{4})$/;

/** The moment that a backup's name tells behind the file's name; `undefined` if it tells none. */
function readStamp(stamp: string): { readonly time: string; readonly moment: string } | undefined {
  const parts = STAMP.exec(stamp);
  if (parts === null) return undefined;
  const [, weekday, month, day, hour, minute, second, fraction, year] = parts;
  const number = MONTHS.findIndex((name) => name.startsWith(month)) + 1;
  if (number === 0) return undefined;
  const date = new Date(Date.UTC(Number(year), number - 1, Number(day)));
  const valid = date.getUTCDate() === Number(day) && Number(hour) < 24 && Number(minute) < 60 && Number(second) < 62;
  if (!valid || !DAYS.some((name) => name.startsWith(weekday))) return undefined;
  const micros = fraction.padEnd(6, "0");
  return {
    // The day of the week is that of the date, whatever the name says.
    time: `${DAYS[date.getUTCDay()].slice(0, 3)} ${month} ${day} ${year} ${hour}:${minute}:${second}.${micros}`,
    moment: `${year}${String(number).padStart(2, "0")}${day}${hour}${minute}${second}${micros}`,
  };
}

/**
 * The backups of the file at `path`, the newest first.
 * @param limit Maximum number; `null` for all.
 */
export function listBackups(path: string, { cachedir, limit = null }: BackupQuery): Backup[] {
  const directory = directoryOf(path, cachedir);
  return backupsIn(directory, (name) => name.startsWith(`${baseName(path)}_`) ? baseName(path) : undefined)
    .map(([, backup]) => backup).slice(0, limit ?? undefined);
}

/** What to list. */
export interface BackupQuery {
  readonly cachedir: string;
  readonly limit?: number | null;
}

/**
 * The backups of all files in the directory of `path`, by the file's name, which Salt takes up to its first underscore.
 */
export function listBackupsDirectory(path: string, { cachedir, limit = null }: BackupQuery): Map<string, Backup[]> {
  const directory = directoryOf(path, cachedir);
  const all = new Map<string, Backup[]>();
  if (!isDirectory(directory)) return all;
  const names = [...Deno.readDirSync(directory)].map(({ name }) => name).sort(compareStrings);
  for (const name of names) all.set(name.split("_")[0], []);
  for (const [file, backup] of backupsIn(directory, (name) => name.split("_")[0])) all.get(file)?.push(backup);
  for (const [file, backups] of all) all.set(file, backups.slice(0, limit ?? undefined));
  return all;
}

function backupsIn(directory: string, fileOf: (name: string) => string | undefined): [string, Backup][] {
  if (!isDirectory(directory)) return [];
  const backups = [...Deno.readDirSync(directory)].flatMap(({ name }): [string, Backup][] => {
    const file = fileOf(name);
    const stamp = file === undefined ? undefined : readStamp(name.slice(file.length + 1));
    const location = joinPath(directory, name);
    if (file === undefined || stamp === undefined || !isFile(location)) return [];
    return [[file, { ...stamp, size: Deno.statSync(location).size, location }]];
  });
  return backups.sort(([, a], [, b]) => compareStrings(b.moment, a.moment));
}

/**
 * Makes a backup of the file at `path`, with its owner and mode.
 * @param now For its name.
 */
export function makeBackup(
  path: string,
  { cachedir, now = new Date() }: { readonly cachedir: string; readonly now?: Date },
): void {
  // Opened once: the owner and mode must be those of the bytes, which another user may exchange.
  using source = Deno.openSync(path);
  const info = source.statSync();
  const two = (n: number) => String(n).padStart(2, "0");
  const micros = String(now.getMilliseconds() * 1000 + Math.floor(Math.random() * 1000)).padStart(6, "0");
  const day = `${DAYS[now.getDay()].slice(0, 3)}_${MONTHS[now.getMonth()].slice(0, 3)}_${two(now.getDate())}`;
  const time = `${two(now.getHours())}:${two(now.getMinutes())}:${two(now.getSeconds())}`;
  const directory = directoryOf(path, cachedir);
  createDirectory(directory, { recursive: true });
  using held = holdDirectory(directory);
  using copy = createHeld(
    held,
    `${baseName(path)}_${day}_${time}_${micros}_${now.getFullYear()}`,
    (file) => copyOpen(source, file),
  );
  Deno.chownSync(copy.path, info.uid, info.gid);
  Deno.chmodSync(copy.path, (info.mode ?? 0o600) & 0o7777);
}

/** How a file is put in place. */
export interface Installing {
  readonly cachedir: string;
  /** The mode of backups: `minion`, `master`, `both`, or anything else for none. */
  readonly backup: string;
  /** Permission bits of a file that was not there. Default: 0600. */
  readonly mode?: number;
}

/**
 * Copies the file `source`, or puts bytes, to `path` at once; the old file's owner, mode and attributes are kept, and
 * with `backup` the old file. A link at `path` is replaced by a file, as Salt does.
 * @throws What Deno throws; then `path` is as it was.
 */
export function installFile(
  source: string | Uint8Array,
  path: string,
  { cachedir, backup, mode = 0o600 }: Installing,
): void {
  using held = holdOld(path);
  const old = held?.status();
  if ((backup === "minion" || backup === "both") && old !== undefined) makeBackup(path, { cachedir });
  inDirectoryOf(path, (directory, name) => {
    putBeside({ directory, name, prefix: baseName(path) }, (file) => {
      if (typeof source === "string") copyBytes(source, file);
      else writeAll(file, source);
    }, (made) => {
      if (held === undefined || old === undefined) {
        if (mode !== 0o600) Deno.chmodSync(made.path, mode);
      } else {
        Deno.chownSync(made.path, old.uid, old.gid);
        copyAttributes(held.path, made.path);
        Deno.chmodSync(made.path, (old.mode ?? 0o600) & 0o7777);
      }
    });
  });
}

/**
 * The file whose owner, mode and attributes are kept. What another user's link shows of others' files is not: a mode of
 * theirs may be setuid.
 */
function holdOld(path: string): Held | undefined {
  try {
    return holdTarget(path);
  } catch (error) {
    const isNone = error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory;
    if (isNone || error instanceof CommandError) return undefined;
    throw error;
  }
}
