/**
 * What the console asks of the API: the one file that knows its routes.
 * @module
 */

/** Where the API is: one level above the console. */
const ROOT = new URL("../", document.baseURI);

/** An answer that is an error; its message is a sentence for the user. */
export class ApiError extends Error {
  /**
   * @param {number} status 0: there was no answer
   * @param {string} message
   */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** @type {(() => void) | undefined} */
let whenSignedOut;

/**
 * Calls `act` when an answer says that the session has ended.
 * @param {() => void} act
 */
export function onSignedOut(act) {
  whenSignedOut = act;
}

/**
 * @param {string} path
 * @param {{ method?: string, body?: unknown, isLogIn?: boolean, signal?: AbortSignal }} [options]
 * @returns {Promise<any>}
 * @throws {ApiError}
 */
async function send(path, { method = "GET", body, isLogIn = false, signal } = {}) {
  let response;
  try {
    response = await fetch(new URL(path, ROOT), {
      method,
      signal,
      headers: { Accept: "application/json", ...body === undefined ? {} : { "Content-Type": "application/json" } },
      body: body === undefined ? undefined : JSON.stringify(body),
      credentials: "same-origin",
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, "The API does not answer. What is shown stays, with its age.");
  }
  const answer = await response.json().catch(() => undefined);
  if (response.ok) return answer;
  if (response.status === 401 && !isLogIn && isSignedOut(answer)) whenSignedOut?.();
  throw new ApiError(response.status, answer?.error?.message ?? `The API answered ${response.status}.`);
}

/**
 * Whether a refusal is of the session, and not of one call.
 * @param {any} answer
 */
function isSignedOut(answer) {
  return /^(Authentication error occurred|No authentication credentials given)/.test(answer?.error?.message ?? "");
}

/**
 * @typedef {object} Session
 * @property {string[]} eauth the systems that users may log in with by a password
 * @property {string} [oidc] the name of the provider that users may log in by
 * @property {string} [user]
 * @property {number} [expires] seconds since the epoch
 * @property {string} [master]
 * @property {unknown[]} [perms]
 */

/**
 * Who is signed in.
 * @returns {Promise<Session>}
 */
export async function getSession() {
  return await send("console/session.json");
}

/**
 * Signs in; the cookie that comes with the answer is all that is kept.
 * @param {{ username: string, password: string, eauth: string }} credentials
 */
export async function logIn(credentials) {
  await send("login", { method: "POST", body: credentials, isLogIn: true });
}

/**
 * The address that begins a log-in by the provider, and comes back to a page.
 * @param {string} page the fragment of its address: `#/keys`
 */
export function providerAddress(page) {
  return new URL(`login/oidc?${new URLSearchParams({ page: page.slice(1) })}`, ROOT).href;
}

/** Ends the session. */
export async function logOut() {
  await send("logout", { method: "POST", body: {} });
}

/**
 * Runs one chunk.
 * @param {Record<string, unknown>} low
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
async function runChunk(low, signal) {
  const answer = await send("", { method: "POST", body: [low], signal });
  return answer.return[0];
}

/**
 * The result of a runner.
 * @param {string} fun
 * @param {Record<string, unknown>} [kwarg]
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export async function callRunner(fun, kwarg = {}, signal) {
  const value = await runChunk({ client: "runner", fun, kwarg }, signal);
  return value !== null && typeof value === "object" && "outputter" in value && "data" in value ? value.data : value;
}

/**
 * The result of a wheel function.
 * @param {string} fun
 * @param {Record<string, unknown>} [kwarg]
 * @returns {Promise<any>}
 */
async function callWheel(fun, kwarg = {}) {
  const { data } = await runChunk({ client: "wheel", fun, kwarg });
  if (data?.success !== true) throw new ApiError(400, String(data?.return ?? "The master gave no result."));
  return data.return;
}

/**
 * @typedef {object} MinionRow
 * @property {string} id
 * @property {string} key `accepted`, `pending`, `rejected`, `denied`
 * @property {string} connected since when; empty: not
 * @property {string} address
 * @property {string} version
 * @property {string} os
 * @property {string} last_job `test.ping 20261123231502118734`
 */

/**
 * A row for each minion.
 * @returns {Promise<MinionRow[]>}
 */
export async function listMinions() {
  return await callRunner("overview.minions");
}

/**
 * @typedef {object} JobRow
 * @property {string} jid
 * @property {string} started
 * @property {string} user
 * @property {string} function
 * @property {string} target
 * @property {number} minions
 * @property {number} returned
 * @property {number} failed
 * @property {boolean} question whether it only shows something on a page
 */

/**
 * The newest jobs, the newest last.
 * @param {{ limit?: number, match?: string }} [options]
 * @returns {Promise<JobRow[]>}
 */
export async function listJobs({ limit = 200, match = "*" } = {}) {
  return await callRunner("overview.jobs", { limit, match, questions: true });
}

/**
 * One job with its returns and its outcomes.
 * @param {string} jid
 * @returns {Promise<any>}
 */
export async function getJob(jid) {
  return await callRunner("jobs.list_job", { jid });
}

/**
 * The minions that a target matches now, by the master's own data: no minion is asked.
 * @param {{ tgt: string | string[], tgt_type: string }} target
 * @param {AbortSignal} [signal]
 * @returns {Promise<string[]>}
 */
export async function previewTarget({ tgt, tgt_type }, signal) {
  return Object.keys(await callRunner("cache.mine", { tgt, tgt_type }, signal)).sort();
}

/**
 * Starts a job.
 * @param {{ tgt: string | string[], tgt_type: string, fun: string, arg: unknown[], kwarg: Record<string, unknown> }} job
 * @returns {Promise<{ jid?: string, minions?: string[] }>} nothing if nobody matches
 */
export async function startJob(job) {
  return await runChunk({ client: "local_async", live: true, ...job });
}

/**
 * Runs a job on some of the minions at a time; the parts end when this page is closed.
 * @param {{ tgt: string[], tgt_type: string, fun: string, arg: unknown[], kwarg: Record<string, unknown>, batch: string }} job
 */
export async function runBatch(job) {
  await send("", { method: "POST", body: [{ client: "local_batch", ...job }] });
}

/**
 * Runs a function and waits for the minions.
 * @param {{ tgt: string | string[], tgt_type: string, fun: string, arg?: unknown[], kwarg?: Record<string, unknown>, metadata?: Record<string, unknown> }} job
 * @returns {Promise<Record<string, any>>} returns by minion
 */
export async function callMinions(job) {
  return await runChunk({ client: "local", ...job });
}

/**
 * Asks minions what a page shows: nobody has started this, and it is no minion's last job.
 * @param {{ tgt: string | string[], tgt_type: string, fun: string, arg?: unknown[], kwarg?: Record<string, unknown> }} job
 * @returns {Promise<Record<string, any>>} returns by minion
 */
export async function askMinions(job) {
  return await callMinions({ metadata: { question: true }, ...job });
}

/** @typedef {{ id: string, state: "pending" | "accepted" | "rejected" | "denied", finger: string }} KeyRow */

const KEY_STATES = /** @type {const} */ ({
  minions_pre: "pending",
  minions: "accepted",
  minions_rejected: "rejected",
  minions_denied: "denied",
});

/**
 * The keys with their fingerprints.
 * @param {string} [match] a glob of ids
 * @returns {Promise<KeyRow[]>}
 */
export async function listKeys(match = "*") {
  const found = await callWheel("key.finger", { match });
  return Object.entries(KEY_STATES).flatMap(([name, state]) =>
    Object.entries(found[name] ?? {}).map(([id, finger]) => ({ id, state, finger: String(finger) }))
  );
}

/**
 * Accepts the key whose fingerprint was seen, and no other.
 * @param {KeyRow} key
 * @throws {ApiError} 409 if the id has another key now
 */
export async function acceptKey({ id, state, finger }) {
  const now = (await listKeys(id)).find((key) => key.id === id && key.state === state);
  if (now === undefined) throw new ApiError(409, `There is no such key of ${id} any more.`);
  if (now.finger !== finger) {
    throw new ApiError(409, `${id} has sent another key meanwhile. Nothing was accepted: compare the new fingerprint.`);
  }
  await callWheel("key.accept", { match: id, include_rejected: state === "rejected", include_denied: state === "denied" });
}

/** @param {KeyRow} key */
export async function rejectKey({ id, state }) {
  await callWheel("key.reject", { match: id, include_accepted: state === "accepted", include_denied: state === "denied" });
}

/** @param {KeyRow} key */
export async function deleteKey({ id }) {
  await callWheel("key.delete", { match: id });
}

/**
 * @typedef {object} AuditRow
 * @property {number} n
 * @property {string} at
 * @property {string} user
 * @property {string} from
 * @property {string} what
 * @property {string} target
 * @property {number | null} count minions; null: not of minions
 * @property {"done" | "refused" | "failed"} outcome
 */

/**
 * A page of the audit log, the newest first.
 * @param {{ after?: string, outcome?: string }} [options]
 * @returns {Promise<{ entries: AuditRow[], next: string | null }>}
 */
export async function listAudit({ after, outcome } = {}) {
  const query = new URLSearchParams({ limit: "200", ...after ? { after } : {}, ...outcome ? { outcome } : {} });
  return await send(`api/v1/audit?${query}`);
}

/**
 * The schedules of all connected minions: entries by minion and name.
 * @returns {Promise<Record<string, Record<string, any>>>}
 */
export async function listSchedules() {
  return (await send("api/v1/schedule")).minions;
}

/** @typedef {{ jid: string, outcome: "returned" | "failed" | "interrupted" | "refused" | "cancelled" }} ScheduleOutcome */

/**
 * How the jobs of schedules ended last: by minion and name.
 * @returns {Promise<Record<string, Record<string, ScheduleOutcome>>>}
 */
export async function listScheduleOutcomes() {
  return (await send("api/v1/schedule/outcomes")).minions;
}

/** @typedef {{ queue: string, kind: string, waiting: number, oldest: string, dropped: number, error: string }} QueueRow */

/** The queues of the master. @returns {Promise<QueueRow[]>} */
export async function listQueues() {
  return (await send("api/v1/queues")).queues;
}

/**
 * @typedef {object} Drift
 * @property {{ day: string, planned: number, differ: number, failed: number, states: { state: string, minions: number }[] }[]} days
 * @property {{ state: string, minions: number, days: number }[]} states
 * @property {Record<string, string>} minions a letter for each day: `=` as it should be, `!` differs, `x` failed, `.` no plan
 * @property {number} more
 */

/** How the fleet differed from its states, in 30 days. @returns {Promise<Drift>} */
export async function getDrift() {
  return await send("api/v1/drift?days=30");
}

/** @typedef {{ day: string, at: number, outcome: "ok" | "differs" | "failed", states: string[] }} DriftDay */

/** The days of one minion. @param {string} id @returns {Promise<DriftDay[]>} */
export async function getMinionDrift(id) {
  return (await send(`api/v1/minions/${encodeURIComponent(id)}/drift?days=30`)).days;
}

/** @typedef {{ id: string, name: string, rights: unknown[] | null, made: number, expires: number, used: number | null, address: string | null }} TokenRow */

/** The user's API tokens. @returns {Promise<TokenRow[]>} */
export async function listTokens() {
  return (await send("api/v1/tokens")).tokens;
}

/** Makes an API token. @param {{ name: string, days: number }} token @returns {Promise<string>} the secret, which is shown this once */
export async function makeToken(token) {
  return (await send("api/v1/tokens", { method: "POST", body: token })).secret;
}

/** @param {string} id */
export async function deleteToken(id) {
  await send(`api/v1/tokens/${encodeURIComponent(id)}`, { method: "DELETE" });
}

/** Logs the user out everywhere. */
export async function endSessions() {
  await send("api/v1/sessions", { method: "DELETE" });
}

/** An answer about the master's health that takes longer is none, in milliseconds. */
const HEALTH_MS = 5000;

/**
 * Whether the master runs. The stream of events does not end with it where `salt-api` is a process of its own.
 * @param {AbortSignal} signal
 */
export async function isMasterReady(signal) {
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(HEALTH_MS)]);
    const { ok } = await fetch(new URL("health/ready", ROOT), { signal: limit, credentials: "same-origin" });
    return ok;
  } catch {
    return false;
  }
}

