/**
 * The fleet: how every minion is, which of them, and what to do with those.
 * @module
 */

import { previewTarget } from "../api.js";
import { DriftStrip, hasDays, useDrift } from "../drift.js";
import { loaded, minions, reload } from "../fleet.js";
import {
  Ago,
  count,
  counted,
  download,
  goTo,
  html,
  Icon,
  jidTime,
  MarkIcon,
  messageOf,
  MinionName,
  OutcomeBar,
  Placeholder,
  route,
  Rows,
  setQuery,
} from "../parts.js";
import { useEffect, useMemo, useState } from "../vendor/hooks.js";

/** @typedef {import("../fleet.js").Minion} Minion */
/** @typedef {import("../parts.js").Mark} Mark */

/** The words of the marks on this page. @type {Record<Mark, string>} */
export const FLEET_WORDS = { bad: "failed", chg: "drifted", run: "working", off: "not connected", ok: "as it should be" };

export default function Fleet() {
  const all = minions.value, { query } = route.value;
  const mark = query.get("is") ?? "", text = query.get("q") ?? "";
  const { matches, problem } = useFilter(text, all);
  const [selected, setSelected] = useState(/** @type {ReadonlySet<string>} */ (new Set()));
  const days = useDrift();
  const inFilter = useMemo(() => all.filter(({ id }) => matches(id)), [all, matches]);
  const counts = countMarks(inFilter);
  const shown = mark === "" ? inFilter : inFilter.filter((minion) => minion.mark === mark);
  const chosen = selected.size > 0 ? shown.filter(({ id }) => selected.has(id)) : shown;
  const here = all.filter(({ connected }) => connected).length;
  /** @param {Minion} minion */
  const select = ({ id }) => {
    const next = new Set(selected);
    if (!next.delete(id)) next.add(id);
    setSelected(next);
  };
  return html`<div class="head"><div><h1>Fleet</h1><p><span class="num">${count(all.length)}</span> ${
    all.length === 1 ? "minion" : "minions"
  }, <span class="num">${count(here)}</span> connected</p></div>
    <div class="act"><button type="button" class="btn" onClick=${() => exportRows(chosen, "csv")}>Export CSV</button><button type="button" class="btn" onClick=${() => exportRows(chosen, "json")}>Export JSON</button><button type="button" class="btn pri" disabled=${chosen.length === 0} onClick=${() =>
    runOn(chosen, { all, text, mark })}>${runText(chosen.length, all.length)}</button></div></div>
  <${OutcomeBar} counts=${counts} words=${FLEET_WORDS} on=${mark} set=${(/** @type {string} */ is) => setQuery({ is })} label="Minions" />
  <div class="card tbl"><div class="pad row"><label class="find wide"><${Icon} name="n-find" /><span class="sr">Target</span><input class="mono" placeholder="web*  or  G@os:Debian and not db*" autocomplete="off" spellcheck="false" value=${text} onInput=${
    (/** @type {{ target: HTMLInputElement }} */ event) => setQuery({ q: event.target.value })
  } /></label>${
    mark !== "" && html`<button type="button" class="chip" aria-pressed="true" onClick=${() => setQuery({ is: "" })}>${FLEET_WORDS[/** @type {Mark} */ (mark)] ?? mark} ×</button>`
  }${selected.size > 0 && html`<button type="button" class="chip" aria-pressed="true" onClick=${() => setSelected(new Set())}>${count(selected.size)} selected ×</button>`}<span class=${shown.length === all.length ? "sr" : "dim num"} role="status">${
    shown.length === all.length ? "" : `${count(shown.length)} shown`
  }</span></div>
    ${problem !== "" && html`<p class="note b" role="alert">${problem}</p>`}
    ${listOf(shown, { all, selected, select, drift: hasDays(days) ? days : undefined })}</div>`;
}

/**
 * @param {readonly Minion[]} shown
 * @param {{ all: readonly Minion[], selected: ReadonlySet<string>, select: (minion: Minion) => void, drift: import("../api.js").Drift | undefined }} options
 */
function listOf(shown, { all, selected, select, drift }) {
  const { state, error } = loaded.value;
  if (state !== "ready") return html`<${Placeholder} loading=${state === "loading"} error=${error} again=${reload} />`;
  if (all.length === 0) {
    return html`<${Placeholder} title="No minion has been accepted yet"><p>On a host: <span class="mono">salt-minion</span> with <span class="mono">master: HOST</span>. Its key then waits on the page <a href="#/keys">Keys</a>.</p></${Placeholder}>`;
  }
  if (shown.length === 0) {
    return html`<${Placeholder} title="No minion matches"><p>Take a filter away to see more.</p></${Placeholder}>`;
  }
  const kind = drift === undefined ? "" : "drifts";
  return html`<div class=${`r ${kind} h`} aria-hidden="true"><span></span><span>Minion</span><span class="o1">System</span><span class="o2">Salt</span>${drift !== undefined && html`<span class="o3">Drift, 14 days</span>`}<span class="o4">State since</span><span class="o5">Last job</span></div>
    <${Rows} items=${shown} keyOf=${idOf} row=${(/** @type {Minion} */ minion) => row(minion, drift)} kind=${kind} label="Minions" open=${(/** @type {Minion} */ { id }) =>
    goTo(["minion", id])} selected=${selected} select=${select} />`;
}

