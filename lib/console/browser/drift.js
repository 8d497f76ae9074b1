/**
 * Drift: how many minions differed from their states on each day, as the scheduled job `drift` found them.
 * @module
 */

import { getDrift } from "./api.js";
import { onEvent, session } from "./fleet.js";
import { count, counted, html, link } from "./parts.js";
import { useEffect } from "./vendor/hooks.js";
import { signal } from "./vendor/signals.js";

/** @typedef {import("./api.js").Drift} Drift */

/** The last 30 days; `undefined`: not read, or this user may not see them. */
const drift = signal(/** @type {Drift | undefined} */ (undefined));

/** Time after which the days are read again, and wait for more returns before that, in milliseconds. */
const OLD_MS = 60_000, MORE_MS = 1500;
/** The letters of a day. @type {Record<string, { mark: "ok" | "chg" | "bad" | "off", word: string }>} */
const LETTERS = {
  "=": { mark: "ok", word: "as it should be" },
  "!": { mark: "chg", word: "differs" },
  x: { mark: "bad", word: "failed" },
  ".": { mark: "off", word: "no plan" },
};
/** Height of the bars, and where they begin and end, in the units of the picture. */
const FLOOR = 106, TOP = 12, LEFT = 34, STEP = 12.8, WIDTH = 9;

let readAtMs = 0;

// Nothing of a user is shown to the next one.
session.subscribe(() => {
  readAtMs = 0;
  drift.value = undefined;
});

async function read() {
  readAtMs = Date.now();
  try {
    drift.value = await getDrift();
  } catch {
    // Without the right to returns of others there is none, and no page stands or falls with it.
    drift.value = undefined;
  }
}

/** The days, kept up to date while a page shows them. @returns {Drift | undefined} */
export function useDrift() {
  useEffect(() => {
    if (Date.now() - readAtMs > OLD_MS) void read();
    let timer = 0;
    const stop = onEvent(({ tag, data }) => {
      if (data.schedule !== "drift" || !/^salt\/job\/[^/]+\/ret\//.test(tag)) return;
      clearTimeout(timer);
      timer = setTimeout(() => void read(), MORE_MS);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, []);
  return drift.value;
}

/** Whether a minion has planned its states on any day. @param {Drift | undefined} found */
export function hasDays(found) {
  return found !== undefined && found.days.some(({ planned }) => planned > 0);
}

/** The bars of the days, and what differed most often. @param {{ found: Drift }} props */
export function DriftCards({ found }) {
  const last = found.days.findLast(({ planned }) => planned > 0);
  const most = Math.max(...found.states.map(({ minions }) => minions), 1);
  const ids = Object.keys(found.minions).filter((id) => /[!x]$/.test(found.minions[id].replace(/\.+$/, "")));
  return html`<div class="card pad"><h2>Drift</h2><p class="dim t1">${
    last === undefined ? "No minion has planned its states in 30 days." : `${counted(last.differ + last.failed, "minion")} of ${count(last.planned)} ${last.differ + last.failed === 1 ? "differs" : "differ"} from the states, by the last plans`
  }</p><${DriftChart} found=${found} />${ids.length > 0 && html`<div class="tags gap">${ids.slice(0, 12).map((id) => html`<a class="tag" key=${id} href=${link(["minion", id], { tab: "drift" })}>${id}</a>`)}${ids.length > 12 && html`<span class="tag">+ ${count(ids.length - 12 + found.more)} more</span>`}</div>`}</div>
  ${found.states.length > 0 && html`<div class="card pad"><h2 class="small">What differs most often, in 30 days</h2><ul class="plain grid dense t1 gap">${
    found.states.slice(0, 8).map(({ state, minions, days }) => html`<li key=${state}><div class="row tight"><span class="mono wrap shrink">${state}</span><span class="num dim grow">${counted(minions, "minion")}, ${counted(days, "day")}</span></div><div class="bar thin"><i class="f-chg" style=${{ flexGrow: String(minions) }}></i><i style=${{ flexGrow: String(most - minions + .01) }}></i></div></li>`)
  }</ul></div>`}`;
}

/** @param {{ found: Drift }} props */
function DriftChart({ found: { days } }) {
  const numbers = days.map(({ differ, failed }) => differ + failed);
  const top = roundTop(Math.max(...numbers));
  /** @param {number} n */
  const y = (n) => FLOOR - n / top * (FLOOR - TOP);
  const seen = days.filter(({ planned }) => planned > 0);
  const [first, last] = [seen[0], seen[seen.length - 1]];
  const label = first === undefined ? "No plans in 30 days" : `Minions that differ: ${count(first.differ + first.failed)} on ${dayText(first.day)}, ${count(last.differ + last.failed)} on ${dayText(last.day)}`;
  return html`<svg class="chart" viewBox="0 0 420 124" role="img" aria-label=${label}>
    ${[...new Set([0, Math.round(top / 2), top])].map((n) => html`<g key=${n}><path class="rule" d=${`M${LEFT} ${y(n)}H416`} /><text x=${LEFT - 6} y=${y(n) + 4} text-anchor="end">${count(n)}</text></g>`)}
    ${days.map(({ day, planned, differ, failed }, i) => html`<g key=${day}><title>${dayText(day)}: ${planned === 0 ? "no plans" : `${counted(differ, "minion")} differ, ${count(failed)} failed, of ${count(planned)}`}</title>
      ${planned > 0 && html`<rect class="was" x=${LEFT + i * STEP} y=${FLOOR - 1.5} width=${WIDTH} height="1.5" />`}
      ${failed > 0 && html`<rect class="bad" x=${LEFT + i * STEP} y=${y(failed)} width=${WIDTH} height=${FLOOR - y(failed)} rx="1.5" />`}
      ${differ > 0 && html`<rect class="chg" x=${LEFT + i * STEP} y=${y(differ + failed)} width=${WIDTH} height=${y(failed) - y(differ + failed)} rx="1.5" />`}</g>`)}
    <text x=${LEFT} y="120">${dayText(days[0].day)}</text><text x="416" y="120" text-anchor="end">today, ${count(numbers[numbers.length - 1])}</text></svg>`;
}

/** A round number that is not less: 2, 4, 10, 20, 40, 100. @param {number} n */
function roundTop(n) {
  if (n <= 2) return 2;
  const power = 10 ** Math.floor(Math.log10(n));
  return [1, 2, 4, 10].map((times) => times * power).find((round) => round >= n) ?? 10 * power;
}

/** @param {string} day `2026-11-29` */
export function dayText(day) {
  return new Date(`${day}T00:00:00Z`).toLocaleDateString("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
}

/**
 * The days of one minion as small cells.
 * @param {{ letters: string | undefined, days: number }} props
 */
export function DriftStrip({ letters, days }) {
  const shown = (letters ?? "").slice(-days);
  const bad = [...shown].filter((letter) => letter === "!" || letter === "x").length;
  const label = letters === undefined ? "no drift" : `differed on ${bad} of ${days} days`;
  return html`<span class="strip" role="img" aria-label=${label} title=${label}>${[...shown].map((letter, i) => html`<i key=${i} class=${`f-${LETTERS[letter]?.mark ?? "off"}`}></i>`)}</span>`;
}

/** The mark and the word of an outcome of a day. @param {"ok" | "differs" | "failed"} outcome */
export function outcomeMark(outcome) {
  return LETTERS[outcome === "ok" ? "=" : outcome === "differs" ? "!" : "x"];
}
