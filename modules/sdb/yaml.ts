/**
 * Driver `yaml` of sdb: values of YAML files, which are merged, and may hold texts that gpg decrypts.
 * Source: Salt 3008.3 `salt/sdb/yaml.py`.
 * @module
 */

import { yamlContents } from "#lib/config/sdb_address.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { isMap, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { traverse } from "#lib/yaml/traverse.ts";

/** The value at a path such as `pkg:apache`; None: there is none. */
export async function get(key: string, profile: ValueMap, context: JobContext): Promise<Value> {
  const value = traverse(yamlContents(profile, (text) => context.log("error", text)), key) ?? null;
  return truthy(profile.get("gpg")) ? await decrypted(value, context) : value;
}

/** A value with the PGP messages in its texts decrypted. */
async function decrypted(value: Value, context: JobContext): Promise<Value> {
  if (typeof value === "string") {
    if (!value.includes("-----BEGIN PGP MESSAGE-----")) return value;
    // A first line such as `#!jinja` would name other renderers; after the line of a script it does not.
    const before = value.trimStart().startsWith("#!") ? "#!/\n" : "";
    const given = new Map<Value, Value>([["string", before + value], ["default_renderer", "gpg"]]);
    const plain = await context.call("slsutil.renderer", [], given);
    return typeof plain === "string" ? plain.slice(before.length) : plain;
  }
  if (Array.isArray(value)) return await Promise.all(value.map((one) => decrypted(one, context)));
  if (!isMap(value)) return value;
  const entries = [...value].map(async ([key, one]): Promise<[Value, Value]> => [key, await decrypted(one, context)]);
  return new Map(await Promise.all(entries));
}
