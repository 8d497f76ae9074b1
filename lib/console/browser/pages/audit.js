/**
 * The audit log: who did what by the API, from where, and whether it was done.
 * @module
 */

import { listAudit } from "../api.js";
import { Ago, count, counted, download, html, MarkIcon, messageOf, OutcomeBar, Placeholder, plain, question, route, Rows, setQuery } from "../parts.js";
import { useEffect, useState } from "../vendor/hooks.js";

/** @typedef {import("../api.js").AuditRow} AuditRow */
/** @typedef {import("../parts.js").Mark} Mark */

/** @type {Record<AuditRow["outcome"], Mark>} */
const MARKS = { done: "ok", refused: "bad", failed: "chg" };
/** @type {Record<Mark, string>} */
const WORDS = { bad: "refused", chg: "failed", run: "", off: "", ok: "done" };

export default function Audit() {
  const is = route.value.query.get("is") ?? "";
  const [entries, setEntries] = useState(/** @type {readonly AuditRow[]} */ ([]));
  const [state, setState] = useState({ isLoading: true, problem: "", next: /** @type {string | null} */ (null) });
  const read = async (/** @type {string | undefined} */ after) => {
    try {
      const page = await listAudit({ after });
      setEntries((before) => after === undefined ? page.entries : [...before, ...page.entries]);
      setState({ isLoading: false, problem: "", next: page.next });
    } catch (error) {
      setState((before) => ({ ...before, isLoading: false, problem: messageOf(error) }));
    }
  };
  useEffect(() => void read(undefined), []);
  /** @type {Partial<Record<Mark, number>>} */
  const counts = {};
  for (const { outcome } of entries) counts[MARKS[outcome]] = (counts[MARKS[outcome]] ?? 0) + 1;
  const shown = entries.filter(({ outcome }) => is === "" || MARKS[outcome] === is);
  const { isLoading, problem, next } = state;
  return html`<div class="head"><div><h1>Audit</h1><p>What users did by the API, the newest first. <span class="mono">salt-run audit.verify</span> tells whether a line was changed.</p></div>
    <div class="act"><button type="button" class="btn" disabled=${entries.length === 0} onClick=${() => download("audit.json", "application/json", JSON.stringify(shown, null, 2))}>Export</button><button type="button" class="btn" onClick=${() => void read(undefined)}>Read again</button></div></div>
  <${OutcomeBar} counts=${counts} words=${WORDS} on=${is} set=${(/** @type {string} */ mark) => setQuery({ is: mark })} label="Outcomes" />
  <div class="card tbl">${
    entries.length === 0 && (isLoading || problem !== "")
      ? html`<${Placeholder} loading=${isLoading} error=${problem} again=${() => read(undefined)} />`
      : shown.length === 0
      ? html`<${Placeholder} title="Nothing matches"><p>Take the filter away to see more.</p></${Placeholder}>`
      : html`<div class="r audit h" aria-hidden="true"><span></span><span class="o5">When</span><span>Who</span><span>What</span><span class="o5">Target</span><span class="o5">From</span></div>
    <${Rows} items=${shown} keyOf=${(/** @type {AuditRow} */ { n }) => String(n)} kind="audit" label="Entries" row=${row} open=${openEntry} />`
  }${next !== null && html`<div class="pad row"><button type="button" class="btn sm" onClick=${() => void read(next)}>Earlier entries</button><span class="dim num t1">${counted(entries.length, "entry", "entries")} read</span></div>`}</div>`;
}

/** @param {AuditRow} entry */
function row({ at, user, from, what, target, count: minions, outcome }) {
  const whom = minions === null ? target : `${target} (${count(minions)})`;
  return html`<${MarkIcon} mark=${MARKS[outcome]} word=${outcome} /><span class="dim o5"><${Ago} ms=${Date.parse(at)} /></span><b class="id">${user}</b><span class="mono">${what}</span><span class="mono dim o5">${whom}</span><span class="mono dim o5">${from}</span>`;
}

/** @param {AuditRow} entry */
function openEntry(entry) {
  question.value = { title: `Entry ${entry.n}`, text: plain(entry), yes: "Close", isDangerous: false, act: () => {} };
}
