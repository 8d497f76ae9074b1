/**
 * A master whose MWorkers hang in a system call when an unknown minion signs in: they read a pipe without a writer.
 * Terminating such a worker does not interrupt the call, so a test can release the thread after its termination.
 * @module
 */

import { eventually } from "#tests/support/eventually.ts";
import { type Fleet, type FleetOptions, startFleet } from "./fleet.ts";
import { envelope, testKey } from "./scripted_minion.ts";

/** The fleet of a master with hanging MWorkers. */
export class HangingFleet implements AsyncDisposable {
  /** The fleet, without minions. */
  readonly fleet: Fleet;
  readonly #pipe: string;

  private constructor(fleet: Fleet, pipe: string) {
    this.fleet = fleet;
    this.#pipe = pipe;
  }

  /** @param options Further options of the master. */
  static async start(options: FleetOptions["master"] = {}): Promise<HangingFleet> {
    // A path below the fleet's root_dir, like all paths of the master.
    const fleet = await startFleet({ autoAccept: false, master: { ...options, autosign_file: "/autosign" } });
    const pipe = fleet.masterOpts.autosign_file ?? "";
    if (!new Deno.Command("mkfifo", { args: ["-m", "600", pipe] }).outputSync().success) {
      await fleet[Symbol.asyncDispose]();
      throw new Error(`cannot make the pipe ${pipe}`);
    }
    return new HangingFleet(fleet, pipe);
  }

  /**
   * Waits until an MWorker hangs, and returns its name. Two checks in a row must find it busy: a slow worker is no
   * hanging one.
   */
  async hanging(): Promise<string> {
    let before: string | undefined;
    return await eventually(async () => {
      const line = (await this.fleet.master.describeThreads()).find((text) => /^MWorker.*busy/.test(text));
      const busy = /^MWorker-\d/.exec(line ?? "")?.[0];
      const again = busy === before;
      before = busy;
      return again ? busy : undefined;
    }, { what: "an MWorker that handles the request" });
  }

  /** Ends the system call of the hanging MWorkers. */
  release(): void {
    Deno.openSync(this.#pipe, { read: true, write: true }).close();
  }

  /** Waits until all MWorkers wait for a request. */
  async atRest(): Promise<void> {
    const waiting = (text: string) => /^MWorker-\d: waiting/.test(text);
    const { master, masterOpts } = this.fleet;
    await eventually(
      async () => (await master.describeThreads()).filter(waiting).length === masterOpts.worker_threads,
      { what: "all MWorkers to wait for a request" },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.release(); // a hanging thread would keep the process from ending
    await this.fleet[Symbol.asyncDispose]();
  }
}

/** The sign-in of an unknown minion, at which an MWorker of this master hangs. */
export async function unknownMinionSignIn(): Promise<Uint8Array> {
  const { publicKey } = await testKey("stranger");
  const load = { cmd: "_auth", id: "stranger", nonce: "n", pub: publicKey.pem };
  return envelope({ enc: "clear", version: 3, load });
}
