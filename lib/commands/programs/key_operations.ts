/**
 * The operations of `salt-key`: on the files of the master, or by the wheel functions of a running master.
 * @module
 */

import {
  byDirectory,
  compileGlobs,
  describeKeys,
  KEY_STATES,
  type KeyChange,
  type KeyManager,
  type KeyMatches,
} from "#lib/keys/manager.ts";
import { KEY_DIRECTORIES, type KeyState } from "#lib/keys/store.ts";
import { fingerprint } from "#lib/crypto/pem.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { map, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** The operations; each may be refused by the master. */
export interface KeyOperations {
  /** Brings what is known of keys up to date, before something is decided by it. */
  refresh(): Promise<void>;
  /** All ids of each of `states`; a state without keys has an empty list. */
  list(states: readonly KeyState[]): Promise<KeyMatches>;
  /** The ids that match; states without a match are left out. */
  match(globs: string): Promise<KeyMatches>;
  /** The keys that match: PEMs by id, by the directory of their state. */
  print(globs: string): Promise<ValueMap>;
  /**
   * Fingerprints of the keys that match. `local` has those of the master's own keys, matched by file name or by the
   * word `master`.
   */
  finger(globs: string): Promise<ValueMap>;
  /** Accepts or rejects every key of `matches`. */
  change(matches: KeyMatches, to: "accepted" | "rejected"): Promise<KeyChange>;
  /**
   * Deletes every key of `matches`.
   * @returns The ids of those that are gone.
   */
  delete(matches: KeyMatches): Promise<string[]>;
}

/** Options of {@linkcode fileKeys}. */
export interface FileKeyOptions {
  /** The digest for fingerprints. */
  readonly hashType: string;
  /** The master's own keys, by file name. */
  readonly localKeys: () => ReadonlyMap<string, string>;
  /** Keep the data of minions whose accepted key is deleted. */
  readonly preserveMinions: boolean;
  /** Asks the master for a new AES key, unless `rotate_aes_key` is off. */
  readonly rotate: () => void;
}

/** Operations on the files of the master's pki directory. */
export function fileKeys(manager: KeyManager, options: FileKeyOptions): KeyOperations {
  const ofEach = (globs: string, textOf: (pem: string) => string) => describeKeys(manager, globs, textOf);
  return {
    refresh: () => manager.refresh(),
    list: (states) => Promise.resolve(manager.list(states)),
    match: (globs) => Promise.resolve(manager.match(globs)),
    print: (globs) => Promise.resolve(ofEach(globs, (pem) => pem)),
    finger(globs) {
      const digest = (pem: string) => fingerprint(pem, options.hashType);
      const groups = ofEach(globs, digest);
      const matches = compileGlobs(globs);
      // Salt 3008 calls the master's files by its id.
      const local = [...options.localKeys()].filter(([name]) => matches(name) || matches("master"));
      if (local.length > 0) groups.set("local", new Map(local.map(([name, pem]) => [name, digest(pem)])));
      return Promise.resolve(groups);
    },
    async change(matches, to) {
      const change = await manager.change(matches, to);
      if (to === "rejected") options.rotate();
      return change;
    },
    async delete(matches) {
      const deleted = await manager.delete(matches, { preserve: options.preserveMinions });
      options.rotate();
      return deleted;
    },
  };
}

/**
 * Asks the master to run a wheel function.
 * @returns Its result.
 */
export type AskWheel = (fun: string, args: readonly Value[], kwargs?: ValueMap) => Promise<Value>;

/** Operations by the wheel functions of a running master, if the user's rules allow them. */
export function wheelKeys(ask: AskWheel): KeyOperations {
  return {
    // Each answer is the master's of that moment.
    refresh: () => Promise.resolve(),
    async list(states) {
      const all = byState(await ask("key.list_all", []));
      return new Map(states.map((state) => [state, all.get(state) ?? []]));
    },
    async match(globs) {
      const keys = byState(await ask("key.glob_match", [globs]));
      return new Map([...keys].filter(([, ids]) => ids.length > 0));
    },
    print: async (globs) => mapOrEmpty(await ask("key.print", [globs])),
    async finger(globs) {
      const fingerprints = mapOrEmpty(await ask("key.finger", [globs]));
      if (!compileGlobs(globs)("master")) return fingerprints;
      const local = mapOrEmpty(await ask("key.finger", ["*"])).get("local");
      return local === undefined ? fingerprints : fingerprints.set("local", local);
    },
    async change(matches, to) {
      const [fun, included] = to === "accepted"
        ? ["key.accept_dict", { include_rejected: true, include_denied: true }] as const
        : ["key.reject_dict", { include_accepted: true, include_denied: true }] as const;
      const now = byState(await ask(fun, [byDirectory(matches)], map(included)));
      const ids = [...new Set([...matches].flatMap(([state, members]) => state === to ? [] : members))];
      const changed = ids.filter((id) => now.get(to)?.includes(id));
      return { changed, invalid: ids.filter((id) => !changed.includes(id)) };
    },
    async delete(matches) {
      const left = byState(await ask("key.delete_dict", [byDirectory(matches)]));
      return [...matches].flatMap(([state, ids]) => ids.filter((id) => !left.get(state)?.includes(id)));
    },
  };
}

/** The reverse of {@linkcode byDirectory}; values that are not lists of ids are ignored. */
function byState(value: Value): KeyMatches {
  const lists = mapOrEmpty(value);
  return new Map(KEY_STATES.flatMap((state): [KeyState, string[]][] => {
    const ids = lists.get(KEY_DIRECTORIES[state]);
    return Array.isArray(ids) ? [[state, ids.map((id) => str(id))]] : [];
  }));
}
