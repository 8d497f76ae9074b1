/**
 * One minion: what it is, what it ran, what it is told.
 * @module
 */

import { askMinions, callMinions, callRunner, getMinionDrift, listKeys } from "../api.js";
import { dayText, outcomeMark } from "../drift.js";
import { jobs, minions } from "../fleet.js";
import { Ago, html, Icon, jidTime, MarkIcon, messageOf, Placeholder, plain, route, say, setQuery } from "../parts.js";
import { useEffect, useState } from "../vendor/hooks.js";
import { FLEET_WORDS } from "./fleet.js";

const TABS = /** @type {const} */ ([["grains", "Grains"], ["pillar", "Pillar"], ["schedule", "Schedule"], ["beacons", "Beacons"], ["states", "States"], ["drift", "Drift"]]);

export default function MinionPage() {
  const { rest: [id = ""], query } = route.value, tab = query.get("tab") ?? "grains";
  const minion = minions.value.find((one) => one.id === id);
  const [finger, setFinger] = useState(/** @type {string | undefined} */ (undefined));
  useEffect(() => {
    listKeys(id).then((keys) => setFinger(keys.find((key) => key.id === id)?.finger ?? ""), () => setFinger(""));
  }, [id]);
  const own = jobs.value.filter(({ jid, target, question }) => !question && (jid === minion?.jid || target.split(",").includes(id))).slice(0, 20);
  const target = { tgt: id, kind: "list" };
  return html`<div class="head"><div><h1 class="row tight">${minion !== undefined && html`<${MarkIcon} mark=${minion.mark} word=${FLEET_WORDS[minion.mark]} />`}${id}</h1><p class="cap">${
    minion === undefined ? "There is no accepted minion of this name." : html`${FLEET_WORDS[minion.mark]}, ${minion.os || "system unknown"}, Salt ${minion.version || "unknown"}${minion.address !== "" && html`, <span class="mono">${minion.address}</span>`}`
  }</p></div>
    <div class="act"><button type="button" class="btn" disabled=${minion?.connected !== true} onClick=${() => refresh(id)}>Refresh its data</button><a class="btn" href=${`#/states?tgt=${encodeURIComponent(id)}`}>Plan</a><a class="btn pri" href=${`#/run?${new URLSearchParams(target)}`}>Run</a></div></div>
  <div class="grid two"><div class="card clip"><div class="pad row under"><div class="keyl flat" role="group" aria-label="What is shown">${
    TABS.map(([name, word]) => html`<button type="button" class="chip" key=${name} aria-pressed=${String(tab === name)} onClick=${() => setQuery({ tab: name })}>${word}</button>`)
  }</div></div><${Tab} key=${tab} id=${id} tab=${tab} isConnected=${minion?.connected === true} /></div>
  <div class="grid"><div class="card pad"><h2 class="small">Key</h2><p class="fp">${finger === undefined ? "loading" : (finger.replaceAll(":", "").match(/.{1,8}/g) ?? ["unknown"]).join(" ")}</p></div>
  <div class="card pad"><h2 class="small">Jobs</h2><div class="grid dense gap t1 plainly">${
    own.length === 0 ? html`<span class="dim">None of the newest jobs names this minion.</span>` : own.map(({ jid, fun, arg, failed }) => html`<div class="row nowrap" key=${jid}><${Icon} name=${failed > 0 ? "i-bad" : "i-ok"} mark=${failed > 0 ? "bad" : "ok"} /><a class="mono wrap shrink" href=${`#/job/${jid}?id=${encodeURIComponent(id)}`}>${fun} ${arg}</a><span class="dim"><${Ago} ms=${jidTime(jid)} /></span></div>`)
  }</div></div></div></div>`;
}

/** Asks for grains and pillar anew. @param {string} id */
function refresh(id) {
  callMinions({ tgt: id, tgt_type: "list", fun: "saltutil.sync_grains" })
    .then(() => callMinions({ tgt: id, tgt_type: "list", fun: "saltutil.refresh_pillar" }))
    .then(() => say(`${id} has read its grains and pillar anew`), (error) => say(messageOf(error)));
}

/** What each tab reads. @type {Record<string, (id: string) => Promise<any>>} */
const SOURCES = {
  grains: async (id) => (await callRunner("cache.grains", { tgt: [id], tgt_type: "list" }))[id],
  schedule: async (id) => (await askMinions({ tgt: id, tgt_type: "list", fun: "schedule.list", kwarg: { return_yaml: false } }))[id],
  beacons: async (id) => (await askMinions({ tgt: id, tgt_type: "list", fun: "beacons.list", kwarg: { return_yaml: false } }))[id],
  states: async (id) => (await askMinions({ tgt: id, tgt_type: "list", fun: "state.last_run" }))[id],
  pillar: async (id) => (await askMinions({ tgt: id, tgt_type: "list", fun: "pillar.items" }))[id],
  drift: getMinionDrift,
};

const EMPTY = {
  grains: "The master has no grains of this minion yet.",
  schedule: "This minion has no schedule.",
  beacons: "This minion has no beacons.",
  states: "No states have run on this minion.",
  pillar: "This minion has no pillar.",
  drift: "This minion has not planned its states on a schedule in 30 days.",
};

/** A list of words in one line; other values as text. @param {unknown} value */
function shownValue(value) {
  const isPlain = Array.isArray(value) && value.every((item) => item === null || typeof item !== "object");
  return isPlain ? value.join(", ") || "none" : plain(value);
}

/** Whether the master knows it, so that the minion need not be connected. @param {string} tab */
function isOfMaster(tab) {
  return tab === "grains" || tab === "drift";
}

/** @param {{ days: readonly import("../api.js").DriftDay[] }} props */
function Days({ days }) {
  return html`<ul class="plain scroll" tabindex="0" aria-label="Drift by day">${days.toReversed().map(({ day, at, outcome, states }) => {
    const { mark, word } = outcomeMark(outcome);
    return html`<li class="pad under" key=${day}><div class="row tight"><${MarkIcon} mark=${mark} word=${word} /><b>${dayText(day)}</b><span class="dim t1">${word}, planned <${Ago} ms=${at * 1000} /></span></div>${states.map((state) => html`<div class="mono t1 wrap inset" key=${state}>${state}</div>`)}</li>`;
  })}</ul>`;
}

/** @param {{ id: string, tab: keyof typeof EMPTY, isConnected: boolean }} props */
function Tab({ id, tab, isConnected }) {
  const [found, setFound] = useState({ value: /** @type {any} */ (undefined), problem: "", isLoading: false });
  const read = async () => {
    setFound({ value: undefined, problem: "", isLoading: true });
    try {
      setFound({ value: await SOURCES[tab](id) ?? {}, problem: "", isLoading: false });
    } catch (error) {
      setFound({ value: undefined, problem: messageOf(error), isLoading: false });
    }
  };
  useEffect(() => {
    if (isOfMaster(tab) || (tab !== "pillar" && isConnected)) void read();
  }, [id, tab, isConnected]);
  const { value, problem, isLoading } = found;
  if (value === undefined && !isLoading && problem === "") {
    if (!isConnected && !isOfMaster(tab)) return html`<${Placeholder} title="The minion is not connected"><p>Only it can say this.</p></${Placeholder}>`;
    return html`<${Placeholder} title="Pillar is hidden"><p>It often holds passwords. Nothing of it is on this page before you ask.</p><p><button type="button" class="btn" onClick=${read}>Reveal the pillar of ${id}</button></p></${Placeholder}>`;
  }
  if (value === undefined) return html`<${Placeholder} loading=${isLoading} error=${problem} again=${read} />`;
  if (tab === "drift" && value.length > 0) return html`<${Days} days=${value} />`;
  const entries = typeof value === "object" && !Array.isArray(value) ? Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1) : [["result", value]];
  if (entries.length === 0 || tab === "drift") return html`<${Placeholder} title=${EMPTY[tab]} />`;
  return html`<div class="pad scroll" tabindex="0" role="region" aria-label=${tab}><dl class="kv">${entries.map(([name, item]) => html`<dt key=${name}>${name}</dt><dd>${shownValue(item)}</dd>`)}</dl></div>`;
}
