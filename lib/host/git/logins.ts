/**
 * Passwords in URLs of http and https, which must not be among the arguments of git: every user of a host can read
 * those, and git passes the URL on to the arguments of its own programs. So the URL is passed without its password, and
 * git gets the password from a credential helper that reads a variable of the environment, which only git's user and
 * root can read. Pure functions. Source: gitcredentials(7), git-config(1) `credential.<url>.*`,
 * `url.<base>.replacementFor`.
 * @module
 */

import { unquoteUrlPart } from "#lib/text/url_parts.ts";

/** A password, and the URLs that it is used for. */
export interface Login {
  /** The prefix of those URLs, without the password: `https://user@host:port`. The user is as in a URL. */
  readonly origin: string;
  /** The password as in a URL, where some characters are `%XX`. */
  readonly password: string;
}

/** The parts of a URL: the URL without the password, and the password. */
export interface SplitUrl {
  readonly url: string;
  readonly login?: Login;
}

/** A URL without the password in it. Another text is returned as it is. */
export function splitLogin(text: string): SplitUrl {
  const [, scheme, user, password, host, rest] = /^(https?:\/\/)([^/?#:@]*):([^/?#]*)@([^/?#@]*)(.*)$/is.exec(text) ??
    [];
  if (scheme === undefined) return { url: text };
  const origin = `${scheme}${user}@${host}`;
  return { url: origin + rest, login: { origin, password } };
}

/** A URL with the password that one of `logins` has for it. */
export function joinLogin(url: string, logins: readonly Login[]): string {
  const login = logins.find((one) => isFor(one, url));
  return login === undefined ? url : urlOf(login) + url.slice(login.origin.length);
}

/** Whether a login applies to a URL without a password. */
export function isFor({ origin }: Login, url: string): boolean {
  return url.startsWith(origin) && /^(?:[/?#]|$)/.test(url.slice(origin.length));
}

/** `https://user:password@host:port` */
export function urlOf({ origin, password }: Login): string {
  const at = origin.lastIndexOf("@");
  return `${origin.slice(0, at)}:${password}${origin.slice(at)}`;
}

/** git's option for the helpers of a login. */
export function helperKey({ origin }: Login): string {
  // `git -c` ends the key at the first `=`; git treats an empty user as none there.
  return `credential.${origin.replaceAll("=", "%3D").replace("//@", "//")}.helper`;
}

/** The command line of git without passwords, and the environment variables with them. */
export interface HiddenLogins {
  readonly words: string[];
  readonly env: Record<string, string>;
}

/** The passwords that git may need beside those in its arguments. */
export interface KnownLogins {
  /** Logins for URLs without a password. */
  readonly stored: readonly Login[];
  /** Logins of URLs in the repository's configuration that have the password in them. */
  readonly configured: readonly Login[];
}

/**
 * Removes the passwords from URLs in `words`, and passes them and the known ones to git in the environment.
 * @param settings Number of settings that the environment has already (`GIT_CONFIG_COUNT`).
 */
export function hideLogins(words: readonly string[], known: KnownLogins, settings = 0): HiddenLogins {
  const split = words.map(splitLogin);
  const given = split.flatMap(({ login }) => login ?? []);
  const logins = new Map([...known.stored, ...known.configured, ...given].map((one) => [one.origin, one]));
  const env: Record<string, string> = {};
  const options = [...logins.values()].flatMap((login, i) => {
    const variable = `SALT_GIT_PASSWORD_${i}`;
    env[variable] = unquoteUrlPart(login.password);
    const key = helperKey(login);
    // An empty one takes away the user's own helpers, which may know another password, or would store this one.
    return ["-c", `${key}=`, "-c", `${key}=${readingHelper(`printf "password=%s\\n" "$${variable}"`)}`];
  });
  for (const [i, login] of known.configured.entries()) {
    env[`GIT_CONFIG_KEY_${settings + i}`] = `url.${login.origin}/.insteadOf`;
    env[`GIT_CONFIG_VALUE_${settings + i}`] = `${urlOf(login)}/`;
  }
  if (known.configured.length > 0) env.GIT_CONFIG_COUNT = String(settings + known.configured.length);
  return { words: [...options, ...split.map(({ url }) => url)], env };
}

/** A credential helper that returns the output of a shell command, and stores and removes nothing. */
export function readingHelper(command: string): string {
  return `!f() { test "$1" != get || ${command}; }; f`;
}
