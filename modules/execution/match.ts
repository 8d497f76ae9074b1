/**
 * Execution module `match`: whether a target matches this minion, and tables whose keys are targets. Source: Salt
 * 3008.3 `salt/modules/match.py`, `salt/matchers`.
 * @module
 */

import { CommandError, UnavailableError } from "#lib/errors.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { matchesOwn } from "#lib/targeting/own_match.ts";
import { isTargetType, type TargetType } from "#lib/targeting/target.ts";
import { matchesGlob } from "#lib/text/glob.ts";
import { updateMap } from "#lib/values/dict_update.ts";
import { asList } from "#lib/values/shape.ts";
import { DEFAULT_TARGET_DELIM } from "#lib/yaml/traverse.ts";
import { isMap, repr, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

export const compound: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether a compound target matches this minion. `minion_id` replaces its id; grains and pillar are those of this minion.",
    "match.compound 'L@cheese,foo and *'",
  ),
  params: { tgt: p.any(), minion_id: p.str(null) },
  run: ({ tgt, minion_id }, context) => matchesOwn("compound", { tgt, id: minion_id }, context),
});

export const ipcidr: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether this minion has an address, or an address in a network: `192.168.44.0/24`, `2001:db8::/32`.",
    "match.ipcidr '192.168.44.0/24'",
  ),
  params: { tgt: p.str() },
  run: ({ tgt }, context) => matchesOwn("ipcidr", { tgt }, context),
});

/** A match of grains or pillar, whose levels `delimiter` separates. */
function dataMatch(
  type: TargetType,
  what: string,
  ...examples: readonly [string, ...string[]]
): ModuleFunction<JobContext> {
  return fn({
    doc: describe(`Whether ${what}. \`delimiter\` separates the levels.`, ...examples),
    params: { tgt: p.str(), delimiter: p.str(DEFAULT_TARGET_DELIM) },
    run: ({ tgt, delimiter }, context) => matchesOwn(type, { tgt, delimiter }, context),
  });
}

export const grain: ModuleFunction<JobContext> = dataMatch(
  "grain",
  "a grain of this minion matches a glob",
  "match.grain 'os:Ubuntu'",
  "match.grain 'ipv6|2001:db8::ff00:42:8329' delimiter='|'",
);

export const grain_pcre: ModuleFunction<JobContext> = dataMatch(
  "grain_pcre",
  "a regular expression matches the start of a grain of this minion",
  "match.grain_pcre 'os:Fedo.*'",
  "match.grain_pcre 'ipv6|2001:.*' delimiter='|'",
);

export const pillar: ModuleFunction<JobContext> = dataMatch(
  "pillar",
  "a value of this minion's pillar matches a glob",
  "match.pillar 'cheese:foo'",
  "match.pillar 'clone_url|https://github.com/saltstack/salt.git' delimiter='|'",
);

export const pillar_pcre: ModuleFunction<JobContext> = dataMatch(
  "pillar_pcre",
  "a regular expression matches the start of a value of this minion's pillar",
  "match.pillar_pcre 'cheese:(swiss|american)'",
  "match.pillar_pcre 'clone_url|https://github\\.com/.*\\.git' delimiter='|'",
);

export const glob: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether a glob matches this minion's id, or `minion_id`.", "match.glob '*'"),
  params: { tgt: p.str(), minion_id: p.str(null) },
  run: ({ tgt, minion_id }, context) => matchesOwn("glob", { tgt, id: minion_id }, context),
});

export const pcre: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether a regular expression matches the start of this minion's id, or of `minion_id`.",
    "match.pcre '.*'",
  ),
  params: { tgt: p.str(), minion_id: p.str(null) },
  run: ({ tgt, minion_id }, context) => matchesOwn("pcre", { tgt, id: minion_id }, context),
});

export const list_: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether this minion's id, or `minion_id`, is in a list of ids.",
    "match.list 'server1,server2'",
  ),
  params: { tgt: p.any(), minion_id: p.str(null) },
  run: ({ tgt, minion_id }, context) => matchesOwn("list", { tgt, id: minion_id }, context),
});

export const data: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether this minion's data store (execution module `data`) has a value: `key:glob`.",
    "match.data 'spam:eggs'",
  ),
  params: { tgt: p.str() },
  permissions: { read: ["{cachedir}/datastore"] },
  run: ({ tgt }, context) => matchesData(tgt, context),
});

