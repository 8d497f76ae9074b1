/**
 * The newest jobs.
 * @module
 */

import { jobMs, jobs, loaded, reload } from "../fleet.js";
import {
  Ago,
  Bar,
  count,
  duration,
  goTo,
  html,
  Icon,
  jidTime,
  MarkIcon,
  OutcomeBar,
  Placeholder,
  route,
  Rows,
  setQuery,
  targetText,
} from "../parts.js";
import { useState } from "../vendor/hooks.js";

/** @typedef {import("../fleet.js").Job} Job */
/** @typedef {import("../parts.js").Mark} Mark */

/** @type {Record<Mark, string>} */
const WORDS = { bad: "with failures", chg: "changed", run: "under way", off: "without answers", ok: "complete" };

/** Time after which a job that lacks returns is not under way, in milliseconds. */
const UNDER_WAY_MS = 15 * 60_000;

/** What the console asks by itself. */
const NOISE = /^(sys\.(list_functions|argspec|doc)|runner\.(overview\.\w+|cache\.(mine|grains)|jobs\.list_job)|wheel\.key\.finger)$/;

/** Whether a job is a question of the console itself. @param {Job} job */
function isNoise({ fun, question }) {
  return question || NOISE.test(fun);
}

/** How a job is. @param {Job} job @returns {Mark} */
function markOfJob({ jid, minions, returned, failed }) {
  if (failed > 0) return "bad";
  if (returned >= minions) return "ok";
  return Date.now() - jidTime(jid) < UNDER_WAY_MS ? "run" : "off";
}

export default function Jobs() {
  const { query } = route.value, is = query.get("is") ?? "", text = (query.get("q") ?? "").toLowerCase();
  const [held, setHeld] = useState(/** @type {ReadonlySet<string> | undefined} */ (undefined));
  // While the pointer or the focus is in the list, new rows wait: nothing moves under it.
  const all = jobs.value, waiting = held === undefined ? 0 : all.filter(({ jid }) => !held.has(jid)).length;
  const settled = held === undefined ? all : all.filter(({ jid }) => held.has(jid));
  const hidden = query.get("all") === "1" ? 0 : settled.filter(isNoise).length;
  const found = settled.filter((job) => query.get("all") === "1" || !isNoise(job)).filter(({ jid, fun, arg, target, user }) =>
    text === "" || `${jid} ${fun} ${arg} ${target} ${user}`.toLowerCase().includes(text)
  );
  /** @type {Partial<Record<Mark, number>>} */
  const counts = {};
  for (const job of found) counts[markOfJob(job)] = (counts[markOfJob(job)] ?? 0) + 1;
  const shown = is === "" ? found : found.filter((job) => markOfJob(job) === is);
  const hold = () => setHeld((before) => before ?? new Set(all.map(({ jid }) => jid)));
  const release = (/** @type {any} */ event) => {
    if (!event.currentTarget.contains(event.relatedTarget)) setHeld(undefined);
  };
  const { state, error } = loaded.value;
  return html`<div class="head"><div><h1>Jobs</h1><p>The newest <span class="num">${count(found.length)}</span>; they are kept for a day, or as <span class="mono">keep_jobs_seconds</span> says.</p></div><div class="act"><a class="btn pri" href="#/run">Run</a></div></div>
  <${OutcomeBar} counts=${counts} words=${WORDS} on=${is} set=${(/** @type {string} */ mark) => setQuery({ is: mark })} label="Jobs" />
  <div class="card tbl"><div class="pad row"><label class="find wide"><${Icon} name="n-find" /><span class="sr">Find a job</span><input placeholder="Function, argument, target, user or job id" autocomplete="off" value=${query.get("q") ?? ""} onInput=${
    (/** @type {{ target: HTMLInputElement }} */ event) => setQuery({ q: event.target.value })
  } /></label>${(hidden > 0 || query.get("all") === "1") && html`<button type="button" class="chip" aria-pressed=${String(query.get("all") === "1")} onClick=${() => setQuery({ all: hidden > 0 ? "1" : "" })}>${hidden > 0 ? `${count(hidden)} questions of the console hidden` : "questions of the console too"}</button>`}</div>${
    state !== "ready"
      ? html`<${Placeholder} loading=${state === "loading"} error=${error} again=${reload} />`
      : shown.length === 0
      ? html`<${Placeholder} title=${all.length === 0 ? "No job has run yet" : "No job matches"}><p>${all.length === 0 ? html`On the page <a href="#/run">Run</a>, or: <span class="mono">salt '*' test.ping</span>` : "Take a filter away to see more."}</p></${Placeholder}>`
      : html`<div class="r jobs h" aria-hidden="true"><span></span><span>Function</span><span class="o2">Target</span><span class="o5">User</span><span class="o1">When, how long</span><span class="o4">Minions</span></div>
    <div onMouseEnter=${hold} onMouseLeave=${release} onFocusIn=${hold} onFocusOut=${release}>${
        waiting > 0 && html`<button type="button" class="newer" onClick=${() => setHeld(undefined)}>${count(waiting)} new</button>`
      }<${Rows} items=${shown} keyOf=${(/** @type {Job} */ { jid }) => jid} kind="jobs" row=${row} label="Jobs" open=${(/** @type {Job} */ { jid }) => goTo(["job", jid])} /></div>`
  }</div>`;
}

/** @param {Job} job */
function row(job) {
  const { jid, fun, arg, target, user, minions, returned, failed } = job, mark = markOfJob(job), ms = jobMs(job);
  const silent = Math.max(0, minions - returned);
  const counts = { bad: failed, [mark === "run" ? "run" : "off"]: silent, ok: Math.max(0, returned - failed) };
  const label = minions === 0 ? "on the master" : `${count(returned)} of ${count(minions)} returned, ${count(failed)} failed`;
  return html`<${MarkIcon} mark=${mark} word=${WORDS[mark]} /><span class="mono id">${fun} <span>${arg}</span></span><span class="o2 mono dim" title=${target}>${targetText(target)}</span><span class="o5 dim">${user}</span>
    <span class="o1 dim"><${Ago} ms=${jidTime(jid)} />${!Number.isNaN(ms) && ms >= 0 && mark === "ok" && html`, <span class="num">${duration(ms)}</span>`}</span>
    <span class="o4 cellbar" title=${label}><${Bar} counts=${counts} label=${label} kind="cell" /><span class="num dim">${minions === 0 ? "master" : `${count(returned)}/${count(minions)}`}</span></span>`;
}
