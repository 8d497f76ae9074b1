/**
 * The job store over the rows of a database: values become MessagePack here, in the thread that has them.
 * @module
 */

import { MsgpackError, StoreError } from "#lib/errors.ts";
import { batchFromMap, batchToMap } from "#lib/protocol/live_batch.ts";
import { isJid, jidToStartTime, makeJid } from "#lib/protocol/jid.ts";
import { isValidId } from "#lib/protocol/minion_id.ts";
import { plainRetcode } from "#lib/protocol/retcode.ts";
import { adoptedLoad, RESERVED_IDS, returnFields, returnOfFields } from "#lib/jobs/return_fields.ts";
import { batchStateFromMap, batchStateToMap, isBatchOver } from "#lib/jobs/batches.ts";
import { queryFilter } from "#lib/jobs/job_query.ts";
import { parseTime } from "#lib/jobs/listing.ts";
import type {
  Ack,
  Answered,
  AskedJob,
  BatchState,
  JobEntry,
  JobQuery,
  JobReturn,
  JobStore,
  Stored,
} from "#lib/jobs/store.ts";
import type { StoreLog } from "#lib/os/store_files.ts";
import { sleep } from "#lib/os/sleep.ts";
import { BoundedMap } from "#lib/values/bounded_map.ts";
import { decode, decodeIfWhole, encode, type Packable } from "#lib/values/msgpack.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { splitInput } from "#lib/values/split_input.ts";
import { compareStrings, isMap, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { globToLike } from "./like.ts";
import type { JobRow, JobRows, JobWrite } from "./rows.ts";

/** How {@linkcode rowJobStore} sets up a store. */
export interface RowStoreOptions {
  readonly uniqueJid: boolean;
  /** How many bytes of live output are kept of one minion and job. */
  readonly maxOutputBytes: number;
  /** Called with what cannot be read. */
  readonly log: StoreLog;
  /** Called before each wait for the rows: the thread takes other work meanwhile. */
  readonly onWait?: () => void;
}

/** Number of jids that are tried for a new job. */
const ATTEMPTS = 5;
/** Number of jobs of which it is known that they are there, and whether they are hidden. */
const MAX_KNOWN = 1_000;
/** Number of jobs that are remembered as just made. */
const MAX_PREPARED = 100;
/** Jobs that are read at once; and those beyond a limit, as some are not given on. */
const PAGE = 500, SPARE = 20;

/** What is known of a job for as long as it is there. */
interface Known {
  /** The mark of a hidden job. */
  readonly hidden: string | undefined;
  readonly nocache: boolean;
}

/** The jobs in these rows. */
export function rowJobStore(rows: JobRows, options: RowStoreOptions): JobStore {
  return new RowJobStore(rows, options);
}

/** See {@linkcode JobStore} for its methods. */
class RowJobStore implements JobStore {
  readonly #rows: JobRows;
  readonly #options: RowStoreOptions;
  readonly #known = new BoundedMap<string, Known>(MAX_KNOWN);
  /** Questions for jobs that have no answer yet: thousands of returns of one job come at once. */
  readonly #asked = new Map<string, Promise<Known | undefined>>();
  /** Jobs that are being made of a return. */
  readonly #making = new Map<string, Promise<boolean>>();
  /** Jobs that this store has just made. */
  readonly #prepared = new BoundedMap<string, true>(MAX_PREPARED);
  readonly acks: JobStore["acks"];
  readonly noLog: JobStore["noLog"];
  readonly outputs: JobStore["outputs"];
  readonly batches: JobStore["batches"];

  constructor(rows: JobRows, options: RowStoreOptions) {
    this.#rows = rows;
    this.#options = options;
    this.acks = {
      save: async (jid, id, ack) => {
        if (!isJid(jid) || !isValidId(id)) return;
        await this.#wait(rows.saveAck({ jid, id, state: ack.state, atMs: ack.sinceMs }));
      },
      all: (jid) => this.#acks(jid),
    };
    this.noLog = {
      save: async (jid, reader) => {
        await this.#saveJob({ jid, hidden: reader });
        this.#known.set(jid, { hidden: reader, nocache: false });
      },
      reader: async (jid) => isJid(jid) ? (await this.#facts(jid))?.hidden : undefined,
    };
    this.outputs = this.#outputStore();
    this.batches = this.#batchStore();
  }

  async prepare(jid?: string, { nocache = false }: { readonly nocache?: boolean } = {}): Promise<string> {
    for (let attempt = 1; jid === undefined; attempt++) {
      const made = makeJid(undefined, { unique: this.#options.uniqueJid });
      if (await this.#saveJob({ jid: made, nocache }) || attempt === ATTEMPTS) return made;
    }
    // A publish prepares its job twice, and each write costs a commit.
    if (!nocache && this.#prepared.get(jid) !== undefined) return jid;
    await this.#saveJob({ jid, nocache });
    this.#prepared.set(jid, true);
    return jid;
  }

  async saveLoad(jid: string, load: ValueMap, minions: readonly string[] = []): Promise<void> {
    const tgt = load.get("tgt");
    const hasTarget = tgt !== undefined && tgt !== "";
    await this.#saveJob({ jid, ...loadColumns(load), ...hasTarget && { minions } });
  }

  async saveMinionsBelow(jid: string, minions: readonly string[]): Promise<void> {
    await this.#saveJob({ jid, minions });
  }

  async saveReturn(load: ReadonlyMap<Value, Packable>): Promise<Stored> {
    const jid = load.get("jid"), id = load.get("id"), value = load.get("return");
    if (typeof jid !== "string" || !isJid(jid) || typeof id !== "string" || value === undefined) return "ignored";
    if (!isValidId(id) || RESERVED_IDS.has(id) || id.startsWith(".")) {
      this.#options.log(`The return of ${JSON.stringify(id)} for job ${jid} is not stored: no minion can have that id`);
      return "ignored";
    }
    let known = await this.#facts(jid);
    if (known === undefined) {
      await this.#makeOf(jid, load);
      known = await this.#facts(jid);
    }
    if (known?.nocache === true) return "ignored";
    const fields = returnFields(load);
    const retcode = fields.get("retcode"), success = fields.get("success");
    return await this.#wait(this.#rows.saveReturn({
      jid,
      id,
      retcode: isCode(retcode) ? boundedCode(plainRetcode(retcode)) : null,
      success: typeof success === "boolean" ? success : null,
      body: encode(fields, "disk"),
    }));
  }

  /** What is known of a job that has a load; `undefined` if there is none, or it has none yet. */
  async #facts(jid: string): Promise<Known | undefined> {
    return this.#known.get(jid) ?? await this.#shared(this.#asked, jid, () => this.#readFacts(jid));
  }

  /** A job's own load is written while the job is being sent, so it may come at this moment, and takes precedence. */
  async #makeOf(jid: string, load: ReadonlyMap<Value, Packable>): Promise<void> {
    await this.#shared(this.#making, jid, () => this.#saveJob({ jid, ...loadColumns(load), keepsLoad: true }));
  }

  /** What `begin` gives; while it has not ended, whoever asks for the same gets the same. */
  #shared<T>(running: Map<string, Promise<T>>, key: string, begin: () => Promise<T>): Promise<T> {
    const known = running.get(key);
    if (known !== undefined) return this.#wait(known);
    const begun = begin().finally(() => running.delete(key));
    running.set(key, begun);
    return begun;
  }

  async #readFacts(jid: string): Promise<Known | undefined> {
    const row = await this.#job(jid);
    if (row === undefined) return undefined;
    const facts = { hidden: row.hidden ?? undefined, nocache: row.nocache };
    if (row.load.length === 0 && facts.hidden === undefined && !facts.nocache) return undefined;
    this.#known.set(jid, facts);
    return facts;
  }

  async adopt(load: ValueMap): Promise<ValueMap> {
    const adopted = adoptedLoad(load);
    const jid = await this.prepare(undefined, { nocache: load.get("nocache") === true });
    adopted.set("jid", jid);
    const id = load.get("id");
    await this.saveLoad(jid, adopted, typeof id === "string" && isValidId(id) ? [id] : []);
    return adopted;
  }

  async saveEndTime(jid: string, text: string): Promise<void> {
    await this.#saveJob({ jid, ended: parseTime(text) });
  }

  async restore(record: Value): Promise<boolean> {
    const field = (name: string) => isMap(record) ? record.get(name) ?? null : null;
    const kind = field("kind"), jid = str(field("jid")), load = field("load"), minions = field("minions");
    if (kind === "load" && isMap(load)) await this.#saveJob({ jid, ...loadColumns(load), keepsLoad: true });
    else if (kind === "minions" && Array.isArray(minions)) await this.#saveJob({ jid, minions: minions.map(str) });
    else if (kind === "hidden") await this.noLog.save(jid, str(field("reader")));
    else if (kind === "return" && isMap(load)) await this.saveReturn(load);
    else return false;
    return true;
  }

  async exists(jid: string): Promise<boolean> {
    // Of each return it is asked whether there is its job.
    return this.#known.get(jid) !== undefined || await this.#job(jid) !== undefined;
  }

  async getLoad(jid: string): Promise<ValueMap | undefined> {
    const row = await this.#job(jid);
    const load = row && this.#read(row.load, jid);
    if (row === undefined || !isMap(load)) return undefined;
    if (row.minions.length > 0) load.set("Minions", [...row.minions].sort(compareStrings));
    return load;
  }

  async getReturns(jid: string): Promise<Map<string, JobReturn>> {
    const rows = isJid(jid) ? await this.#wait(this.#rows.returns(jid, null)) : [];
    const returns = new Map<string, JobReturn>();
    for (const { id, body } of rows.sort((a, b) => compareStrings(a.id, b.id))) {
      const value = this.#read(body, jid);
      if (value !== undefined) returns.set(id, returnOfFields(value));
    }
    return returns;
  }

  async getReturn(jid: string, id: string): Promise<JobReturn | undefined> {
    const row = await this.#return(jid, id);
    const value = row && this.#read(row.body, jid);
    return value === undefined ? undefined : returnOfFields(value);
  }

  async has(jid: string, id: string): Promise<boolean> {
    return await this.#return(jid, id) !== undefined;
  }

  async answered(jobs: readonly AskedJob[]): Promise<Map<string, Answered>> {
    const jids = jobs.map(({ jid }) => jid), answers = new Map<string, Answered>();
    for (const jid of jids) answers.set(jid, { acknowledged: new Set(), returned: new Set() });
    const asked = jids.filter(isJid);
    for (
      const { jid, acknowledged, returned } of asked.length > 0 ? await this.#wait(this.#rows.answered(asked)) : []
    ) {
      answers.set(jid, { acknowledged: new Set(acknowledged), returned: new Set(returned) });
    }
    return answers;
  }

  async returnedMs(jid: string, id: string): Promise<number | undefined> {
    return (await this.#return(jid, id))?.storedMs;
  }

  async getEndTime(jid: string): Promise<string | undefined> {
    const ended = (await this.#job(jid))?.ended;
    return ended ? jidToStartTime(ended) || undefined : undefined;
  }

  async *list(query: JobQuery = {}): AsyncGenerator<JobEntry> {
    const fits = queryFilter(query);
    const limit = query.limit ?? Infinity;
    const asked = {
      from: query.startTime ? parseTime(query.startTime) : null,
      // A jid may have a suffix, which begins with "_".
      to: query.endTime ? `${parseTime(query.endTime)}~` : null,
      fun: likes(query.fun),
      target: likes(query.target),
    };
    let before = query.before ?? null, given = 0;
    // Most of what the rows give is given on.
    for (let count = Math.min(PAGE, limit + SPARE); given < limit; count = PAGE) {
      const page = await this.#wait(this.#rows.page({ ...asked, before, count }));
      for (const { jid, load: bytes } of page) {
        const load = this.#read(bytes, jid);
        if (!isMap(load) || load.size === 0 || !fits({ jid, load })) continue;
        yield { jid, load };
        if (++given >= limit) return;
      }
      if (page.length < count) return;
      before = page[page.length - 1].jid;
      await sleep(0);
    }
  }

  async clean(limits: Parameters<JobStore["clean"]>[0]): Promise<number> {
    return limits.keepSeconds <= 0 ? 0 : await this.#wait(this.#rows.clean(limits));
  }

  async close(): Promise<void> {
    await this.#rows.close();
  }

  async #acks(jid: string): Promise<Map<string, Ack>> {
    const rows = isJid(jid) ? await this.#wait(this.#rows.acks(jid)) : [];
    return new Map(rows.map(({ id, state, atMs }) => [id, { state, sinceMs: atMs }]));
  }

  #outputStore(): JobStore["outputs"] {
    const rows = this.#rows;
    const isPair = (jid: string, id: string) => isJid(jid) && isValidId(id);
    return {
      open: async (jid) => void await this.#saveJob({ jid, live: true }),
      has: async (jid, id) => isPair(jid, id) && (await this.#wait(rows.outputIds(jid))).includes(id),
      append: async (jid, id, batch) => {
        if (!isPair(jid, id)) return "refused";
        const { maxOutputBytes: maxBytes } = this.#options;
        const body = encode(batchToMap(batch), "disk");
        return await this.#wait(rows.saveOutput({ jid, id, seq: batch.seq, body, maxBytes }));
      },
      read: async (jid, id) => {
        const bodies = isPair(jid, id) ? await this.#wait(rows.outputs(jid, id)) : [];
        return bodies.flatMap((body) => batchFromMap(decodeIfWhole(body)) ?? []);
      },
      ids: async (jid) => isJid(jid) ? await this.#wait(rows.outputIds(jid)) : [],
    };
  }

  #batchStore(): JobStore["batches"] {
    const rows = this.#rows;
    return {
      save: async (state) => {
        checkJid(state.jid);
        const packed = encode(batchStateToMap(state), "disk");
        await this.#wait(rows.saveBatch({ jid: state.jid, active: !isBatchOver(state), state: packed }));
      },
      read: async (jid) => {
        const packed = isJid(jid) ? await this.#wait(rows.batch(jid)) : undefined;
        return packed === undefined ? undefined : this.#batch(jid, packed);
      },
      active: async () => {
        const active = await this.#wait(rows.activeBatches());
        return active.sort((a, b) => compareStrings(a.jid, b.jid))
          .flatMap(({ jid, state }) => this.#batch(jid, state) ?? []);
      },
    };
  }

  #batch(jid: string, packed: Uint8Array): BatchState | undefined {
    const state = this.#read(packed, jid);
    return isMap(state) ? batchStateFromMap(jid, state) : undefined;
  }

  async #saveJob(write: JobWrite): Promise<boolean> {
    checkJid(write.jid);
    return await this.#wait(this.#rows.saveJob(write));
  }

  async #job(jid: string): Promise<JobRow | undefined> {
    return isJid(jid) ? await this.#wait(this.#rows.job(jid)) : undefined;
  }

  async #return(jid: string, id: string) {
    return isJid(jid) && isValidId(id) ? (await this.#wait(this.#rows.returns(jid, id))).at(0) : undefined;
  }

  #wait<T>(answer: Promise<T>): Promise<T> {
    this.#options.onWait?.();
    return answer;
  }

  /** The value in bytes; `undefined` if there is none, which is logged for a damaged one. */
  #read(bytes: Uint8Array, jid: string): Value | undefined {
    if (bytes.length === 0) return undefined;
    try {
      return decode(bytes, "disk");
    } catch (error) {
      if (!(error instanceof MsgpackError)) throw error;
      this.#options.log(`What is stored of job ${jid} cannot be read: ${error.message}`);
      return undefined;
    }
  }
}

