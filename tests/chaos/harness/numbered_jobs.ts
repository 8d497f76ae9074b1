/**
 * Jobs whose runs can be counted: each appends a line to its own file, and is searched in the master's job cache
 * afterwards.
 *
 * The operator chooses the id of each job, so a publish whose answer was lost can be sent again: it is the same job.
 * @module
 */

import { jobSign } from "#lib/protocol/tags.ts";
import { EventSubscriber } from "#lib/bus/subscriber.ts";
import { masterBus } from "#lib/bus/paths.ts";
import { makeJid } from "#lib/protocol/jid.ts";
import type { LocalClient } from "#lib/client/local.ts";
import { map } from "#lib/values/value.ts";
import type { Figure } from "./fault.ts";
import type { ProcessFleet } from "./process_fleet.ts";

/** A job that the master has accepted. */
export interface NumberedJob {
  readonly jid: string;
  /** The ids of its minions. */
  readonly ids: readonly string[];
  /** The end of its delivery time, in milliseconds since the epoch. */
  readonly untilMs: number;
}

/** Time after which a publish is tried again, in milliseconds. */
const PUBLISH_MS = 20_000;

/** Publishes jobs and counts their runs and returns. */
export class NumberedJobs implements Disposable {
  /** The jobs that the master has accepted. */
  readonly published: NumberedJob[] = [];
  readonly #fleet: ProcessFleet;
  readonly #directory: string;
  readonly #events: EventSubscriber;
  readonly #returnEvents = new Map<string, number>();
  #client: LocalClient | undefined;

  private constructor(fleet: ProcessFleet, events: EventSubscriber) {
    this.#fleet = fleet;
    this.#events = events;
    this.#directory = `${fleet.root}/ran`;
    Deno.mkdirSync(this.#directory);
    void this.#listen();
  }

  /** Listens to the bus of the running master, and of later masters. */
  static async make(fleet: ProcessFleet): Promise<NumberedJobs> {
    const { pub } = masterBus(fleet.masterOpts.sock_dir);
    return new NumberedJobs(fleet, await EventSubscriber.connect(pub, ["salt/job/"]));
  }

  async #listen(): Promise<void> {
    for (let event = await this.#events.next(); event !== undefined; event = await this.#events.next()) {
      if (jobSign(event.tag)?.kind === "ret") {
        this.#returnEvents.set(event.tag, (this.#returnEvents.get(event.tag) ?? 0) + 1);
      }
    }
  }

  /**
   * Publishes a job that takes `seconds` on each of `ids`, and repeats the publish until a master has accepted it.
   * @param ttlS Its `job_ttl`, in seconds.
   */
  async publish(ids: readonly string[], seconds: number, ttlS = 3_600): Promise<NumberedJob> {
    const jid = makeJid(undefined, { unique: true });
    const command = `sleep ${seconds.toFixed(2)}; echo ran >> ${this.#directory}/${jid}`;
    const kwargs = map({ job_ttl: ttlS });
    for (let attempt = 0;; attempt++) {
      try {
        this.#client ??= await this.#fleet.client();
        const job = { tgt: [...ids], tgtType: "list", fun: "cmd.run", arg: [command], jid, kwargs };
        await deadline(this.#client.publish(job), PUBLISH_MS);
        const published = { jid, ids, untilMs: Date.now() + ttlS * 1000 };
        this.published.push(published);
        return published;
      } catch (error) {
        this.hangUp();
        if (attempt > 1_200) throw error;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  }

  /** Closes the connection, like a client that knows that the master has ended. */
  hangUp(): void {
    this.#client?.close();
    this.#client = undefined;
  }

  /** Whether a job for one minion expired before it was delivered: then no return is expected. */
  expired(job: NumberedJob): boolean {
    const { jobs } = this.#fleet;
    return job.ids.length === 1 && Date.now() > job.untilMs && this.runs(job) === 0 && !jobs.has(job.jid, job.ids[0]);
  }

  /** The minions whose return of a job is not in the cache: it may still come, or is lost. */
  missing(job: NumberedJob): string[] {
    const { jobs } = this.#fleet;
    const { jid, ids } = job;
    if (this.expired(job)) return [];
    return ids.filter((id) => !jobs.has(jid, id));
  }

  /** The number of missing returns of all jobs. */
  get outstanding(): number {
    return this.published.reduce((sum, job) => sum + this.missing(job).length, 0);
  }

  /** The number of runs of a job, on all its minions together. */
  runs({ jid }: NumberedJob): number {
    try {
      return Deno.readTextFileSync(`${this.#directory}/${jid}`).split("\n").length - 1;
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return 0;
      throw error;
    }
  }

  /** The figures of all jobs together. */
  figures(): Figure[] {
    const count = (of: (job: NumberedJob) => number) => this.published.reduce((sum, job) => sum + of(job), 0);
    return [
      { name: "jobs", value: this.published.length },
      { name: "runs expected", value: count(({ ids }) => ids.length) },
      { name: "not delivered in time", value: count((job) => this.expired(job) ? 1 : 0) },
      { name: "returns lost", value: this.outstanding, atMost: 0 },
      { name: "runs too many", value: count((job) => Math.max(0, this.runs(job) - job.ids.length)), atMost: 0 },
      { name: "returns with two events", value: [...this.#returnEvents.values()].filter((times) => times > 1).length },
    ];
  }

  [Symbol.dispose](): void {
    this.hangUp();
    this.#events.close();
  }
}

function deadline<T>(promise: Promise<T>, ms: number): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no answer in ${ms} ms`)), ms);
  return Promise.race([promise, late.promise]).finally(() => clearTimeout(timer));
}
