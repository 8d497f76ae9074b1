/**
 * The reactor of a minion (`engines: [reactor]`): events of the minion's own bus start execution functions of the
 * minion. The files are rendered, and the functions run, like functions of jobs, with the permissions they declare.
 * Source: Salt 3008.3 `salt/engines/reactor.py`, `salt/utils/reactor.py` caller.
 * @module
 */

import type { BusEvent } from "#lib/bus/event.ts";
import type { EventSubscriber } from "#lib/bus/subscriber.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import { messageOf } from "#lib/errors.ts";
import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import { TagLimits } from "#lib/reactor/limits.ts";
import { MapMatcher, readReactorMap } from "#lib/reactor/reactor_map.ts";
import { mistakeText } from "#lib/reactor/rendering.ts";
import { engineWorkers } from "#lib/reactor/reactor_opts.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** Functions that run at once, and events that may wait, without options of the engine. */
const WORKERS = 10, WAITING = 1_000;
/** Events of one tag that start reactions in a minute, without a limit for the tag: so a loop ends. */
const MOST_IN_A_MINUTE = 600;
/** What a call of this kind begins with. */
const CALLER = "caller.";

/** The parts of a {@linkcode MinionReactor}. */
export interface MinionReactorParts {
  readonly opts: MinionOpts;
  readonly log: Logger;
  /**
   * Runs an execution function.
   * @throws {CommandError} If it failed.
   */
  call(fun: string, args: readonly Value[], kwargs: ValueMap): Promise<Value>;
}

/** The reactor of one minion. */
export class MinionReactor {
  readonly #parts: MinionReactorParts;
  readonly #limits: TagLimits;
  readonly #most: { readonly running: number; readonly waiting: number };
  readonly #waiting: BusEvent[] = [];
  #map = new MapMatcher([]);
  #mapText: string | undefined;
  #running = 0;
  #room = Promise.withResolvers<void>();
  #isReading = false;
  #dropped = 0;
  #closed = false;

  private constructor(parts: MinionReactorParts, most: { readonly running: number; readonly waiting: number }) {
    this.#parts = parts;
    this.#most = most;
    this.#limits = new TagLimits(new Map([...parts.opts.reactor_limits, ["*", MOST_IN_A_MINUTE]]));
    this.#readMap();
  }

  /** The reactor; `undefined` if the option `engines` does not name it. */
  static open(parts: MinionReactorParts): MinionReactor | undefined {
    const most = engineWorkers(parts.opts.engines, { running: WORKERS, waiting: WAITING });
    return most && new MinionReactor(parts, most);
  }

  /** Takes the events of the minion's bus until that is closed. Never rejects. */
  async read(events: Pick<EventSubscriber, "next">): Promise<void> {
    for (let event = await events.next(); event !== undefined; event = await events.next()) {
      try {
        this.#take(event);
      } catch (error) {
        this.#parts.log.error(`The reactor: the event ${event.tag}: ${messageOf(error)}`);
      }
    }
  }

  #take(event: BusEvent): void {
    const { log } = this.#parts;
    if (this.#closed) return;
    this.#readMap();
    const files = this.#map.filesFor(event.tag);
    if (files.length === 0) return;
    const allowed = this.#limits.take(event.tag, Date.now());
    if (allowed === "first") {
      log.error(
        `The reactor: too many events ${event.tag}: further ones start nothing in this minute (reactor_limits)`,
      );
    }
    if (allowed !== "yes") return;
    if (this.#waiting.length >= this.#most.waiting) {
      if (this.#dropped++ === 0) log.error(`The reactor drops events: ${this.#most.waiting} wait (worker_hwm)`);
      return;
    }
    this.#waiting.push(event);
    if (!this.#isReading) void this.#react();
  }

  /** What it does, in one line. */
  describe(): string {
    return `Reactor: ${this.#waiting.length} events waiting, ${this.#running} functions running, ${this.#dropped} dropped`;
  }

  /** Starts the reactions of the waiting events, in their order. Never rejects. */
  async #react(): Promise<void> {
    this.#isReading = true;
    for (let event = this.#waiting.shift(); event !== undefined && !this.#closed; event = this.#waiting.shift()) {
      try {
        await this.#start(event);
      } catch (error) {
        if (!this.#closed) this.#parts.log.error(`The reactor: the event ${event.tag}: ${messageOf(error)}`);
      }
    }
    if (this.#dropped > 0) this.#parts.log.warning(`The reactor has dropped ${this.#dropped} events`);
    this.#dropped = 0;
    this.#isReading = false;
  }

  async #start({ tag, data }: BusEvent): Promise<void> {
    const { call, log } = this.#parts;
    const said = mapOrEmpty(await call("reactor.explain", [tag, data, [...this.#map.filesFor(tag)]], new Map()));
    for (const text of listOrEmpty(said.get("mistakes"))) log.error(`The reactor: ${str(text)}`);
    for (const reaction of listOrEmpty(said.get("reactions"))) {
      if (isMap(reaction)) await this.#perform(tag, reaction);
    }
  }

  async #perform(tag: string, reaction: ValueMap): Promise<void> {
    const [name, id, file] = ["call", "id", "file"].map((key) => str(reaction.get(key) ?? ""));
    const { log } = this.#parts;
    if (!name.startsWith(CALLER)) {
      return log.error(`The reactor: ${file}: Reactor '${id}': ${name} cannot run on a minion, only caller.FUNCTION`);
    }
    while (this.#running >= this.#most.running && !this.#closed) await this.#room.promise;
    if (this.#closed) return;
    this.#running++;
    const fun = name.slice(CALLER.length);
    log.info(`The reactor runs ${fun} for ${tag} (${file})`);
    this.#parts.call(fun, listOrEmpty(reaction.get("args")), mapOrEmpty(reaction.get("kwargs")))
      .catch((error) =>
        log.error(`The reactor: ${file}: Reactor '${id}' failed to execute ${fun}: ${messageOf(error)}`)
      )
      .finally(() => {
        this.#running--;
        this.#room.resolve();
        this.#room = Promise.withResolvers();
      });
  }

  /** Reads the map again if it is a file that has changed. */
  #readMap(): void {
    const { opts, log } = this.#parts, option = opts.reactor;
    const text = typeof option === "string" && option !== "" ? textOf(option) : "";
    if (text === this.#mapText) return;
    this.#mapText = text;
    const { entries, mistakes } = readReactorMap(option, opts);
    for (const mistake of mistakes) log.error(`The reactor: ${mistakeText(mistake)}`);
    this.#map = new MapMatcher(entries);
  }

  /** Starts nothing any more. */
  close(): void {
    this.#closed = true;
    this.#room.resolve();
  }
}

/** The text of a file; without one a text that no file has. */
function textOf(path: string): string {
  try {
    return readTextFileIfExists(path) ?? "\0";
  } catch (error) {
    return `\0${messageOf(error)}`;
  }
}
