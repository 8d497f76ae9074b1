/**
 * The tags of the events that a master and its minions fire, and what a tag tells of a job.
 * Source: salt-protocol section 7 and docs.saltproject.io, "Salt Master Events".
 * @module
 */

/** `salt/job/<jid>/new`: a job was published. */
export const jobNew = (jid: string): string => `salt/job/${jid}/new`;
/** `salt/job/<jid>/publish`: the load that went to the minions. */
export const jobPublish = (jid: string): string => `salt/job/${jid}/publish`;
/** `salt/job/<jid>/ret/<id>`: a minion's return. */
export const jobReturn = (jid: string, id: string): string => `salt/job/${jid}/ret/${id}`;
/** `salt/job/<jid>/start/<id>`: a minion has begun a job. */
export const jobStart = (jid: string, id: string): string => `salt/job/${jid}/start/${id}`;
/** `salt/job/<jid>/ack/<id>`: a minion has the job; `state` in it says whether it has begun. */
export const jobAck = (jid: string, id: string): string => `salt/job/${jid}/ack/${id}`;
/** `salt/job/<jid>/out/<id>`: what the commands of a watched job have written, in a numbered batch (lib/protocol/live_batch.ts). */
export const jobOutput = (jid: string, id: string): string => `salt/job/${jid}/out/${id}`;
/** What every event of a job begins with; a subscriber asks for this. */
export const jobPrefix = (jid: string): string => `salt/job/${jid}`;
/** `salt/auth`: a minion asked to be let in. */
export const AUTH_EVENT = "salt/auth";
/** `salt/key`: a key changed its state. */
export const KEY_EVENT = "salt/key";
/** `key`: the shared key was changed. */
export const ROTATE_EVENT = "key";
/** `salt/minion/<id>/start`: a minion is up. */
export const minionStart = (id: string): string => `salt/minion/${id}/start`;
/** `minion_start`, the older form of {@linkcode minionStart}. */
export const LEGACY_START_EVENT = "minion_start";
/** `minion/refresh/<id>`: the grains of a minion were stored anew. */
export const minionRefresh = (id: string): string => `minion/refresh/${id}`;
/** `salt/presence/change`: who came and who left. */
export const PRESENCE_CHANGE_EVENT = "salt/presence/change";
/** `salt/run/<jid>/<suffix>`: a runner's `new`, `ret`, or progress. */
export const runEvent = (jid: string, suffix: string): string => `salt/run/${jid}/${suffix}`;

/** A sign that a minion gave of a job. */
export interface JobSign {
  /** The job's id. */
  readonly jid: string;
  /** What it was: its return, that it has the job, or what a command of the job wrote. */
  readonly kind: "ret" | "ack" | "out";
  /** The minion. */
  readonly id: string;
}

/** The sign of a job that an event's tag tells of; `undefined` if it tells of none. */
export function jobSign(tag: string): JobSign | undefined {
  const match = /^salt\/job\/([^/]+)\/(ret|ack|out)\/([^/]+)$/.exec(tag);
  return match === null ? undefined : { jid: match[1], kind: match[2] as JobSign["kind"], id: match[3] };
}
