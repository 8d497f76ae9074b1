/**
 * Driver `vault` of sdb: fields of secrets, as `path?field` or `path/field`.
 * Source: Salt 3007.15 `salt/sdb/vault.py`, which Salt 3008 has no longer.
 * @module
 */

import { optsValues } from "#lib/config/opts_map.ts";
import { VaultClient, VaultError } from "#lib/host/vault/client.ts";
import { patchSecret, readSecret, writeSecret } from "#lib/host/vault/secrets.ts";
import { vaultSettings } from "#lib/host/vault/settings.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { truthy, type Value, type ValueMap } from "#lib/values/value.ts";

function clientOf({ opts, signal }: JobContext): VaultClient {
  return new VaultClient(vaultSettings(optsValues(opts).get("vault")), signal);
}

/** The secret's path and the field. */
function splitKey(key: string): [path: string, field: string] {
  const at = key.includes("?") ? key.indexOf("?") : key.lastIndexOf("/");
  return [key.slice(0, Math.max(at, 0)), key.slice(at + 1)];
}

function isNotFound(error: unknown): boolean {
  return error instanceof VaultError && error.kind === "VaultNotFoundError";
}

/** The value of a field; all fields, if the whole key is a secret; None: there is none. */
export async function get(key: string, _profile: ValueMap, context: JobContext): Promise<Value> {
  const client = clientOf(context);
  const [path, field] = splitKey(key);
  try {
    return (await readSecret(client, path)).get(field) ?? null;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  try {
    return await readSecret(client, key.replace("?", "/"));
  } catch (error) {
    if (isNotFound(error)) return null;
    throw error;
  }
}

/** Writes a secret of this field alone; with `patch` in the profile, its other fields stay. */
export async function set(key: string, value: Value, profile: ValueMap, context: JobContext): Promise<Value> {
  const client = clientOf(context);
  const [path, field] = splitKey(key);
  const data = new Map([[field, value]]);
  if (truthy(profile.get("patch"))) {
    try {
      await patchSecret(client, path, data);
      return true;
    } catch (error) {
      // A secret that is there and must not be read is not replaced: its other fields would be lost.
      if (!isNotFound(error)) throw error;
    }
  }
  await writeSecret(client, path, data);
  return true;
}
