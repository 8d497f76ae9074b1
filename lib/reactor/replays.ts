/**
 * Requests to start the reactions of past events: files that the runner writes, one each, and the reactor takes when
 * an event names it. The event alone has no effect, whoever fires it.
 * @module
 */

import { readTextFileIfExists, removeIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { isJid } from "#lib/protocol/jid.ts";
import { dumpJson } from "#lib/values/json.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { isMap, map, str, toNumber } from "#lib/values/value.ts";

/** The beginning of the tags of events that name a request. */
export const REPLAY_EVENT = "salt/reactors/replay/";

/** The events of a request. */
export interface Replay {
  /** The number of the first one, and of the one after the last. */
  readonly first: number;
  readonly next: number;
  /** A glob of their tags. */
  readonly tag: string;
}

function replayPath(directory: string, jid: string): string {
  if (!isJid(jid)) throw new RangeError(`no job id: ${jid}`);
  return `${directory}/replay-${jid}.json`;
}

/** Writes a request. */
export function writeReplay(directory: string, jid: string, replay: Replay): void {
  writeFileAtomic(replayPath(directory, jid), dumpJson(map({ ...replay })), { mode: 0o600 });
}

/** Takes the request that an event names; `undefined` if there is none. */
export function takeReplay(directory: string, tag: string): Replay | undefined {
  const jid = tag.slice(REPLAY_EVENT.length);
  if (!tag.startsWith(REPLAY_EVENT) || !isJid(jid)) return undefined;
  const path = replayPath(directory, jid);
  const text = readTextFileIfExists(path);
  if (text === undefined) return undefined;
  removeIfExists(path);
  const value = parseJson(text);
  const first = isMap(value) ? toNumber(value.get("first")) : undefined;
  const next = isMap(value) ? toNumber(value.get("next")) : undefined;
  if (!isMap(value) || first === undefined || next === undefined) return undefined;
  return { first, next, tag: str(value.get("tag") ?? "*") };
}
