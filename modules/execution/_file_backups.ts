/**
 * The functions of the module `file` for backups of files: listing, restoring and removing them.
 * Source: the functions of Salt 3008.3 `salt/modules/file.py`.
 * @module
 */

import { type Backup, listBackups, listBackupsDirectory, makeBackup } from "#lib/host/filesystem/backups.ts";
import { copyContents } from "#lib/host/filesystem/trees.ts";
import { pythonOsError } from "#lib/os/deno_texts.ts";
import { expandUser } from "#lib/os/disk_paths.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { isInt, map, str, toNumber, type Value } from "#lib/values/value.ts";

function limitOf(limit: Value, name: string, context: JobContext): number | null {
  if (limit === null) return null;
  const given = typeof limit === "string" && /^\s*[+-]?\d+\s*$/.test(limit) ? Number(limit) : toNumber(limit);
  if (given === undefined) context.log("error", `file.${name}: 'limit' value must be numeric`);
  return given === undefined ? null : Math.trunc(given);
}

/** Backups by number, the newest first. */
function numberBackups(backups: readonly Backup[]): Map<Value, Value> {
  return new Map(backups.map(({ time, size, location }, i): [Value, Value] => [
    i,
    map({ "Backup Time": time, Size: size, Location: location }),
  ]));
}

const LIST = { path: p.str(), limit: p.any(null) };

/** `file.list_backups` and its other name. */
function lister(name: string): ModuleFunction<JobContext> {
  return fn({
    doc: describe("List the backups of a file, the newest first, by number.", `file.${name} /foo/bar/baz.txt`),
    permissions: "all",
    params: LIST,
    run: ({ path, limit }, context) =>
      numberBackups(listBackups(expandUser(path), {
        cachedir: context.opts.cachedir,
        limit: limitOf(limit, "list_backups", context),
      })),
  });
}

export const list_backups: ModuleFunction<JobContext> = lister("list_backups");
export const list_backup: ModuleFunction<JobContext> = lister("list_backup");

export const list_backups_dir: ModuleFunction<JobContext> = fn({
  doc: describe(
    "List the backups of all files in the directory of a path, by file.",
    "file.list_backups_dir /foo/bar/baz/",
  ),
  permissions: "all",
  params: LIST,
  run: ({ path, limit }, context) => {
    const query = { cachedir: context.opts.cachedir, limit: limitOf(limit, "list_backups_dir", context) };
    return new Map(
      [...listBackupsDirectory(expandUser(path), query)].map(([file, backups]) => [file, numberBackups(backups)]),
    );
  },
});

/** The backup of a number, or what is wrong with it. */
function backupOf(path: string, id: Value, context: JobContext): Backup | string {
  const word = str(id).trim();
  const number = isInt(id) ? Number(id) : /^[+-]?\d+$/.test(word) ? Number(word) : undefined;
  if (number === undefined || str(id).length !== String(number).length) return `Invalid backup_id '${str(id)}'`;
  const backups = listBackups(path, { cachedir: context.opts.cachedir });
  return number >= 0 && number < backups.length ? backups[number] : `backup_id '${str(id)}' does not exist for ${path}`;
}

const BACKUP = { path: p.str(), backup_id: p.any() };

export const restore_backup: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Restore a backup; the current file becomes a backup first.",
    "file.restore_backup /foo/bar/baz.txt 0",
  ),
  permissions: "all",
  params: BACKUP,
  run: ({ path: given, backup_id }, context) => {
    const path = expandUser(given);
    const backup = backupOf(path, backup_id, context);
    if (typeof backup === "string") return map({ result: false, comment: backup });
    // Salt fails if there is no file, which may be why its backup is wanted.
    if (isFile(path)) makeBackup(path, { cachedir: context.opts.cachedir });
    try {
      copyContents(backup.location, path);
      return map({ result: true, comment: `Successfully restored ${backup.location} to ${path}` });
    } catch (error) {
      if (error instanceof Deno.errors.NotCapable) throw error;
      const reason = pythonOsError(error, path);
      return map({ result: false, comment: `Unable to restore ${backup.location} to ${path}: ${reason}` });
    }
  },
});

/** `file.delete_backup` and its other name. */
function deleter(name: string): ModuleFunction<JobContext> {
  return fn({
    doc: describe(
      "Remove a backup of a file.",
      `file.${name} /var/cache/salt/minion/file_backup/home/foo/bar/baz.txt 0`,
    ),
    permissions: "all",
    params: BACKUP,
    run: ({ path: given, backup_id }, context) => {
      const backup = backupOf(expandUser(given), backup_id, context);
      if (typeof backup === "string") return map({ result: false, comment: backup });
      try {
        Deno.removeSync(backup.location);
        return map({ result: true, comment: `Successfully removed ${backup.location}` });
      } catch (error) {
        if (error instanceof Deno.errors.NotCapable) throw error;
        return map({
          result: false,
          comment: `Unable to remove ${backup.location}: ${pythonOsError(error, backup.location)}`,
        });
      }
    },
  });
}

export const delete_backup: ModuleFunction<JobContext> = deleter("delete_backup");
export const remove_backup: ModuleFunction<JobContext> = deleter("remove_backup");
