/**
 * Beacon `network_settings`: changes of the settings of network interfaces, told by the kernel.
 * Source: Salt 3008.3 `salt/beacons/network_settings.py`.
 * @module
 */

import { messageOf, RegexError } from "#lib/errors.ts";
import { LinkWatch, readLinkSettings } from "#lib/host/network/link_settings.ts";
import { type BeaconConfig, type BeaconHost, type BeaconModule, isSet, mapOr } from "#lib/plugins/beacon.ts";
import { pythonRegex } from "#lib/regex/regex.ts";
import { equals, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

const ATTRIBUTES: ReadonlySet<string> = new Set(
  ("family txqlen ipdb_scope index operstate group carrier_changes ipaddr neighbours ifname promiscuity linkmode " +
    "broadcast address num_tx_queues ipdb_priority kind qdisc mtu num_rx_queues carrier flags ifi_type ports")
    .split(" "),
);

function validate({ all }: BeaconConfig): string | undefined {
  if (!all.has("interfaces")) return undefined;
  const interfaces = mapOr(all.get("interfaces"));
  if (interfaces === undefined) return "interfaces section for network_settings beacon must be a dictionary.";
  for (const given of interfaces.values()) {
    const attributes = mapOr(given);
    if (attributes === undefined) return "Interface attributes for network_settings beacon must be a dictionary.";
    if ([...attributes.keys()].some((name) => !ATTRIBUTES.has(str(name)))) {
      return "Invalid attributes in beacon configuration.";
    }
  }
  return undefined;
}

/** A name of the configuration: of one interface, or a pattern that is searched for in all names. */
interface WatchedLinks {
  readonly name: string;
  readonly matches: (link: string) => boolean;
  readonly attributes: ValueMap;
}

function watchedLinks(all: ValueMap, host: BeaconHost): WatchedLinks[] {
  return [...mapOr(all.get("interfaces")) ?? []].map(([key, attributes]) => {
    const name = str(key);
    return { name, matches: matcherOf(name, host), attributes: mapOr(attributes) ?? new Map() };
  });
}

function matcherOf(name: string, host: BeaconHost): (link: string) => boolean {
  try {
    const regex = pythonRegex(name, { search: true });
    return (link) => regex.test(link);
  } catch (error) {
    if (!(error instanceof RegexError)) throw error;
    host.fail(error.message);
    return () => false;
  }
}

type Links = ReadonlyMap<string, ValueMap>;

/** The attributes that are watched and have changed, with their new values. */
function changesOf(before: ValueMap, now: ValueMap, attributes: ValueMap): ValueMap {
  return new Map([...attributes].flatMap(([name, given]): [Value, Value][] => {
    const value = now.get(name);
    if (value === undefined || equals(value, before.get(name) ?? null)) return [];
    const wanted = mapOr(given)?.get("onvalue");
    return !truthy(wanted) || equals(wanted ?? null, value) ? [[name, value]] : [];
  }));
}

/**
 * What has changed between two readings, by interface. An interface that is new, or gone, has no changes.
 * @param watched Names of interfaces; one that names an interface is no pattern.
 */
function compareLinks(before: Links, now: Links, watched: readonly WatchedLinks[]): Map<Value, ValueMap> {
  const changed = new Map<Value, ValueMap>();
  for (const { name, matches, attributes } of watched) {
    for (const link of now.has(name) ? [name] : [...now.keys()].filter(matches)) {
      const [old, current] = [before.get(link), now.get(link)];
      if (old === undefined || current === undefined) continue;
      const changes = changesOf(old, current, attributes);
      if (changes.size > 0) changed.set(link, new Map([...changed.get(link) ?? [], ...changes]));
    }
  }
  return changed;
}

export const beacon: BeaconModule = {
  doc: "Changes of the settings of network interfaces: addresses, state, MTU and others, told by the kernel.",
  permissions: "all",
  keys: ["interfaces", "coalesce"],
  unavailable: () => Deno.build.os === "linux" ? undefined : "The kernel's messages about networks are only on Linux.",
  validate,
  open({ all }, host) {
    const watched = watchedLinks(all, host), coalesce = isSet(all, "coalesce");
    // The watch begins before the first reading, so that nothing is missed in between.
    let last: Links = new Map();
    const watch = new LinkWatch(() => {
      try {
        const now = readLinkSettings(), changes = compareLinks(last, now, watched);
        last = now;
        if (changes.size === 0) return;
        host.fire(
          coalesce
            ? [map({ tag: "result", changes })]
            : [...changes].map(([name, change]) => map({ tag: name, interface: name, change })),
        );
      } catch (error) {
        host.fail(messageOf(error));
      }
    });
    try {
      last = readLinkSettings();
    } catch (error) {
      watch.close();
      throw error;
    }
    return watch;
  },
};
