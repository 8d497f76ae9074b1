/**
 * What an operator does with minions' keys: find, accept, reject, delete, fingerprint. The rules of `salt-key` without
 * its words: knows nothing of options, prompts or printing.
 * Source: Salt's documentation, "salt-key" and "Salt Key wheel module".
 * @module
 */

import { KEY_EVENT } from "../protocol/tags.ts";
import { compileGlob } from "../text/glob.ts";
import { KEY_DIRECTORIES, type KeyState, KeyStore } from "./store.ts";
import { PublicKey } from "../crypto/rsa.ts";
import type { ValueMap } from "../values/value.ts";

/** Ids by the state of their keys; a state without a key may be missing. */
export type KeyMatches = Map<KeyState, string[]>;

/** The states, in the order in which Salt's API lists them. */
export const KEY_STATES: readonly KeyState[] = ["pending", "rejected", "accepted", "denied"];

/** What the manager needs of the world. */
export interface KeyManagerOptions {
  /** Fires an event on the master's bus; resolves also when no master is running. */
  readonly fire: (tag: string, data: ValueMap) => Promise<void>;
  /** Forgets what the master's data cache knows of a minion; called once its last key is gone. */
  readonly forget: (id: string) => void;
}

/** What {@linkcode KeyManager.change} did. */
export interface KeyChange {
  /** The id of every key that changed its state. */
  readonly changed: string[];
  /** The id of every key that is none, and stayed where it was. */
  readonly invalid: string[];
}

/** The keys of a pki directory, and the acts on them. */
export class KeyManager {
  readonly #store: KeyStore;
  readonly #options: KeyManagerOptions;

  /** Manages the keys of `store`. */
  constructor(store: KeyStore, options: KeyManagerOptions) {
    this.#store = store;
    this.#options = options;
  }

  /** All ids of each of `states`, sorted without regard to case; a state without keys has an empty list. */
  list(states: readonly KeyState[] = KEY_STATES): KeyMatches {
    return new Map(states.map((state) => [state, sortIgnoringCase(this.#store.list(state))]));
  }

  /** The ids that match one of the comma-separated globs; states without a match are left out. */
  match(globs: string): KeyMatches {
    const matches = compileGlobs(globs);
    const found: KeyMatches = new Map();
    for (const [state, ids] of this.list()) {
      const matching = ids.filter(matches);
      if (matching.length > 0) found.set(state, matching);
    }
    return found;
  }

  /** The PEM of a key. @throws {Deno.errors.NotFound} If it went away. */
  pem(id: string, state: KeyState): string {
    const pem = this.#store.get(id, state);
    if (pem === undefined) throw new Deno.errors.NotFound(`The key of "${id}" is gone`);
    return pem;
  }

  /** Makes every key of `matches` accepted or rejected, and tells so on the bus. A key already in that state is left. */
  async change(matches: KeyMatches, to: "accepted" | "rejected"): Promise<KeyChange> {
    const changed: string[] = [], invalid: string[] = [];
    for (const [state, ids] of matches) {
      if (state === to) continue;
      for (const id of ids) {
        const pem = this.pem(id, state);
        if (!isPublicKey(pem)) {
          invalid.push(id);
          continue;
        }
        if (!this.#store.move(id, state, to)) continue;
        changed.push(id);
        await this.#tell(id, to, pem);
      }
    }
    return { changed, invalid };
  }

  /**
   * Deletes every key of `matches`, tells so on the bus, and has the data of minions without any key left forgotten.
   * @param options.preserve Keep the data of minions whose accepted key is deleted.
   * @returns The id of every key that is gone.
   */
  async delete(matches: KeyMatches, options: { readonly preserve?: boolean } = {}): Promise<string[]> {
    const deleted: string[] = [];
    for (const [state, ids] of matches) {
      for (const id of ids) {
        if (!this.#store.delete(id, state)) continue;
        deleted.push(id);
        await this.#tell(id, "delete");
      }
    }
    const kept = new Set([...this.list().values()].flat());
    if (options.preserve) { for (const id of matches.get("accepted") ?? []) kept.add(id); }
    for (const id of new Set(deleted)) if (!kept.has(id)) this.#options.forget(id);
    return deleted;
  }

  async #tell(id: string, act: "accepted" | "rejected" | "delete", pub?: string): Promise<void> {
    const data: ValueMap = new Map();
    data.set("result", true).set("act", act).set("id", id);
    if (pub !== undefined) data.set("pub", pub);
    await this.#options.fire(KEY_EVENT, data);
  }
}

/** Whether a text matches one of several globs separated by commas. */
export function compileGlobs(globs: string): (text: string) => boolean {
  const tests = globs.split(",").map(compileGlob);
  return (text) => tests.some((test) => test(text));
}

/** `matches` as the map that Salt prints: directory names in place of states. */
export function byDirectory(matches: KeyMatches): ValueMap {
  return new Map([...matches].map(([state, ids]) => [KEY_DIRECTORIES[state], ids]));
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
