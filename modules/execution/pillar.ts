/**
 * Execution module `pillar`: this minion's pillar, from memory or compiled again. Source: Salt 3008.3
 * `salt/modules/pillar.py`, `salt/utils/secret.py`.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { describe } from "#lib/plugins/docs.ts";
import { askPillar } from "#lib/plugins/ask_pillar.ts";
import { filterBy } from "#lib/text/filter_by.ts";
import { fn, type JobContext, type PillarQuery } from "#lib/plugins/job_context.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import { maskValue, obfuscateValue } from "#lib/protocol/masked.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { DEFAULT_TARGET_DELIM, traverse, traverseOr } from "#lib/yaml/traverse.ts";
import { updateMap } from "#lib/values/dict_update.ts";
import { isAmong, isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** What all functions say of masks. */
const MASKED = "Values are masked unless `unmask` is True, or a template asks.";
/** The environments of a pillar that is asked for again. */
const ENVIRONMENTS = { pillarenv: p.str(null), saltenv: p.str(null) };
/** Stands for no default: Python's `NOT_SET` as `sys.argspec` shows it. No caller passes it. */
const NOT_SET = "<Constant.NOT_SET>";

/** Masks a value, if wanted. */
function showPillar(value: Value, unmask: boolean | null, { showsPillar }: JobContext): Value {
  return unmask ?? showsPillar ?? false ? value : maskValue(value);
}

/** The pillar in memory, or that of an environment. */
async function pillarOf(query: PillarQuery, context: JobContext): Promise<ValueMap> {
  const isOther = (query.pillarenv ?? null) !== null || (query.saltenv ?? null) !== null;
  return isOther ? await askPillar(query, context) : context.pillar;
}

export const get: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return a value of the pillar in memory, at a path such as `pkg:apache`; else `default`, an empty string, or, with the option\n" +
      "pillar_raise_on_missing, an error. With `merge`, a map is merged over the default, and a list appended to it; `merge_nested_lists` joins the\n" +
      "lists in maps, as pillar_merge_lists. With `pillarenv`, a fresh pillar of that environment is compiled.\n" +
      MASKED,
    "pillar.get pkg:apache",
    "pillar.get abc::def|ghi delimiter='|'",
    "pillar.get pkg:apache unmask=True",
  ),
  params: {
    key: p.any(),
    default: p.any(NOT_SET),
    merge: p.bool(false),
    merge_nested_lists: p.bool(null),
    delimiter: p.str(DEFAULT_TARGET_DELIM),
    ...ENVIRONMENTS,
    unmask: p.bool(null),
  },
  async run({ key, default: given, merge, merge_nested_lists, delimiter, pillarenv, saltenv, unmask }, context) {
    const { opts } = context;
    const raises = given === NOT_SET && opts.pillar_raise_on_missing;
    const fallback = given === NOT_SET ? "" : given;
    const pillar = await pillarOf({ pillarenv, saltenv }, context);
    const value = traverse(pillar, key, delimiter);
    if (merge) {
      const mergeLists = merge_nested_lists ?? opts.pillar_merge_lists;
      const merged = overDefault(value, fallback, mergeLists);
      if (merged !== undefined) return showPillar(merged, unmask, context);
      context.log("error", `pillar.get: the default and the value of ${str(key)} cannot be merged`);
    }
    if (value === undefined && raises) throw new CommandError(`Pillar key not found: ${str(key)}`);
    return showPillar(value === undefined ? fallback : value, unmask, context);
  },
});

/** `value` over a default; `undefined` if they are not both maps or lists. */
function overDefault(value: Value | undefined, fallback: Value, mergeLists: boolean): Value | undefined {
  if (isMap(fallback)) {
    const over = value ?? new Map();
    return isMap(over) ? updateMap(fallback, over, { mergeLists }) : undefined;
  }
  if (!Array.isArray(fallback)) return undefined;
  const over = value ?? [];
  if (!Array.isArray(over)) return undefined;
  return [...fallback, ...over.filter((item) => !isAmong(item, fallback))];
}

