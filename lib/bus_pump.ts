/**
 * The thread of the master's event bus: takes what is pushed, and publishes it.
 *
 * Each subscriber has a queue of bounded length and, roughly, size. One that does not read loses what does not fit, and that is
 * counted (bus_subscribers.ts), logged, and in the file that `salt-run bus.subscribers` shows; the others lose nothing.
 * @module
 */

import { type BusNews, BusSubscribers, missedNote, readSubscriberTopic, type Subscriber } from "./bus_subscribers.ts";
import { writeBusState } from "./bus_state.ts";
import { ANSWERS_NAMES, BUS_WELCOME, type BusPaths } from "./event_bus.ts";
import { Duplex, type Frames, Inbox } from "./sockets.ts";
import { noteSockets } from "./thread_sockets.ts";
import { serveThread, surviveErrors } from "./thread.ts";

/** What the thread starts with. */
export interface BusPumpInit {
  /** The bus. */
  readonly paths: BusPaths;
  /** How many events are kept for a subscriber. */
  readonly keptEvents: number;
  /** Where it notes its sockets. */
  readonly sockets: SharedArrayBuffer;
  /** Events that had come for the thread before this one, which died. */
  readonly untaken?: readonly Frames[];
}

/** What is kept for a subscriber at most, in bytes, as far as the events are of like size. */
const KEPT_BYTES = 64 * 1024 * 1024;
/** The fewest events that are kept, however large. */
const FEWEST = 100;
/** After so many events their mean size is looked at again. */
const SIZED = 256;
/** What may wait to be published, in events; whoever pushes more waits. */
const PUSHED = 100_000;
/** How often those that do not read are tried, in milliseconds. */
const TRY_MS = 1_000;

const utf8 = new TextEncoder();
const decoder = new TextDecoder();

serveThread<BusPumpInit>(async ({ paths, keptEvents, sockets, untaken = [] }, { log }) => {
  surviveErrors(log);
  noteSockets(sockets);
  const inbox = Inbox.pull({ highWaterMark: PUSHED });
  const outlet = Duplex.announcer({ highWaterMark: keptEvents });
  outlet.welcome(BUS_WELCOME + ANSWERS_NAMES);
  outlet.dropSilently = false;
  await inbox.bind(`ipc://${paths.pull}`);
  await outlet.bind(`ipc://${paths.pub}`);
  for (const path of [paths.pull, paths.pub]) Deno.chmodSync(path, 0o600);

  const subscribers = new BusSubscribers(tell);
  let published = 0, bytes = 0, kept = keptEvents;
  let trying: ReturnType<typeof setInterval> | undefined;
  const running = [publish(), hear()].map((loop) =>
    loop.catch((error) => log.critical(`The event bus has stopped: ${error instanceof Error ? error.stack : error}`))
  );

  async function publish(): Promise<void> {
    const inherited = [...untaken];
    const next = () => inherited.shift() ?? inbox.receive();
    for (let frames = await next(); frames !== undefined; frames = await next()) {
      const [frame] = frames;
      resize(frame.length);
      const stuck = trying === undefined ? [] : subscribers.stuckOn(tagOf(frame));
      for (const subscriber of stuck) note(subscriber);
      if (!outlet.offer([frame])) {
        const tag = tagOf(frame);
        for (const subscriber of subscribers.readingOn(tag)) {
          if (note(subscriber)) continue;
          subscribers.full(subscriber);
          stuck.push(subscriber);
        }
        outlet.dropSilently = true;
        outlet.offer([frame]);
        outlet.dropSilently = false;
      }
      for (const subscriber of stuck) subscriber.dropped++;
      published++;
    }
  }

  function note(subscriber: Subscriber): boolean {
    return outlet.offer([utf8.encode(missedNote(subscriber))]);
  }

  /** Fewer large events are kept than small ones. */
  function resize(length: number): void {
    bytes += length;
    if ((published + 1) % SIZED > 0) return;
    const fitting = Math.max(FEWEST, Math.min(keptEvents, Math.floor(KEPT_BYTES * SIZED / bytes)));
    bytes = 0;
    if (fitting === kept) return;
    kept = fitting;
    outlet.highWaterMark = kept;
  }

  async function hear(): Promise<void> {
    for (let frames = await outlet.receive(); frames !== undefined; frames = await outlet.receive()) {
      const topic = decoder.decode(frames[0].subarray(1));
      const come = frames[0][0] === 1;
      subscribers.heard(topic, come);
      // The name comes last: all that its bearer asked for is live.
      if (come && readSubscriberTopic(topic) !== undefined) outlet.offer([utf8.encode(`${topic}\n0`)]);
    }
  }

  function tell({ what, subscriber: { name, dropped } }: BusNews): void {
    const who = `The subscriber of the event bus in process ${name.pid}`;
    if (what === "stuck") {
      log.warning(`${who} does not read: ${kept} events wait for it, and what comes now it misses`);
    } else log.warning(`${who} ${what === "reads again" ? what : "has gone"}; it has missed ${dropped} events so far`);
    write();
    const stuck = subscribers.all.some((subscriber) => subscriber.stuck);
    if (stuck) trying ??= setInterval(tryAgain, TRY_MS);
    else {
      clearInterval(trying);
      trying = undefined;
    }
  }

  function tryAgain(): void {
    for (const subscriber of subscribers.all) if (subscriber.stuck) note(subscriber);
    write();
  }

  function write(): void {
    try {
      writeBusState(paths, subscribers.all);
    } catch (error) {
      log.error(`Who listens to the event bus could not be written: ${error instanceof Error ? error.message : error}`);
    }
  }

  return {
    describe: () => `${published} events published, ${subscribers.all.length} subscribers`,
    async close() {
      clearInterval(trying);
      inbox.close();
      outlet.close();
      await Promise.all(running);
    },
  };
});

/** The tag of a packed event: what stands before its data. */
function tagOf(frame: Uint8Array): string {
  const end = frame.indexOf(0x0a);
  return decoder.decode(end < 0 ? frame : frame.subarray(0, end));
}
