/**
 * Secrets of the key-value engines, of version 1 and 2: which of them serves a path, the server says.
 * Source: developer.hashicorp.com, "KV secrets engine - version 2 (API)"; Salt 3007.15 `salt/utils/vault/kv.py`.
 * @module
 */

import { stripChars } from "#lib/values/python_text.ts";
import { isMap, map, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";
import { listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import { type VaultClient, VaultError } from "./client.ts";

/** A kind of path of version 2. */
type Part = "data" | "metadata" | "delete" | "destroy";

/** The mount below which a path is, if it is one of version 2. */
async function mountOfVersion2(client: VaultClient, path: string): Promise<string | undefined> {
  try {
    const answer = await client.query({ method: "GET", endpoint: `sys/internal/ui/mounts/${path}` });
    const facts = mapOrEmpty(answer === true ? null : answer.get("data"));
    const version = mapOrEmpty(facts.get("options")).get("version");
    if ((facts.get("type") ?? "kv") !== "kv" || version !== "2") return undefined;
    return String(facts.get("path") ?? path);
  } catch (error) {
    // Who may not ask that is served as with version 1, as Salt does.
    if (error instanceof VaultError && error.kind !== "ConnectionError") return undefined;
    throw error;
  }
}

/** `secret/a` as `secret/data/a`; what is there already, or another part that is, is that part. */
function pathOfPart(path: string, mount: string, part: Part): string {
  const [whole, at] = [stripChars(path, "/"), stripChars(mount, "/")];
  const other = `${at}/${part === "data" ? "metadata" : "data"}`;
  // A whole step: `secret/database1` has none of these parts.
  const isBelow = (above: string) => `${whole}/`.startsWith(`${above}/`);
  if (isBelow(other)) return `${at}/${part}${whole.slice(other.length)}`;
  return isBelow(`${at}/${part}`) ? whole : `${at}/${part}${whole.slice(at.length)}`;
}

/** The fields of a secret; of version 2 with `withMetadata`, its version beside them. */
export async function readSecret(client: VaultClient, path: string, withMetadata = false): Promise<ValueMap> {
  const mount = await mountOfVersion2(client, path);
  const endpoint = mount === undefined ? path : pathOfPart(path, mount, "data");
  const answer = await client.query({ method: "GET", endpoint });
  const data = mapOrEmpty(answer === true ? null : answer.get("data"));
  return mount === undefined || withMetadata ? data : mapOrEmpty(data.get("data"));
}

/** Writes a secret; what the server says about it, or True. */
export async function writeSecret(client: VaultClient, path: string, data: Value): Promise<Value> {
  const mount = await mountOfVersion2(client, path);
  const answer = mount === undefined
    ? await client.query({ method: "POST", endpoint: path, payload: data })
    : await client.query({ method: "POST", endpoint: pathOfPart(path, mount, "data"), payload: map({ data }) });
  return answer === true ? true : answer.get("data") ?? null;
}

/** Data with a JSON merge patch applied: None removes a field. */
function merged(data: ValueMap, patch: ValueMap): ValueMap {
  const result = new Map(data);
  for (const [key, value] of patch) {
    if (value === null) result.delete(key);
    else result.set(key, isMap(value) ? merged(mapOrEmpty(result.get(key)), value) : value);
  }
  return result;
}

/** Changes fields of a secret; where the server does not do it, by reading and writing all of it. */
export async function patchSecret(client: VaultClient, path: string, patch: ValueMap): Promise<Value> {
  const mount = await mountOfVersion2(client, path);
  if (mount !== undefined) {
    try {
      const answer = await client.query({
        method: "PATCH",
        endpoint: pathOfPart(path, mount, "data"),
        payload: map({ data: patch }),
        headers: [["Content-Type", "application/merge-patch+json"]],
      });
      return answer === true ? true : answer.get("data") ?? null;
    } catch (error) {
      const isUnable = error instanceof VaultError &&
        ["VaultPermissionDeniedError", "VaultUnsupportedOperationError"].includes(error.kind);
      if (!isUnable) throw error;
    }
  }
  return await writeSecret(client, path, merged(await readSecret(client, path), patch));
}

/** @throws {VaultError} If one of them is no whole number. */
function versionNumbers(versions: readonly Value[]): number[] {
  return versions.map((version) => {
    const number = typeof version === "string" ? Number(version) : toNumber(version);
    if (number !== undefined && Number.isInteger(number)) return number;
    throw new VaultError("VaultInvocationError", "Versions have to be specified as integers.");
  });
}

/** Removes a secret, or of version 2 some versions of it, which can be taken back. */
export async function deleteSecret(client: VaultClient, path: string, versions: readonly Value[]): Promise<Value> {
  const numbers = versionNumbers(versions);
  const mount = await mountOfVersion2(client, path);
  if (mount === undefined && numbers.length > 0) {
    throw new VaultError("VaultInvocationError", "Versioning support requires kv-v2.");
  }
  if (mount === undefined) return await client.query({ method: "DELETE", endpoint: path });
  if (numbers.length === 0) {
    return await client.query({ method: "DELETE", endpoint: pathOfPart(path, mount, "data") });
  }
  const endpoint = pathOfPart(path, mount, "delete");
  return await client.query({ method: "POST", endpoint, payload: map({ versions: numbers }) });
}

/** Destroys versions of a secret of version 2. */
export async function destroySecret(client: VaultClient, path: string, versions: readonly Value[]): Promise<Value> {
  const numbers = versionNumbers(versions);
  const mount = await mountOfVersion2(client, path);
  if (mount === undefined) throw new VaultError("VaultInvocationError", "Destroy operation requires kv-v2.");
  const endpoint = pathOfPart(path, mount, "destroy");
  return await client.query({ method: "POST", endpoint, payload: map({ versions: numbers }) });
}

/** The names below a path. */
export async function listSecrets(client: VaultClient, path: string): Promise<Value[]> {
  const mount = await mountOfVersion2(client, path);
  const endpoint = mount === undefined ? path : pathOfPart(path, mount, "metadata");
  const answer = await client.query({ method: "LIST", endpoint });
  return listOrEmpty(mapOrEmpty(answer === true ? null : answer.get("data")).get("keys"));
}