export const fetch: ModuleFunction<JobContext> = get;

/** The parameters of a pillar that is made now. */
const FRESH = { pillar: p.any(null), pillar_enc: p.str(null), ...ENVIRONMENTS, unmask: p.bool(null) };

interface Fresh {
  readonly pillar: Value;
  readonly pillar_enc: string | null;
  readonly pillarenv: string | null;
  readonly saltenv: string | null;
  readonly unmask: boolean | null;
}

async function freshPillar(
  { pillar, pillar_enc, pillarenv, saltenv }: Omit<Fresh, "unmask">,
  context: JobContext,
): Promise<ValueMap> {
  const override = pillar_enc === null || pillar === null ? pillar : await decryptPillar(pillar, pillar_enc, context);
  return await askPillar({ pillarenv, saltenv, ...isMap(override) && { override } }, context);
}

async function decryptPillar(pillar: Value, renderer: string, context: JobContext): Promise<Value> {
  const { decryptOverride } = await import("#lib/render/decrypt_override.ts");
  return await decryptOverride(pillar, renderer, context);
}

const ITEMS_DOC = "`pillar` is a map that wins over what the master has, `pillar_enc` a renderer that decrypts it.\n" +
  "`pillarenv` is the environment to take pillar from.";

export const items: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Ask the master for this minion's pillar and return all of it; with keys, as pillar.item. ${ITEMS_DOC}\n${MASKED}\n` +
      "The option `pillar_mask_output: False` shows them too.",
    "pillar.items",
    "pillar.items unmask=True",
  ),
  params: FRESH,
  varArgs: "args",
  keywordOnly: true,
  outputter: "nested",
  run: (query, context, { args }) => itemsOf(args, query, context),
});

async function itemsOf(
  keys: readonly Value[],
  { unmask, ...query }: Fresh,
  context: JobContext,
): Promise<Value> {
  if (keys.length > 0) {
    const { pillarenv, saltenv } = query;
    return showPillar(itemIn(await pillarOf({ pillarenv, saltenv }, context), keys), null, context);
  }
  const shows = unmask ?? (context.showsPillar || !context.opts.pillar_mask_output);
  return showPillar(await freshPillar(query, context), shows, context);
}

export const data: ModuleFunction<JobContext> = fn({
  doc: describe(`As pillar.items. ${ITEMS_DOC}`, "pillar.data"),
  params: FRESH,
  varArgs: "args",
  keywordOnly: true,
  run: (query, context, { args }) => itemsOf(args, query, context),
});

export const obfuscate: ModuleFunction<JobContext> = fn({
  doc: describe(
    `As pillar.items, with the type of each value instead of the value. ${ITEMS_DOC}`,
    "pillar.obfuscate",
  ),
  params: FRESH,
  varArgs: "args",
  keywordOnly: true,
  run: async (query, context, { args }) =>
    // Masks would hide the types.
    obfuscateValue(await itemsOf(args, { ...query, unmask: true }, { ...context, showsPillar: true })),
});

export const ls: ModuleFunction<JobContext> = fn({
  doc: describe(`As pillar.items, but only the top-level keys. ${ITEMS_DOC}`, "pillar.ls"),
  params: FRESH,
  varArgs: "args",
  keywordOnly: true,
  run: async (query, context, { args }) => {
    const items = await itemsOf(args, query, context);
    return isMap(items) ? [...items.keys()] : [];
  },
});

function itemIn(
  pillar: ValueMap,
  keys: readonly Value[],
  how: { delimiter?: string; fallback?: Value } = {},
): ValueMap {
  const { delimiter = DEFAULT_TARGET_DELIM, fallback = "" } = how;
  return new Map(keys.map((key) => [key, traverseOr(pillar, key, { delimiter, fallback })]));
}

