/**
 * The operator who changes keys of a simulated cluster, as `salt-key` does on the host of one of the masters: with the
 * real bank, which waits until every live master has the change. The keys are of minions that never come.
 * @module
 */

import { RootKeys } from "#lib/cluster/cluster_secrets.ts";
import { clusterKeyBank, keyMirror } from "#lib/cluster_banks/shared_state.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { StoreError, TemporaryError } from "#lib/errors.ts";
import type { KeyStep } from "#lib/keys/key_bank.ts";
import { type KeyState, KeyStore } from "#lib/keys/store.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { ModelConnection, type ModelDatabase } from "./database.ts";
import { world } from "#tests/simulation/world/world.ts";

/** The state of a key that counts. */
type Counted = Exclude<KeyState, "denied"> | "none";

/** What the operator works with. */
export interface KeyOperatorParts {
  readonly database: ModelDatabase;
  readonly masters: readonly MasterOpts[];
  readonly root: Uint8Array;
  readonly log: Logger;
  /** Keys that minions may have. */
  readonly pems: readonly string[];
  /** Something that was promised is not true. */
  breaks(text: string): void;
}

const IDS = ["k1", "k2", "k3"];
/** How often the answer to a committed change is lost: far oftener than others, as there are few changes. */
const LOST_ANSWER = 0.2;
/** How often another change follows at once. */
const MORE = 0.7;

/** The changes that are possible in a state, and what they make of it. */
function stepsFor(id: string, state: Counted | "unknown", pem: string): readonly (readonly [KeyStep, Counted])[] {
  const remove: readonly [KeyStep, Counted] = [{ id, delete: "all" }, "none"];
  const move = (from: KeyState, to: Exclude<Counted, "none">) => [{ id, from, to }, to] as const;
  if (state === "unknown") return [remove];
  if (state === "none") return [[{ id, put: "pending", pem }, "pending"]];
  if (state === "accepted") return [remove, move("accepted", "rejected")];
  return [remove, move(state, "accepted")];
}

/** See the module. */
export class KeyOperator {
  readonly #parts: KeyOperatorParts;
  /** What each key is, as far as the operator was told. */
  readonly #states = new Map<string, Counted | "unknown">(IDS.map((id) => [id, "none"]));
  #busy = false;

  constructor(parts: KeyOperatorParts) {
    this.#parts = parts;
  }

  /** Makes some changes, in the current process, unless one is under way. */
  async change(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    do await this.#changeOne(); while (world().random.chance(MORE));
    this.#busy = false;
  }

  async #changeOne(): Promise<void> {
    const { random } = world();
    const { masters, pems, breaks } = this.#parts;
    const id = random.pick(IDS), before = this.#states.get(id) ?? "none";
    const [step, after] = random.pick(stepsFor(id, before, random.pick(pems)));
    const startMs = world().nowMs;
    this.#states.set(id, "unknown");
    try {
      const [done] = await this.#bank(random.pick(masters)).change([step]);
      world().note(`the key of ${id} was ${before}, and is ${after}`);
      this.#states.set(id, after);
      if (!done && before !== "unknown") breaks(`the key of ${id} was ${before}, and the change to ${after} says no`);
      this.#checkLive(id, after, startMs);
    } catch (error) {
      if (!(error instanceof StoreError) && !(error instanceof TemporaryError)) throw error;
      world().note(`the key of ${id}: ${error.message}`);
    }
  }

  #bank(opts: MasterOpts) {
    const { database, root, log } = this.#parts;
    const db = new ModelConnection(database, opts.job_store_wait * 1000, LOST_ANSWER), keys = new RootKeys(root);
    const mirror = keyMirror(opts, { db, keys, log });
    return clusterKeyBank(opts, { db, keys, mirror, by: "the operator", waits: true });
  }

  /** Every master that has lived since the command began has the change when it ends. */
  #checkLive(id: string, state: Counted, startMs: number): void {
    const { database: { tables: { members } }, masters, breaks } = this.#parts;
    for (const { name, sinceMs, untilMs } of members.values()) {
      const opts = masters.find((each) => each.id === name);
      if (opts === undefined || sinceMs > startMs || untilMs <= world().nowMs) continue;
      const here = stateAt(opts, id);
      if (here !== state) breaks(`the key of ${id} is ${here} at ${name} when the change to ${state} has ended`);
    }
  }

  /** When nothing goes wrong any more, each master has each key as the operator was told. */
  check(): void {
    const { masters, breaks } = this.#parts;
    for (const [id, told] of this.#states) {
      const states = masters.map((opts) => stateAt(opts, id));
      if (new Set(states).size > 1) breaks(`the key of ${id} is ${states.join(" and ")}`);
      if (told !== "unknown" && states[0] !== told) breaks(`the key of ${id} is ${states[0]}, and was told as ${told}`);
    }
  }
}

function stateAt({ pki_dir }: MasterOpts, id: string): Counted {
  return new KeyStore(pki_dir).state(id) ?? "none";
}
