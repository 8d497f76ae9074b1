/**
 * Hints for the operator when a target of grains or pillar matches no minion: the master has no data of some minions,
 * which are not expected to answer, so nothing was published; or no minion has such a grain or value.
 * @module
 */

import { typedCommand } from "#lib/commands/cli/typed_command.ts";
import { TargetError } from "#lib/errors.ts";
import { type KnownFleet, type ResolveOptions, resolveTarget } from "#lib/fleet/resolve_target.ts";
import type { TypedTarget } from "#lib/targeting/target.ts";
import { compareStrings, isMap, str } from "#lib/values/value.ts";
import { decodeIfWhole } from "#lib/values/msgpack.ts";
import { sanitize, sanitizeLine } from "#lib/text/terminal.ts";
import { didYouMean } from "#lib/text/nearest_name.ts";
import { truncate, truncateList } from "#lib/text/truncate.ts";
import { asList, mapOrEmpty } from "#lib/values/shape.ts";

/** How a target is read, and the master's options, for commands that are shown. */
interface HintOptions extends ResolveOptions {
  readonly place: { readonly config_dir: string };
}

/** A line for standard error, or the empty string. */
export function unknownDataHint(target: TypedTarget, fleet: KnownFleet, { place, ...how }: HintOptions): string {
  let unknown: readonly string[];
  try {
    ({ unknown } = resolveTarget(target, fleet, how));
  } catch (error) {
    if (error instanceof TargetError) return "";
    throw error;
  }
  // A master that stores no data of minions gives no hint.
  if (unknown.length === 0 || fleet.data === undefined) return "";
  // The user may copy this command into a shell: an id must not inject shell code.
  const harmless = unknown.filter((id) => /^[\w.-]+$/.test(id)).slice(0, 5);
  const command = typedCommand(`salt -L ${harmless.join(",")} saltutil.refresh_grains`, place);
  const advice = harmless.length === 0 ? "" : ` To have them sent: ${command}`;
  return sanitize(
    `The master has no grains of these minions, so the job was not sent to them: ${truncateList(unknown)}.${advice}\n`,
  );
}

/** Target types about one grain or pillar key, and how the key is called. */
const OF_ONE_KEY: Readonly<Record<string, readonly [bank: "grains" | "pillar", what: string]>> = {
  grain: ["grains", "grain"],
  grain_pcre: ["grains", "grain"],
  pillar: ["pillar", "pillar key"],
  pillar_pcre: ["pillar", "pillar key"],
};

/** Minions whose data are read for this hint: they are decoded whole. */
const MAX_READ = 1_000;

/**
 * Says that no accepted minion has the key of the target, with the nearest name; or which values a grain has, the most
 * frequent first. Values of pillar are not shown, because they may be secret. A line for standard error, or the empty
 * string.
 */
export function noSuchDataHint(
  { tgt, tgtType = "glob" }: TypedTarget,
  fleet: KnownFleet,
  { delimiter }: Pick<ResolveOptions, "delimiter"> = {},
): string {
  if (!Object.hasOwn(OF_ONE_KEY, tgtType) || typeof tgt !== "string") return "";
  const [bank, what] = OF_ONE_KEY[tgtType];
  const [key, ...rest] = tgt.split(delimiter || ":");
  const { names, values } = readKey(key, bank, fleet);
  if (names.size === 0) return "";
  if (!names.has(key)) return sanitize(`No minion has the ${what} ${truncate(key)}${didYouMean(key, names) || "."}\n`);
  if (bank === "pillar" || values.size === 0) return "";
  const sorted = [...values].sort(([a, m], [b, n]) => n - m || compareStrings(a, b)).map(([value]) => value);
  const list = truncateList(sorted.map((value) => `${sanitizeLine(truncate(value))} (${values.get(value)})`));
  return `The grain ${sanitizeLine(key)} is ${list}${sanitizeLine(didYouMean(rest.join(":"), sorted) || ".")}\n`;
}

/**
 * The names of all keys of accepted minions, and how many of them have each plain value of `key`, or have it in its
 * list.
 */
function readKey(key: string, bank: "grains" | "pillar", { ids, data }: KnownFleet) {
  const accepted = new Set(ids);
  let names = new Set<string>();
  let values = new Map<string, number>();
  data?.scan(bank, () => {
    [names, values] = [new Set(), new Map()];
    let left = MAX_READ;
    return (id, bytes) => {
      if (bytes === undefined || !accepted.has(id) || left-- <= 0) return;
      // Damaged data count as none, as for the target itself.
      const content = mapOrEmpty(decodeIfWhole(bytes));
      for (const name of content.keys()) names.add(str(name));
      const value = content.get(key) ?? null;
      const plain = asList(value).filter((one) => one !== null && !isMap(one) && !Array.isArray(one));
      for (const one of new Set(plain.map(str))) values.set(one, (values.get(one) ?? 0) + 1);
    };
  });
  return { names, values };
}
