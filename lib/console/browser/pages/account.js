/**
 * The user's own session and API tokens: make one for a program, end one, log out everywhere.
 * @module
 */

import { deleteToken, endSessions, listTokens, makeToken } from "../api.js";
import { loadSession, session } from "../fleet.js";
import { Ago, copy, count, html, messageOf, Placeholder, question, say, timeText } from "../parts.js";
import { useEffect, useState } from "../vendor/hooks.js";

/** @typedef {import("../api.js").TokenRow} TokenRow */

export default function Account() {
  const { user = "", expires = 0 } = session.value ?? {};
  const [tokens, setTokens] = useState(/** @type {readonly TokenRow[] | undefined} */ (undefined));
  const [problem, setProblem] = useState("");
  const [secret, setSecret] = useState("");
  const read = async () => {
    try {
      setTokens(await listTokens());
      setProblem("");
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  useEffect(() => void read(), []);
  /** @param {SubmitEvent} event */
  const make = async (event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.currentTarget), fields = new FormData(form);
    try {
      setSecret(await makeToken({ name: String(fields.get("name")), days: Number(fields.get("days")) }));
      form.reset();
      await read();
    } catch (error) {
      say(messageOf(error));
    }
  };
  return html`<div class="head"><div><h1>Account</h1><p>Signed in as <b>${user}</b> until <time>${timeText(expires * 1000)}</time>.</p></div>
    <div class="act"><button type="button" class="btn danger" onClick=${askEndAll}>Log out everywhere</button></div></div>
  <div class="grid two top-edge"><div class="card clip"><div class="row pad under"><h2 class="small">API tokens</h2></div>${
    tokens === undefined
      ? html`<${Placeholder} loading=${problem === ""} error=${problem} again=${read} />`
      : tokens.length === 0
      ? html`<${Placeholder} title="No API token"><p>A program that calls the API needs no password of yours: make a token for it beside.</p></${Placeholder}>`
      : html`<ul class="plain" aria-label="API tokens">${tokens.map((token) => html`<${Token} key=${token.id} token=${token} again=${read} />`)}</ul>`
  }</div>
  <div class="card pad"><h2>A new token</h2><form onSubmit=${make}><label class="f gap">What it is for<input class="in" name="name" required maxlength="100" autocomplete="off" /></label>
    <label class="f gap">Days until it ends<input class="in" name="days" type="number" min="1" max="365" value="90" required /></label><div class="gap"><button type="submit" class="btn pri" id="make">Make a token</button></div></form>
    <div role="status">${secret !== "" && html`<p class="note gap">It is shown this once. Send it as <span class="mono">X-Auth-Token</span>.</p><pre class="cmd whole gap" id="secret">${secret}</pre><div class="gap"><button type="button" class="btn sm" onClick=${() => copy(secret, "Token")}>Copy</button></div>`}</div>
    <p class="dim t1 gap">It may do what you may do. Fewer rights: <span class="mono">POST /api/v1/tokens</span> with <span class="mono">rights</span>.</p></div></div>`;
}

/** @param {{ token: TokenRow, again: () => Promise<void> }} props */
function Token({ token: { id, name, rights, expires, used, address }, again }) {
  const ask = () => {
    question.value = {
      title: `End the token ${name}?`,
      text: "Programs that use it are refused at once, and their streams end.",
      yes: "End it",
      isDangerous: true,
      act: () => void deleteToken(id).then(() => say(`${name} has ended`), (error) => say(messageOf(error))).then(again),
    };
  };
  return html`<li class="pad row nowrap under"><div class="shrink"><b>${name}</b><div class="dim t1">${rights === null ? "all rights of yours" : `${count(rights.length)} rules of its own`}, ends <time>${timeText(expires * 1000, true)}</time>, ${used === null ? "not used yet" : html`used <${Ago} ms=${used * 1000} /> from <span class="mono">${address}</span>`}</div></div><button type="button" class="btn sm danger grow" aria-label=${`End ${name}`} onClick=${ask}>End</button></li>`;
}

function askEndAll() {
  question.value = {
    title: "Log out everywhere?",
    text: "All your sessions end, this one too, and tokens of Salt's. API tokens stay.",
    yes: "Log out everywhere",
    isDangerous: true,
    act: () => void endSessions().then(loadSession, (error) => say(messageOf(error))),
  };
}
