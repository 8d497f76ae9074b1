/**
 * The job cache: each job's load, the minions it is for, and their returns, in the files and formats of Salt's `local_cache`,
 * so that a Salt of either kind reads what the other wrote.
 *
 * ```text
 * <cachedir>/jobs/<2 hex>/<rest of hash_type(jid)>/jid            the jid, as text
 *                                                  nocache        empty: returns are not to be stored
 *                                                  .load.p        the load as published
 *                                                  .minions.p     the ids that it is for; .minions.<syndic>.p below syndics
 *                                                  endtime        the time of the last return, as text
 *                                                  <id>/return.p  {return, retcode, success}
 *                                                  <id>/out.p     the name of an outputter
 * ```
 *
 * Everything is synchronous: storing a return is on the path of every job, and costs a few system calls.
 * Storing is repeatable: a return counts as stored once `return.p` is there and can be read, and the first one stays. A file that is
 * empty or cut, as a power failure may leave it, is not there, and gives way to the next one.
 * Knows no events and no options but its own. Source: salt-protocol section 8.
 * @module
 */

import { isFile } from "../os/file_kind.ts";
import { readTextFileIfExists, writeFileAtomic } from "../os/atomic_file.ts";
import { StoreError } from "../errors.ts";
import { isJid, jidDirectory, makeJid } from "../protocol/jid.ts";
import { type CacheLog, changedMs, isFilled, listDirectory, readValue, writeDirectoryOnce } from "../os/store_files.ts";
import type { RecordTaker } from "../os/journal.ts";
import { masterRecord } from "./journal_record.ts";
import { isValidId } from "../protocol/minion_id.ts";
import { encode, type Packable } from "../values/msgpack.ts";
import { compareStrings, isMap, map, str, type Value, type ValueMap } from "../values/value.ts";
import { BoundedMap } from "../values/bounded_map.ts";
import { SmallFiles } from "../os/small_files.ts";

/** How a {@linkcode JobCache} is set up. */
export interface JobCacheOptions {
  /** The master's `cachedir`; `jobs` is below it. */
  readonly cachedir: string;
  /** The option `hash_type`: it names the directories. */
  readonly hashType: string;
  /** The option `unique_jid`. @default {false} */
  readonly uniqueJid?: boolean;
  /** Hears of what cannot be read or is not to be stored. */
  readonly log?: CacheLog;
  /** Told what is stored, when it is; what it throws, storing throws. Default: nobody is. */
  readonly journal?: RecordTaker;
}

/** What became of a return: `ignored` ones have no place (`nocache`), or no name that a file may have. */
export type Stored = "stored" | "duplicate" | "ignored";

/** One minion's return. */
export interface JobReturn {
  /** What the function gave back. */
  readonly return: Value;
  /** Absent from caches of old masters. A map by function if the job was of several. */
  readonly retcode?: Value;
  /** Absent from caches of old masters, and from returns of `salt-call`. */
  readonly success?: Value;
  /** Whether the minion ended, or was restarted, while it was at it. */
  readonly interrupted?: true;
  /** The outputter that the minion asked for. */
  readonly out?: Value;
}

/** One job as it was published. */
export interface JobEntry {
  /** The job's id. */
  readonly jid: string;
  /** What was published: `fun`, `arg`, `tgt`, `tgt_type`, `user`, … */
  readonly load: ValueMap;
}

/** Names of files that stand beside the minions' directories. A minion of that name has no place in the cache. */
const RESERVED: ReadonlySet<string> = new Set(["jid", "nocache", "endtime"]);
const ATTEMPTS = 5;
/** Jobs whose directory is known to be there, so that their next return need not ask. */
const REMEMBERED = 1_000;

/** The job cache of one master. Any number of threads and processes may use one directory. */
export class JobCache {
  readonly #root: string;
  readonly #hashType: string;
  readonly #uniqueJid: boolean;
  readonly #log: CacheLog;
  readonly #journal: RecordTaker | undefined;
  readonly #stored = new BoundedMap<string, true>(REMEMBERED);
  readonly #temporary = `.${crypto.randomUUID()}`;

  /** A cache below `options.cachedir`; nothing is made or read yet. */
  constructor(options: JobCacheOptions) {
    this.#root = `${options.cachedir}/jobs`;
    this.#hashType = options.hashType;
    this.#uniqueJid = options.uniqueJid ?? false;
    this.#log = options.log ?? (() => {});
    this.#journal = options.journal;
  }

