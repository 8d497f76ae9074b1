/**
 * What the console knows: who is signed in, the minions, the jobs, and the stream of events that keeps all of it true.
 * Pages read its signals. Events are put together, and drawn at most ten times a second; a hidden tab draws nothing.
 * @module
 */

import { getJob, getSession, isMasterReady, listJobs, listMinions, readEvents } from "./api.js";
import { signal } from "./vendor/signals.js";
import { jidTime, messageOf } from "./parts.js";

/** @typedef {import("./parts.js").Mark} Mark */
/** @typedef {import("./api.js").SaltEvent} SaltEvent */

/**
 * @typedef {object} Minion
 * @property {string} id
 * @property {boolean} connected
 * @property {number} since when its connection began, or ended; NaN: unknown
 * @property {string} address
 * @property {string} version
 * @property {string} os
 * @property {string} fun its last job
 * @property {string} jid
 * @property {Mark} last how that ended; `off`: unknown
 * @property {Mark} states how its newest run of states ended; `off`: unknown
 * @property {string} statesJid
 * @property {ReadonlySet<string>} running jobs
 * @property {Mark} mark
 */

/**
 * @typedef {object} Job
 * @property {string} jid
 * @property {string} fun
 * @property {string} arg
 * @property {string} target
 * @property {string} user
 * @property {number} minions
 * @property {number} returned
 * @property {number} failed
 * @property {number} endedMs when the last return came; NaN: unknown
 * @property {boolean} question whether it only shows something on a page
 */

/** Who is signed in; `undefined`: not asked yet. */
export const session = signal(/** @type {import("./api.js").Session | undefined} */ (undefined));
/** The accepted minions by id, sorted. */
export const minions = signal(/** @type {readonly Minion[]} */ ([]));
/** How many keys wait. */
export const waiting = signal(0);
/** The jobs, the newest first. */
export const jobs = signal(/** @type {readonly Job[]} */ ([]));
/** What is loaded: `loading`, `ready`, or a sentence that says why not. */
export const loaded = signal({ state: "loading", error: "" });
/** The stream of events. `atMs`: when it was last alive. */
export const stream = signal({ isLive: false, atMs: Date.now(), rate: 0 });

/** The jobs that are remembered. */
const MOST_JOBS = 500;
/** Time between two drawings of what events changed, in milliseconds. */
const DRAW_MS = 100;
/** Silence of the stream after which the master is asked whether it runs, and time between two asks, in milliseconds. */
const SILENT_MS = 3000;
/** Jobs whose returns are read at the start, for the outcomes of minions; and the most minions of such a job. */
const LOOKED_JOBS = 8, MOST_LOOKED = 500;

/** @type {Map<string, Minion>} */
const known = new Map();
/** @type {Map<string, Job>} */
const knownJobs = new Map();
/** @type {Set<(event: SaltEvent) => void>} */
const listeners = new Set();
/** @type {AbortController | undefined} */
let open;
/** The offset of the last event that was seen. */
let last = "";
let seen = 0, heardAtMs = 0, countedAtMs = Date.now(), drawTimer = 0, reloadTimer = 0;

/**
 * Calls `listener` with each event.
 * @param {(event: SaltEvent) => void} listener
 * @returns {() => void} Ends it.
 */
