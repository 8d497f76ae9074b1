/**
 * The master's own keys, as `salt-key -F` and wheel's `key.list_all` list them.
 * @module
 */

import { compareStrings } from "#lib/values/value.ts";

/**
 * File names, sorted, and contents. Links, such as Salt 3008 makes, are skipped: their target is listed; so is the copy
 * of `master.pub` for Python's programs (pair.ts).
 */
export function localKeys(pkiDir: string): Map<string, string> {
  const names: string[] = [];
  try {
    for (const { name, isFile } of Deno.readDirSync(pkiDir)) {
      if (isFile && /\.(pem|pub)$/.test(name)) names.push(name);
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  const keys = new Map(names.sort(compareStrings).map((name) => [name, Deno.readTextFileSync(`${pkiDir}/${name}`)]));
  const own = keys.get("master.pub");
  for (const [name, pem] of keys) {
    if (pem === own && name !== "master.pub" && !keys.has(name.replace(/\.pub$/, ".pem"))) keys.delete(name);
  }
  return keys;
}
