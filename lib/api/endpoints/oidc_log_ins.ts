/**
 * Log-ins by a provider of OpenID Connect that have begun. What only the browser may end a log-in with is in its
 * cookie, encrypted with a key that this process alone has: nothing is kept for those who never come back, and nobody
 * else can end it, or end it twice.
 * @module
 */

import { Crypticle, generateKeyString } from "#lib/crypto/crypticle.ts";
import { sameText } from "#lib/crypto/same_text.ts";
import { AuthenticationError } from "#lib/errors.ts";
import { OidcRefusedError } from "#lib/auth/oidc_claims.ts";
import { OidcProvider, type OidcSecrets, type OidcUser } from "#lib/auth/oidc_provider.ts";
import type { OidcSettings } from "#lib/auth/oidc_settings.ts";
import { BoundedMap } from "#lib/values/bounded_map.ts";
import { mapOrEmpty, onlyStrings } from "#lib/values/shape.ts";
import { map, toNumber } from "#lib/values/value.ts";
import { LoginAttempts } from "./login_attempts.ts";

/** What a log-in goes back to. */
export interface OidcReturn {
  /** The fragment of the console's page that was asked for: `/keys`. */
  readonly page: string;
  /** The session that the browser had; empty: none. It ends when the new one begins. */
  readonly former: string;
}

/** A log-in that has begun in a browser. */
export interface BegunOidcLogIn extends OidcReturn {
  readonly secrets: OidcSecrets;
}

/** Seconds in which a log-in must end. */
export const OIDC_LOG_IN_S = 600;
/** States that are remembered as used. An older one still needs a code, which the provider takes once. */
const MAX_USED = 10_000;

/** The log-ins of one API. */
export class OidcLogIns {
  readonly settings: OidcSettings;
  /** Callbacks that belong to no log-in of the browser: they must not use up the attempts of those that do. */
  readonly strays: LoginAttempts = new LoginAttempts();
  readonly #provider: OidcProvider;
  readonly #key = new Crypticle(generateKeyString());
  readonly #used = new BoundedMap<string, true>(MAX_USED);
  readonly #now: () => number;

  /** @param now The time in milliseconds. */
  constructor(settings: OidcSettings, now: () => number = () => performance.now()) {
    this.settings = settings;
    this.#provider = new OidcProvider(settings);
    this.#now = now;
  }

  /**
   * Begins a log-in.
   * @returns Where the browser is sent, and what its cookie holds.
   * @throws {OidcAwayError}
   */
  async begin({ page, former }: OidcReturn): Promise<{ readonly url: string; readonly cookie: string }> {
    const { url, secrets: { state, nonce, verifier } } = await this.#provider.begin();
    const sealed = this.#key.dumps(map({ state, nonce, verifier, page, former, atMs: Math.floor(this.#now()) }));
    return { url, cookie: sealed.toBase64({ alphabet: "base64url", omitPadding: true }) };
  }

  /** The log-in that a cookie holds; `undefined`: none, or it has taken too long. */
  begun(cookie: string | undefined): BegunOidcLogIn | undefined {
    const fields = mapOrEmpty(this.#unsealed(cookie ?? ""));
    const texts = onlyStrings(["state", "nonce", "verifier", "page", "former"].map((name) => fields.get(name) ?? null));
    const atMs = toNumber(fields.get("atMs"));
    if (texts.length < 5 || atMs === undefined || this.#now() - atMs > OIDC_LOG_IN_S * 1000) return undefined;
    const [state, nonce, verifier, page, former] = texts;
    return { secrets: { state, nonce, verifier }, page, former };
  }

  /** Whether an answer of the provider, the query of the callback, is to this log-in. */
  isOf(answer: URLSearchParams, { secrets: { state } }: BegunOidcLogIn): boolean {
    return sameText(answer.get("state") ?? "", state);
  }

  /**
   * Ends a log-in, whatever comes of it.
   * @throws {OidcAwayError}
   * @throws {OidcRefusedError}
   */
  async end(answer: URLSearchParams, { secrets }: BegunOidcLogIn): Promise<OidcUser> {
    if (this.#used.get(secrets.state)) throw new OidcRefusedError("it has ended before, and comes again");
    this.#used.set(secrets.state, true);
    return await this.#provider.identify(answer, secrets);
  }

  #unsealed(cookie: string): ReturnType<Crypticle["loads"]> {
    try {
      return this.#key.loads(Uint8Array.fromBase64(cookie, { alphabet: "base64url" }));
    } catch (error) {
      if (!(error instanceof AuthenticationError || error instanceof SyntaxError)) throw error;
      return null;
    }
  }
}
