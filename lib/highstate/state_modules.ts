/**
 * What is known of Salt's state modules before they run: which of them watch and which aggregate. A module that does not
 * serve the host does neither.
 * Source: Salt 3008.3, `mod_watch`, `mod_aggregate` and `__virtual__` of `salt/states`.
 * @module
 */

import type { StateModules } from "../states/order.ts";

/** The function of an execution module that the state module needs; `null`: none. */
const WATCHING: Readonly<Record<string, string | null>> = {
  at: "at.at",
  cmd: null,
  event: null,
  module: null,
  mount: null,
  pkg: "pkg.install",
  service: "service.start",
  test: null,
};

const AGGREGATING: Readonly<Record<string, string | null>> = {
  iptables: "iptables.version",
  pkg: "pkg.install",
  selinux: "selinux.getenforce",
};

/**
 * The state modules of a host.
 * @param used The names of those that are needed; the others are not looked at.
 * @param has Whether the host has a function.
 */
export async function stateModules(
  used: ReadonlySet<string>,
  has: (fun: string) => Promise<boolean>,
): Promise<StateModules> {
  const serving = async (table: Readonly<Record<string, string | null>>): Promise<ReadonlySet<string>> => {
    const names = new Set<string>();
    for (const [name, needed] of Object.entries(table)) {
      if (used.has(name) && (needed === null || await has(needed))) names.add(name);
    }
    return names;
  };
  const [watching, aggregating] = [await serving(WATCHING), await serving(AGGREGATING)];
  return { watches: (name) => watching.has(name), aggregates: (name) => aggregating.has(name) };
}
