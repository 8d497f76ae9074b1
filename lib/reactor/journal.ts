/**
 * Where the reactor is: the number of the last event that it has taken over, and the reactions that it has taken over
 * and not started yet. So a reactor that is killed goes on where it was, and starts each reaction once.
 *
 * A file of records (lib/os/record_file.ts), each appended before a reaction is started or after it was; written anew
 * when it has grown. If it cannot be written, that is logged once, and the reactor goes on without it.
 * @module
 */

import { readFileIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { appendFrame, frameRecord, readRecords, type RecordForm } from "#lib/os/record_file.ts";
import { messageOf, MsgpackError, WireError } from "#lib/errors.ts";
import type { EventLogReader, LoggedEvent } from "#lib/event_log/reader.ts";
import { joinBytes } from "#lib/values/join_bytes.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { isMap, map, str, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";
import { parseReaction, type Reaction, reactionValue } from "./reaction.ts";

const FORM: RecordForm = { checked: true };
/** A file of this size is written anew, in bytes. */
const MAX_BYTES = 1024 * 1024;

/** A reaction that was taken over. */
export interface Taken {
  /** The id of its job. */
  readonly jid: string;
  /** The tag of its event. */
  readonly tag: string;
  readonly reaction: Reaction;
}

/** Where the reactor is. */
export interface ReactorPosition {
  /** The id of the event log. */
  readonly log: string;
  /** The number of the last event that was taken over; -1: none. */
  readonly number: number;
  /** In a cluster: the last event of each master, by its name. */
  readonly masters?: ReadonlyMap<string, number>;
}

/** What a reactor has done. */
export interface ReactionJournal {
  /** The reactions that were taken over and not started, in their order. */
  readonly open: readonly Taken[];
  /** Puts a reader of the event log where the reactor goes on; the first one begins with the events of `startedMs`. */
  seek(reader: EventLogReader, startedMs: number): void;
  /** Where the reactor is after an event, which is the next one of the log; `undefined`: it was taken over before. */
  after(event: LoggedEvent, log: string): ReactorPosition | undefined;
  /**
   * Records that an event was taken over, with its reactions, which may be started when this is done.
   * @throws {LeaseLostError} If they are another master's to start.
   */
  take(position: ReactorPosition, taken: readonly Taken[]): void | Promise<void>;
  /** Records that a reaction was started, with the next record. */
  started(jid: string): void;
  /** Writes what was not written yet. */
  flush(): void;
  /** Writes what was not written yet, and closes it. */
  close(): void;
}

/** The journal of one reactor. */
export class ReactorJournal implements ReactionJournal {
  readonly #path: string;
  readonly #error: (text: string) => void;
  readonly #syncs: boolean;
  #position: ReactorPosition | undefined;
  readonly #open = new Map<string, Taken>();
  /** Of reactions that were started since the last record. */
  #done: string[] = [];
  #file: Deno.FsFile | undefined;
  #bytes = 0;
  #failed = false;

  /**
   * Reads the journal of a directory, which is made if it does not exist.
   * @param error Logs that it cannot be written.
   * @param how.syncs Whether reactions that were taken over survive a power failure (`durability: machine`).
   * @throws What reading throws.
   */
  constructor(directory: string, error: (text: string) => void, { syncs = false } = {}) {
    this.#path = `${directory}/journal`;
    this.#error = error;
    this.#syncs = syncs;
    Deno.mkdirSync(directory, { recursive: true, mode: 0o700 });
    const bytes = readFileIfExists(this.#path);
    if (bytes !== undefined) {
      for (const record of readRecords(bytes, FORM, parseRecord).records) {
        this.#apply(record);
      }
    }
  }

  /** Where the reactor was; `undefined` if it never ran. */
  get position(): ReactorPosition | undefined {
    return this.#position;
  }

  /** As {@linkcode ReactionJournal} says. */
  seek(reader: EventLogReader, startedMs: number): void {
    const position = this.#position;
    if (position !== undefined && position.log === reader.id) reader.seek(position.number + 1);
    else reader.seekTime(startedMs);
  }

  /** As {@linkcode ReactionJournal} says. */
  after({ number }: LoggedEvent, log: string): ReactorPosition {
    return { log, number };
  }

  /** As {@linkcode ReactionJournal} says. */
  get open(): readonly Taken[] {
    return [...this.#open.values()];
  }

  /** As {@linkcode ReactionJournal} says. */
  take(position: ReactorPosition, taken: readonly Taken[]): void {
    for (const each of taken) this.#open.set(each.jid, each);
    this.#position = position;
    if (taken.length > 0) this.#append(taken);
  }

  /** As {@linkcode ReactionJournal} says. */
  started(jid: string): void {
    this.#open.delete(jid);
    this.#done.push(jid);
  }

  /** As {@linkcode ReactionJournal} says. */
  flush(): void {
    this.#append([]);
  }

  #append(taken: readonly Taken[]): void {
    const record = map({
      log: this.#position?.log ?? "",
      number: this.#position?.number ?? -1,
      taken: taken.map((each): Value => takenValue(each)),
      done: this.#done.splice(0),
    });
    try {
      if (this.#file === undefined || this.#bytes > MAX_BYTES) this.#rewrite();
      else {
        const framed = frameRecord(encode(record, "disk"), FORM);
        appendFrame(this.#file, framed);
        this.#bytes += framed.length;
        if (this.#syncs && taken.length > 0) this.#file.syncDataSync();
      }
      this.#failed = false;
    } catch (error) {
      this.#close();
      if (this.#failed) return;
      this.#failed = true;
      this.#error(
        `The journal ${this.#path} cannot be written: reactions may be repeated after a restart: ${messageOf(error)}`,
      );
    }
  }

  /** One record with all that counts. */
  #rewrite(): void {
    this.#close();
    const record = map({
      log: this.#position?.log ?? "",
      number: this.#position?.number ?? -1,
      taken: this.open.map((each): Value => takenValue(each)),
      done: [],
    });
    const framed = frameRecord(encode(record, "disk"), FORM);
    writeFileAtomic(this.#path, joinBytes([framed]), { mode: 0o600, sync: this.#syncs });
    this.#file = Deno.openSync(this.#path, { append: true });
    this.#bytes = framed.length > MAX_BYTES ? 0 : framed.length;
  }

  #apply({ position, taken, done }: JournalRecord): void {
    this.#position = position;
    for (const each of taken) this.#open.set(each.jid, each);
    for (const jid of done) this.#open.delete(jid);
  }

  #close(): void {
    this.#file?.close();
    this.#file = undefined;
  }

  /** As {@linkcode ReactionJournal} says. */
  close(): void {
    if (this.#position !== undefined) this.flush();
    this.#close();
  }
}

interface JournalRecord {
  readonly position: ReactorPosition;
  readonly taken: readonly Taken[];
  readonly done: readonly string[];
}

/** A reaction that was taken over, as it is stored. */
export function takenValue({ jid, tag, reaction }: Taken): ValueMap {
  return map({ jid, tag, reaction: reactionValue(reaction) });
}

function parseRecord(bytes: Uint8Array): JournalRecord | undefined {
  try {
    const value = decode(bytes, "disk");
    const taken = isMap(value) ? value.get("taken") : undefined, done = isMap(value) ? value.get("done") : undefined;
    if (!isMap(value) || !Array.isArray(taken) || !Array.isArray(done)) return undefined;
    return {
      position: { log: str(value.get("log") ?? ""), number: toNumber(value.get("number")) ?? -1 },
      taken: taken.map(parseTaken),
      done: done.map(str),
    };
  } catch (error) {
    if (error instanceof MsgpackError || error instanceof WireError) return undefined;
    throw error;
  }
}

/**
 * Reverses {@linkcode takenValue}.
 * @throws {WireError} If it is something else.
 */
export function parseTaken(value: Value): Taken {
  const field = (name: string): Value => isMap(value) ? value.get(name) ?? null : null;
  return { jid: str(field("jid")), tag: str(field("tag")), reaction: parseReaction(field("reaction")) };
}
