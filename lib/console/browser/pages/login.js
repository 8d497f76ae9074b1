/**
 * The page on which a user logs in.
 * @module
 */

import { ApiError, getSession, logIn, logOut, providerAddress } from "../api.js";
import { begin, session } from "../fleet.js";
import { html, Icon, messageOf } from "../parts.js";
import { useEffect, useRef, useState } from "../vendor/hooks.js";

export default function LogIn() {
  const kinds = session.value?.eauth ?? [], provider = session.value?.oidc;
  const [fields, setFields] = useState({ username: "", password: "", eauth: "" });
  const [problem, setProblem] = useState("");
  const [isBusy, setBusy] = useState(false);
  const name = useRef(/** @type {HTMLInputElement | null} */ (null));
  useEffect(() => name.current?.focus(), []);
  /** @param {"username" | "password" | "eauth"} field */
  const set = (field) => (/** @type {{ target: HTMLInputElement }} */ event) =>
    setFields((before) => ({ ...before, [field]: event.target.value }));
  /** @param {Event} event */
  const submit = async (event) => {
    event.preventDefault();
    setBusy(true);
    setProblem("");
    try {
      await logIn({ ...fields, eauth: fields.eauth || kinds[0] || "" });
      const found = await getSession();
      if (hasNoRights(found)) {
        await logOut();
        return setProblem(`${fields.username} may log in, but no rule of external_auth gives this user anything to do.`);
      }
      session.value = found;
      void begin();
    } catch (error) {
      setFields((before) => ({ ...before, password: "" }));
      setProblem(sentence(error));
    } finally {
      setBusy(false);
    }
  };
  return html`<main class="login"><form class="card" onSubmit=${submit} aria-labelledby="title">
    <div class="brand"><${Icon} name="n-salt" /><h1 id="title">Log in to Salt</h1></div>
    ${provider !== undefined && html`<p><a class="btn ${kinds.length === 0 ? "pri" : ""}" href=${providerAddress(location.hash)}>Log in with ${provider}</a></p>`}
    ${kinds.length === 0 && session.value !== undefined && provider === undefined && html`<p class="note">Nobody may log in yet: <span class="mono">salt-run auth.first_user</span> makes a user.</p>`}
    ${(kinds.length > 0 || provider === undefined) && html`<${Fields} ...${{ kinds, fields, set, name, problem, isBusy }} />`}</form></main>`;
}

/**
 * The name and the password.
 * @param {{ kinds: string[], fields: { username: string, password: string, eauth: string }, set: (field: "username" | "password" | "eauth") => (event: { target: HTMLInputElement }) => void, name: { current: HTMLInputElement | null }, problem: string, isBusy: boolean }} props
 */
function Fields({ kinds, fields, set, name, problem, isBusy }) {
  return html`<label class="f">Name<input class="in" ref=${name} name="username" autocomplete="username" required value=${fields.username} onInput=${set("username")} /></label>
    <label class="f">Password<input class="in" type="password" name="password" autocomplete="current-password" required value=${fields.password} onInput=${set("password")} /></label>
    ${
    kinds.length > 1 &&
    html`<label class="f">Kind<select class="in" name="eauth" value=${fields.eauth || kinds[0]} onChange=${set("eauth")}>${
      kinds.map((kind) => html`<option key=${kind}>${kind}</option>`)
    }</select></label>`
  }
    <div role="alert">${problem !== "" && html`<p class="note b">${problem}</p>`}</div>
    <p><button type="submit" class="btn pri" disabled=${isBusy}>${isBusy ? "Logging in" : "Log in"}</button></p>`;
}

/** @param {import("../api.js").Session} session */
function hasNoRights({ perms }) {
  return perms === undefined || (Array.isArray(perms) ? perms.length === 0 : Object.keys(perms).length === 0);
}

/** Why it did not work. @param {unknown} error */
function sentence(error) {
  if (!(error instanceof ApiError)) return messageOf(error);
  if (error.status === 401) return "The name or the password is wrong.";
  if (error.status === 503) return "The master does not run: nobody can log in until it does.";
  if (error.status === 0) return "The API does not answer. Is it running?";
  return error.message;
}
