/**
 * A master's cache directory for tests of the delivery of jobs, and a job for it.
 * @module
 */

import { asyncJobStore } from "#lib/jobs/async_store.ts";
import type { JobStore } from "#lib/jobs/store.ts";
import { parseFlow } from "#lib/flow/flow_rules.ts";
import { RunningPlaces } from "#lib/flow/running_places.ts";
import { type DeliveryParts, JobDelivery } from "#lib/master/publisher/delivery.ts";
import { type JobTurn, openPacedJobs } from "#lib/master/publisher/paced_jobs.ts";
import { type Logger, SILENT_LOGGER } from "#lib/runtime/log.ts";
import { UndeliveredJobs } from "#lib/jobs/undelivered.ts";
import { encode } from "#lib/values/msgpack.ts";
import { map, toValue, type Value, type ValueMap } from "#lib/values/value.ts";
import { jobStore } from "#tests/support/fleet/job_store.ts";

/** The id of a job of all minions. */
export const JID = "20240102030405000001";

/** A master's cache directory, and the publishes. */
export class DeliveryPlace implements Disposable {
  readonly root = Deno.makeTempDirSync({ prefix: "delivery_" });
  readonly jobs = jobStore(this.root);
  readonly undelivered = new UndeliveredJobs(this.root, "a private key");
  readonly published: ValueMap[] = [];
  readonly present = new Set<string>();
  /** What a publish waits for. */
  hold: Promise<void> | undefined;
  /** Returns that the master has published for minions. */
  readonly returns: ValueMap[] = [];

  /** A delivery that has taken up what was left. */
  async open(
    log: Logger = SILENT_LOGGER,
    pace?: DeliveryParts["pace"],
    jobs: JobStore = asyncJobStore(this.jobs),
  ): Promise<JobDelivery> {
    const delivery = new JobDelivery({
      jobs,
      undelivered: this.undelivered,
      log,
      isPresent: (id) => this.present.has(id),
      publish: async (load) => {
        this.published.push(load);
        await this.hold;
      },
      pace,
    });
    await delivery.takeUp();
    return delivery;
  }

  /** The publishes since the last call: their minions, and whether live output is requested. */
  takePublished(): Value[] {
    return this.published.splice(0).map((load) => [load.get("tgt") ?? null, load.get("live") ?? false]);
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.root, { recursive: true });
  }
}

/** The load of the job. */
export const LOAD = map({ jid: JID, fun: "test.ping", tgt: "*", tgt_type: "glob" });
/** Its minions. */
export const MINIONS = ["web1", "web2", "web3"];

/** The job as an MWorker gives it to the Publisher. */
export function pushed(more: Readonly<Record<string, Value>> = {}): Uint8Array {
  return encode(map({ load: LOAD, minions: MINIONS, ttl_ms: 60_000, live: false, ...more }), "disk");
}

/** The delivery of a place whose rule lets two minions run at once. */
export function pacedOn(
  place: DeliveryPlace,
  turns: JobTurn[] = [],
  elsewhere: readonly string[] = [],
  more: Partial<NonNullable<DeliveryParts["pace"]>> & {
    readonly errors?: string[];
    readonly jobs?: JobStore;
  } = {},
): Promise<JobDelivery> {
  const { running } = parseFlow(toValue([{ fun: "test.*", running: 2 }]));
  const log = { ...SILENT_LOGGER, error: (text: string | (() => string)) => void more.errors?.push(String(text)) };
  return place.open(log, {
    places: new RunningPlaces(running),
    open: openPacedJobs,
    isConnected: (id) => place.present.has(id),
    elsewhere: () => new Set(elsewhere),
    tell: (turn) => Promise.resolve(turns.push(turn)),
    fireReturn: (load) => Promise.resolve(place.returns.push(load)),
    ...more,
  }, more.jobs);
}
