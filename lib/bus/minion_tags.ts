/**
 * The events that a minion may fire on the master's bus: a table of the tag families that other programs trust, with
 * the part of each that a minion may use. Other tags are free, as documented for `event.send`. A client that waits for
 * a job, a program that watches keys, or a reactor would act on a forged event. Only tags are checked, not data.
 * Source: docs/protocol.md "Commands of minions"; CVE-2025-22239; the tags that minions of Salt 3008.3 fire
 * (`salt/minion.py`, `salt/state.py`, `salt/beacons`).
 * @module
 */

import { isJid } from "#lib/protocol/jid.ts";

/** Placeholders in {@linkcode FAMILIES}. */
const PARTS = {
  /** The id of the minion that fires the event. */
  own: "<id>",
  jid: "<jid>",
  /** One part or more, at the end. */
  rest: "**",
} as const;

/** The protected families by prefix, and the suffixes that a minion may use. */
const FAMILIES: Readonly<Record<string, readonly string[]>> = {
  "salt/job": ["<jid>/start/<id>", "<jid>/ack/<id>", "<jid>/out/<id>", "<jid>/out/<id>/**", "<jid>/prog/<id>/**"],
  "salt/minion": ["<id>/**"],
  "salt/beacon": ["<id>/**"],
  "salt/state_result": ["<jid>/<id>/**"],
  "salt/syndic": ["<id>/**"],
  "syndic": ["<id>/**"],
  // Only masters fire this.
  "key": [],
  "minion/refresh": [],
  "resource/refresh": [],
  "salt/auth": [],
  "salt/batch": [],
  "salt/cloud": [],
  "salt/cluster": [],
  "salt/fileserver": [],
  "salt/key": [],
  "salt/presence": [],
  "salt/reactors": [],
  "salt/run": [],
  "salt/stats": [],
  "salt/wheel": [],
};

/** The table with parsed tags. */
const RULES = Object.entries(FAMILIES).map(([family, own]) => ({
  family: family.split("/"),
  own: own.map((end) => end.split("/")),
}));

/** Maximum length of a tag, in UTF-16 units: that of a beacon has a path. The master remembers tags by the thousand. */
const MAX_TAG = 8_192;

/**
 * Whether a text from a minion may be a tag. It has no control characters: a newline could end it early, and the rest
 * would become data chosen by the minion.
 */
export function isForeignTag(tag: string): boolean {
  return tag.length <= MAX_TAG && !/\p{Cc}/u.test(tag);
}

/** Whether the minion `id` may fire an event with `tag` on the master's bus. */
export function minionMayFire(tag: string, id: string): boolean {
  if (!isForeignTag(tag)) return false;
  const parts = tag.split("/");
  if (isJid(parts[0])) return false; // the oldest form of a job's events
  const rule = RULES.find(({ family }) => family.every((part, i) => parts[i] === part));
  if (rule === undefined) return true;
  const end = parts.slice(rule.family.length);
  return rule.own.some((pattern) => fits(pattern, end, id));
}

function fits(pattern: readonly string[], parts: readonly string[], id: string): boolean {
  const open = pattern.at(-1) === PARTS.rest;
  if (open ? parts.length < pattern.length : parts.length !== pattern.length) return false;
  return pattern.every((part, i) =>
    part === PARTS.rest ||
    (part === PARTS.own ? parts[i] === id : part === PARTS.jid ? isJid(parts[i]) : parts[i] === part)
  );
}
