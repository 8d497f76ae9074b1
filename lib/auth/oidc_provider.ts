/**
 * A provider of OpenID Connect as it is asked here: where a browser is sent, and who the user is that comes back. The
 * authorization code flow with PKCE, and nothing else.
 * Source: OpenID Connect Core 1.0 and Discovery 1.0; RFC 6749, RFC 7636, RFC 9207, RFC 9700.
 * @module
 */

import type { allowInsecureRequests, AuthorizationServer, ClientAuth, customFetch } from "oauth4webapi";
import { messageOf } from "#lib/errors.ts";
import { boundedBody } from "./bounded_answer.ts";
import { type Claims, oidcGroupNames, OidcRefusedError, oidcUserName } from "./oidc_claims.ts";
import { isLocalUrl, type OidcSettings } from "./oidc_settings.ts";

/** The provider does not answer, or not as a provider does: the user may try again later. */
export class OidcAwayError extends Error {
  override name = "OidcAwayError";
}

/** What a log-in begins with, and what only this browser may end it with. */
export interface OidcSecrets {
  readonly state: string;
  readonly nonce: string;
  /** The verifier of PKCE. */
  readonly verifier: string;
}

/** A user whom the provider knows. */
export interface OidcUser {
  readonly name: string;
  readonly groups: readonly string[];
  /** When the ID token ends, in seconds since the epoch. */
  readonly untilS: number;
}

type Library = typeof import("./oidc_library.ts");

/** What the library asks for. */
interface AskedRequest {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: URLSearchParams | null | undefined;
}

/** How its requests are made. */
interface RequestOptions {
  readonly [allowInsecureRequests]: boolean;
  readonly [customFetch]: (url: string, asked: AskedRequest) => Promise<Response>;
}

/** The signatures that are taken: with a key of the provider's alone. */
const ALGORITHMS = ["RS256", "ES256", "EdDSA", "Ed25519"];
/** Time for an answer of the provider, in milliseconds. */
const ANSWER_MS = 10_000;
/** Time after which the provider is asked again what it has, in milliseconds. */
const DISCOVERY_MS = 600_000;

/** One provider. */
export class OidcProvider {
  readonly #settings: OidcSettings;
  #discovery: { readonly server: Promise<AuthorizationServer>; readonly atMs: number } | undefined;

  constructor(settings: OidcSettings) {
    this.#settings = settings;
  }

  /**
   * Begins a log-in.
   * @returns Where the browser is sent, and what {@linkcode OidcProvider.identify} needs.
   * @throws {OidcAwayError}
   */
  async begin(): Promise<{ readonly url: string; readonly secrets: OidcSecrets }> {
    const library = await oidcLibrary(), server = await this.#server(library);
    const { clientId, redirectUri, scope } = this.#settings;
    const state = library.generateRandomState(), nonce = library.generateRandomNonce();
    const verifier = library.generateRandomCodeVerifier();
    const url = URL.parse(server.authorization_endpoint ?? "");
    if (url === null || (url.protocol !== "https:" && !this.#mayBePlain(url))) {
      throw new OidcAwayError("the provider names no authorization endpoint that is served over TLS");
    }
    const asked = {
      response_type: "code",
      client_id: clientId,
      redirect_uri: redirectUri,
      scope,
      state,
      nonce,
      code_challenge: await library.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
    };
    for (const [name, value] of Object.entries(asked)) url.searchParams.set(name, value);
    return { url: url.href, secrets: { state, nonce, verifier } };
  }

  /**
   * The user who has come back with a code.
   * @param answer The query of the callback.
   * @throws {OidcAwayError}
   * @throws {OidcRefusedError}
   */
  async identify(answer: URLSearchParams, secrets: OidcSecrets): Promise<OidcUser> {
    const library = await oidcLibrary();
    try {
      return await this.#exchange(library, answer, secrets);
    } catch (error) {
      throw asRefusal(library, error);
    }
  }

  async #exchange(library: Library, answer: URLSearchParams, secrets: OidcSecrets): Promise<OidcUser> {
    const { clientId: client_id, redirectUri, userClaim, groupsClaim } = this.#settings;
    const server = await this.#server(library), client = { client_id };
    const options = this.#requestOptions(library);
    const checked = library.validateAuthResponse(server, client, answer, secrets.state);
    const authentication = await this.#authentication(library, server);
    const response = await library.authorizationCodeGrantRequest(
      server,
      client,
      authentication,
      checked,
      redirectUri,
      secrets.verifier,
      options,
    );
    const tokens = await library.processAuthorizationCodeResponse(server, client, response, {
      expectedNonce: secrets.nonce,
      requireIdToken: true,
    });
    await this.#checkSignature(library, server, response);
    const claims = library.getValidatedIdTokenClaims(tokens);
    if (claims === undefined) throw new OidcRefusedError("the provider gave no ID token");
    let all: Claims = claims;
    if ((claims[userClaim] === undefined || claims[groupsClaim] === undefined) && server.userinfo_endpoint) {
      const info = await library.userInfoRequest(server, client, tokens.access_token, options);
      // What the ID token says is signed, and goes before.
      all = { ...await library.processUserInfoResponse(server, client, claims.sub, info), ...claims };
    }
    return {
      name: oidcUserName(all, userClaim),
      groups: oidcGroupNames(all[groupsClaim]),
      untilS: Math.floor(claims.exp),
    };
  }

