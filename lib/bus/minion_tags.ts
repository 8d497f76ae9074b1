/**
 * Which events a minion may fire on the master's bus: a table of the families of tags that others believe, and of what in
 * each is a minion's own. Outside these families a minion fires what it likes, as `event.send` promises.
 *
 * Events forged under another's tag would be believed by whoever waits for a job, watches keys, or reacts to a beacon.
 * Only tags are judged: what the data of an event says, its minion says.
 * Source: salt-protocol.md sections 7 and 13 (CVE-2025-22239); Salt 3008.3 `salt/minion.py`, `salt/state.py`,
 * `salt/beacons`: the tags that its minions fire.
 * @module
 */

import { isJid } from "../protocol/jid.ts";

/** The parts of tags in {@linkcode FAMILIES} that stand for something. */
const PARTS = {
  /** The id of the minion that fires it. */
  own: "<id>",
  jid: "<jid>",
  /** One part or more, at the end. */
  rest: "**",
} as const;

/** By its beginning, each family whose tags are not free, and the ends that a minion may add to it. */
const FAMILIES: Readonly<Record<string, readonly string[]>> = {
  "salt/job": ["<jid>/start/<id>", "<jid>/ack/<id>", "<jid>/out/<id>", "<jid>/out/<id>/**", "<jid>/prog/<id>/**"],
  "salt/minion": ["<id>/**"],
  "salt/beacon": ["<id>/**"],
  "salt/state_result": ["<jid>/<id>/**"],
  "salt/syndic": ["<id>/**"],
  "syndic": ["<id>/**"],
  // What only a master does.
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
  "salt/run": [],
  "salt/stats": [],
  "salt/wheel": [],
};

/** The table with its tags taken apart. */
const RULES = Object.entries(FAMILIES).map(([family, own]) => ({
  family: family.split("/"),
  own: own.map((end) => end.split("/")),
}));

/** Whether the minion `id` may fire an event under `tag` on the master's bus. */
export function minionMayFire(tag: string, id: string): boolean {
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
