/**
 * The reactor: reads the events of the master's bus in its event log, renders the files that react to each, and starts
 * their reactions in the order of the events. What it has done is in its journal, so that the next reactor goes on
 * there.
 * @module
 */

import { type BusEvent, readMatching, tagEnd } from "#lib/bus/event.ts";
import { LogFollower } from "#lib/bus/log_follower.ts";
import { masterBus } from "#lib/bus/paths.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { eventLogDirectory, reactorDirectory } from "#lib/config/master_paths.ts";
import { describeError, LeaseLostError, messageOf } from "#lib/errors.ts";
import { EventLogReader, type LogBatch, type LoggedEvent } from "#lib/event_log/reader.ts";
import { clearInterval, setInterval, type Timer } from "#lib/os/timers.ts";
import { isJid, makeJid } from "#lib/protocol/jid.ts";
import { type Chain, ReactionChains } from "#lib/reactor/chains.ts";
import { changedEntries, changesText, parseChanges, type ReactorChanges, UNCHANGED } from "#lib/reactor/changes.ts";
import { type ReactionJournal, ReactorJournal, type ReactorPosition, type Taken } from "#lib/reactor/journal.ts";
import { TagLimits } from "#lib/reactor/limits.ts";
import { MapMatcher, type ReactorMistake, readReactorMap } from "#lib/reactor/reactor_map.ts";
import { mistakeText, type RenderedEvent } from "#lib/reactor/rendering.ts";
import { type Replay, takeReplay } from "#lib/reactor/replays.ts";
import { compileGlob } from "#lib/text/glob.ts";
import { ReactorStatus, removeStatus, writeStatus } from "#lib/reactor/status.ts";
import type { Logger } from "#lib/runtime/log.ts";
import type { ValueMap } from "#lib/values/value.ts";
import type { Progress } from "./find_progress.ts";
import { type Performer, REACTOR_USER } from "./performer.ts";
import type { RenderQueue } from "./render_queue.ts";

/** Events whose files are being rendered, or wait for that. */
const MAX_RENDERING = 256;
/** And their bytes; an event of more is rendered alone. */
const MAX_RENDERING_BYTES = 64 * 2 ** 20;
/** Interval of reports and of records of the position, in milliseconds. */
const REPORT_MS = 1_000;

/** The parts of a {@linkcode Reactor}. */
export interface ReactorParts {
  readonly opts: MasterOpts;
  readonly log: Logger;
  readonly rendering: Pick<RenderQueue, "render">;
  /** When the master was started, in milliseconds since the epoch. */
  readonly startedMs: number;
  /** What predecessors have done. Default: a file of this master. */
  readonly journal?: ReactionJournal;
  /** How far a reaction came that a predecessor took over. */
  progressOf(taken: Taken): Promise<Progress>;
  /** Makes what starts reactions. */
  performer(on: Pick<ConstructorParameters<typeof Performer>[0], "onStarted" | "onFailed">): Performer;
}

/** An event whose reactions are known, or soon. */
interface InWork {
  readonly position: ReactorPosition;
  readonly event: BusEvent;
  readonly files: readonly string[];
  readonly chain: Chain;
  readonly rendered: Promise<RenderedEvent | undefined>;
  /** Bytes of the event. */
  readonly bytes: number;
}

/** A running reactor. */
export class Reactor {
  readonly #parts: ReactorParts;
  readonly #journal: ReactionJournal;
  readonly #status = new ReactorStatus();
  readonly #performer: Performer;
  readonly #chains: ReactionChains;
  readonly #limits: TagLimits;
  readonly #directory: string;
  #map = new MapMatcher([]);
  /** The texts of the options and files from which the map was made. */
  #mapTexts = "";
  #changes: ReactorChanges = UNCHANGED;
  #follower: LogFollower | undefined;
  readonly #inWork: InWork[] = [];
  /** Bytes of the events in work. */
  #bytes = 0;
  #work = Promise.withResolvers<void>();
  #room = Promise.withResolvers<void>();
  #running: Promise<unknown> = Promise.resolve();
  readonly #stopped = Promise.withResolvers<void>();
  #position: ReactorPosition = { log: "", number: -1 };
  #reporting: Timer | undefined;
  #reported = "";
  #closed = false;

