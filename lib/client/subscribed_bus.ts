/**
 * The bus of the master on this host, for commands that wait for its events.
 * @module
 */

import type { SubscribedBus } from "#lib/bus/logged_subscriber.ts";
import { masterBus } from "#lib/bus/paths.ts";
import { eventLogDirectory } from "#lib/config/master_paths.ts";
import type { MasterOpts } from "#lib/config/options.ts";

/** The bus, with its event log if its events are kept. */
export function subscribedBus(
  { sock_dir, cachedir, event_log }: Pick<MasterOpts, "sock_dir" | "cachedir" | "event_log">,
): SubscribedBus {
  return { paths: masterBus(sock_dir), directory: event_log === "none" ? undefined : eventLogDirectory(cachedir) };
}
