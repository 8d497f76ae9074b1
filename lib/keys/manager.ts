/**
 * The operator's actions on minions' keys: find, accept, reject, delete, fingerprint. The rules of `salt-key` without
 * options, prompts and printing.
 * Source: Salt's documentation, "salt-key" and "Salt Key wheel module".
 * @module
 */

import { KEY_EVENT } from "#lib/protocol/tags.ts";
import { compileGlob } from "#lib/text/glob.ts";
import { fileKeyBank, type KeyBank, type KeyStep } from "./key_bank.ts";
import { KEY_DIRECTORIES, type KeyState, type KeyStore } from "./store.ts";
import { PublicKey } from "#lib/crypto/rsa.ts";
import type { ValueMap } from "#lib/values/value.ts";

/** Ids by the state of their keys; states without keys may be missing. */
export type KeyMatches = Map<KeyState, string[]>;

/** The states, in the order of Salt's API. */
export const KEY_STATES: readonly KeyState[] = ["pending", "rejected", "accepted", "denied"];

/** Callbacks of a {@linkcode KeyManager}. */
export interface KeyManagerOptions {
  /** Fires an event on the master's bus; also resolves if no master is running. */
  readonly fire: (tag: string, data: ValueMap) => Promise<void>;
  /** Removes a minion from the data cache; called after its last key was deleted. */
  readonly forget: (id: string) => void;
  /**
   * Makes the changes.
   * @default that of a master that stands alone
   */
  readonly bank?: KeyBank;
}

/** The result of {@linkcode KeyManager.change}. */
export interface KeyChange {
  /** The ids whose keys changed their state. */
  readonly changed: string[];
  /** The ids whose keys are invalid; these were not changed. */
  readonly invalid: string[];
}

/** Changes the keys of a pki directory. */
export class KeyManager {
  readonly #store: KeyStore;
  readonly #options: KeyManagerOptions;
  readonly #bank: KeyBank;

  constructor(store: KeyStore, options: KeyManagerOptions) {
    this.#store = store;
    this.#options = options;
    this.#bank = options.bank ?? fileKeyBank(store);
  }

  /** As {@linkcode KeyBank} says. */
  async refresh(): Promise<void> {
    await this.#bank.refresh();
  }

  /** All ids of each of `states`, sorted without regard to case; a state without keys has an empty list. */
  list(states: readonly KeyState[] = KEY_STATES): KeyMatches {
    return new Map(states.map((state) => [state, sortIgnoringCase(this.#store.list(state))]));
  }

  /**
   * The ids that match one of the globs, which are a list or separated by commas; states without a match are left out.
   */
  match(globs: string | readonly string[]): KeyMatches {
    const matches = compileGlobs(globs);
    const byState: KeyMatches = new Map();
    for (const [state, ids] of this.list()) {
      const matching = ids.filter(matches);
      if (matching.length > 0) byState.set(state, matching);
    }
    return byState;
  }

  /**
   * The PEM of a key.
   * @throws {Deno.errors.NotFound} If it does not exist any more.
   */
  pem(id: string, state: KeyState): string {
    const pem = this.#store.get(id, state);
    if (pem === undefined) throw new Deno.errors.NotFound(`The key of "${id}" is gone`);
    return pem;
  }

  /** Accepts or rejects every key of `matches`, and fires an event for each. Keys already in that state are skipped. */
  async change(matches: KeyMatches, to: "accepted" | "rejected"): Promise<KeyChange> {
    const invalid: string[] = [];
    const moves = [...matches].filter(([state]) => state !== to).flatMap(([from, ids]) =>
      ids.flatMap((id) => {
        const pem = this.pem(id, from);
        if (isPublicKey(pem)) return [{ id, from, to, pem }];
        invalid.push(id);
        return [];
      })
    );
    const done = await this.#bank.change(moves);
    const moved = moves.filter((_, i) => done[i]);
    for (const { id, pem } of moved) await this.#fireEvent(id, to, pem);
    return { changed: moved.map(({ id }) => id), invalid };
  }

  /**
   * Accepts the pending key of `id` if `isWanted` says so of its PEM. What is accepted is what was looked at, also if
   * the minion sends another key meanwhile.
   * @returns Whether it was accepted; `undefined`: there is no pending key.
   */
  async acceptIf(id: string, isWanted: (pem: string) => boolean): Promise<boolean | undefined> {
    const pem = this.#store.get(id, "pending");
    if (pem === undefined) return undefined;
    if (!isPublicKey(pem) || !isWanted(pem)) return false;
    await this.put(id, "accepted", pem);
    await this.#fireEvent(id, "accepted", pem);
    return true;
  }

  /** Stores a key in that state, without an event. */
  async put(id: string, state: KeyState, pem: string): Promise<void> {
    await this.#bank.change([{ id, put: state, pem }]);
  }

  /**
   * Deletes every key of `matches`, fires an event for each, and forgets the data of minions without any key left.
   * @param options.preserve Keep the data of minions whose accepted key is deleted.
   * @returns The ids of the deleted keys.
   */
  async delete(matches: KeyMatches, options: { readonly preserve?: boolean } = {}): Promise<string[]> {
    const kept = new Set(options.preserve ? matches.get("accepted") : []);
    const steps = [...matches].flatMap(([state, ids]) =>
      ids.map((id): KeyStep => ({ id, delete: state, keepsData: kept.has(id) }))
    );
    const done = await this.#bank.change(steps);
    const deleted = steps.filter((_, i) => done[i]).map(({ id }) => id);
    for (const id of deleted) await this.#fireEvent(id, "delete");
    const remaining = new Set([...this.list().values()].flat());
    for (const id of new Set(deleted)) if (!remaining.has(id) && !kept.has(id)) this.#options.forget(id);
    return deleted;
  }

  async #fireEvent(id: string, act: "accepted" | "rejected" | "delete", pub?: string): Promise<void> {
    const data: ValueMap = new Map();
    data.set("result", true).set("act", act).set("id", id);
    if (pub !== undefined) data.set("pub", pub);
    await this.#options.fire(KEY_EVENT, data);
  }
}

/** Matches one of several globs: a list, or separated by commas. */
export function compileGlobs(globs: string | readonly string[]): (text: string) => boolean {
  const tests = (typeof globs === "string" ? globs.split(",") : globs).map(compileGlob);
  return (text) => tests.some((test) => test(text));
}

/** `matches` as the map that Salt prints: directory names instead of states. */
export function byDirectory(matches: KeyMatches): ValueMap {
  return new Map([...matches].map(([state, ids]) => [KEY_DIRECTORIES[state], ids]));
}

/**
 * What `textOf` says of each key whose id matches: by directory, then by id.
 * @param globs As of {@linkcode KeyManager.match}.
 */
export function describeKeys(
  manager: KeyManager,
  globs: string | readonly string[],
  textOf: (pem: string) => string,
): ValueMap {
  return new Map(
    [...manager.match(globs)].map(([state, ids]) => [
      KEY_DIRECTORIES[state],
      new Map(ids.map((id) => [id, textOf(manager.pem(id, state))])),
    ]),
  );
}

/** `texts` sorted without regard to case, as Salt's API lists keys. */
function sortIgnoringCase(texts: readonly string[]): string[] {
  const lower = new Map(texts.map((text) => [text, text.toLowerCase()]));
  return [...texts].sort((a, b) =>
    (lower.get(a) ?? a) < (lower.get(b) ?? b) ? -1 : lower.get(a) === lower.get(b) ? 0 : 1
  );
}

function isPublicKey(pem: string): boolean {
  try {
    PublicKey.fromPem(pem);
    return true;
  } catch {
    return false;
  }
}
