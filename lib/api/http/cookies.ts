/**
 * The cookie of a session. Source: RFC 6265; the name is that of Salt's rest_cherrypy.
 * @module
 */

const NAME = "session_id";

/** The value of the session's cookie in the header `Cookie`. */
export function sessionCookie(header: string | null): string | undefined {
  for (const part of (header ?? "").split(";")) {
    const [name, value] = part.split("=", 2);
    if (name.trim() === NAME && value !== undefined) return value.trim();
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
