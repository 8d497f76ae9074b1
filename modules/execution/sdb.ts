/**
 * Execution module `sdb`: values of the stores that profiles of the configuration or the pillar name.
 * Source: the functions of Salt 3008.3 `salt/modules/sdb.py` and `salt/utils/sdb.py`.
 * @module
 */

import { optsValues } from "#lib/config/opts_map.ts";
import { isSdbText, parseSdbAddress } from "#lib/config/sdb_address.ts";
import { randomText } from "#lib/crypto/secure_random.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { describe } from "#lib/plugins/docs.ts";
import { invoke } from "#lib/plugins/call.ts";
import { type Catalogue, fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { SdbDriver } from "#lib/plugins/sdb_driver.ts";
import { isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { SDB_DRIVERS } from "#modules/sdb/_built_in.ts";

/** What an address leads to. */
interface Found {
  readonly key: string;
  readonly profile: ValueMap;
  readonly name: string;
  readonly driver: SdbDriver;
}

/** Why an address leads to nothing, in Salt's words. */
interface Missing {
  readonly problem: string;
}

async function find(uri: Value, context: JobContext): Promise<Found | Missing> {
  if (!isSdbText(uri)) return { problem: 'SDB uri must start with "sdb://"' };
  const address = parseSdbAddress(uri);
  if (address === undefined) {
    return { problem: "SDB uri must have a profile name as a first part of the uri before the /" };
  }
  const option = optsValues(context.opts).get(address.profile);
  const profile = truthy(option) ? option : context.pillar.get(address.profile);
  if (!isMap(profile) || !profile.has("driver")) {
    return { problem: `SDB profile "${address.profile}" wasnt found in the minion configuration` };
  }
  const name = str(profile.get("driver") ?? "");
  const own = await ownDriver(name, context.catalogue);
  if (own !== undefined) return { key: address.key, profile, name, driver: own };
  if (!Object.hasOwn(SDB_DRIVERS, name)) throw new CommandError(`There is no driver '${name}' of sdb`);
  return { key: address.key, profile, name, driver: await SDB_DRIVERS[name]() };
}

/** The operator's own driver of this name: functions of the catalogue, `sdb/NAME.get`. */
async function ownDriver(name: string, catalogue: Catalogue): Promise<SdbDriver | undefined> {
  const [get, set, remove] = await Promise.all(
    ["get", "set", "delete"].map((fun) => catalogue.get(`sdb/${name}.${fun}`)),
  );
  if (get === undefined) return undefined;
  const call = (fun: ModuleFunction<JobContext>, args: readonly Value[], profile: ValueMap, context: JobContext) =>
    invoke(fun, { name: `sdb/${name}`, args, kwargs: map({ profile }), context });
  return {
    get: (key, profile, context) => call(get, [key], profile, context),
    ...set !== undefined && { set: (key, value, profile, context) => call(set, [key, value], profile, context) },
    ...remove !== undefined && { delete: (key, profile, context) => call(remove, [key], profile, context) },
  };
}

async function read(uri: Value, strict: boolean, context: JobContext): Promise<Value> {
  const found = await find(uri, context);
  if ("driver" in found) return await found.driver.get(found.key, found.profile, context);
  if (strict) throw new InvocationError(found.problem);
  return uri;
}

async function write(uri: Value, value: Value, context: JobContext): Promise<Value> {
  const found = await find(uri, context);
  if (!("driver" in found)) return false;
  if (found.driver.set === undefined) throw new CommandError(`The driver '${found.name}' of sdb sets nothing`);
  return await found.driver.set(found.key, value, found.profile, context);
}

export const get: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the value at an address `sdb://<profile>/<key>`. What is no such address is returned as it is, or is an error with\n" +
      "strict=True.",
    "sdb.get sdb://mymemcached/foo strict=True",
  ),
  permissions: "all",
  params: { uri: p.any(), strict: p.bool(false) },
  run: ({ uri, strict }, context) => read(uri, strict, context),
});

export const set: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Store a value at an address `sdb://<profile>/<key>`. Return False for what is no such address.",
    "sdb.set sdb://mymemcached/foo bar",
  ),
  permissions: "all",
  params: { uri: p.any(), value: p.any() },
  run: ({ uri, value }, context) => write(uri, value, context),
});

export const delete_: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Remove the value at an address `sdb://<profile>/<key>`. Return False for what is no such address.",
    "sdb.delete sdb://mymemcached/foo",
  ),
  permissions: "all",
  params: { uri: p.any() },
  async run({ uri }, context) {
    const found = await find(uri, context);
    if (!("driver" in found)) return false;
    if (found.driver.delete === undefined) {
      throw new CommandError(`The driver '${found.name}' of sdb removes nothing`);
    }
    return await found.driver.delete(found.key, found.profile, context);
  },
});

/** Most characters of a made text. */
const MAX_LENGTH = 65_536;

export const get_or_set_hash: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the value at an address `sdb://<profile>/<key>`. If there is none, store a random text there and return it.",
    "sdb.get_or_set_hash 'sdb://mymemcached/SECRET_KEY' 50",
  ),
  permissions: "all",
  params: {
    uri: p.any(),
    length: p.int(8),
    chars: p.str("abcdefghijklmnopqrstuvwxyz0123456789!@#$%^&*(-_=+)"),
  },
  async run({ uri, length, chars }, context) {
    if (!isSdbText(uri)) return false;
    if (length > MAX_LENGTH) throw new InvocationError(`length is at most ${MAX_LENGTH}`);
    const there = await read(uri, false, context);
    if (there !== null) return there;
    const letters = [...chars];
    if (letters.length === 0) throw new InvocationError("chars is empty");
    const made = randomText(length, letters);
    await write(uri, made, context);
    return made;
  },
});
