/**
 * The keyword arguments of the functions of the module `beacons`.
 * Source: Salt 3008.3 `salt/modules/beacons.py`, whose functions take any others without a message.
 * @module
 */

/** What all of them but `beacons.test` take beside their parameters. */
export const BEACONS_KEYWORDS: readonly string[] = ["timeout", "test"];

/** The parameters of the functions. */
const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  list: ["return_yaml", "include_pillar", "include_opts"],
  list_available: ["return_yaml"],
  add: ["name", "beacon_data"],
  modify: ["name", "beacon_data"],
  delete: ["name"],
  save: [],
  enable: [],
  disable: [],
  enable_beacon: ["name"],
  disable_beacon: ["name"],
  reset: [],
};

/** All keywords of a function, `beacons.add`; `undefined` for one that is checked only where it runs. */
export function beaconsKeywords(fun: string): readonly string[] | undefined {
  const [module, name] = fun.split(".");
  if (module !== "beacons" || !Object.hasOwn(PARAMETERS, name)) return undefined;
  return [...PARAMETERS[name], ...BEACONS_KEYWORDS];
}
