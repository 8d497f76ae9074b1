/**
 * Adds user names and passwords to URLs, and hides them in messages.
 * Source: Salt 3008.3, `salt/utils/url.py`.
 * @module
 */

import { quoteUrlPart } from "./url_parts.ts";
import { InvocationError } from "#lib/errors.ts";

/** `text` with the credentials of each http or https URL hidden. */
export function hideCredentials(text: string): string {
  return text.replaceAll(/(https?):\/\/.*@/gi, "$1://<redacted>@");
}

/** Whether there is a URL with a password in a text. */
export function hasPassword(text: string): boolean {
  return /[a-z][a-z0-9+.-]*:\/\/[^/@\s]*:[^/@\s]+@/i.test(text);
}

/**
 * The URL with those credentials; without any, the URL itself.
 * @throws {InvocationError} If it is not of https.
 */
export function withCredentials(url: string, user: string | null, password: string | null): string {
  if (user === null && password === null) return url;
  if (!/^https:\/\//i.test(url)) throw new InvocationError("Basic Auth only supported for HTTPS");
  return `https://${userInfo(user ?? "", password)}@${url.slice("https://".length)}`;
}

/** A URL of http or https with user and password in place of those in it; another URL is returned as it is. */
export function replaceCredentials(url: string, user: string, password: string): string {
  return url.replace(/^(https?:\/\/)(?:[^/?#]*@)?/i, (_, scheme) => `${scheme}${userInfo(user, password)}@`);
}

function userInfo(user: string, password: string | null): string {
  return [user, ...password === null ? [] : [password]].map(quoteUrlPart).join(":");
}
