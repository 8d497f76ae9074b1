/**
 * Simulated minions (`deno task swarm`) on a fleet's master, and a record of their sign-ins from the bus.
 * @module
 */

import { EventSubscriber } from "#lib/bus/subscriber.ts";
import { masterBus } from "#lib/bus/paths.ts";
import { eventually } from "#tests/support/eventually.ts";
import { Service } from "#tests/support/processes.ts";
import type { ProcessFleet } from "./process_fleet.ts";

const READY_MS = 180_000;

/** Starts `count` simulated minions, `sim-1` to `sim-<count>`; resolves when all are signed in. */
export async function startSwarm(fleet: ProcessFleet, count: number): Promise<Service> {
  const path = new URL("../../bench/fleets/swarm.ts", import.meta.url).pathname;
  const { ret_port, pki_dir } = fleet.masterOpts;
  const words = [Deno.execPath(), "run", "-A", path, "--json", "--minions", String(count)];
  words.push("--master", `127.0.0.1:${ret_port}`, "--accept-in", pki_dir);
  const swarm = Service.start("swarm", words, `${fleet.root}/swarm.out`);
  try {
    await eventually(() => Deno.readTextFileSync(swarm.output).includes('"ready"'), {
      withinMs: READY_MS,
      what: `${count} simulated minions`,
      everyMs: 100,
    });
    return swarm;
  } catch (error) {
    await swarm.stop(1_000);
    throw error;
  }
}

/** A sign-in that the master has accepted. */
export interface SignedIn {
  readonly id: string;
  /** The time of its event, in milliseconds of `performance.now()`. */
  readonly atMs: number;
}

/** Records sign-ins, also with later masters. */
export class SignIns implements Disposable {
  /** The sign-ins since the last {@linkcode clear}. */
  received: SignedIn[] = [];
  readonly #events: EventSubscriber;

  private constructor(events: EventSubscriber) {
    this.#events = events;
    void this.#listen();
  }

  /** Listens to the running master's bus. */
  static async listen(fleet: ProcessFleet): Promise<SignIns> {
    return new SignIns(await EventSubscriber.connect(masterBus(fleet.masterOpts.sock_dir).pub, ["salt/auth"]));
  }

  async #listen(): Promise<void> {
    for (let event = await this.#events.next(); event !== undefined; event = await this.#events.next()) {
      const { data } = event;
      const id = data.get("id");
      if (data.get("act") === "accept" && typeof id === "string") this.received.push({ id, atMs: performance.now() });
    }
  }

  clear(): void {
    this.received = [];
  }

  /** The number of different minions that signed in. */
  get minions(): number {
    return new Set(this.received.map(({ id }) => id)).size;
  }

  [Symbol.dispose](): void {
    this.#events.close();
  }
}
