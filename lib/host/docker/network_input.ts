/**
 * The arguments of a network as people write them, and its pools of addresses.
 * Source: Salt 3006.28 `salt/utils/dockermod/translate/network.py`, `salt/utils/dockermod/__init__.py`
 * (`create_ipam_config`).
 * @module
 */

import { InvocationError } from "#lib/errors.ts";
import { isDictList, repackDictList } from "./dict_list.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { NETWORK_ALIASES, POOL_ARGUMENTS } from "./argument_names.ts";
import {
  boolInput,
  checkIp,
  checkSubnet,
  type InputOptions,
  labelsInput,
  mapInput,
  pairsInput,
  textInput,
} from "./input_values.ts";
import type { Translator } from "./translate_input.ts";

function subnet(value: Value, { validateIps }: InputOptions): Value {
  const text = str(value);
  if (validateIps) checkSubnet(text);
  return text;
}

function gateway(value: Value, { validateIps }: InputOptions): Value {
  const text = str(value);
  if (validateIps) checkIp(text);
  return text;
}

function auxAddresses(value: Value, { validateIps }: InputOptions): Value {
  const addresses = pairsInput(value, "=");
  if (validateIps) { for (const address of addresses.values()) checkIp(address); }
  return addresses;
}

const POOL = { subnet, iprange: subnet, gateway, aux_addresses: auxAddresses };

function pools(value: Value, options: InputOptions): Value {
  if (!Array.isArray(value) || !value.every(isMap)) {
    throw new InvocationError("ipam_pools must be a list of dictionaries");
  }
  // Within a pool, addresses are checked whatever the caller wants.
  const strict = { ...options, validateIps: true };
  return value.map((pool) =>
    new Map([...pool].map(([given, one]): [Value, Value] => {
      if (options.skipped.includes(str(given))) return [given, one];
      const key = Object.hasOwn(NETWORK_ALIASES, str(given)) ? NETWORK_ALIASES[str(given)] : given;
      const translate = Object.entries(POOL).find(([name]) => name === key)?.[1];
      return [key, translate === undefined ? one : translate(one, strict)];
    }))
  );
}

const options = (value: Value) => pairsInput(value, "=");

export const NETWORK_TRANSLATOR: Translator = {
  aliases: NETWORK_ALIASES,
  arguments: {
    driver: textInput,
    options,
    ipam: mapInput,
    check_duplicate: boolInput,
    internal: boolInput,
    labels: labelsInput,
    enable_ipv6: boolInput,
    attachable: boolInput,
    ingress: boolInput,
    ipam_driver: textInput,
    ipam_opts: options,
    ipam_pools: pools,
    ...POOL,
  },
  lists: ["ipam_pools"],
  finish(given) {
    if (!given.has("check_duplicate")) given.set("check_duplicate", true);
  },
};

/** The engine's names of the parts of a pool. */
const POOL_FIELDS = { subnet: "Subnet", iprange: "IPRange", gateway: "Gateway", aux_addresses: "AuxiliaryAddresses" };

function poolConfig(pool: ValueMap): ValueMap {
  const other = [...pool.keys()].find((key) => !POOL_ARGUMENTS.includes(str(key)));
  if (other !== undefined) throw new InvocationError(`A pool of addresses has no argument '${str(other)}'`);
  const fields = Object.entries(POOL_FIELDS).map(([name, field]): [Value, Value] => [field, pool.get(name) ?? null]);
  return new Map(fields.filter(([, value]) => value !== null));
}

/**
 * The engine's configuration of addresses.
 * @param given Arguments of one pool; `driver` or `ipam_driver`; `options` or `ipam_opts`.
 * @throws {InvocationError} If a pool has no subnet.
 */
export function ipamConfig(poolsGiven: readonly ValueMap[], given: ValueMap): ValueMap {
  const own = new Map([...given].filter(([key]) => POOL_ARGUMENTS.includes(str(key))));
  const configs = [...own.size > 0 ? [own] : [], ...poolsGiven].map(poolConfig);
  if (configs.some((config) => !config.has("Subnet"))) {
    throw new InvocationError("A subnet is required in each IPAM pool");
  }
  const chosen = given.get("options") ?? given.get("ipam_opts") ?? null;
  const driverOptions = isDictList(chosen) ? repackDictList(chosen) ?? new Map() : chosen;
  const driver = given.get("driver") ?? given.get("ipam_driver") ?? "default";
  const hasOptions = isMap(driverOptions) && driverOptions.size > 0;
  return map({ Driver: driver, Config: configs, ...hasOptions && { Options: driverOptions } });
}

/** Takes the arguments of addresses out of those of a network. */
export function takeIpamArguments(given: ValueMap): ValueMap {
  const taken: ValueMap = new Map();
  for (const name of ["ipam", "ipam_driver", "ipam_opts", "ipam_pools", ...POOL_ARGUMENTS]) {
    const value = given.get(name);
    if (value !== undefined) taken.set(name, value);
    given.delete(name);
  }
  return taken;
}
