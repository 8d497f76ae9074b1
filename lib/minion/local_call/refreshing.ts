/**
 * How `salt-call` makes the running minion of this host refresh something: by an event on the minion's bus.
 * Source: Salt 3008.3 `refresh_pillar` of `salt/modules/saltutil.py`.
 * @module
 */

import type { EventData } from "#lib/bus/event.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import { NoMasterError } from "#lib/errors.ts";
import type { Logger } from "#lib/runtime/log.ts";
import type { Refresh } from "#lib/plugins/job_context.ts";
import { PILLAR_REFRESHED } from "#lib/protocol/tags.ts";
import { map } from "#lib/values/value.ts";

/** Events that make a running minion refresh. */
const REFRESH_TAGS: Readonly<Record<Refresh, string>> = {
  modules: "module_refresh",
  grains: "grains_refresh",
  pillar: "pillar_refresh",
};

/**
 * Stamps an event and fires it on the bus of the host's minion.
 * @returns Whether it arrived.
 */
export async function fireOnMinion(opts: MinionOpts, tag: string, data: EventData): Promise<boolean> {
  const [{ fireEvent }, { minionBus }] = await Promise.all([import("#lib/bus/fire.ts"), import("#lib/bus/paths.ts")]);
  return await fireEvent(minionBus(opts), tag, data);
}

/**
 * Makes the running minion refresh `what`, and waits at most `waitS` seconds until a pillar is there.
 * @returns Whether a minion is running.
 */
export async function refreshMinion(
  opts: MinionOpts,
  what: Refresh,
  { waitS, log }: { readonly waitS: number; readonly log: Logger },
): Promise<boolean> {
  const data = what === "pillar" ? map({ clean_cache: true }) : map({});
  const fire = () => fireOnMinion(opts, REFRESH_TAGS[what], data);
  if (what !== "pillar" || waitS <= 0) return await fire();
  const [{ EventSubscriber }, { minionBus }] = await Promise.all([
    import("#lib/bus/subscriber.ts"),
    import("#lib/bus/paths.ts"),
  ]);
  try {
    using events = await EventSubscriber.connect(minionBus(opts).pub, [PILLAR_REFRESHED]);
    if (!await fire()) return false;
    const done = await events.next(waitS * 1000);
    if (done?.data.get("complete") !== true) log.warning(`Pillar refresh did not complete within timeout ${waitS}`);
    return true;
  } catch (error) {
    if (error instanceof NoMasterError) return false;
    throw error;
  }
}