  /** Checks the signature by the provider's keys; they are fetched again if they have not this one. */
  async #checkSignature(library: Library, server: AuthorizationServer, response: Response): Promise<void> {
    const options = this.#requestOptions(library);
    try {
      await library.validateApplicationLevelSignature(server, response, options);
    } catch (error) {
      if (!(error instanceof library.OperationProcessingError) || error.code !== library.KEY_SELECTION) throw error;
      // The library keeps the keys by this object.
      const again = { ...server };
      this.#discovery = { server: Promise.resolve(again), atMs: this.#discovery?.atMs ?? performance.now() };
      await library.validateApplicationLevelSignature(again, response, options);
    }
  }

  #server(library: Library): Promise<AuthorizationServer> {
    const nowMs = performance.now();
    if (this.#discovery !== undefined && nowMs - this.#discovery.atMs < DISCOVERY_MS) return this.#discovery.server;
    const server = this.#discover(library);
    const discovery = { server, atMs: nowMs };
    this.#discovery = discovery;
    server.catch(() => {
      if (this.#discovery === discovery) this.#discovery = undefined;
    });
    return server;
  }

  /** @throws {OidcAwayError} */
  async #discover(library: Library): Promise<AuthorizationServer> {
    const issuer = new URL(this.#settings.issuer);
    try {
      const response = await library.discoveryRequest(issuer, this.#requestOptions(library));
      const server = await library.processDiscoveryResponse(issuer, response);
      const named = server.id_token_signing_alg_values_supported ?? ["RS256"];
      return { ...server, id_token_signing_alg_values_supported: named.filter((name) => ALGORITHMS.includes(name)) };
    } catch (error) {
      if (error instanceof OidcAwayError) throw error;
      throw new OidcAwayError(`what the provider says of itself cannot be used: ${messageOf(error)}`);
    }
  }

  async #authentication(library: Library, server: AuthorizationServer): Promise<ClientAuth> {
    const { secretFile } = this.#settings;
    if (secretFile === null) return library.None();
    let secret: string;
    try {
      // Read each time: it may have changed.
      secret = (await Deno.readTextFile(secretFile)).trim();
    } catch (error) {
      throw new OidcAwayError(`^client_secret_file cannot be read: ${messageOf(error)}`);
    }
    const methods = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
    return methods.includes("client_secret_basic")
      ? library.ClientSecretBasic(secret)
      : library.ClientSecretPost(secret);
  }

  #mayBePlain(url: URL): boolean {
    return isLocalUrl(url) && isLocalUrl(new URL(this.#settings.issuer));
  }

  #requestOptions(library: Library): RequestOptions {
    return {
      [library.allowInsecureRequests]: isLocalUrl(new URL(this.#settings.issuer)),
      [library.customFetch]: (url, asked) => this.#ask(url, asked),
    };
  }

  /**
   * An answer of the provider, which has come to its end.
   * @throws {OidcAwayError}
   */
  async #ask(url: string, { method, headers, body }: AskedRequest): Promise<Response> {
    const { caFile } = this.#settings;
    const path = new URL(url).pathname;
    try {
      using client = Deno.createHttpClient(caFile === null ? {} : { caCerts: [await Deno.readTextFile(caFile)] });
      const signal = AbortSignal.timeout(ANSWER_MS);
      // No redirect: the secret and the code must not go to another server.
      const response = await fetch(url, { method, headers, body, client, signal, redirect: "manual" });
      const bytes = await boundedBody(response, "the answer");
      const { status, headers: answered } = response;
      if (status < 500) return new Response(bytes.length === 0 ? null : bytes, { status, headers: answered });
      throw new OidcAwayError(`the provider answers ${path} with ${status}`);
    } catch (error) {
      if (error instanceof OidcAwayError) throw error;
      throw new OidcAwayError(`the provider does not answer ${path}: ${messageOf(error)}`);
    }
  }
}

/** Loads the client when somebody logs in by a provider. */
function oidcLibrary(): Promise<Library> {
  return import(new URL("./oidc_library.ts", import.meta.url).href);
}

/** What the library says of a log-in, in words; other errors stay. */
function asRefusal(library: Library, error: unknown): unknown {
  if (error instanceof library.ResponseBodyError) {
    return new OidcRefusedError(`the provider does not take the code: ${errorWord(error.error)}`);
  }
  if (error instanceof library.AuthorizationResponseError) {
    return new OidcRefusedError(`the provider has refused: ${errorWord(error.error)}`);
  }
  if (error instanceof library.OperationProcessingError) {
    if (error.code === library.JWT_TIMESTAMP_CHECK) return new OidcRefusedError("the ID token has expired");
    if (error.code === library.KEY_SELECTION) return new OidcRefusedError("the provider has no key of this signature");
    if (error.code === library.JWT_CLAIM_COMPARISON) {
      return new OidcRefusedError(`the ID token is of another log-in, client or provider: ${error.message}`);
    }
    return new OidcRefusedError(`the provider's answer is not as it must be: ${error.message}`);
  }
  if (error instanceof library.WWWAuthenticateChallengeError) {
    return new OidcRefusedError("the provider does not take ^client_id with the secret of ^client_secret_file");
  }
  // A key of the provider's that is none is an error of the runtime.
  if (error instanceof library.UnsupportedOperationError || error instanceof DOMException) {
    return new OidcRefusedError(`the provider's answer is not as it must be: ${error.message}`);
  }
  return error;
}

/** The error of a provider, of which there is a registry; nothing else that it says is passed on. */
function errorWord(error: unknown): string {
  return typeof error === "string" && /^[a-z_]{1,50}$/.test(error) ? error : "no reason is given";
}
