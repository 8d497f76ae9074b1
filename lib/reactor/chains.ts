/**
 * Finds loops: reactions whose events start them again. Which event comes of which reaction is known by job ids (the
 * events and returns of a job, of a runner or wheel function, what its minions fire with `event.send`) and by the tags
 * that the reaction `runner.event.send` names. Remembers a limited number of them.
 * @module
 */

import { BoundedMap } from "#lib/values/bounded_map.ts";
import { isMap, type Value, type ValueMap } from "#lib/values/value.ts";
import type { Reaction } from "./reaction.ts";

/** Number of reactions that are remembered. */
const MAX_REACTIONS = 20_000;
/** How long after a reaction its event is expected by its tag, in milliseconds. */
const EXPECTED_MS = 60_000;

/** How often each file was started in a chain of reactions. */
export type Chain = ReadonlyMap<string, number>;

const BEGIN: Chain = new Map();

/** The chains of one reactor. */
export class ReactionChains {
  readonly #limit: number;
  readonly #ofJob = new BoundedMap<string, Chain>(MAX_REACTIONS);
  readonly #ofTag = new BoundedMap<string, { readonly chain: Chain; readonly untilMs: number }>(MAX_REACTIONS);

  /** @param limit How often one file may be started in a chain; 0: without limit. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The chain that an event belongs to. */
  of(tag: string, data: ValueMap, nowMs: number): Chain {
    for (const jid of jidsOf(tag, data)) {
      const chain = this.#ofJob.get(jid);
      if (chain !== undefined) return chain;
    }
    const expected = this.#ofTag.get(tag);
    return expected !== undefined && nowMs < expected.untilMs ? expected.chain : BEGIN;
  }

  /** The file that would be started once too often, if there is one. */
  loopOf(chain: Chain, files: readonly string[]): string | undefined {
    if (this.#limit === 0) return undefined;
    return files.find((file) => (chain.get(file) ?? 0) >= this.#limit);
  }

  /** The chain that an event's reactions continue, whose files are these. */
  longer(chain: Chain, files: readonly string[]): Chain {
    const next = new Map(chain);
    for (const file of files) next.set(file, (next.get(file) ?? 0) + 1);
    return next;
  }

  /** Remembers a reaction before it is started. */
  note(chain: Chain, { kind, fun, args, kwargs }: Reaction, jid: string, nowMs: number): void {
    this.#ofJob.set(jid, chain);
    if (kind !== "runner" || fun !== "event.send") return;
    const tag: Value | undefined = kwargs.get("tag") ?? args[0];
    if (typeof tag === "string") this.#ofTag.set(tag, { chain, untilMs: nowMs + EXPECTED_MS });
  }
}

const JID_IN_TAG = /^salt\/(?:job|run|wheel|state_result)\/(\d{20})(?:\/|$)/;

/** The job ids that an event names. */
function* jidsOf(tag: string, data: ValueMap): Generator<string> {
  const inTag = JID_IN_TAG.exec(tag)?.[1];
  if (inTag !== undefined) yield inTag;
  const own = data.get("data");
  for (const value of [data.get("jid"), data.get("__pub_jid"), isMap(own) ? own.get("__pub_jid") : undefined]) {
    if (typeof value === "string") yield value;
  }
}
