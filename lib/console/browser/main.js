/**
 * The console's frame: which page is shown, the pages' list, the keyboard, light and dark, what is said to the user.
 * @module
 */

import { logOut, onSignedOut } from "./api.js";
import { begin, end, loaded, loadSession, minions, reload, session, stream, waiting } from "./fleet.js";
import { agoText, count, duration, goTo, html, Icon, messageOf, QuestionDialog, route, said, say } from "./parts.js";
import { render } from "./vendor/preact.js";
import { useEffect, useRef } from "./vendor/hooks.js";
import { signal } from "./vendor/signals.js";

/**
 * @typedef {object} Page
 * @property {string} name
 * @property {string} title
 * @property {string} [key] the key that opens it
 * @property {string} [icon]
 * @property {boolean} [isMore] not in the bar of a phone
 * @property {() => Promise<{ default: import("./vendor/preact.d.mts").Component }>} load
 */

/** @type {readonly Page[]} */
const PAGES = [
  { name: "fleet", title: "Fleet", key: "f", icon: "n-fleet", load: () => import("./pages/fleet.js") },
  { name: "run", title: "Run", key: "r", icon: "n-run", load: () => import("./pages/run.js") },
  { name: "jobs", title: "Jobs", key: "j", icon: "n-jobs", load: () => import("./pages/jobs.js") },
  { name: "states", title: "States", key: "s", icon: "n-states", load: () => import("./pages/states.js") },
  { name: "keys", title: "Keys", key: "k", icon: "n-keys", load: () => import("./pages/keys.js") },
  { name: "schedules", title: "Schedules", key: "c", icon: "n-schedules", isMore: true, load: () => import("./pages/schedules.js") },
  { name: "events", title: "Events", key: "e", icon: "n-events", isMore: true, load: () => import("./pages/events.js") },
  { name: "audit", title: "Audit", key: "a", icon: "n-audit", isMore: true, load: () => import("./pages/audit.js") },
  { name: "account", title: "Account", key: "u", icon: "n-account", isMore: true, load: () => import("./pages/account.js") },
  { name: "job", title: "Job", load: () => import("./pages/job.js") },
  { name: "minion", title: "Minion", load: () => import("./pages/minion.js") },
  { name: "login", title: "Log in", load: () => import("./pages/login.js") },
];

/** The page that is loaded; the one before stays until then. */
const shown = signal(/** @type {{ name: string, Page: import("./vendor/preact.d.mts").Component } | undefined} */ (undefined));
const failure = signal("");
const helps = signal(false);
/** Whether a phone shows the pages that its bar has no room for. */
const isMoreOpen = signal(false);

/** The page of the URL; without a session, the log-in. */
function wantedPage() {
  const wanted = session.value?.user === undefined ? "login" : route.value.page;
  return PAGES.find(({ name }) => name === wanted) ?? PAGES[0];
}

/** Loads the page that is wanted. */
async function showPage() {
  if (session.value === undefined) return;
  const page = wantedPage();
  try {
    const { default: Page } = await page.load();
    const isOther = shown.value !== undefined && shown.value.name !== page.name;
    shown.value = { name: page.name, Page };
    failure.value = "";
    document.title = `${page.title} · Salt`;
    if (page.name !== "login") remember("page", page.name);
    if (isOther) {
      scrollTo(0, 0);
      requestAnimationFrame(() => document.getElementById("main")?.focus());
    }
  } catch (error) {
    failure.value = messageOf(error);
  }
}

function App() {
  const { page } = route.value, user = session.value?.user;
  useEffect(() => void showPage(), [page, user, session.value]);
  const view = shown.value;
  if (view === undefined) {
    return html`<main class="login">${failure.value === "" ? html`<div class="loading"></div>` : html`<p role="alert">${failure.value}</p>`}</main>`;
  }
  if (view.name === "login") return html`<${view.Page} /><${Toast} />`;
  return html`<a class="skip" href="#main" onClick=${(/** @type {Event} */ event) => {
    event.preventDefault();
    document.getElementById("main")?.focus();
  }}>To the content</a>
  <div class="frame"><${Side} /><${Top} /><${LostLine} />
    <main id="main" tabindex="-1">${view.name === wantedPage().name ? html`<${view.Page} key=${pageKey()} />` : html`<div class="loading"></div>`}</main></div>
  <${QuestionDialog} /><${Help} /><${More} /><${Toast} />`;
}

