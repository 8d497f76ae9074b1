/**
 * The cookies of a session, and of a log-in by a provider that has begun.
 * Source: RFC 6265, and its successor's draft; the name of a session's is that of Salt's rest_cherrypy.
 * @module
 */

const NAME = "session_id";

/** The value of the session's cookie in the header `Cookie`. */
export function sessionCookie(header: string | null): string | undefined {
  return cookieIn(header, NAME);
}

function cookieIn(header: string | null, wanted: string): string | undefined {
  for (const part of (header ?? "").split(";")) {
    const [name, value] = part.split("=", 2);
    if (name.trim() === wanted && value !== undefined) return value.trim();
  }
  return undefined;
}

/** What the cookie of a new session has besides its value. */
export interface CookieOptions {
  /** Seconds that it lives. */
  readonly maxAgeS: number;
  /** Whether it is sent over TLS only. */
  readonly secure: boolean;
}

/** The header `Set-Cookie` of a session. Scripts in a page cannot read it, and no other site sends it. */
export function setSessionCookie(value: string, { maxAgeS, secure }: CookieOptions): string {
  const expires = new Date(Date.now() + maxAgeS * 1000).toUTCString();
  const flags = `HttpOnly; SameSite=Strict${secure ? "; Secure" : ""}`;
  return `${NAME}=${value}; expires=${expires}; Max-Age=${maxAgeS}; Path=/; ${flags}`;
}

/** The header `Set-Cookie` that ends it. */
export function endSessionCookie(): string {
  return `${NAME}=; expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=0; Path=/; HttpOnly; SameSite=Strict`;
}

/** Over TLS a browser takes the prefix from this host alone, and from no page of it over plain HTTP. */
function logInName(secure: boolean): string {
  return secure ? "__Host-oidc_log_in" : "oidc_log_in";
}

/** The value of the cookie of a log-in that has begun. */
export function logInCookie(header: string | null, { secure }: Pick<CookieOptions, "secure">): string | undefined {
  return cookieIn(header, logInName(secure));
}

/**
 * The header `Set-Cookie` of a log-in that begins; an empty value ends it. The browser comes back from the provider's
 * site: it must send this one then, but with no request that a page of another site makes.
 */
export function setLogInCookie(value: string, { maxAgeS, secure }: CookieOptions): string {
  const flags = `Path=/; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;
  return `${logInName(secure)}=${value}; Max-Age=${value === "" ? 0 : maxAgeS}; ${flags}`;
}