/** @throws {StoreError} If it is not a jid. */
function checkJid(jid: string): void {
  if (!isJid(jid)) throw new StoreError(`Cannot store a job of the id ${JSON.stringify(jid)}`, "jobs");
}

/** The columns of a load: itself, without its `key`, and what is searched. */
function loadColumns(load: ReadonlyMap<Value, Packable>): Omit<JobWrite, "jid"> {
  const saved = new Map(load);
  saved.delete("key");
  const text = (name: string) => {
    const value = load.get(name);
    return typeof value === "string" ? value : "";
  };
  const fun = load.get("fun");
  return {
    load: encode(saved, "disk"),
    fun: Array.isArray(fun) ? listOrEmpty(fun).map(str) : [text("fun")],
    tgt: text("tgt"),
    tgtType: text("tgt_type"),
    user: text("user"),
  };
}

function isCode(retcode: Packable | undefined): retcode is Value {
  return typeof retcode === "number" || typeof retcode === "bigint" || retcode instanceof Map;
}

/** A return code within an `int` of SQL. */
function boundedCode(code: number): number {
  return Math.max(-(2 ** 31), Math.min(2 ** 31 - 1, Math.trunc(code)));
}

/** Patterns of SQL's `like` for globs. */
function likes(globs: Value | undefined): string[] {
  const patterns = truthy(globs) ? splitInput(globs ?? null).map(globToLike) : [];
  return patterns.includes("%") ? [] : patterns;
}
