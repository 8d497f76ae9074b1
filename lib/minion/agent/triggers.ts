/**
 * What makes a minion act without a job of a master: its reactor, its beacons and its schedule, and the answers to
 * questions about them on the minion's bus.
 * @module
 */

import { type Answering, answerQuestions } from "#lib/bus/ask.ts";
import { minionBus } from "#lib/bus/paths.ts";
import { EventSubscriber } from "#lib/bus/subscriber.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import { MinionBeacons } from "#lib/minion/beacons/minion_beacons.ts";
import { PythonBeacons } from "#lib/minion/beacons/python_beacons.ts";
import type { Sent } from "#lib/minion/beacons/beacon_outbox.ts";
import { MinionSchedule } from "#lib/minion/schedule/minion_schedule.ts";
import { answerScheduleQuestion, failedAnswer } from "#lib/minion/schedule/questions.ts";
import type { JobPool } from "#lib/minion/worker/job_pool.ts";
import { pack } from "#lib/minion/worker/job_protocol.ts";
import type { TimeBudget } from "#lib/os/time_budget.ts";
import { ownBeaconNames } from "#lib/plugins/own_beacon.ts";
import { MANAGE_SCHEDULE } from "#lib/protocol/tags.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";
import type { MinionJobs } from "./jobs.ts";
import { MinionReactor } from "./minion_reactor.ts";
import { callUnpublished } from "./unpublished_call.ts";

/** Shortest interval of the loop of beacons, in milliseconds. */
const MIN_LOOP_MS = 50;

/** What {@linkcode Triggers} work with. */
export interface TriggerParts {
  readonly opts: MinionOpts;
  readonly log: Logger;
  readonly pool: JobPool;
  readonly jobs: Pick<MinionJobs, "beginScheduled">;
  /** The grains and the pillar of now. */
  readonly known: { readonly grains: ValueMap; readonly pillar: ValueMap };
  /** Where Python plugins run. */
  pythonSocket(): Promise<string>;
  /** Fires an event on the minion's bus. */
  fireLocal(tag: string, data: ValueMap): Promise<boolean>;
  /** Sends the events of beacons to the masters; never rejects. Left out if there is no master. */
  readonly send?: (events: readonly ValueMap[]) => Promise<Sent>;
  /** Other questions that it answers. */
  readonly questions: readonly Answering[];
  /** The minion cannot go on. */
  fail(error: unknown): void;
}

/** The reactor, the beacons and the schedule of one minion. */
export class Triggers {
  readonly #parts: TriggerParts;
  readonly #subscribers: EventSubscriber[] = [];
  readonly #pythonBeacons: PythonBeacons;
  readonly #beacons: MinionBeacons;
  readonly #schedule: MinionSchedule;
  readonly #reactor: MinionReactor | undefined;

  private constructor(parts: TriggerParts) {
    this.#parts = parts;
    const { opts, log, pool, jobs, known } = parts;
    this.#reactor = MinionReactor.open({
      opts,
      log: log.named("salt.engines.reactor"),
      call: (fun, args, kwargs) => this.#call("reactor", { fun, args, kwargs }),
    });
    const inPython = this.#pythonBeacons = new PythonBeacons({
      opts,
      log,
      plugins: () => pool.pythonPlugins,
      socket: () => parts.pythonSocket(),
      grains: () => known.grains,
      pillar: () => known.pillar,
      call: (fun, args, kwargs) => this.#call("beacons", { fun, args, kwargs }),
    });
    this.#beacons = new MinionBeacons({
      id: opts.id,
      opts,
      loopMs: Math.max(opts.loop_interval * 1000, MIN_LOOP_MS),
      beacons: opts.beacons,
      files: opts,
      log,
      call: (fun, call) =>
        inPython.has(fun) ? inPython.call(fun, call) : callUnpublished(pool, { user: "beacons", fun, call }),
      own: () => [...ownBeaconNames(pool.customModules), ...inPython.names],
      fireLocal: (tag, data) => parts.fireLocal(tag, data),
      ...parts.send !== undefined && { send: parts.send },
    });
    this.#schedule = new MinionSchedule({
      opts,
      log: log.named("salt.schedule"),
      data: () => ({ grains: known.grains, pillar: known.pillar }),
      begin: (load, isNoted, ended) => jobs.beginScheduled(load, isNoted, ended),
    });
  }

  /**
   * Opens them. The reactor sees all events of the minion's bus from now on. Beacons and schedule begin when they are
   * started, or now if `beacons_before_connect` and `scheduler_before_connect` say so.
   */
  static async open(parts: TriggerParts): Promise<Triggers> {
    const { opts, log } = parts, triggers = new Triggers(parts);
    const reactor = triggers.#reactor, schedule = triggers.#schedule;
    if (reactor !== undefined) void reactor.read(await triggers.#subscribe(""));
    await triggers.#answer(triggers.#beacons.answering);
    if (opts.beacons_before_connect) triggers.#beacons.start();
    await triggers.#answer({
      tag: MANAGE_SCHEDULE,
      answer: (question) => Promise.resolve(answerScheduleQuestion(schedule, question)),
      failed: failedAnswer,
      report: (text) => log.error(text),
    });
    for (const question of parts.questions) await triggers.#answer(question);
    if (opts.scheduler_before_connect) schedule.start();
    return triggers;
  }

  /** Calls a function of the minion, by a user's name in the logs. */
  #call(
    user: string,
    { fun, args, kwargs }: { readonly fun: string; readonly args: readonly Value[]; readonly kwargs: ValueMap },
  ): ReturnType<typeof callUnpublished> {
    return callUnpublished(this.#parts.pool, { user, fun, call: pack(map({ args: [...args], kwargs })) });
  }

  /** Reads events whose tags begin with `tag` until the end. */
  async #subscribe(tag: string): Promise<EventSubscriber> {
    const events = await EventSubscriber.connect(minionBus(this.#parts.opts).pub, [tag]);
    this.#subscribers.push(events);
    return events;
  }

  /** Answers the questions of one tag on the minion's bus. */
  async #answer(answering: Answering): Promise<void> {
    const { opts, fail } = this.#parts;
    answerQuestions(await this.#subscribe(answering.tag), minionBus(opts), answering).catch(fail);
  }

  /** What they see from now on is sent. */
  startBeacons(): void {
    this.#beacons.start();
  }

  /** Its jobs run from now on, when they are due. */
  startSchedule(): void {
    this.#schedule.start();
  }

  /** The minion has a new pillar. */
  setPillar(pillar: ValueMap): void {
    this.#beacons.pillar = pillar;
    this.#schedule.setPillar(pillar);
  }

  /** Whether a state run is going on, during which some beacons rest. */
  set stateRun(running: boolean) {
    this.#beacons.stateRun = running;
  }

  /** Takes beacons as they are now, also those that were stopped because they hung. */
  async refreshBeacons(): Promise<void> {
    await this.#pythonBeacons.refresh();
    await this.#beacons.refresh();
  }

  /** The current activity of the reactor and of the beacons, one line each. */
  async describe(): Promise<string[]> {
    return [...this.#reactor === undefined ? [] : [this.#reactor.describe()], ...await this.#beacons.describe()];
  }

  /** Ends all. */
  async close(budget: TimeBudget): Promise<void> {
    this.#schedule.close();
    for (const events of this.#subscribers) events.close();
    await this.#beacons.close(budget);
    this.#reactor?.close();
    await this.#pythonBeacons.close();
  }
}