export function onEvent(listener) {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Asks who is signed in. */
export async function loadSession() {
  session.value = await getSession();
}

/** Reads the fleet and follows its events. */
export async function begin() {
  end();
  open = new AbortController();
  void follow(open.signal);
  await reload();
}

/** Ends it: nobody is signed in. */
export function end() {
  open?.abort();
  open = undefined;
  known.clear();
  knownJobs.clear();
  last = "";
  minions.value = [];
  jobs.value = [];
  loaded.value = { state: "loading", error: "" };
}

/** Reads minions and jobs again; what is shown stays until then. */
export async function reload() {
  try {
    const [rows, jobRows] = await Promise.all([listMinions(), listJobs()]);
    takeMinions(rows);
    for (const row of jobRows) takeJob(row);
    loaded.value = { state: "ready", error: "" };
    draw();
    await lookAtOutcomes();
  } catch (error) {
    loaded.value = { state: loaded.value.state === "ready" ? "ready" : "error", error: messageOf(error) };
  }
}

/** @param {readonly import("./api.js").MinionRow[]} rows */
function takeMinions(rows) {
  const accepted = rows.filter(({ key }) => key === "accepted");
  const ids = new Set(accepted.map(({ id }) => id));
  for (const id of known.keys()) if (!ids.has(id)) known.delete(id);
  for (const { id, connected, address, version, os, last_job } of accepted) {
    const before = known.get(id);
    const [fun = "", jid = ""] = last_job.split(" ");
    const since = Date.parse(`${connected.replace(" ", "T")}Z`);
    known.set(id, marked({
      id,
      connected: connected !== "",
      since: Number.isNaN(since) ? before?.since ?? NaN : since,
      address,
      version,
      os,
      fun,
      jid,
      last: before !== undefined && before.jid >= jid ? before.last : "off",
      states: before?.states ?? "off",
      statesJid: before?.statesJid ?? "",
      running: before?.running ?? new Set(),
      mark: "ok",
    }));
  }
  waiting.value = rows.filter(({ key }) => key === "pending").length;
}

/** @param {import("./api.js").JobRow} row */
function takeJob(row) {
  const before = knownJobs.get(row.jid);
  knownJobs.set(row.jid, {
    jid: row.jid,
    fun: row.function,
    arg: before?.arg ?? "",
    target: row.target,
    user: row.user,
    minions: row.minions,
    returned: row.returned,
    failed: row.failed,
    endedMs: before?.endedMs ?? NaN,
    question: row.question,
  });
}

/** The outcomes of the newest jobs that failed or tried states: what the fleet's bar says at first. */
async function lookAtOutcomes() {
  const wanted = jobs.value
    .filter(({ fun, failed, minions, question }) => !question && minions <= MOST_LOOKED && (failed > 0 || isStates(fun)))
    .slice(0, LOOKED_JOBS);
  for (const { jid, fun } of wanted.reverse()) {
    const job = await getJob(jid);
    for (const [id, result] of Object.entries(job.Result ?? {})) noteReturn(id, jid, fun, result);
  }
  draw();
}

/** @param {string} fun */
export function isStates(fun) {
  return /^state\.(apply|highstate|sls|sls_id|single|test|plan|top)\b/.test(fun);
}

/**
 * How a return is: failed, changed (states), or as it should be.
 * @param {string} fun
 * @param {any} result with `return`, `retcode`, `success`
 * @returns {Mark}
 */
export function markOf(fun, result) {
  const code = typeof result.retcode === "object" ? Math.max(0, ...Object.values(result.retcode ?? {})) : result.retcode;
  if ((code ?? 0) !== 0 || result.success === false) return "bad";
  if (!isStates(fun)) return "ok";
  const states = Object.values(statesOf(result.return));
  return states.some((state) => state?.result === null || Object.keys(state?.changes ?? {}).length > 0) ? "chg" : "ok";
}

/**
 * The results of states in a return, by tag.
 * @param {any} value
 * @returns {Record<string, any>}
 */
export function statesOf(value) {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return {};
  return Object.fromEntries(Object.entries(value).filter(([tag]) => tag.includes("_|-")));
}

/**
 * @param {string} id
 * @param {string} jid
 * @param {string} fun
 * @param {any} result
 */
function noteReturn(id, jid, fun, result) {
  const minion = known.get(id);
  if (minion === undefined) return;
  const running = new Set(minion.running);
  running.delete(jid);
  const mark = markOf(fun, result);
  known.set(id, marked({
    ...minion,
    running,
    ...jid >= minion.jid && !isSignal(fun) ? { jid, fun, last: mark } : {},
    ...jid >= minion.statesJid && isStates(fun) ? { statesJid: jid, states: mark } : {},
  }));
}

/** A job that ends well tells nothing of the states: they stay as their newest run found them. @param {Minion} minion @returns {Minion} */
function marked(minion) {
  const { connected, running, last, states } = minion;
  const rest = last === "bad" || states === "bad" ? "bad" : states === "chg" ? "chg" : "ok";
  return { ...minion, mark: !connected ? "off" : running.size > 0 ? "run" : rest };
}

/** Reads the stream, again after each end, from where it was. @param {AbortSignal} signal */
async function follow(signal) {
  for (let waitMs = 500; !signal.aborted; waitMs = Math.min(waitMs * 2, 10_000)) {
    const reading = new AbortController();
    try {
      void watchMaster(reading, signal);
      await readEvents({
        since: last === "" ? undefined : last,
        signal: AbortSignal.any([signal, reading.signal]),
        onOpen: () => {
          waitMs = 500;
          stream.value = { ...stream.value, isLive: true, atMs: Date.now() };
        },
        onEvents: (events) => events.forEach(take),
        onGap: () => void reload(),
      });
    } catch (error) {
      // An offset of a log that is gone: what came since is read anew.
      if (error instanceof Error && "status" in error && error.status === 400) last = "";
    } finally {
      reading.abort();
    }
    if (signal.aborted) return;
    stream.value = { ...stream.value, isLive: false };
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    if (last === "") void reload();
  }
}

/**
 * Ends the reading of a silent stream when the master does not run: it is opened again as soon as it does.
 * @param {AbortController} reading
 * @param {AbortSignal} signal
 */
async function watchMaster(reading, signal) {
  heardAtMs = Date.now();
  while (true) {
    await new Promise((resolve) => setTimeout(resolve, SILENT_MS));
    if (signal.aborted || reading.signal.aborted) return;
    if (Date.now() - heardAtMs >= SILENT_MS && !await isMasterReady(reading.signal)) return reading.abort();
  }
}

/** @param {SaltEvent} event */
function take(event) {
  if (event.offset !== "") last = event.offset;
  seen++;
  heardAtMs = Date.now();
  const [, kind, jid, word, id] = /^salt\/(job|minion|presence|auth|key)(?:\/([^/]+))?(?:\/([^/]+))?(?:\/(.+))?$/.exec(event.tag) ?? [];
  if (kind === "job" && word === "new") begun(jid, event.data);
  else if (kind === "job" && word === "publish") published(jid, event.data);
  else if (kind === "job" && word === "ret") returned(jid, id, event.data);
  else if (kind === "presence" && jid === "change") presence(event.data);
  else if (kind === "minion" && word === "start") presence({ new: [jid], lost: [] });
  else if (kind === "auth" || kind === "key") reloadSoon();
  for (const listener of listeners) listener(event);
  drawSoon();
}

/** @param {string} jid @param {any} data */
function begun(jid, data) {
  if (isWatching(data.fun)) return;
  const ids = /** @type {string[]} */ (data.minions ?? []);
  knownJobs.set(jid, {
    jid,
    fun: funText(data.fun),
    arg: argText(data.arg),
    target: Array.isArray(data.tgt) ? data.tgt.join(",") : String(data.tgt ?? ""),
    user: String(data.user ?? ""),
    minions: ids.length,
    returned: 0,
    failed: 0,
    endedMs: NaN,
    question: false,
  });
  for (const id of ids) {
    const minion = known.get(id);
    if (minion !== undefined) known.set(id, marked({ ...minion, running: new Set([...minion.running, jid]) }));
  }
}

/** A question of a page is no work of its minions: its publish says that it is one. @param {string} jid @param {any} data */
function published(jid, data) {
  const job = knownJobs.get(jid);
  if (job === undefined || data.metadata?.question !== true) return;
  knownJobs.set(jid, { ...job, question: true });
  for (const [id, minion] of known) {
    if (!minion.running.has(jid)) continue;
    const running = new Set(minion.running);
    running.delete(jid);
    known.set(id, marked({ ...minion, running }));
  }
}

/** @param {string} jid @param {string} id @param {any} data */
function returned(jid, id, data) {
  const fun = funText(data.fun);
  if (isWatching(data.fun)) return;
  const job = knownJobs.get(jid);
  if (job?.question !== true) noteReturn(id, jid, fun, data);
  if (job === undefined) return;
  const failed = job.failed + (markOf(fun, data) === "bad" ? 1 : 0);
  knownJobs.set(jid, { ...job, returned: job.returned + 1, failed, endedMs: Date.now() });
}

/** @param {any} change */
function presence(change) {
  for (const [ids, connected] of [[change.new, true], [change.lost, false]]) {
    for (const id of ids ?? []) {
      const minion = known.get(id);
      if (minion === undefined) reloadSoon();
      else if (minion.connected !== connected) {
        known.set(id, marked({ ...minion, connected, since: Date.now(), running: connected ? minion.running : new Set() }));
      }
    }
  }
}

/** @param {unknown} fun */
export function isWatching(fun) {
  return fun === "saltutil.find_job" || fun === "saltutil.running";
}

/** Whether a job only ends or signals another: it says nothing of its minion. @param {string} fun */
function isSignal(fun) {
  return /^saltutil\.(term|kill|signal)_(job|all_jobs)$/.test(fun);
}

/** @param {unknown} fun */
export function funText(fun) {
  return Array.isArray(fun) ? fun.join(",") : String(fun ?? "");
}

/** The arguments of a job as one types them. @param {unknown} args @returns {string} */
export function argText(args) {
  if (!Array.isArray(args)) return "";
  return args.map((arg) => {
    if (arg === null || typeof arg !== "object") return String(arg);
    if (!("__kwarg__" in arg)) return JSON.stringify(arg);
    return Object.entries(arg).filter(([name]) => name !== "__kwarg__").map(([name, value]) =>
      `${name}=${typeof value === "object" ? JSON.stringify(value) : value}`
    ).join(" ");
  }).join(" ");
}

function reloadSoon() {
  clearTimeout(reloadTimer);
  reloadTimer = setTimeout(() => void reload(), 300);
}

function drawSoon() {
  if (drawTimer === 0 && !document.hidden) drawTimer = setTimeout(draw, DRAW_MS);
}

function draw() {
  clearTimeout(drawTimer);
  drawTimer = 0;
  minions.value = [...known.values()].sort((a, b) => a.id < b.id ? -1 : 1);
  const sorted = [...knownJobs.values()].sort((a, b) => a.jid < b.jid ? 1 : -1);
  for (const { jid } of sorted.slice(MOST_JOBS)) knownJobs.delete(jid);
  jobs.value = sorted.slice(0, MOST_JOBS);
  const nowMs = Date.now();
  if (nowMs - countedAtMs >= 1000) {
    stream.value = { ...stream.value, atMs: nowMs, rate: Math.round(seen * 1000 / (nowMs - countedAtMs)) };
    [seen, countedAtMs] = [0, nowMs];
  }
}

document.addEventListener("visibilitychange", drawSoon);
setInterval(() => {
  if (stream.value.isLive) drawSoon();
}, 2000);

/** How long a job took, in milliseconds; NaN: unknown. @param {Job} job */
export function jobMs({ jid, endedMs }) {
  return endedMs - jidTime(jid);
}