async function matchesData(tgt: string, context: JobContext): Promise<boolean> {
  const [key, pattern] = tgt.split(":");
  if (pattern === undefined) return false;
  let value: Value;
  try {
    value = await context.call("data.get", [key]);
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    context.log("error", error.message);
    return false;
  }
  if (Array.isArray(value)) {
    return value.some((item) => matchesGlob(pattern.toLowerCase(), str(item).toLowerCase()));
  }
  if (isMap(value)) return value.has(pattern);
  return typeof value === "string" && matchesGlob(pattern, value);
}

/** How tables are read: the target type of their keys, and the id to match. */
const TABLE = { tgt_type: p.str("compound"), minion_id: p.str(null) };
/** What is merged into the value that was found. */
const MERGE = { merge: p.any(null), merge_lists: p.bool(false) };

export const filter_by: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the first value of a table whose key, a target, matches this minion; else that of the key `default`.\n" +
      "`tgt_type` is the type of the keys. `merge` is a map to merge over the value, which must be a map then; with\n" +
      "`merge_lists` lists are joined and not replaced.",
    "match.filter_by '{foo*: Foo!, bar*: Bar!}' minion_id=bar03",
  ),
  params: { lookup: p.dict(), ...TABLE, ...MERGE, default: p.any("default") },
  run: ({ lookup, default: fallback, ...how }, context) => filterBy(lookup, fallback, how, context),
});

export const search_by: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the keys of a table one of whose targets matches this minion, once for each match; None if there is no match.",
    "match.search_by '{web: [node1, node2], db: [node2, node]}'",
  ),
  params: { lookup: p.dict(), ...TABLE },
  run({ lookup, ...how }, context) {
    const keys: Value[] = [];
    for (const [key, targets] of lookup) {
      for (const tgt of asList(targets)) {
        if (matchesOf(tgt, how, context)) keys.push(key);
      }
    }
    return keys.length === 0 ? null : keys;
  },
});

/** The key of the last argument of `ifelse` in its table: no target. */
const ELSE = "SALT_IFELSE_FUNCTION_DEFAULT";

export const ifelse: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the value of the first target that matches this minion. The arguments are targets and values in turn, and a last value\n" +
      "for all other minions. True stands for a target that always matches, False for one that never does. Keyword arguments:\n" +
      "`tgt_type`, `minion_id`, `merge` and `merge_lists`, as in match.filter_by.",
    "match.ifelse 'foo*' 'Foo!' 'bar*' 'Bar!' 'Neither' minion_id=bar03",
  ),
  params: { tgt_type: p.str("compound"), minion_id: p.str(null), merge: p.any(null), merge_lists: p.bool(false) },
  varArgs: "args",
  keywordOnly: true,
  run(how, context, { args }) {
    if (args.length % 2 === 0) throw new CommandError("The ifelse function must have an odd number of arguments!");
    const otherwise = args[args.length - 1];
    const lookup: ValueMap = new Map();
    for (let i = 0; i + 1 < args.length; i += 2) {
      lookup.set(args[i] === true ? "*" : args[i] === false ? "SALT_IFELSE_MATCH_NOTHING" : args[i], args[i + 1]);
    }
    return filterBy(lookup.set(ELSE, otherwise), ELSE, how, context);
  },
});

interface Table {
  readonly tgt_type: string;
  readonly minion_id: string | null;
}

interface MergingTable extends Table {
  readonly merge: Value;
  readonly merge_lists: boolean;
}

function filterBy(lookup: ValueMap, fallback: Value, how: MergingTable, context: JobContext): Value {
  for (const [key, value] of lookup) {
    if (!matchesOf(key, how, context)) continue;
    if (!truthy(how.merge)) return value;
    if (!isMap(how.merge)) throw new CommandError("filter_by merge argument must be a dictionary.");
    if (value === null) return how.merge;
    if (!isMap(value)) throw new CommandError("Cannot update using non-dict types in dictupdate.update()");
    return updateMap(value, how.merge, { mergeLists: how.merge_lists });
  }
  return lookup.get(fallback) ?? null;
}

/**
 * Whether a target in a table, of the type that its caller names, matches.
 * @throws {CommandError} For another type.
 */
function matchesOf(tgt: Value, { tgt_type, minion_id }: Table, context: JobContext): boolean {
  const type = tgt_type === "list_" ? "list" : tgt_type;
  if (!isTargetType(type)) throw new CommandError(`There are no targets of type ${repr(tgt_type)}`);
  return matchesOwn(type, { tgt, id: minion_id }, context);
}
