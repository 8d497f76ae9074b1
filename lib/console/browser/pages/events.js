/**
 * The master's events, as they come or from a time on.
 * @module
 */

import { readEvents } from "../api.js";
import { copy, count, html, Icon, messageOf, Placeholder, plain, route, Rows, setQuery } from "../parts.js";
import { useEffect, useRef, useState } from "../vendor/hooks.js";

/** @typedef {import("../api.js").SaltEvent & { key: string }} ShownEvent */

/** @type {Record<string, string>} */
const SINCE_WORDS = { "5m": "5 minutes ago", "1h": "an hour ago", start: "the beginning of the log" };
/** Events that are kept in the page. */
const MOST_EVENTS = 2000;

export default function Events() {
  const { query } = route.value, since = query.get("since") ?? "", tag = query.get("tag") ?? "";
  const kept = useRef(/** @type {ShownEvent[]} */ ([]));
  const [shown, setShown] = useState(/** @type {readonly ShownEvent[]} */ ([]));
  const [isPaused, setPaused] = useState(false);
  const [state, setState] = useState({ isOpen: false, problem: "", missed: 0 });
  const [opened, setOpened] = useState(/** @type {ShownEvent | undefined} */ (undefined));
  const paused = useRef(false);
  paused.current = isPaused;
  useEffect(() => {
    const stop = new AbortController();
    kept.current = [];
    let timer = 0, number = 0;
    const draw = () => {
      timer = 0;
      if (!paused.current && !document.hidden) setShown([...kept.current]);
    };
    readEvents({
      since: since === "" ? undefined : since,
      signal: stop.signal,
      onOpen: () => setState({ isOpen: true, problem: "", missed: 0 }),
      onEvents: (events) => {
        kept.current = [...events.reverse().map((event) => ({ ...event, key: String(number++) })), ...kept.current].slice(0, MOST_EVENTS);
        if (timer === 0) timer = setTimeout(draw, 100);
      },
      onGap: () => setState((before) => ({ ...before, missed: before.missed + 1 })),
    }).catch((error) => {
      if (!stop.signal.aborted) setState({ isOpen: false, problem: messageOf(error), missed: 0 });
    });
    return () => stop.abort();
  }, [since]);
  useEffect(() => {
    if (!isPaused) setShown([...kept.current]);
  }, [isPaused]);
  const found = shown.filter((event) => tag === "" || matches(event.tag, tag));
  const waits = isPaused ? kept.current.length === 0 ? 0 : kept.current.indexOf(shown[0]) : 0;
  return html`<div class="head"><div><h1>Events</h1><p>${since === "" ? "From now on" : `From ${SINCE_WORDS[since] ?? since} on`}, the newest first.${state.missed > 0 && " Some were too fast for this page and are left out."}</p></div>
    <div class="act"><label class="row tight"><span class="t1">From</span><select class="in narrow" value=${since} onChange=${(/** @type {{ target: HTMLSelectElement }} */ event) => setQuery({ since: event.target.value })}><option value="">now</option><option value="5m">5 minutes ago</option><option value="1h">1 hour ago</option><option value="start">all that are kept</option></select></label>
    <button type="button" class="btn pri" aria-pressed=${String(isPaused)} onClick=${() => setPaused(!isPaused)}>${isPaused ? `Go on${waits > 0 ? `, ${count(waits)} new` : ""}` : "Pause"}</button></div></div>
  <div class="card clip long"><div class="pad row"><label class="find wide"><${Icon} name="n-find" /><span class="sr">Tag</span><input class="mono" placeholder="salt/job/*  or a part of a tag" autocomplete="off" spellcheck="false" value=${tag} onInput=${(/** @type {{ target: HTMLInputElement }} */ event) => setQuery({ tag: event.target.value })} /></label><span class="dim num" role="status">${count(found.length)} shown</span></div>
    ${state.problem !== "" ? html`<${Placeholder} error=${state.problem} again=${() => location.reload()} />` : found.length === 0 ? html`<${Placeholder} loading=${!state.isOpen} title="Nothing has happened yet"><p>An event comes with each job, each return, and each minion that connects.</p></${Placeholder}>` : html`<div class="r evts h" aria-hidden="true"><span>Time</span><span>Tag</span><span>Data</span></div><${Rows} items=${found} keyOf=${(/** @type {ShownEvent} */ { key }) => key} kind="evts" label="Events" row=${row} open=${setOpened} />`}</div>
  ${opened !== undefined && html`<${Opened} event=${opened} close=${() => setOpened(undefined)} />`}`;
}

/** @param {string} tag @param {string} text */
function matches(tag, text) {
  if (!text.includes("*")) return tag.includes(text);
  const parts = text.split("*");
  let at = tag.startsWith(parts[0]) ? parts[0].length : -1;
  for (const part of parts.slice(1)) {
    if (at < 0) return false;
    const found = tag.indexOf(part, at);
    at = found < 0 ? -1 : found + part.length;
  }
  return at >= 0 && (parts.at(-1) === "" || tag.endsWith(parts.at(-1) ?? ""));
}

/** @param {ShownEvent} event */
function row({ tag, data }) {
  return html`<span class="dim num">${String(data._stamp ?? "").slice(11, 23)}</span><span class="mono id">${tag}</span><span class="mono dim">${JSON.stringify(data).slice(0, 300)}</span>`;
}

/** @param {{ event: ShownEvent, close: () => void }} props */
function Opened({ event, close }) {
  const box = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useEffect(() => {
    const before = document.activeElement;
    box.current?.showModal();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  const pattern = event.tag.replace(/\/\d{20}/, "/*");
  const rule = `reactor:\n  - '${pattern}':\n    - salt://reactor/example.sls\n`;
  return html`<dialog ref=${box} class="broad" aria-labelledby="event" onClose=${close}><h2 id="event" class="mono wrap">${event.tag}</h2><p class="mono dim">${event.offset}</p><pre class="cmd tall" tabindex="0">${plain(event.data)}</pre><div class="row end gap"><button type="button" class="btn" onClick=${() => copy(rule, "Reactor rule")}>Copy as reactor rule</button><button type="button" class="btn" onClick=${() => copy(plain(event.data), "Data")}>Copy data</button><button type="button" class="btn pri" onClick=${() => box.current?.close()}>Close</button></div></dialog>`;
}
