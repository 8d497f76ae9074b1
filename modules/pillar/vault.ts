/**
 * External pillar `vault`: secrets, whose paths may have the minion's id and values of its pillar.
 * Source: Salt 3007.15 `salt/pillar/vault.py`, which Salt 3008 has no longer.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { VaultClient } from "#lib/host/vault/client.ts";
import { readSecret } from "#lib/host/vault/secrets.ts";
import { vaultSettings } from "#lib/host/vault/settings.ts";
import { p } from "#lib/plugins/module.ts";
import { type PillarContext, type PillarSource, pillarSource } from "#lib/plugins/pillar_source.ts";
import { mergeMaps } from "#lib/values/dict_merge.ts";
import { isMap, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/**
 * Steps that a server takes for the kind of a path: a minion with such an id would get another one's secrets. Where
 * they are meant, the pattern has them.
 */
const KINDS: readonly string[] = ["data", "metadata"];

/** A field of a path: `{minion}`, `{pillar[roles]}`, `{pillar[app][name]}`. */
const FIELD = /\{(minion|pillar((?:\[[^\][{}]+\])+))\}/;

/**
 * The paths of a pattern: for a list, one for each of its items.
 * @returns `undefined` if a value is missing.
 */
function pathsOf(
  pattern: string,
  { minionId, pillar }: Pick<PillarContext, "minionId" | "pillar">,
): string[] | undefined {
  const field = FIELD.exec(pattern);
  if (field === null) return /[{}]/.test(pattern) ? undefined : [pattern];
  const [whole, , names] = field;
  const value = names === undefined ? minionId : valueAt(pillar, names.slice(1, -1).split("]["));
  if (value === undefined || [value].flat().some((one) => KINDS.includes(str(one)))) return undefined;
  const [before, after] = [pattern.slice(0, field.index), pattern.slice(field.index + whole.length)];
  const paths: string[] = [];
  for (const one of Array.isArray(value) ? value : [value]) {
    const rest = pathsOf(after, { minionId, pillar });
    if (rest === undefined) return undefined;
    paths.push(...rest.map((end) => `${before}${str(one)}${end}`));
  }
  return paths;
}

function valueAt(pillar: ValueMap, names: readonly string[]): Value | undefined {
  return names.reduce<Value | undefined>((value, name) => isMap(value) ? value.get(name) : undefined, pillar);
}

export const ext_pillar: PillarSource = pillarSource({
  doc:
    "Return the fields of the secrets at `conf`, as `path=secret/minions/{minion}/pass` or `path=secret/roles/{pillar[roles]}`: for a\n" +
    "list, those of all its items together. `nesting_key` is a key to put them under, `merge_strategy` and `merge_lists` say how they\n" +
    "are merged. The option `vault` of the master says where they are. A secret that cannot be read is left out.",
  params: { conf: p.str(), nesting_key: p.str(null), merge_strategy: p.str(null), merge_lists: p.any(null) },
  async run({ conf, nesting_key, merge_strategy, merge_lists }, context) {
    const { opts, signal, notes, log, minionId } = context;
    notes.changing("vault");
    const part = conf.split(/\s+/).find((one) => one.startsWith("path="));
    if (part === undefined) {
      log("error", `"${conf}" is not a valid Vault ext_pillar config`);
      return new Map();
    }
    const pattern = part.slice("path=".length);
    const paths = pathsOf(pattern, context);
    if (paths === undefined) log("warning", `Could not resolve pillar path pattern ${pattern}`);
    const strategy = merge_strategy || str(opts.get("pillar_source_merging_strategy") ?? "smart");
    const mergeLists = truthy(merge_lists) || truthy(opts.get("pillar_merge_lists"));
    const client = new VaultClient(vaultSettings(opts.get("vault")), signal);
    let secrets: ValueMap = new Map();
    for (const path of paths ?? []) {
      try {
        secrets = mergeMaps(secrets, await readSecret(client, path), { strategy, mergeLists });
      } catch (error) {
        if (!(error instanceof CommandError)) throw error;
        log("info", `Vault secret not found for '${minionId}': ${path}`);
      }
    }
    return nesting_key ? new Map([[nesting_key, secrets]]) : secrets;
  },
});
