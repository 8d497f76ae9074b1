/**
 * `file.manage_file` and `file.check_file_meta`: puts contents into a file, or says how it differs from them.
 * Source: Salt 3008.3, `salt/modules/file.py`.
 * @module
 */

import { openToWrite } from "#lib/os/new_files.ts";
import { currentUmask } from "#lib/os/umask.ts";
import { compareAttributes, selinuxParts } from "./attributes.ts";
import { installFile } from "./backups.ts";
import { hashFile, schemeOf, type SourceSum } from "./checksums.ts";
import { type Compared, diffFiles, type FileDiff, ignoresSomething, type Ignoring } from "./diffs.ts";
import { CommandError, messageOf } from "#lib/errors.ts";
import type { FileHost } from "./file_host.ts";
import { isDirectory, isFile, isFileOrLink, lexists } from "#lib/os/file_kind.ts";
import { followForChange } from "#lib/os/held_path.ts";
import { systemReason } from "#lib/os/deno_texts.ts";
import { encodeText } from "#lib/text/encoding.ts";
import { directoryMode, normalizeMode } from "./ownership.ts";
import { isLink, realPath } from "#lib/os/disk_paths.ts";
import { dirName, joinPath } from "#lib/os/paths.ts";
import { checkPermissions, type PermissionResult, type WantedPermissions } from "./permission_check.ts";
import { sourcePath } from "./sources.ts";
import { type FileStatus, fileStatus } from "./status.ts";
import { makeParents } from "./trees.ts";
import { map, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** The wanted state of a file, besides owner and mode. */
export interface ManagedFile extends WantedPermissions {
  readonly name: string;
  /** The local file with the contents; empty if there is none. */
  readonly sfn: string;
  readonly source: string;
  /** The environment of the source. */
  readonly saltenv: string;
  readonly sum: SourceSum | undefined;
  /** The contents, if they do not come from a file. */
  readonly contents: string | Uint8Array | null;
  readonly ignoring: Ignoring;
  /** Whether the diff of a new file is made. */
  readonly newFileDiff: boolean;
}

/** A directory for temporary files, readable only for this user. */
class Scratch {
  #directory: string | undefined;

  /** A file with `bytes` in it. */
  file(bytes: Uint8Array): string {
    this.#directory ??= Deno.makeTempDirSync({ prefix: "__salt.tmp." });
    const path = joinPath(this.#directory, crypto.randomUUID());
    Deno.writeFileSync(path, bytes, { mode: 0o600 });
    return path;
  }

  [Symbol.dispose](): void {
    if (this.#directory !== undefined) Deno.removeSync(this.#directory, { recursive: true });
  }
}

const NOTHING = new Uint8Array();

function statusOf(path: string, follow: boolean): FileStatus | undefined {
  try {
    return fileStatus(path, { follow });
  } catch (error) {
    if (error instanceof CommandError) return undefined;
    throw error;
  }
}

/** How a file differs from the wanted state. */
export interface MetaChanges {
  readonly changes: ValueMap;
  /** Whether it differs in more than what is ignored. */
  readonly counts: boolean;
}

/** `file.check_file_meta`. */
export async function metaChanges(file: ManagedFile, host: FileHost): Promise<MetaChanges> {
  const changes: ValueMap = new Map();
  const status = statusOf(file.name, file.follow ?? false);
  if (status === undefined && !file.newFileDiff) {
    return { changes: map({ newfile: file.name }), counts: ignoresSomething(file.ignoring) };
  }
  let counts = false;
  const isObfuscated = async () => truthy(await host.option("obfuscate_templates"));
  const compare = async (to: Compared, hides: boolean): Promise<string> => {
    const diff = diffFiles(status === undefined ? NOTHING : file.name, to, {
      names: false,
      ...hides && await isObfuscated() ? { hidden: "<Obfuscated Template>" as const } : {},
      ignoring: file.ignoring,
    });
    counts = diff.counts;
    return diff.text;
  };
  if (file.sum !== undefined && (status === undefined || hashFile(file.name, file.sum.hash_type) !== file.sum.hsum)) {
    const place = { saltenv: file.saltenv, files: host.files };
    const sfn = file.sfn === "" && file.source !== "" ? await sourcePath(file.source, place) ?? "" : file.sfn;
    if (sfn === "") changes.set("sum", "Checksum differs");
    else changes.set("diff", await compareOr(() => compare(sfn, true)));
  }
  if (file.contents !== null) {
    const wanted = typeof file.contents === "string" ? new TextEncoder().encode(file.contents) : file.contents;
    const differences = await compareOr(() => compare(wanted, false));
    if (differences !== "") changes.set("diff", await isObfuscated() ? "<Obfuscated Template>" : differences);
  }
  if (status !== undefined) await addPermissions(changes, { file, status, host });
  return { changes, counts };
}

/** The diff, or why there is none. */
async function compareOr(compare: () => Promise<string>): Promise<string> {
  try {
    return await compare();
  } catch (error) {
    if (error instanceof CommandError) return error.message;
    throw error;
  }
}

async function addPermissions(
  changes: ValueMap,
  { file, status, host }: { readonly file: ManagedFile; readonly status: FileStatus; readonly host: FileHost },
): Promise<void> {
  const { user, group } = file;
  if (user !== null && user !== status.user && user !== status.uid) changes.set("user", user);
  if (group !== null && group !== status.group && group !== status.gid) changes.set("group", group);
  const mode = normalizeMode(file.mode);
  if (mode !== null && mode !== status.mode) changes.set("mode", mode);
  if (file.attrs) {
    const difference = await compareAttributes(file.name, file.attrs, host);
    if (difference !== undefined && (difference.added !== null || difference.removed !== null)) {
      changes.set("attrs", file.attrs);
    }
  }
  const requested = { user: file.seuser, role: file.serole, type: file.setype, range: file.serange };
  if (Object.values(requested).every((part) => !part)) return;
  const current = await selinuxParts(file.name, host);
  if (current === undefined) changes.set("selinux", "Unable to get current selinux attributes");
  for (const part of ["user", "role", "type", "range"] as const) {
    if (current !== undefined && requested[part] && requested[part] !== current[part]) {
      changes.set("selinux", map({ [part]: requested[part] }));
    }
  }
}

/** The arguments of {@linkcode manageFile}. */
export interface Management extends ManagedFile {
  /** The mode of backups. */
  readonly backup: string;
  readonly makedirs: boolean;
  readonly dirMode: Value;
  readonly showChanges: boolean;
  readonly follow: boolean;
  readonly skipVerify: boolean;
  readonly keepMode: boolean;
  /** Python's name of the encoding of the contents. Default: UTF-8. */
  readonly encoding: string | null;
  readonly encodingErrors: string;
  /**
   * Checks the signature of the source.
   * @throws {CommandError} If it does not hold.
   */
  checkSource?(sfn: string): Promise<void>;
}

/** `file.manage_file`: `ret` with what was done. */
export async function manageFile(ret: PermissionResult, file: Management, host: FileHost): Promise<PermissionResult> {
  using work = new FileWork(ret, { file, host });
  return await work.run();
}

/** A failure that becomes the state's comment. */
class Failed extends Error {}

/** One run of {@linkcode manageFile}. */
class FileWork implements Disposable {
  readonly #scratch = new Scratch();
  readonly #ret: PermissionResult;
  readonly #file: Management;
  readonly #host: FileHost;
  #counts = false;
  /** Whether the file is known to have the contents. */
  #current = false;

  constructor(ret: PermissionResult, { file, host }: { readonly file: Management; readonly host: FileHost }) {
    this.#ret = ret;
    this.#file = file;
    this.#host = host;
  }

  [Symbol.dispose](): void {
    this.#scratch[Symbol.dispose]();
  }

  async run(): Promise<PermissionResult> {
    try {
      const there = isFileOrLink(this.#file.name);
      // What is there already is not fetched.
      const sfn = there && this.#isCurrent() ? this.#file.sfn : await this.#source();
      const sum = there || schemeOf(this.#file.source) !== "salt" ? this.#sum(sfn) : this.#file.sum;
      const mode = this.#file.keepMode && this.#file.source !== "" ? await this.#sourceMode(sfn) : this.#file.mode;
      return there ? await this.#change({ sfn, sum, mode }) : await this.#create({ sfn, sum, mode });
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      this.#ret.result = false;
      this.#ret.comment = error.message;
      return this.#ret;
    }
  }

  /** Whether the file has the file server's digest of its source. */
  #isCurrent(): boolean {
    const { name, source, sum, sfn, follow } = this.#file;
    if (sfn !== "" || sum === undefined || schemeOf(source) !== "salt" || (!follow && isLink(name))) return false;
    this.#current = isFile(name) && hashFile(name, sum.hash_type) === sum.hsum.toLowerCase();
    return this.#current;
  }

  /** The mode that the source has where it comes from. */
  async #sourceMode(sfn: string): Promise<Value> {
    const { source, saltenv, mode } = this.#file;
    if (["", "file"].includes(schemeOf(source))) return fileStatus(sfn).mode;
    if (schemeOf(source) !== "salt") return mode;
    const status = await this.#host.files.statFile(source, saltenv);
    return status.mode === undefined ? mode : status.mode.toString(8).slice(-4);
  }

  async #source(): Promise<string> {
    const { sfn, source, saltenv } = this.#file;
    if (source === "" || sfn !== "") return sfn;
    const path = await sourcePath(source, { saltenv, files: this.#host.files });
    if (path !== undefined && isFile(path)) return path;
    throw new Failed(`Source file '${source}' not found`);
  }

  #sum(sfn: string): SourceSum | undefined {
    const { sum, source, sfn: copy } = this.#file;
    if (source === "" || ((copy !== "" || this.#current) && sum !== undefined)) {
      return sum === undefined ? undefined : { ...sum, hsum: sum.hsum.toLowerCase() };
    }
    const type = sum?.hash_type ?? this.#host.hashType;
    return { hash_type: type, hsum: hashFile(sfn, type) };
  }

  /** @throws {Failed} If the source is not what its hash says, or its signature does not hold. */
  async #verify(sfn: string, source: { sum: SourceSum | undefined; what: string; hint?: string }): Promise<void> {
    this.#compareSum(sfn, source);
    try {
      await this.#file.checkSource?.(sfn);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      throw new Failed(`Failed checking new file's signature: ${error.message}`);
    }
  }

  #compareSum(
    sfn: string,
    { sum, what, hint = "" }: { sum: SourceSum | undefined; what: string; hint?: string },
  ): void {
    const { source, skipVerify } = this.#file;
    // The file client has verified what comes from the file server.
    if (source === "" || skipVerify || sum === undefined || schemeOf(source) === "salt") return;
    const actual = hashFile(sfn, sum.hash_type);
    if (actual === sum.hsum) return;
    throw new Failed(
      `Specified ${sum.hash_type} checksum for ${what} (${sum.hsum}) does not match actual checksum (${actual})${hint}`,
    );
  }

  async #hidden(template: boolean): Promise<"<Obfuscated Template>" | "<show_changes=False>" | undefined> {
    if (template && truthy(await this.#host.option("obfuscate_templates"))) return "<Obfuscated Template>";
    return this.#file.showChanges ? undefined : "<show_changes=False>";
  }

  #diff(from: Compared, to: Compared): FileDiff {
    return diffFiles(from, to, { names: false, ignoring: this.#file.ignoring });
  }

  /**
   * Puts a file in place.
   * @throws {CommandError} If there is no directory for it; else what Deno throws.
   */
  #put(source: Compared, path: string, mode?: number): void {
    try {
      installFile(source, path, { cachedir: this.#host.cachedir, backup: this.#file.backup, mode });
    } catch (error) {
      if (isDirectory(dirName(path))) throw error;
      throw new CommandError(`[Errno 2] No such file or directory: ${path}`);
    }
  }

  #install(source: Compared, path: string): void {
    try {
      this.#put(source, path);
    } catch (error) {
      if (error instanceof Deno.errors.NotCapable) throw error;
      throw new Failed(`Failed to commit change: ${systemReason(error)}`);
    }
  }

  #contents(): Uint8Array | undefined {
    const { contents, encoding, encodingErrors } = this.#file;
    if (contents === null) return undefined;
    if (contents instanceof Uint8Array) return contents;
    return encodeText(contents, encoding, encodingErrors);
  }

  /** The file is there, or a link. */
  async #change({ sfn, sum, mode }: Prepared): Promise<PermissionResult> {
    const { name, source, follow } = this.#file;
    const ret = this.#ret;
    const link = isLink(name);
    const real = link && follow ? followForChange(name, realPath) : name;
    // A dangling link is followed too: the file is created at its target.
    const empty = link && follow && !lexists(real) ? this.#scratch.file(NOTHING) : undefined;
    if (
      source !== "" && sum !== undefined && (link && !follow || hashFile(empty ?? real, sum.hash_type) !== sum.hsum)
    ) {
      await this.#verify(sfn, {
        sum,
        what: source,
        hint:
          ". If the 'source_hash' value refers to a remote file with multiple possible matches, then it may be necessary to " +
          "set 'source_hash_name'.",
      });
      await this.#setDiff(empty ?? real, sfn, { template: true });
      this.#install(sfn, real);
    }
    const contents = this.#contents();
    if (contents !== undefined) {
      if (await this.#setDiff(empty ?? real, contents, { template: true })) this.#install(contents, real);
    }
    if (empty !== undefined && ret.changes.has("diff")) ret.changes.set("diff", "New file");
    if (!follow && isLink(name)) {
      const replacement = sfn === "" ? contents === undefined ? undefined : this.#scratch.file(contents) : sfn;
      if (replacement === undefined) throw new Failed("Source file 'None' not found");
      await this.#verify(replacement, { sum, what: name });
      this.#install(replacement, name);
      ret.changes.set("diff", "Replace symbolic link with regular file");
    }
    await checkPermissions(ret, { path: name, wanted: { ...this.#file, mode }, host: this.#host });
    if (ret.changes.size > 0) {
      ret.comment = `File ${name} updated`;
      if (ignoresSomething(this.#file.ignoring) && !this.#counts) ret.more.set("skip_req", true);
    } else if (ret.result === true) {
      ret.comment = `File ${name} is in the correct state`;
    }
    return ret;
  }

  /**
   * Notes how the file differs.
   * @returns Whether it does.
   */
  async #setDiff(from: string, to: Compared, { template }: { readonly template: boolean }): Promise<boolean> {
    try {
      const diff = this.#diff(from, to);
      this.#counts = diff.counts;
      if (diff.text === "") return false;
      this.#ret.changes.set("diff", await this.#hidden(template) ?? diff.text);
      return true;
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      this.#ret.changes.set("diff", messageOf(error));
      return true;
    }
  }

  /** Creates the file where there is nothing, a directory or a special file. */
  async #create({ sfn, sum, mode }: Prepared): Promise<PermissionResult> {
    const { name, source, newFileDiff } = this.#file;
    const ret = this.#ret, { test } = this.#host;
    if (source !== "") {
      await this.#verify(sfn, { sum, what: name });
      ret.changes.set("diff", newFileDiff ? this.#diff(NOTHING, sfn).text : "New file");
    }
    await this.#makeDirectory(mode);
    const contents = this.#contents();
    if (source === "" && !test) {
      if (contents === undefined) {
        touch(name, mode);
        ret.changes.set("new", `file ${name} created`);
        ret.comment = "Empty file";
      } else {
        // If the system refuses the path, its own error is thrown.
        if (name.endsWith("/") || !isDirectory(dirName(name))) touch(name, mode);
        ret.changes.set("diff", "New file");
      }
    }
    if (contents !== undefined) {
      if (newFileDiff && ret.changes.get("diff") === "New file") {
        ret.changes.set("diff", this.#diff(NOTHING, contents).text);
      }
      this.#put(contents, name, truthy(mode) ? undefined : 0o666 & ~currentUmask());
    } else if (sfn !== "") {
      this.#put(sfn, name);
    }
    const bits = mode ?? (0o666 & ~currentUmask()).toString(8);
    const before = statusOf(name, false);
    if (before !== undefined) {
      await checkPermissions(ret, {
        path: name,
        before,
        wanted: { ...this.#file, mode: bits, follow: false },
        host: this.#host,
      });
    }
    if (ret.comment.length === 0) ret.comment = `File ${name} updated`;
    if (test) ret.comment = `File ${name} not updated`;
    if (ignoresSomething(this.#file.ignoring) && ret.changes.size > 0 && !this.#counts) ret.more.set("skip_req", true);
    return ret;
  }

  async #makeDirectory(mode: Value): Promise<void> {
    const { name, makedirs, dirMode, user, group } = this.#file;
    if (isDirectory(dirName(name))) return;
    if (!makedirs) {
      this.#ret.changes.delete("diff");
      throw new Failed("Parent directory not present");
    }
    const bits = dirMode ?? (mode === null ? null : directoryMode(mode));
    await makeParents(name, async (path) => {
      const ret: PermissionResult = { name: path, changes: new Map(), comment: "", result: true, more: new Map() };
      await checkPermissions(ret, { path, wanted: { user, group, mode: bits }, host: this.#host });
    });
  }
}

/**
 * Makes an empty file, which only its owner may read until it has its mode.
 * @throws {CommandError} With the system's reason.
 */
function touch(path: string, mode: Value): void {
  try {
    openToWrite(path, { mode: truthy(mode) ? 0o600 : 0o666 }).close();
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) throw error;
    throw new CommandError(systemReason(error));
  }
}

interface Prepared {
  readonly sfn: string;
  readonly sum: SourceSum | undefined;
  readonly mode: Value;
}