/** What makes a page another one. The filters of lists do not; a target or a function that a link names does. */
function pageKey() {
  const { page, rest, query } = route.value;
  return [page, ...rest, page === "run" || page === "states" ? query.toString() : ""].join("/");
}

function Side() {
  const { page } = route.value;
  const current = page === "job" ? "jobs" : page === "minion" ? "fleet" : page;
  const { user, expires = 0, master = "" } = session.value ?? {};
  /** @param {Page} entry */
  const entry = ({ name, title, key, icon, isMore }) =>
    html`<a class=${`nav ${isMore ? "more" : ""}`} href=${`#/${name}`} aria-current=${current === name ? "page" : undefined} title=${`Key ${key}`}><${Icon} name=${icon} />${title}${
      name === "keys" && waiting.value > 0 &&
      html`<span class="n" aria-label=${`${waiting.value} waiting`}>${count(waiting.value)}</span>`
    }</a>`;
  const listed = PAGES.filter(({ key }) => key !== undefined);
  return html`<nav class="side" aria-label="Pages">
    <div class="brand"><${Icon} name="n-salt" /><div>Salt<small>${master}</small></div></div>
    ${listed.filter(({ isMore }) => !isMore).map(entry)}<div class="sep"></div>${listed.filter(({ isMore }) => isMore).map(entry)}
    <div class="foot">Signed in as <b>${user}</b><br />session ends in ${duration(expires * 1000 - Date.now())}<br /><button type="button" class="btn link" onClick=${signOut}>Log out</button></div></nav>`;
}

/** On a phone: the pages that are not in its bar, and the end of the session. */
function More() {
  const box = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useEffect(() => {
    if (isMoreOpen.value) box.current?.showModal();
    else box.current?.close();
  }, [isMoreOpen.value]);
  const close = () => isMoreOpen.value = false;
  const { page } = route.value;
  return html`<dialog ref=${box} class="sheet" aria-labelledby="more" onClose=${close}><div class="row"><h2 id="more">More pages</h2><button type="button" class="btn sm grow" onClick=${close}>Close</button></div>
    <nav aria-label="More pages">${PAGES.filter(({ isMore }) => isMore).map(({ name, title, icon }) => html`<a class="nav" key=${name} href=${`#/${name}`} aria-current=${page === name ? "page" : undefined} onClick=${close}><${Icon} name=${icon} />${title}</a>`)}</nav>
    <div class="row"><span class="dim t1">Signed in as <b>${session.value?.user}</b></span><button type="button" class="btn sm grow" onClick=${() => {
    close();
    void signOut();
  }}>Log out</button></div></dialog>`;
}

function Top() {
  return html`<header class="top"><label class="find"><${Icon} name="n-find" /><span class="sr">Go to</span><input id="go" placeholder="Go to a minion, job or function" autocomplete="off" onKeyDown=${onFind} /><kbd>/</kbd></label>
    <${Live} /><button type="button" class="icon phone" id="more-pages" aria-label="More pages" aria-haspopup="dialog" onClick=${() => isMoreOpen.value = true}><${Icon} name="n-more" /></button><button type="button" class="icon" aria-label="Light or dark" title="Light or dark" onClick=${turnTheme}><${Icon} name="n-theme" /></button></header>`;
}

function Live() {
  const { isLive, rate } = stream.value;
  return html`<div class=${`live ${isLive ? "" : "lost"}`} role="status"><i></i><span>${
    isLive ? `Live, ${count(rate)} ${rate === 1 ? "event" : "events"}/s` : "Not connected"
  }</span></div>`;
}

/** One line when the connection is lost: what is shown stays. */
function LostLine() {
  const { isLive, atMs } = stream.value, { state, error } = loaded.value;
  if (isLive && (error === "" || state !== "ready")) return null;
  if (!isLive && Date.now() - atMs < 1500 && error === "") return null;
  return html`<div class="line" role="alert">${
    isLive ? error : `The connection to the master is lost. What is shown is from ${agoText(atMs)}.`
  }<button type="button" class="btn sm" onClick=${() => void reload()}>Try again</button></div>`;
}

function Toast() {
  return html`<div class=${`toast ${said.value === "" ? "" : "on"}`} role="status">${said.value}</div>`;
}

const KEYS = [["/", "find"], ["f r j s k c e a u", "Fleet, Run, Jobs, States, Keys, Schedules, Events, Audit, Account"], ["↑ ↓ Home End", "move in a list"], [
  "Shift and letters",
  "go to a name in a list",
], ["Enter", "open"], ["x", "select"], ["Esc", "close"], ["?", "this list"]];

function Help() {
  const box = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useEffect(() => {
    if (helps.value) box.current?.showModal();
    else box.current?.close();
  }, [helps.value]);
  const close = () => helps.value = false;
  return html`<dialog ref=${box} aria-labelledby="help" onClose=${close}><h2 id="help">Keys</h2>
    <dl class="keys-list">${KEYS.map(([key, what]) => html`<dt><kbd>${key}</kbd></dt><dd>${what}</dd>`)}</dl>
    <label class="row t1"><input type="checkbox" checked=${recall("keys") !== "off"} onChange=${
    (/** @type {{ target: HTMLInputElement }} */ event) => remember("keys", event.target.checked ? "on" : "off")
  } /> Single keys open pages</label>
    <div class="row end gap"><button type="button" class="btn" onClick=${close}>Close</button></div></dialog>`;
}

/** @param {KeyboardEvent & { target: HTMLInputElement }} event */
function onFind(event) {
  if (event.key === "Escape") return event.target.blur();
  if (event.key !== "Enter") return;
  const text = event.target.value.trim();
  if (text === "") return;
  event.target.value = "";
  event.target.blur();
  if (/^\d{20}$/.test(text)) goTo(["job", text]);
  else if (minions.value.some(({ id }) => id === text)) goTo(["minion", text]);
  else if (/^[a-z_]\w*\.[a-z_]\w*$/.test(text)) goTo(["run"], { fun: text });
  else goTo(["fleet"], { q: text });
}

/** @param {KeyboardEvent} event */
function onKey(event) {
  if (session.value?.user === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target instanceof Element && event.target.closest("input, select, textarea, dialog") !== null) return;
  if (event.key === "/") {
    event.preventDefault();
    document.getElementById("go")?.focus();
  } else if (event.key === "?") helps.value = true;
  else if (recall("keys") !== "off") {
    const page = PAGES.find(({ key }) => key === event.key);
    if (page !== undefined) goTo([page.name]);
  }
}

async function signOut() {
  try {
    await logOut();
  } catch (error) {
    say(messageOf(error));
  }
  signedOut();
}

function signedOut() {
  end();
  session.value = { eauth: session.value?.eauth ?? [], oidc: session.value?.oidc };
}

/** @param {"theme" | "keys" | "page"} name @param {string} value */
function remember(name, value) {
  try {
    localStorage.setItem(`salt.${name}`, value);
  } catch {
    // A browser may forbid it: then it is not remembered.
  }
}

/** @param {"theme" | "keys" | "page"} name */
function recall(name) {
  try {
    return localStorage.getItem(`salt.${name}`);
  } catch {
    return null;
  }
}

function turnTheme() {
  const root = document.documentElement;
  const isDark = root.dataset.theme === undefined ? matchMedia("(prefers-color-scheme: dark)").matches : root.dataset.theme === "dark";
  root.dataset.theme = isDark ? "light" : "dark";
  remember("theme", root.dataset.theme);
}

/** Asks who is signed in, and follows the fleet if somebody is. */
export async function start() {
  await loadSession();
  if (session.value?.user !== undefined) await begin();
}

const theme = recall("theme");
if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
onSignedOut(signedOut);
addEventListener("keydown", onKey);
const app = document.getElementById("app");
if (app !== null) {
  app.replaceChildren();
  render(html`<${App} />`, app);
}
start().catch((error) => failure.value = messageOf(error));
