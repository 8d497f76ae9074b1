/**
 * `decrypt_pillar`: decrypts the values of some keys, as the last step.
 * Source: Salt 3008.3 `salt/pillar/__init__.py` decrypt_pillar, `salt/utils/crypt.py` decrypt.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { listOrEmpty, textOrNull } from "#lib/values/shape.ts";
import type { PillarOpts } from "./host.ts";
import { isMap, repr, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** The options of it. */
export type DecryptOpts = Pick<
  PillarOpts,
  "decrypt_pillar" | "decrypt_pillar_default" | "decrypt_pillar_delimiter" | "decrypt_pillar_renderers"
>;

/** `pillar` with its values decrypted; failures are in its `_errors`. */
export async function decryptPillar(
  pillar: ValueMap,
  opts: DecryptOpts,
  decrypt: (value: Value, renderer: string) => Promise<Value>,
): Promise<ValueMap> {
  if (!truthy(opts.decrypt_pillar)) return pillar;
  const keys = keysOf(opts.decrypt_pillar);
  const errors: string[] = keys === undefined ? ["decrypt_pillar config option is malformed"] : [];
  let decrypted = pillar;
  for (const [key, named] of keys ?? []) {
    const steps = key.split(opts.decrypt_pillar_delimiter);
    const value = valueAt(decrypted, steps);
    if (value === undefined || value === null) continue;
    const renderer = named === null || named === "" ? opts.decrypt_pillar_default : named;
    const valid = opts.decrypt_pillar_renderers;
    try {
      if (valid.length > 0 && !valid.includes(renderer)) {
        throw new Error(
          `${repr(renderer)} is not a valid decryption renderer. Valid choices are: ${valid.join(", ")}`,
        );
      }
      decrypted = withValueAt(decrypted, steps, await decrypt(value, renderer));
    } catch (error) {
      errors.push(`Failed to decrypt pillar key '${key}': ${messageOf(error)}`);
    }
  }
  if (errors.length === 0) return decrypted;
  const earlier = decrypted.get("_errors");
  return new Map(decrypted).set("_errors", [...listOrEmpty(earlier), ...errors]);
}

/** The paths and their renderers, each path once; `undefined` if the option is malformed. */
function keysOf(option: Value): Map<string, string | null> | undefined {
  const keys = new Map<string, string | null>();
  const entries = isMap(option) ? [option] : Array.isArray(option) ? option : undefined;
  for (const item of entries ?? []) {
    if (Array.isArray(item) || (item !== option && isMap(item) && item.size !== 1)) return undefined;
    for (const [key, renderer] of isMap(item) ? item : [[item, null]]) {
      keys.set(str(key), textOrNull(renderer));
    }
  }
  return entries === undefined ? undefined : keys;
}

function valueAt(pillar: ValueMap, steps: readonly string[]): Value | undefined {
  let at: Value | undefined = pillar;
  for (const step of steps) at = isMap(at) ? at.get(step) : undefined;
  return at;
}

function withValueAt(pillar: ValueMap, [step, ...rest]: readonly string[], value: Value): ValueMap {
  const inner = pillar.get(step);
  return new Map(pillar).set(step, rest.length === 0 || !isMap(inner) ? value : withValueAt(inner, rest, value));
}
