/**
 * The job store in files: each job's load, the minions it is for, and their returns, in the files and formats of Salt's
 * `local_cache`, so that this master and Python Salt's can read each other's jobs. Data that Salt does not have is in
 * further files, which its tools ignore.
 *
 * ```text
 * <cachedir>/jobs/<2 hex>/<rest of hash_type(jid)>/jid            the jid, as text
 *                                                  nocache        empty: returns are not to be stored
 *                                                  .load.p        the load as published
 *                                                  .minions.p     the ids that it is for; below syndics
 *                                                                 .minions.<syndic>.p
 *                                                  endtime        the time of the last return, as text
 *                                                  <id>/return.p  {return, retcode, success}
 *                                                  <id>/out.p     the name of an outputter
 *                                                  .acks/<id>     acknowledgements (acks.ts)
 *                                                  .live/<id>     live output (outputs.ts)
 *                                                  .batch.p       the state of a batch job (batches.ts)
 *                                                  .no_log        the mark of a hidden job (no_log_marks.ts)
 * ```
 *
 * Storing a return costs a few system calls. A return counts as stored once `return.p` is there and can be read. An
 * empty or truncated file, as after a power failure, counts as missing and is replaced. Knows no events and no options
 * but its own. Source: docs/protocol.md "The job cache".
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { JobAcks } from "./acks.ts";
import { JobBatches } from "./batches.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { readTextFileIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { JobCleaner } from "./cleaning.ts";
import { JobDirectories, type JobDirectory } from "./directory.ts";
import { StoreError } from "#lib/errors.ts";
import { isJid, makeJid } from "#lib/protocol/jid.ts";
import { changedMs, isFilled, readValue, storeError, type StoreLog, writeDirectoryOnce } from "#lib/os/store_files.ts";
import type { RecordTaker } from "#lib/os/journal.ts";
import type { Answered, AskedJob, CleaningLimits, JobEntry, JobReturn, Stored, SyncJobStore } from "./store.ts";
import { masterRecord } from "./journal_record.ts";
import { isValidId } from "#lib/protocol/minion_id.ts";
import { NoLogMarks } from "./no_log_marks.ts";
import { JobOutputs } from "./outputs.ts";
import { encode, type Packable } from "#lib/values/msgpack.ts";
import { compareStrings, isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { BoundedMap } from "#lib/values/bounded_map.ts";
import { adoptedLoad, RESERVED_IDS, returnFields, returnOfFields } from "./return_fields.ts";
import { isMissing, SmallFiles } from "#lib/os/small_files.ts";

/** How {@linkcode fileJobStore} sets up a store. */
export interface FileJobStoreOptions {
  /** The master's `cachedir`, which contains `jobs`. */
  readonly cachedir: string;
  /** The option `hash_type`, for the names of the directories. */
  readonly hashType: string;
  readonly uniqueJid: boolean;
  /** How many bytes of live output are kept of one minion and job. */
  readonly maxOutputBytes: number;
  /** Called with errors of reading and storing. */
  readonly log: StoreLog;
  /** Gets a record of what is stored; its errors are thrown to the caller. Default: none. */
  readonly journal?: RecordTaker;
}

const LOAD = ".load.p", MINIONS = ".minions.p", RETURN = "return.p", OUT = "out.p", END_TIME = "endtime";
/** Number of jids that are tried for a new job: another process may choose the same one. */
const ATTEMPTS = 5;
/** Number of jobs whose directory is known to exist, to save a check for each return. */
const MAX_CACHED = 1_000;

/** The jobs of one master, below its cache directory; nothing is created or read yet. */
export function fileJobStore(options: FileJobStoreOptions): SyncJobStore {
  return new FileJobStore(options);
}

/** See {@linkcode SyncJobStore} for its methods. */
class FileJobStore implements SyncJobStore {
  readonly acks: JobAcks;
  readonly noLog: NoLogMarks;
  readonly outputs: JobOutputs;
  readonly batches: JobBatches;
  readonly #directories: JobDirectories;
  readonly #cleaner: JobCleaner;
  readonly #uniqueJid: boolean;
  readonly #log: StoreLog;
  readonly #journal: RecordTaker | undefined;
  readonly #stored = new BoundedMap<string, true>(MAX_CACHED);
  readonly #temporary = `.${crypto.randomUUID()}`;

