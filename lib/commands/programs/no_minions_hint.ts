/**
 * Hints for an operator whose target matches no minion: keys that are not accepted, the target type that was probably
 * meant, the most similar id. The same for `salt` and `salt-cp`.
 * @module
 */

import { typedCommand } from "#lib/commands/cli/typed_command.ts";
import { quoteShellWord } from "#lib/text/shell_words.ts";
import { TargetError } from "#lib/errors.ts";
import { resolveTarget } from "#lib/fleet/resolve_target.ts";
import type { KeyStore } from "#lib/keys/store.ts";
import { nearestName } from "#lib/text/nearest_name.ts";
import { sanitize } from "#lib/text/terminal.ts";
import { truncateList } from "#lib/text/truncate.ts";
import { str, type Value } from "#lib/values/value.ts";

/** Salt's message. */
export const NO_MINIONS_MATCHED = "No minions matched the target. No command was sent, no jid was assigned.\n";

/** A target as it is sent to the master. */
export interface UnmatchedTarget {
  readonly tgt: Value;
  readonly tgtType: string;
}

/** Target types that need the id alone, so that they can be matched with keys that are not accepted. */
const OF_IDS: readonly string[] = ["glob", "pcre", "list"];

/**
 * Lines for standard error, each with its newline; the empty string if there is no hint.
 * @param keys The master's keys; a user who may not read them gets no hint about them.
 * @param place The master's options, for commands that are shown.
 */
export function noMinionsHint(
  target: UnmatchedTarget,
  keys: Pick<KeyStore, "list">,
  place: { readonly config_dir: string },
): string {
  const lines = [...keyLines(target, keys, place), ...kindLines(target, () => acceptedIds(keys))];
  return sanitize(lines.map((line) => `${line}\n`).join(""));
}

function keyLines(target: UnmatchedTarget, keys: Pick<KeyStore, "list">, place: { config_dir: string }): string[] {
  const pending = matching(target, () => keys.list("pending"));
  const rejected = matching(target, () => keys.list("rejected"));
  const accept = (words: string, [id]: readonly string[]) =>
    typedCommand(`salt-key ${words} ${quoteShellWord(id)}`, place);
  return [
    ...pending.length === 0 ? [] : [
      `Not accepted yet, and so not asked: ${truncateList(pending)}. To accept a key: ${accept("-a", pending)}`,
    ],
    ...rejected.length === 0 ? [] : [
      `Rejected, and so not asked: ${truncateList(rejected)}. ` +
      `To accept a key all the same: ${accept("--include-rejected -a", rejected)}`,
    ],
  ];
}

function matching({ tgt, tgtType }: UnmatchedTarget, ids: () => readonly string[]): readonly string[] {
  if (!OF_IDS.includes(tgtType)) return [];
  try {
    return resolveTarget({ tgt, tgtType }, { ids: ids(), nodegroups: new Map() }).minions;
  } catch (error) {
    if (error instanceof Deno.errors.PermissionDenied || error instanceof TargetError) return [];
    throw error;
  }
}

function acceptedIds(keys: Pick<KeyStore, "list">): readonly string[] {
  try {
    return keys.list("accepted");
  } catch (error) {
    if (error instanceof Deno.errors.PermissionDenied) return [];
    throw error;
  }
}

/** Patterns of texts that look like another target type, and the option for that type. */
const KINDS: readonly (readonly [looksLike: RegExp, option: string, what: string])[] = [
  [/^[A-Z]?.?@|\s[A-Z].?@|(^|\s)(and|or|not)\s/, "-C", "a compound target"],
  [/^[^\s,]+([,\s]+[^\s,]+)+$/, "-L", "a list of ids"],
  [/^\d+(\.\d+){3}(\/\d+)?$/, "-S", "an address"],
  [/^[\w.]+:./, "-G", "a grain"],
  [/[\\^$|]|\.[*+]|\(.*\)/, "-E", "a regular expression"],
];

function kindLines({ tgt, tgtType }: UnmatchedTarget, ids: () => readonly string[]): readonly string[] {
  if (tgtType === "list") {
    const listed = Array.isArray(tgt) ? tgt.map(str) : str(tgt).split(",");
    return listed.flatMap((id) => nearLine(id, ids(), ` for ${id}`));
  }
  if (tgtType !== "glob" || typeof tgt !== "string") return [];
  const kind = KINDS.find(([looksLike]) => looksLike.test(tgt));
  if (kind !== undefined) {
    return [`The target was read as a glob. For ${kind[2]} there is ${kind[1]}: ${kind[1]} '${tgt}'`];
  }
  return /[*?[]/.test(tgt) ? [] : nearLine(tgt, ids());
}

function nearLine(id: string, ids: readonly string[], which = ""): string[] {
  const near = ids.includes(id) ? undefined : nearestName(id, ids);
  return near === undefined ? [] : [`Did you mean ${near}${which}?`];
}
