/**
 * A master whose MWorkers hang in a system call when an unknown minion signs in: they read a pipe without a writer. So
 * a thread can be terminated while it works, and continue later: terminating a worker does not interrupt the call.
 * @module
 */

import { eventually } from "../eventually.ts";
import { type Fleet, type FleetOptions, startFleet } from "./fleet.ts";
import { envelope, testKey } from "./scripted_minion.ts";

/** The fleet of such a master. */
export class HangingFleet implements AsyncDisposable {
  /** The fleet itself; it has no minions. */
  readonly fleet: Fleet;
  readonly #pipe: string;

  private constructor(fleet: Fleet, pipe: string) {
    this.fleet = fleet;
    this.#pipe = pipe;
  }

  /** Starts it. @param options Options of the master besides those of every fleet. */
  static async start(options: FleetOptions["master"] = {}): Promise<HangingFleet> {
    // Below the fleet's root_dir, as each of the master's paths.
    const fleet = await startFleet({ autoAccept: false, master: { ...options, autosign_file: "/autosign" } });
    const pipe = fleet.masterOpts.autosign_file ?? "";
    if (!new Deno.Command("mkfifo", { args: ["-m", "600", pipe] }).outputSync().success) {
      await fleet[Symbol.asyncDispose]();
      throw new Error(`cannot make the pipe ${pipe}`);
    }
    return new HangingFleet(fleet, pipe);
  }

  /** The name of the MWorker that hangs, as soon as one does: it says nothing twice in a row, so it is not slow alone. */
  async hanging(): Promise<string> {
    let before: string | undefined;
    return await eventually(async () => {
      const line = (await this.fleet.master.describeThreads()).find((text) => /^MWorker.*busy/.test(text));
      const busy = /^MWorker-\d/.exec(line ?? "")?.[0];
      const again = busy === before;
      before = busy;
      return again ? busy : undefined;
    }, { what: "a worker that is at the request" });
  }

  /** Ends the system call of those that hang. */
  release(): void {
    Deno.openSync(this.#pipe, { read: true, write: true }).close();
  }

  /** Waits until all workers wait for a request. */
  async atRest(): Promise<void> {
    const waiting = (text: string) => /^MWorker-\d: waiting/.test(text);
    const { master, masterOpts } = this.fleet;
    await eventually(
      async () => (await master.describeThreads()).filter(waiting).length === masterOpts.worker_threads,
      { what: "all workers at rest" },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.release(); // of a thread that hangs the process would not end
    await this.fleet[Symbol.asyncDispose]();
  }
}

/** A stranger's sign-in, at which an MWorker of such a master hangs. */
export async function strangersSignIn(): Promise<Uint8Array> {
  const { publicKey } = await testKey("stranger");
  const load = { cmd: "_auth", id: "stranger", nonce: "n", pub: publicKey.pem };
  return envelope({ enc: "clear", version: 3, load });
}