  constructor(options: FileJobStoreOptions) {
    const { log, journal } = options;
    this.#directories = new JobDirectories(options);
    this.acks = new JobAcks(this.#directories);
    this.noLog = new NoLogMarks(this.#directories, journal);
    this.outputs = new JobOutputs(this.#directories, options.maxOutputBytes);
    this.batches = new JobBatches(this.#directories, options);
    this.#cleaner = new JobCleaner(this.#directories.root, log);
    this.#uniqueJid = options.uniqueJid;
    this.#log = log;
    this.#journal = journal;
  }

  prepare(jid?: string, options: { readonly nocache?: boolean } = {}): string {
    return this.#storing("prepare a job", () => {
      const directory = jid === undefined ? this.#create() : this.#directories.of(jid);
      if (jid !== undefined) directory.ensure();
      if (options.nocache === true) Deno.writeFileSync(`${directory.path}/nocache`, new Uint8Array());
      return directory.jid;
    });
  }

  /** The directory of a new jid, which no other process has made. */
  #create(): JobDirectory {
    for (let attempt = 1;; attempt++) {
      const directory = this.#directories.of(makeJid(undefined, { unique: this.#uniqueJid }));
      try {
        directory.create();
        return directory;
      } catch (error) {
        if (!(error instanceof Deno.errors.AlreadyExists) || attempt === ATTEMPTS) throw error;
      }
    }
  }

  saveLoad(jid: string, load: ValueMap, minions: readonly string[] = []): void {
    const tgt = load.get("tgt");
    const expected = tgt !== undefined && tgt !== "" ? minions : undefined;
    if (this.#saveWhole(jid, load, expected)) return;
    this.#saveLoad(jid, load);
    if (expected !== undefined) this.#saveMinions(jid, expected);
  }

  /**
   * Stores a new job at once: half as many system calls as file by file.
   * @returns Whether it was new.
   */
  #saveWhole(jid: string, load: ValueMap, minions: readonly string[] | undefined): boolean {
    return this.#storing("store a load", () => {
      const directory = this.#directories.of(jid);
      if (!isMissing(directory.path)) return false;
      const saved = withoutKey(load), sorted = sortedIds(minions ?? []);
      const files = new Map([[LOAD, encode(saved, "disk")]]);
      if (minions !== undefined) files.set(MINIONS, encode(sorted, "disk"));
      if (!directory.createWith(files, `${this.#directories.root}/${this.#temporary}`)) return false;
      this.#journal?.append(masterRecord("load", { jid, load: saved }));
      if (minions !== undefined) this.#journal?.append(masterRecord("minions", { jid, minions: sorted }));
      return true;
    });
  }

  /** @param options.createNew Whether an existing load is kept. */
  #saveLoad(jid: string, load: ReadonlyMap<Value, Packable>, { createNew = false } = {}): void {
    const saved = withoutKey(load);
    this.#storing("store a load", () => {
      try {
        this.#directories.of(jid).write(LOAD, encode(saved, "disk"), { createNew });
        this.#journal?.append(masterRecord("load", { jid, load: saved }));
      } catch (error) {
        if (!(createNew && error instanceof Deno.errors.AlreadyExists)) throw error;
      }
    });
  }

  #saveMinions(jid: string, minions: readonly string[]): void {
    this.#storing("store the minions of a job", () => {
      const directory = this.#directories.of(jid);
      const merged = sortedIds([...readIds(directory, MINIONS), ...minions]);
      directory.write(MINIONS, encode(merged, "disk"));
      this.#journal?.append(masterRecord("minions", { jid, minions: merged }));
    });
  }

  saveMinionsBelow(jid: string, minions: readonly string[], syndic: string): void {
    this.#storing("store the minions of a job", () => {
      this.prepare(jid);
      this.#directories.of(jid).write(`.minions.${syndic}.p`, encode([...minions].sort(compareStrings), "disk"));
    });
  }

  saveReturn(load: ReadonlyMap<Value, Packable>): Stored {
    const jid = load.get("jid"), id = load.get("id"), value = load.get("return");
    if (typeof jid !== "string" || !isJid(jid) || typeof id !== "string" || value === undefined) return "ignored";
    if (!isValidId(id) || RESERVED_IDS.has(id) || id.startsWith(".")) {
      this.#log(`The return of ${JSON.stringify(id)} for job ${jid} is not stored: its file name would not be valid`);
      return "ignored";
    }
    return this.#storing(`store the return of ${id} for job ${jid}`, () => {
      const directory = this.#directories.of(jid);
      if (this.#stored.get(jid) === undefined) {
        if (!directory.isWhole) directory.ensure();
        // A job's own load is written while the job is being sent, so it may come at this moment, and takes precedence.
        const path = `${directory.path}/${LOAD}`;
        if (!isFilled(path)) this.#saveLoad(jid, load, { createNew: !isFile(path) });
        if (directory.has("nocache")) return "ignored";
        this.#stored.set(jid, true);
      }
      const fields = returnFields(load), out = load.get("out");
      fields.delete("out");
      const files = new Map([[RETURN, encode(fields, "disk")]]);
      if (out !== undefined) files.set(OUT, encode(out, "disk"));
      const stored = writeDirectoryOnce(`${directory.path}/${id}`, files, {
        essential: RETURN,
        temporary: `${directory.path}/${this.#temporary}`,
        isWhole: (path) => readValue(path, this.#log) !== undefined,
      });
      if (stored === false) this.#journalAgain(jid, id);
      else if (stored) {
        const load = new Map<Value, Packable>([["jid", jid], ["id", id], ...fields]);
        if (out !== undefined) load.set("out", out);
        this.#journal?.append(masterRecord("return", { load }));
      }
      if (stored !== undefined) return stored ? "stored" : "duplicate";
      // Cleaning has removed it since this job was last seen.
      this.#stored.delete(jid);
      return this.saveReturn(load);
    });
  }

  /** The journal record of the existing return may have failed, so that its minion got no acknowledgement. */
  #journalAgain(jid: string, id: string): void {
    const stands = this.#journal === undefined ? undefined : this.getReturn(jid, id);
    if (stands !== undefined) this.#journal?.append(masterRecord("return", { load: map({ jid, id, ...stands }) }));
  }

  adopt(load: ValueMap): ValueMap {
    const adopted = adoptedLoad(load);
    const jid = this.prepare(undefined, { nocache: load.get("nocache") === true });
    adopted.set("jid", jid);
    const id = load.get("id");
    this.saveLoad(jid, adopted, typeof id === "string" && isValidId(id) ? [id] : []);
    return adopted;
  }

  saveEndTime(jid: string, text: string): void {
    this.#storing("store the end of a job", () => this.#directories.of(jid).write(END_TIME, text));
  }

  restore(record: Value): boolean {
    const field = (name: string) => isMap(record) ? record.get(name) ?? null : null;
    const kind = field("kind"), jid = str(field("jid")), load = field("load"), minions = field("minions");
    if (kind === "load" && isMap(load)) this.#restoreLoad(jid, load);
    else if (kind === "minions" && Array.isArray(minions)) this.#saveMinions(jid, minions.map(str));
    else if (kind === "hidden") this.noLog.save(jid, str(field("reader")));
    else if (kind === "return" && isMap(load)) this.#restoreReturn(load);
    else return false;
    return true;
  }

  #restoreLoad(jid: string, load: ValueMap): void {
    this.prepare(jid);
    if (readLoad(this.#directories.of(jid)) === undefined) this.#saveLoad(jid, load);
  }

  #restoreReturn(load: ValueMap): void {
    const jid = str(load.get("jid") ?? null), id = str(load.get("id") ?? null), out = load.get("out");
    if (this.saveReturn(load) !== "duplicate" || out === undefined) return;
    this.#storing("restore a return", () => {
      const directory = this.#directories.of(jid);
      if (directory.read(`${id}/${OUT}`) === undefined) {
        writeFileAtomic(`${directory.path}/${id}/${OUT}`, encode(out, "disk"));
      }
    });
  }

  exists(jid: string): boolean {
    return this.#directories.find(jid)?.exists ?? false;
  }

  getLoad(jid: string): ValueMap | undefined {
    const directory = this.#directories.find(jid);
    const load = directory && readLoad(directory);
    if (directory === undefined || load === undefined) return undefined;
    const ids = new Set<string>();
    // Those below syndics have files of their own, which Salt writes.
    for (const { name } of directory.entries()) {
      if (/^\.minions\.(.+\.)?p$/.test(name)) { for (const id of readIds(directory, name)) ids.add(id); }
    }
    if (ids.size > 0) load.set("Minions", [...ids].sort(compareStrings));
    return load;
  }

  getReturns(jid: string): Map<string, JobReturn> {
    const returns = new Map<string, JobReturn>();
    const directory = this.#directories.find(jid);
    for (const { name: id, isDirectory } of directory?.entries() ?? []) {
      const stored = isDirectory && !id.startsWith(".") && directory ? readReturn(directory, id) : undefined;
      if (stored) returns.set(id, stored);
    }
    return returns;
  }

  getReturn(jid: string, id: string): JobReturn | undefined {
    const directory = this.#directories.find(jid);
    return directory && readReturn(directory, id);
  }

  returnedMs(jid: string, id: string): number | undefined {
    const path = this.#returnPath(jid, id);
    return path === undefined ? undefined : changedMs(path);
  }

  has(jid: string, id: string): boolean {
    const path = this.#returnPath(jid, id);
    return path !== undefined && isFilled(path);
  }

  answered(jobs: readonly AskedJob[]): Map<string, Answered> {
    return new Map(jobs.map(({ jid, minions }) => {
      const acknowledged = new Set(this.acks.all(jid).keys());
      return [jid, { acknowledged, returned: new Set(minions.filter((id) => this.has(jid, id))) }];
    }));
  }

  #returnPath(jid: string, id: string): string | undefined {
    const directory = isValidId(id) ? this.#directories.find(jid) : undefined;
    return directory && `${directory.path}/${id}/${RETURN}`;
  }

  *walk(): Generator<JobEntry> {
    const files = new SmallFiles();
    const read = (path: string) => files.read(path);
    for (const path of this.#directories.paths()) {
      const load = readValue(`${path}/${LOAD}`, this.#log, read);
      if (!isMap(load) || load.size === 0) continue;
      const jid = load.get("jid");
      yield { jid: typeof jid === "string" ? jid : readTextFileIfExists(`${path}/jid`) ?? "", load };
    }
  }

  getEndTime(jid: string): string | undefined {
    return rstripChars(this.#directories.find(jid)?.readText(END_TIME) ?? "", "\n") || undefined;
  }

  clean(limits: CleaningLimits): Generator<void, number> {
    return this.#cleaner.round(limits);
  }

  #storing<T>(what: string, run: () => T): T {
    try {
      return run();
    } catch (error) {
      // An error of the journal, an invalid jid, or an error of a nested call: thrown unchanged.
      if (error instanceof StoreError) throw error;
      const { root } = this.#directories;
      throw storeError(`${what} in ${root}`, root, error);
    }
  }
}

function withoutKey(load: ReadonlyMap<Value, Packable>): Map<Value, Packable> {
  const saved = new Map(load);
  saved.delete("key");
  return saved;
}

function sortedIds(ids: readonly string[]): string[] {
  return [...new Set(ids)].sort(compareStrings);
}

function readLoad(directory: JobDirectory): ValueMap | undefined {
  const load = directory.read(LOAD);
  return isMap(load) ? load : undefined;
}

function readIds(directory: JobDirectory, name: string): string[] {
  const ids = directory.read(name);
  return Array.isArray(ids) ? ids.filter((id) => typeof id === "string") : [];
}

function readReturn(directory: JobDirectory, id: string): JobReturn | undefined {
  const value = isValidId(id) ? directory.read(`${id}/${RETURN}`) : undefined;
  if (value === undefined) return undefined;
  return returnOfFields(value, directory.read(`${id}/${OUT}`));
}