  private constructor(parts: ReactorParts) {
    this.#parts = parts;
    const { opts, log } = parts;
    this.#directory = reactorDirectory(opts.cachedir);
    Deno.mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    this.#journal = parts.journal ??
      new ReactorJournal(this.#directory, (text) => log.error(text), { syncs: opts.durability === "machine" });
    this.#chains = new ReactionChains(opts.reactor_loop_limit);
    this.#limits = new TagLimits(opts.reactor_limits);
    this.#performer = parts.performer({
      onStarted: (taken) => {
        this.#journal.started(taken.jid);
        this.#status.counts[taken.reaction.kind]++;
      },
      onFailed: (taken, reason) => {
        this.#journal.started(taken.jid);
        this.#status.counts.failed++;
        const { id, kind, fun, file } = taken.reaction;
        this.#fail(taken.tag, { file, text: `Reactor '${id}' failed to execute ${kind} '${fun}': ${reason}` });
      },
    });
  }

  /**
   * Starts a reactor where its predecessor was; the first one begins with the events since the master's start.
   * @throws {NoMasterError} If the bus has no log.
   * @throws What reading its files throws.
   */
  static async start(parts: ReactorParts): Promise<Reactor> {
    const reactor = new Reactor(parts);
    const { opts } = parts;
    reactor.#readMap();
    const follower = reactor.#follower = await LogFollower.open(
      { paths: masterBus(opts.sock_dir), directory: eventLogDirectory(opts.cachedir) },
      (reader) => reactor.#journal.seek(reader, parts.startedMs),
    );
    reactor.#position = { log: follower.id ?? "", number: follower.next - 1 };
    const guard = (loop: Promise<void>) =>
      loop.catch((error) => {
        if (error instanceof LeaseLostError) parts.log.info("The reactor stops: another master reacts from now on");
        else parts.log.critical(`The reactor has stopped, and is started again: ${describeError(error)}`);
        reactor.#stopped.resolve();
      });
    reactor.#running = Promise.all([guard(reactor.#perform()), guard(reactor.#read(follower))]);
    reactor.#reporting = setInterval(() => reactor.#report(), REPORT_MS);
    reactor.#report();
    return reactor;
  }

  /** Resolves when it has stopped by itself. */
  get stopped(): Promise<void> {
    return this.#stopped.promise;
  }

  /** What it does, in one line. */
  describe(): string {
    const { events, matched, local } = this.#status.counts;
    return `${events} events read, ${matched} with reactions, ${local} jobs published; ${this.#inWork.length} events in ` +
      `work, ${this.#performer.running.length} functions running, ${this.#performer.waiting} waiting`;
  }

  async #read(follower: LogFollower): Promise<void> {
    for (let batch = await follower.read(); batch !== undefined && !this.#closed; batch = await follower.read()) {
      this.#countMissed(batch);
      this.#readMap();
      const log = follower.id ?? "";
      for (const logged of batch.events) {
        if (this.#closed) return;
        await this.#take(logged, log);
      }
    }
  }

  #countMissed({ missed }: LogBatch): void {
    if (missed === 0) return;
    this.#status.counts.missed += missed;
    this.#fail("", {
      file: "",
      text: `${missed} events were not in the event log any more when the reactor came to them`,
    });
  }

  /** Puts an event into work, if files react to it. */
  async #take(event: LoggedEvent, log: string): Promise<void> {
    const { frame } = event, position = this.#journal.after(event, log);
    if (position === undefined) return;
    this.#status.counts.events++;
    await this.#enter(frame, position);
    const replay = takeReplay(this.#directory, tagText(frame));
    if (replay !== undefined) await this.#replay(replay, position);
    if (this.#inWork.length === 0) this.#position = position;
  }

  /** Puts past events into work again. */
  async #replay({ first, next, tag }: Replay, position: ReactorPosition): Promise<void> {
    const matches = compileGlob(tag);
    using reader = new EventLogReader(eventLogDirectory(this.#parts.opts.cachedir));
    reader.seek(first);
    for (let batch = reader.read(); batch.events.length > 0; batch = reader.read()) {
      for (const { number, frame } of batch.events) {
        if (number >= next || this.#closed) return;
        if (matches(tagText(frame))) await this.#enter(frame, position);
      }
    }
  }

  async #enter(frame: Uint8Array, position: ReactorPosition): Promise<void> {
    const begun = this.#begin(frame);
    if (begun === undefined) return;
    while (this.#inWork.length > 0 && this.#isFull(frame.length) && !this.#closed) {
      this.#room = Promise.withResolvers();
      await this.#room.promise;
    }
    const { event, files, chain } = begun;
    const rendered = this.#parts.rendering.render({ tag: event.tag, data: event.data, files })
      .catch(() => undefined); // the reactor ends: the next one takes the event
    this.#inWork.push({ position, event, files, chain, rendered, bytes: frame.length });
    this.#bytes += frame.length;
    this.#work.resolve();
  }

  #isFull(more: number): boolean {
    return this.#inWork.length >= MAX_RENDERING || this.#bytes + more > MAX_RENDERING_BYTES;
  }

  /** The event with the files that react to it; `undefined` if there are none. */
  #begin(frame: Uint8Array): Pick<InWork, "event" | "files" | "chain"> | undefined {
    const event = readMatching(frame, (tag) => this.#map.filesFor(tag).length > 0);
    if (event === undefined || !this.#changes.isLeader || event.data.get("user") === REACTOR_USER) return undefined;
    const { tag, data } = event;
    const files = this.#map.filesFor(tag), nowMs = Date.now();
    this.#status.counts.matched++;
    const chain = this.#chains.of(tag, data, nowMs);
    const loop = this.#chains.loopOf(chain, files);
    if (loop !== undefined) {
      this.#status.counts.loops++;
      this.#fail(tag, {
        file: loop,
        text: `A loop is stopped: the event ${tag} comes of reactions that this file has started ${chain.get(loop)} ` +
          "times in a row, and would start it again (reactor_loop_limit)",
      });
      return undefined;
    }
    const allowed = this.#limits.take(tag, nowMs);
    if (allowed === "yes") return { event, files, chain };
    this.#status.counts.limited++;
    if (allowed === "first") {
      this.#fail(tag, {
        file: files[0],
        text: `Too many events ${tag}: further ones start no reactions in this minute (reactor_limits)`,
      });
    }
    return undefined;
  }

  /** Starts the reactions of the events in work, in their order. */
  async #perform(): Promise<void> {
    for (const taken of this.#journal.open) {
      const progress = await this.#parts.progressOf(taken);
      if (progress === "started") this.#journal.started(taken.jid);
      else await this.#performer.perform(taken, { isAnnounced: progress === "announced" });
    }
    while (!this.#closed) {
      const [first] = this.#inWork;
      if (first === undefined) {
        this.#work = Promise.withResolvers();
        await this.#work.promise;
        continue;
      }
      const rendered = await first.rendered;
      if (rendered === undefined || this.#closed) return;
      await this.#start(first, rendered);
      this.#position = first.position;
      this.#inWork.shift();
      this.#bytes -= first.bytes;
      this.#room.resolve();
    }
  }

  async #start({ position, event: { tag }, files, chain }: InWork, made: RenderedEvent): Promise<void> {
    const { unique_jid: unique } = this.#parts.opts;
    for (const mistake of made.mistakes) this.#fail(tag, mistake);
    const longer = this.#chains.longer(chain, files);
    const taken = made.reactions.map((reaction): Taken => {
      const own = reaction.publish.get("jid");
      const jid = typeof own === "string" && isJid(own) ? own : makeJid(undefined, { unique });
      this.#chains.note(longer, reaction, jid, Date.now());
      return { jid, tag, reaction };
    });
    await this.#journal.take(position, taken);
    for (const each of taken) await this.#performer.perform(each);
  }

  #fail(tag: string, mistake: ReactorMistake): void {
    this.#status.failed(tag, mistake);
    this.#parts.log.error(`The reactor: ${mistakeText(mistake)}`);
  }

  /** Reads the map again if it or its changes have changed. */
  #readMap(): void {
    const { opts } = this.#parts;
    const option = opts.reactor;
    const changes = changesText(this.#directory);
    const texts = `${typeof option === "string" ? mapText(option) : ""}\0${changes}`;
    if (texts === this.#mapTexts) return;
    this.#mapTexts = texts;
    try {
      this.#changes = parseChanges(changes);
    } catch (error) {
      this.#fail("", { file: `${this.#directory}/changes.json`, text: messageOf(error) });
    }
    const map = readReactorMap(option, opts);
    for (const mistake of map.mistakes) this.#fail("", mistake);
    this.#map = new MapMatcher(changedEntries(map, this.#changes));
  }

  #report(): void {
    const status = this.#statusValue();
    const text = JSON.stringify(this.#status.counts) + this.#position.number + this.#performer.waiting +
      this.#performer.running.length + this.#inWork.length + this.#changes.isLeader;
    if (text === this.#reported) return;
    this.#reported = text;
    try {
      if (this.#inWork.length === 0) void this.#journal.take(this.#position, []);
      this.#journal.flush();
      writeStatus(this.#directory, status);
    } catch (error) {
      this.#parts.log.error(`The report of the reactor cannot be written: ${messageOf(error)}`);
    }
  }

  #statusValue(): ValueMap {
    const { log, number } = this.#position;
    const running = this.#performer.running.map(({ jid, reaction: { kind, fun } }) => `${kind}.${fun} ${jid}`);
    return this.#status.value({
      pid: Deno.pid,
      leader: this.#changes.isLeader,
      offset: `${log}.${Math.max(0, number)}`,
      in_work: this.#inWork.length,
      waiting: this.#performer.waiting,
      running,
    });
  }

  /** Ends it. What was taken over and not started is in the journal. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#reporting);
    this.#follower?.close();
    this.#performer.close();
    this.#work.resolve();
    this.#room.resolve();
    await this.#running;
    this.#report();
    this.#journal.close();
    removeStatus(this.#directory);
  }
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The tag of an event; empty if it has none. */
function tagText(frame: Uint8Array): string {
  return decoder.decode(frame.subarray(0, Math.max(0, tagEnd(frame))));
}

/** The text of the file of a map; empty if it cannot be read. */
function mapText(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch (error) {
    return `cannot be read: ${messageOf(error)}`;
  }
}