/** @param {Minion} minion */
const idOf = ({ id }) => id;

/** @param {Minion} minion @param {import("../api.js").Drift | undefined} drift */
function row({ id, mark, os, version, since, fun, jid, connected }, drift) {
  return html`<${MarkIcon} mark=${mark} word=${FLEET_WORDS[mark]} /><${MinionName} target=${id} />
    <span class="o1">${os || "unknown"}</span><span class="o2 num">${version}</span>${drift !== undefined && html`<span class="o3"><${DriftStrip} letters=${drift.minions[id]} days=${14} /></span>`}
    <span class="o4 dim">${Number.isNaN(since) ? (connected ? "connected" : "not connected") : html`${connected ? "" : "gone "}<${Ago} ms=${since} />`}</span>
    <span class="o5 dim"><span class="mono">${fun}</span>${jid !== "" && html` <${Ago} ms=${jidTime(jid)} />`}</span>`;
}

/** @param {readonly Minion[]} list */
function countMarks(list) {
  /** @type {Partial<Record<Mark, number>>} */
  const counts = {};
  for (const { mark } of list) counts[mark] = (counts[mark] ?? 0) + 1;
  return counts;
}

/**
 * Which ids a text finds: a part of a name, globs with `and`, `or`, `not`; anything with `@` is asked of the master.
 * @param {string} text
 * @param {readonly Minion[]} all
 */
function useFilter(text, all) {
  const [asked, setAsked] = useState({ text: "", ids: /** @type {ReadonlySet<string>} */ (new Set()), problem: "" });
  const isForMaster = text.includes("@");
  useEffect(() => {
    if (!isForMaster) return;
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const ids = await previewTarget({ tgt: text, tgt_type: "compound" }, stop.signal);
        setAsked({ text, ids: new Set(ids), problem: "" });
      } catch (error) {
        if (!stop.signal.aborted) setAsked({ text, ids: new Set(), problem: messageOf(error) });
      }
    }, 250);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text, all.length]);
  return useMemo(() => {
    if (!isForMaster) return { matches: localMatch(text), problem: "" };
    const { ids, problem } = asked;
    return { matches: (/** @type {string} */ id) => ids.has(id), problem };
  }, [text, asked]);
}

/** @param {string} text @returns {(id: string) => boolean} */
function localMatch(text) {
  const trimmed = text.trim();
  if (trimmed === "") return () => true;
  if (/^[^\s*?[\]]+$/.test(trimmed)) return (id) => id.includes(trimmed);
  const any = trimmed.split(/\s+or\s+/).map((part) => part.split(/\s+and\s+/).map(term));
  return (id) => any.some((terms) => terms.every((matches) => matches(id)));
}

/** @param {string} text @returns {(id: string) => boolean} */
function term(text) {
  const isNot = /^not\s+/.test(text), glob = text.replace(/^not\s+/, "");
  const pattern = new RegExp(`^${glob.replace(/[.+^${}()|\\]/g, "\\$&").replace(/\*/g, ".*").replace(/\?/g, ".").replace(/\[!/g, "[^").replace(/\[(?![^\]]*\])/g, "\\[")}$`);
  return (id) => pattern.test(id) !== isNot;
}

/** @param {number} number @param {number} all */
function runText(number, all) {
  if (number === 0) return "Run";
  return number === all ? "Run on all" : `Run on ${counted(number, "minion")}`;
}

/**
 * Opens Run: with the target as it was written if that says it all, else with the names.
 * @param {readonly Minion[]} chosen
 * @param {{ all: readonly Minion[], text: string, mark: string }} filter
 */
function runOn(chosen, { all, text, mark }) {
  const isTarget = mark === "" && /[*@]/.test(text) && chosen.length > 1;
  if (chosen.length === all.length) goTo(["run"], { tgt: "*", kind: "glob" });
  else if (isTarget) goTo(["run"], { tgt: text.trim(), kind: "compound" });
  else goTo(["run"], { tgt: chosen.map(({ id }) => id).join(","), kind: "list" });
}

/** @param {readonly Minion[]} rows @param {"csv" | "json"} form */
function exportRows(rows, form) {
  const fields = /** @type {const} */ (["id", "state", "connected", "address", "version", "os", "fun", "jid"]);
  const records = rows.map((minion) => ({ ...minion, state: FLEET_WORDS[minion.mark] }));
  if (form === "json") {
    const shown = records.map((record) => Object.fromEntries(fields.map((name) => [name, record[name]])));
    return download("minions.json", "application/json", JSON.stringify(shown, undefined, 2));
  }
  const lines = records.map((record) => fields.map((name) => cell(String(record[name]))).join(","));
  download("minions.csv", "text/csv", `${fields.join(",")}\n${lines.join("\n")}\n`);
}

/** A cell of CSV; a text that a spreadsheet would compute is quoted by an apostrophe. @param {string} text */
function cell(text) {
  const safe = /^[=+\-@\t]/.test(text) ? `'${text}` : text;
  return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