  /**
   * Makes a job's directory. Without `jid` a new one is made up that no other job of this cache has.
   * @param options.nocache Whether the job's returns are not to be stored.
   * @returns The jid.
   * @throws {StoreError} If the directory cannot be written, or `jid` is no jid. The job can go on with a jid of
   * `makeJid`; it will not be stored.
   */
  prepare(jid?: string, options: { nocache?: boolean } = {}): string {
    return this.#storing("prepare a job", () => {
      const prepared = jid === undefined ? this.#makeDirectory() : this.#ensureDirectory(this.#checked(jid), jid);
      if (options.nocache === true) Deno.writeFileSync(`${this.#directory(prepared)}/nocache`, new Uint8Array());
      return prepared;
    });
  }

  /**
   * Stores the load of a job, without its `key`, and the minions that it is for.
   * @throws {StoreError} If they cannot be written.
   */
  saveLoad(jid: string, load: ValueMap, minions: readonly string[] = []): void {
    this.#saveLoad(jid, load);
    const tgt = load.get("tgt");
    if (tgt !== undefined && tgt !== "") this.saveMinions(jid, minions);
  }

  /** @param options.createNew Whether a load that is there stays. */
  #saveLoad(jid: string, load: ReadonlyMap<Value, Packable>, { createNew = false } = {}): void {
    const kept = new Map(load);
    kept.delete("key");
    this.#storing("store a load", () => {
      const path = `${this.#checked(jid)}/.load.p`;
      try {
        this.#writeInJob(jid, () => writeFileAtomic(path, encode(kept, "disk"), { createNew }));
        this.#journal?.append(masterRecord("load", { jid, load: kept }));
      } catch (error) {
        if (!(createNew && error instanceof Deno.errors.AlreadyExists)) throw error;
      }
    });
  }

  /** Stores the load of a job, as a journal has it, unless one is there that can be read. @throws {StoreError} If it cannot be written. */
  restoreLoad(jid: string, load: ValueMap): void {
    this.prepare(jid);
    if (this.#readLoad(this.#directory(jid)) === undefined) this.#saveLoad(jid, load);
  }

  /** Stores a return, as a journal has it, unless one is there that can be read. @throws {StoreError} If it cannot be written. */
  restoreReturn(load: ValueMap): void {
    const jid = str(load.get("jid") ?? null), id = str(load.get("id") ?? null), out = load.get("out");
    if (this.saveReturn(load) !== "duplicate" || out === undefined) return;
    const path = `${this.#directory(jid)}/${id}/out.p`;
    this.#storing("restore a return", () => {
      if (this.#read(path) === undefined) writeFileAtomic(path, encode(out, "disk"));
    });
  }

  /**
   * Adds to the minions that a job is for.
   * @param options.syndic The syndic that they are below.
   * @throws {StoreError} If they cannot be written.
   */
  saveMinions(jid: string, minions: readonly string[], options: { syndic?: string } = {}): void {
    this.#storing("store the minions of a job", () => {
      const { syndic } = options;
      if (syndic !== undefined && !isValidId(syndic)) {
        throw new StoreError(`Cannot store minions of a syndic of the id ${JSON.stringify(syndic)}`, this.#root);
      }
      const file = `${this.#checked(jid)}/.minions${syndic === undefined ? "" : `.${syndic}`}.p`;
      const merged = [...new Set([...this.#readIds(file), ...minions])].sort(compareStrings);
      this.#writeInJob(jid, () => writeFileAtomic(file, encode(merged, "disk")));
      if (syndic === undefined) this.#journal?.append(masterRecord("minions", { jid, minions: merged }));
    });
  }

  /**
   * Stores a return, unless one of that minion is there. A job that nobody prepared gets its directory, with the return
   * as its load, as Salt does it.
   * @param load What the minion sent: `jid`, `id`, `return`, and `retcode`, `success`, `out` as far as they are there.
   * What is packed in it must be in the dialect of the disk.
   * @throws {StoreError} If it cannot be written.
   */
  saveReturn(load: ReadonlyMap<Value, Packable>): Stored {
    const jid = load.get("jid"), id = load.get("id"), value = load.get("return");
    if (typeof jid !== "string" || !isJid(jid) || typeof id !== "string" || value === undefined) return "ignored";
    if (!isValidId(id) || RESERVED.has(id) || id.startsWith(".")) {
      this.#log(`The return of ${JSON.stringify(id)} for job ${jid} is not stored: that id has no place`);
      return "ignored";
    }
    return this.#storing(`store the return of ${id} for job ${jid}`, () => {
      const directory = this.#directory(jid);
      if (this.#stored.get(jid) === undefined) {
        if (!isFilled(`${directory}/jid`, jid.length)) this.#ensureDirectory(directory, jid);
        // A job's own load is written while it is on its way to the minions: it may come this moment, and is to stay.
        const path = `${directory}/.load.p`;
        if (!isFilled(path)) this.#saveLoad(jid, load, { createNew: !isFile(path) });
        if (isFile(`${directory}/nocache`)) return "ignored";
        this.#stored.set(jid, true);
      }
      const kept = new Map<Value, Packable>();
      for (const key of ["return", "retcode", "success", "interrupted"]) {
        const item = load.get(key);
        if (item !== undefined) kept.set(key, item);
      }
      const files = new Map([["return.p", encode(kept, "disk")]]);
      const out = load.get("out");
      if (out !== undefined) files.set("out.p", encode(out, "disk"));
      const stored = writeDirectoryOnce(`${directory}/${id}`, files, {
        essential: "return.p",
        temporary: `${directory}/${this.#temporary}`,
        isWhole: (path) => this.#read(path) !== undefined,
      });
      if (stored === false) this.#journalAgain(jid, id);
      else if (stored) {
        const load = new Map<Value, Packable>([["jid", jid], ["id", id], ...kept]);
        if (out !== undefined) load.set("out", out);
        this.#journal?.append(masterRecord("return", { load }));
      }
      if (stored !== undefined) return stored ? "stored" : "duplicate";
      // Cleaned away since this job was last seen.
      this.#stored.delete(jid);
      return this.saveReturn(load);
    });
  }

  /** The return that stands may be one whose journal could not be written, so that its minion was told nothing. */
  #journalAgain(jid: string, id: string): void {
    const stands = this.#journal === undefined ? undefined : this.getReturn(jid, id);
    if (stands !== undefined) this.#journal?.append(masterRecord("return", { load: map({ jid, id, ...stands }) }));
  }

  /**
   * Gives the return of a `salt-call` (jid `req`) a jid of its own, and stores it as a job.
   * @returns The return with `jid`, `arg`, `tgt` and `tgt_type`; what {@linkcode saveReturn} is to be called with.
   * @throws {StoreError} If it cannot be written.
   */
  adopt(load: ValueMap): ValueMap {
    const adopted = new Map(load);
    adopted.set("arg", load.get("arg") ?? load.get("fun_args") ?? []);
    adopted.set("tgt_type", "glob");
    adopted.set("tgt", load.get("id") ?? "");
    const jid = this.prepare(undefined, { nocache: load.get("nocache") === true });
    adopted.set("jid", jid);
    const id = load.get("id");
    this.saveLoad(jid, adopted, typeof id === "string" && isValidId(id) ? [id] : []);
    return adopted;
  }

  /** The load of a job, with `Minions` as far as they are known; `undefined` if there is none, or it cannot be read. */
  getLoad(jid: string): ValueMap | undefined {
    if (!isJid(jid)) return undefined;
    const directory = this.#directory(jid);
    const load = this.#readLoad(directory);
    if (load === undefined) return undefined;
    const ids = new Set<string>();
    for (const { name } of listDirectory(directory, this.#log)) {
      if (/^\.minions\.(.+\.)?p$/.test(name)) { for (const id of this.#readIds(`${directory}/${name}`)) ids.add(id); }
    }
    if (ids.size > 0) load.set("Minions", [...ids].sort(compareStrings));
    return load;
  }

  /** The returns of a job by minion, in the order of their ids. */
  getReturns(jid: string): Map<string, JobReturn> {
    const returns = new Map<string, JobReturn>();
    if (!isJid(jid)) return returns;
    const directory = this.#directory(jid);
    const ids = listDirectory(directory, this.#log).filter(({ name, isDirectory }) =>
      isDirectory && !name.startsWith(".")
    );
    for (const { name: id } of ids) {
      const stored = this.getReturn(jid, id);
      if (stored !== undefined) returns.set(id, stored);
    }
    return returns;
  }

  /** The return of one minion, if it is there and can be read. */
  getReturn(jid: string, id: string): JobReturn | undefined {
    if (!isJid(jid) || !isValidId(id)) return undefined;
    const place = `${this.#directory(jid)}/${id}`;
    const value = this.#read(`${place}/return.p`);
    if (value === undefined) return undefined;
    const fields = isMap(value) && value.has("return") ? value : map({ return: value });
    const out = this.#read(`${place}/out.p`);
    return {
      return: fields.get("return") ?? null,
      ...(fields.has("retcode") && { retcode: fields.get("retcode") }),
      ...(fields.has("success") && { success: fields.get("success") }),
      ...(fields.get("interrupted") === true && { interrupted: true }),
      ...(out !== undefined && { out }),
    };
  }

  /** When the return of a minion was stored, in milliseconds since the epoch. */
  returnedMs(jid: string, id: string): number | undefined {
    return isJid(jid) && isValidId(id) ? changedMs(`${this.#directory(jid)}/${id}/return.p`) : undefined;
  }

  /** Whether the return of a minion is stored. */
  has(jid: string, id: string): boolean {
    return isJid(jid) && isValidId(id) && isFilled(`${this.#directory(jid)}/${id}/return.p`);
  }

  /** Whether there is such a job. */
  exists(jid: string): boolean {
    return isJid(jid) && isFile(`${this.#directory(jid)}/jid`);
  }

  /** Every job that has a load, in no order; loads are read as they are asked for, and have no `Minions`. */
  *walk(): Generator<JobEntry> {
    const files = new SmallFiles();
    const read = (path: string) => files.read(path);
    for (const top of listDirectory(this.#root, this.#log)) {
      for (const { name } of listDirectory(`${this.#root}/${top.name}`, this.#log)) {
        const directory = `${this.#root}/${top.name}/${name}`;
        const load = readValue(`${directory}/.load.p`, this.#log, read);
        if (!isMap(load) || load.size === 0) continue;
        const jid = load.get("jid");
        yield { jid: typeof jid === "string" ? jid : readTextFileIfExists(`${directory}/jid`) ?? "", load };
      }
    }
  }

  /** Every job that has a load, the oldest first. */
  list(): JobEntry[] {
    return [...this.walk()].sort((a, b) => compareStrings(a.jid, b.jid));
  }

  /** Notes when the last return of a job came. @throws {StoreError} If that cannot be written. */
  saveEndTime(jid: string, text: string): void {
    this.#storing("store the end of a job", () => {
      const directory = this.#checked(jid);
      this.#writeInJob(jid, () => writeFileAtomic(`${directory}/endtime`, text));
    });
  }

  /** When the last return of a job came, if that was noted. */
  getEndTime(jid: string): string | undefined {
    if (!isJid(jid)) return undefined;
    return readTextFileIfExists(`${this.#directory(jid)}/endtime`)?.replace(/\n+$/, "") || undefined;
  }

  #directory(jid: string): string {
    return `${this.#root}/${jidDirectory(jid, this.#hashType)}`;
  }

  #checked(jid: string): string {
    if (!isJid(jid)) throw new StoreError(`Cannot store a job of the id ${JSON.stringify(jid)}`, this.#root);
    return this.#directory(jid);
  }

  /** A directory that was not there before, for a new jid. */
  #makeDirectory(): string {
    for (let attempt = 1;; attempt++) {
      const jid = makeJid(undefined, { unique: this.#uniqueJid });
      const directory = this.#directory(jid);
      try {
        makeWithParent(directory);
      } catch (error) {
        if (error instanceof Deno.errors.AlreadyExists && attempt < ATTEMPTS) continue; // another process was faster
        throw error;
      }
      Deno.writeTextFileSync(`${directory}/jid`, jid, { mode: 0o600 });
      return jid;
    }
  }

  #ensureDirectory(directory: string, jid: string): string {
    Deno.mkdirSync(directory, { recursive: true, mode: 0o700 });
    if (!isFilled(`${directory}/jid`, jid.length)) Deno.writeTextFileSync(`${directory}/jid`, jid, { mode: 0o600 });
    return jid;
  }

  /** Runs `write`, and again with the job's directory made if it was not there. */
  #writeInJob(jid: string, write: () => void): void {
    try {
      write();
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      this.#ensureDirectory(this.#directory(jid), jid);
      write();
    }
  }

  #storing<T>(what: string, run: () => T): T {
    try {
      return run();
    } catch (error) {
      if (error instanceof StoreError) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      throw new StoreError(`Cannot ${what} in ${this.#root}: ${reason}`, this.#root, { cause: error });
    }
  }

  #read(path: string): Value | undefined {
    return readValue(path, this.#log);
  }

  #readLoad(directory: string): ValueMap | undefined {
    const load = this.#read(`${directory}/.load.p`);
    return isMap(load) ? load : undefined;
  }

  #readIds(path: string): string[] {
    const ids = this.#read(path);
    return Array.isArray(ids) ? ids.filter((id) => typeof id === "string") : [];
  }
}

/** Makes a directory, which must not be there yet, and what it is in, which cleaning may take away at any moment. */
function makeWithParent(directory: string): void {
  for (let attempt = 1;; attempt++) {
    try {
      return Deno.mkdirSync(directory, { mode: 0o700 });
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound) || attempt === ATTEMPTS) throw error;
      Deno.mkdirSync(directory.slice(0, directory.lastIndexOf("/")), { recursive: true, mode: 0o700 });
    }
  }
}
