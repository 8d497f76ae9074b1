/**
 * Adds user names and passwords to URLs, and hides them in messages.
 * Source: Salt 3008.3, `salt/utils/url.py`.
 * @module
 */

import { quoteUrlPart } from "./url_parts.ts";
import { InvocationError } from "#lib/errors.ts";

/** What `.` of an expression matches, as often as possible. */
const LINE = /[^\n\r\u2028\u2029]+/g;

/**
 * A line with everything hidden from its first URL to its last `@`. Not by `https?:\/\/.*@`, which looks at the rest
 * of the line from each URL.
 */
function hideInLine(line: string): string {
  const url = /https?:\/\//i.exec(line);
  const end = line.lastIndexOf("@");
  if (url === null || end < url.index) return line;
  return `${line.slice(0, url.index)}${url[0]}<redacted>${line.slice(end)}`;
}

/** `text` with the credentials of each http or https URL hidden. */
export function hideCredentials(text: string): string {
  return text.replaceAll(LINE, (line) => hideInLine(line));
}

/** Whether there is a URL with a password in a text. */
export function hasPassword(text: string): boolean {
  return /[a-z][a-z0-9+.-]{0,30}:\/\/[^/@\s:]*:[^/@\s]+@/i.test(text);
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