/** @typedef {{ offset: string, tag: string, data: any }} SaltEvent */

/**
 * Reads the stream of events, from now or from after an offset, until `signal` is aborted or it breaks.
 * @param {object} options
 * @param {string} [options.since] an offset, a moment, or a duration such as `15m`
 * @param {AbortSignal} options.signal
 * @param {() => void} options.onOpen
 * @param {(events: SaltEvent[]) => void} options.onEvents
 * @param {() => void} [options.onGap] called when events are lost
 */
export async function readEvents({ since, signal, onOpen, onEvents, onGap }) {
  /** @type {Record<string, string>} */
  const headers = { Accept: "text/event-stream" };
  if (since !== undefined) headers["Last-Event-ID"] = since;
  const response = await fetch(new URL("events", ROOT), { headers, signal, credentials: "same-origin" });
  if (response.status === 401) whenSignedOut?.();
  if (!response.ok || response.body === null) throw new ApiError(response.status, "There are no events.");
  onOpen();
  let rest = "";
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  while (true) {
    const { done, value } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n\n");
    rest = parts.pop() ?? "";
    /** @type {SaltEvent[]} */
    const events = [];
    for (const part of parts) {
      const event = eventOf(part);
      if (event === "gap") onGap?.();
      else if (event !== undefined) events.push(event);
    }
    if (events.length > 0) onEvents(events);
  }
}

/**
 * @param {string} text the lines of one event
 * @returns {SaltEvent | "gap" | undefined}
 */
function eventOf(text) {
  let offset = "", data;
  for (const line of text.split("\n")) {
    if (line.startsWith("id:")) offset = line.slice(3).trim();
    else if (line.startsWith("data:")) data = line.slice(5).trim();
    else if (line.startsWith("event: gap")) return "gap";
  }
  if (data === undefined) return undefined;
  const { tag, data: fields } = JSON.parse(data);
  return typeof tag === "string" ? { offset, tag, data: fields ?? {} } : undefined;
}
