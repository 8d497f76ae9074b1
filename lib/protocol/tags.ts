/**
 * The tags of the events of masters and minions, and the fields of tags about jobs.
 * Source: docs/protocol.md "Events of the master"; docs.saltproject.io, "Salt Master Events".
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
/** `salt/job/<jid>/ack/<id>`: a minion has the job; `state` in it says whether the job has begun. */
export const jobAck = (jid: string, id: string): string => `salt/job/${jid}/ack/${id}`;
/** `salt/job/<jid>/out/<id>`: live output of the job's commands, in a numbered batch (lib/protocol/live_batch.ts). */
export const jobOutput = (jid: string, id: string): string => `salt/job/${jid}/out/${id}`;
/**
 * `salt/job/<jid>/prog/<id>/<number>`: a state of the job is done; `{ret, len}` in it is its result and how many there
 * are.
 */
export const stateProgress = (jid: string, id: string, number: number): string =>
  `salt/job/${jid}/prog/${id}/${number}`;
/** A state of a job of `state.sls` or `state.highstate` has failed on a minion. */
export const stateError = (jid: string, id: string, fun: string): string => `salt/job/${jid}/sub/${id}/error/${fun}`;
/** The prefix of all events of a job; subscribers use it. */
export const jobPrefix = (jid: string): string => `salt/job/${jid}`;
/** `salt/auth`: a minion tried to sign in. */
export const AUTH_EVENT = "salt/auth";
/** `salt/key`: a key changed its state. */
export const KEY_EVENT = "salt/key";
/** `key`: the shared key was replaced. */
export const ROTATE_EVENT = "key";
/** `salt/minion/<id>/start`: a minion has started. */
export const minionStart = (id: string): string => `salt/minion/${id}/start`;
/** On a minion's own bus: it has asked for its pillar again; `complete` in the data says whether it has it. */
export const PILLAR_REFRESHED = "/salt/minion/minion_pillar_refresh_complete";
/** On a minion's or master's own bus: the return of a scheduled job. */
export const SCHEDULE_RETURN = "__schedule_return";
/** On a minion's own bus: a question about its schedule, and the beginning of the tags of the answers. */
export const MANAGE_SCHEDULE = "manage_schedule";
/** Asks the minion to take another key pair of its own; and the answer. */
export const ROTATE_KEY = "rotate_key", KEY_ROTATED = "/salt/minion/minion_rotate_key_complete";
/** `/salt/minion/minion_schedule_<what>_complete`: the answer to such a question. */
export const scheduleAnswer = (what: string): string => `/salt/minion/minion_schedule_${what}_complete`;
/** The answer to the question that saves the schedule. */
export const SCHEDULE_SAVED = "/salt/minion/minion_schedule_saved";
/** `minion_start`, the older form of {@linkcode minionStart}. */
export const LEGACY_START_EVENT = "minion_start";
/** `salt/syndic/<id>/start`: a syndic has started. */
export const syndicStart = (id: string): string => `salt/syndic/${id}/start`;
/** `syndic_start`, the older form of {@linkcode syndicStart}. */
export const LEGACY_SYNDIC_START = "syndic_start";
/** `minion/refresh/<id>`: the grains of a minion were stored again. */
export const minionRefresh = (id: string): string => `minion/refresh/${id}`;
/** `salt/presence/present`: all minions that are connected. */
export const PRESENCE_EVENT = "salt/presence/present";
/** `salt/presence/change`: the minions that connected or disconnected. */
export const PRESENCE_CHANGE_EVENT = "salt/presence/change";
/** The families of functions that run on the master itself. */
export type FunctionKind = "runner" | "wheel";
/**
 * `salt/run/<jid>` or `salt/wheel/<jid>`: the beginning of the tags of all events of a function that runs on the
 * master.
 */
export const functionTag = (kind: FunctionKind, jid: string): string =>
  `salt/${kind === "runner" ? "run" : "wheel"}/${jid}`;
/** The tag of such a function's `new`, `ret`, or progress. */
export const functionEvent = (kind: FunctionKind, jid: string, suffix: string): string =>
  `${functionTag(kind, jid)}/${suffix}`;

/** `salt/batch/<jid>/<what>`: a batch job began, continued, ended, or is to stop. */
export const batchEvent = (jid: string, what: "new" | "progress" | "complete" | "halted" | "stop"): string =>
  `salt/batch/${jid}/${what}`;

/** `salt/job/<jid>/turn`: which minions of a job wait for a place (`running` of `flow`). Not in Salt. */
export const jobTurn = (jid: string): string => `salt/job/${jid}/turn`;

/** What a minion's event says about a job. */
export interface JobSign {
  readonly jid: string;
  /** `ret`: its return; `ack`: it has the job; `out`: live output. */
  readonly kind: "ret" | "ack" | "out";
  readonly id: string;
}

/** Parses the tag of a minion's event about a job; `undefined` for other tags. */
export function jobSign(tag: string): JobSign | undefined {
  const match = /^salt\/job\/([^/]+)\/(ret|ack|out)\/([^/]+)$/.exec(tag);
  return match === null ? undefined : { jid: match[1], kind: match[2] as JobSign["kind"], id: match[3] };
}

/** The job and the minion of the event that a state is done ({@linkcode stateProgress}); `undefined` for other tags. */
export function stateProgressSign(tag: string): Pick<JobSign, "jid" | "id"> | undefined {
  const match = /^salt\/job\/([^/]+)\/prog\/([^/]+)\//.exec(tag);
  return match === null ? undefined : { jid: match[1], id: match[2] };
}

/** The database of a master's jobs does not answer. Not in Salt. */
export const STORE_AWAY = "salt/store/away";

/** It is back, and has what came meanwhile. Not in Salt. */
export const STORE_BACK = "salt/store/back";
