/**
 * All connected minions: ours by their presence (presence.ts), Python's by cached grains with an address that is
 * connected to the publish port (connected_ids.ts). No minion is asked. Only accepted keys count.
 * @module
 */

import { connectedAddresses } from "./connected_ids.ts";
import type { DataCache } from "./data_cache.ts";
import { KeyStore } from "#lib/keys/store.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { readPresence } from "./presence_file.ts";

/** The accepted, connected minions, sorted, each with its connected address if known. */
export function presentMinions(
  opts: MasterOpts,
  { publishPort, data }: { readonly publishPort: number; readonly data: DataCache },
): Map<string, string | undefined> {
  const { present, gone } = readPresence(opts.cachedir);
  const addresses = connectedAddresses(data, publishPort);
  const here = new Map<string, string | undefined>();
  for (const id of new KeyStore(opts.pki_dir).list("accepted")) {
    const address = addresses.get(id);
    if (present.has(id) || (address !== undefined && !gone.has(id))) here.set(id, address);
  }
  return here;
}
