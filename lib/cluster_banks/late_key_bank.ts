/**
 * Changes of keys by a process of its own: `salt-key`, and functions of runners and wheel modules. In a cluster it
 * loads what it needs for the database when something is changed.
 * @module
 */

import type { MasterOpts } from "#lib/config/options.ts";
import { fileKeyBank, type KeyBank } from "#lib/keys/key_bank.ts";
import type { KeyStore } from "#lib/keys/store.ts";

/** What it is made with. */
interface LateKeyBankParts {
  /** The keys on this host. */
  readonly store: KeyStore;
  /** Who changes keys. */
  readonly by: string;
  /** Logs what goes wrong besides. */
  readonly warn: (text: string) => void;
}

/** The bank of the master with these options; in a cluster it waits until all live masters follow. */
export function lateKeyBank(opts: MasterOpts, { store, by, warn }: LateKeyBankParts): KeyBank {
  if (!opts.cluster_id) return fileKeyBank(store);
  let opened: Promise<KeyBank> | undefined;
  const bank = () =>
    opened ??= import("./command_key_bank.ts").then(({ commandKeyBank }) => commandKeyBank(opts, { by, warn }));
  return {
    refresh: async () => await (await bank()).refresh(),
    change: async (steps) => await (await bank()).change(steps),
  };
}