export const item: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return values of the pillar in memory by keys or paths, as a map; `default` or an empty string for what is not there.\n" +
      "`delimiter` stands between the steps of a path. With `pillarenv`, a fresh pillar of that environment is compiled.\n" +
      MASKED,
    "pillar.item foo",
    "pillar.item foo:bar baz",
  ),
  params: { default: p.any(null), delimiter: p.str(null), ...ENVIRONMENTS, unmask: p.bool(null) },
  varArgs: "args",
  keywordOnly: true,
  async run({ default: fallback, delimiter, pillarenv, saltenv, unmask }, context, { args }) {
    const pillar = await pillarOf({ pillarenv, saltenv }, context);
    const how = { delimiter: delimiter ?? DEFAULT_TARGET_DELIM, fallback: fallback ?? "" };
    return showPillar(itemIn(pillar, args, how), unmask, context);
  },
});

export const raw: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the pillar in memory, or the value of one key. Nothing is masked unless `unmask` is False.",
    "pillar.raw",
    "pillar.raw key='roles'",
  ),
  params: { key: p.any(null), unmask: p.bool(null) },
  run({ key, unmask }, context) {
    const value = key === null || key === "" ? context.pillar : context.pillar.get(key) ?? new Map();
    return unmask ?? true ? value : maskValue(value);
  },
});

export const ext: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Ask the master for this minion's pillar with an additional external pillar, which the master's option on_demand_ext_pillar must allow.\n" +
      "`pillar` is a map that overrides the master's values. " + MASKED,
    "pillar.ext '{libvirt: _}'",
  ),
  params: { external: p.any(), pillar: p.dict(null), unmask: p.bool(null) },
  async run({ external, pillar, unmask }, context) {
    const ext = typeof external === "string" ? loadYaml(external) : external;
    const { saltenv } = context.opts;
    const compiled = await askPillar({ ext, saltenv, ...pillar !== null && { override: pillar } }, context);
    return showPillar(compiled, unmask, context);
  },
});

export const keys: ModuleFunction<JobContext> = fn({
  doc: describe("Return the keys of the map at a path of the pillar in memory.", "pillar.keys web:sites"),
  params: { key: p.any(), delimiter: p.str(DEFAULT_TARGET_DELIM), unmask: p.bool(null) },
  run({ key, delimiter }, { pillar }) {
    const value = traverse(pillar, key, delimiter);
    if (value === undefined) throw new CommandError(`Pillar key not found: ${str(key)}`);
    if (!isMap(value)) throw new CommandError(`Pillar value in key ${str(key)} is not a dict`);
    return [...value.keys()];
  },
});

export const file_exists: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether a file exists in the `pillar_roots` of this host (a master, or a minion without a master); with `saltenv`, in those\n" +
      "of that environment.",
    "pillar.file_exists foo/bar.sls",
  ),
  permissions: { read: true },
  params: { path: p.str(), saltenv: p.str(null) },
  run({ path, saltenv }, { opts: { pillar_roots } }) {
    if (pillar_roots.size === 0) {
      throw new CommandError("No pillar_roots found. Are you running this on the master?");
    }
    const envs = saltenv === null ? [...pillar_roots.keys()] : [saltenv];
    return envs.some((env) => {
      const roots = pillar_roots.get(env);
      return Array.isArray(roots) &&
        roots.some((root) => isFile(path.startsWith("/") ? path : `${str(root)}/${path}`));
    });
  },
});

export const filter_by: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the value of a table whose key, a glob, matches a value of the pillar; if that is a list, its first item with a\n" +
      "match decides. Without a match, the value of the key `default`. `base` is the key of a map that the value is merged over, and `merge` a\n" +
      "map that is merged over both.",
    "pillar.filter_by '{web: Serve it up, db: I query, default: x_x}' role",
  ),
  params: { lookup_dict: p.dict(), pillar: p.any(), merge: p.any(null), default: p.any("default"), base: p.any(null) },
  run: ({ lookup_dict, pillar: path, merge, default: fallback, base }, { pillar }) =>
    filterBy(lookup_dict, traverse(pillar, path), { merge, fallback, base }),
});
