/**
 * Requests to a server of Vault, or OpenBao. The token that a sign-in gives is kept for the job.
 * Source: developer.hashicorp.com, "Vault HTTP API", "AppRole auth method (API)"; Salt 3007.15
 * `salt/utils/vault/client.py`.
 * @module
 */

import { CommandError, InvocationError, JsonError } from "#lib/errors.ts";
import { HttpError, httpRequest, type HttpResponse } from "#lib/host/network/http_request.ts";
import { quoteUrlPart } from "#lib/text/url_parts.ts";
import { dumpJson } from "#lib/values/json.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import { map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { vaultAuthorities, type VaultSettings } from "./settings.ts";

/** Milliseconds for a request. */
const WAIT_MS = 120_000;

/** What the server refuses, by Salt's name for it. */
export class VaultError extends CommandError {
  constructor(readonly kind: string, text: string) {
    super(text);
  }
  /** The error as Salt's functions write it: `VaultNotFoundError: …`. */
  get described(): string {
    return `${this.kind}: ${this.message}`;
  }
}

/** Salt's names of errors, by the status of the answer. */
const KINDS: Readonly<Record<number, string>> = {
  400: "VaultInvocationError",
  403: "VaultPermissionDeniedError",
  404: "VaultNotFoundError",
  405: "VaultUnsupportedOperationError",
  412: "VaultPreconditionFailedError",
  500: "VaultServerError",
  502: "VaultServerError",
  503: "VaultUnavailableError",
};

/** The tokens of sign-ins, by the signal that each job has of its own. */
const TOKENS = new WeakMap<AbortSignal, Map<string, string>>();

/**
 * Forgets the tokens of a job.
 * @returns Whether there were any.
 */
export function forgetTokens(signal: AbortSignal): boolean {
  return TOKENS.delete(signal);
}

/** A request to a path below `/v1/`. */
interface VaultRequest {
  readonly method: string;
  readonly endpoint: string;
  readonly payload?: Value;
  readonly headers?: readonly (readonly [string, string])[];
}

/** Asks one server for one job. */
export class VaultClient {
  readonly #settings: VaultSettings;
  readonly #signal: AbortSignal;

  constructor(settings: VaultSettings, signal: AbortSignal) {
    this.#settings = settings;
    this.#signal = signal;
  }

  /**
   * Sends a request, once more with a new token if that of a sign-in is no longer valid.
   * @returns The answer's JSON; True for an answer without a body.
   * @throws {VaultError} If the server refuses it.
   */
  async query(request: VaultRequest): Promise<ValueMap | true> {
    const { login } = this.#settings;
    const isKept = login.method === "approle" && this.#kept() !== undefined;
    try {
      return await this.#send(request, await this.#token());
    } catch (error) {
      if (!isKept || !(error instanceof VaultError) || error.kind !== KINDS[403]) throw error;
      TOKENS.get(this.#signal)?.delete(this.#key());
      return await this.#send(request, await this.#token());
    }
  }

  #kept(): string | undefined {
    return TOKENS.get(this.#signal)?.get(this.#key());
  }

  #key(): string {
    const { url, namespace, login } = this.#settings;
    return JSON.stringify([url, namespace, login]);
  }

  async #token(): Promise<string> {
    const { login } = this.#settings;
    if (login.method === "token") return login.token;
    const known = this.#kept();
    if (known !== undefined) return known;
    const { mount, roleId, secretId } = login;
    const payload = map({ role_id: roleId, ...secretId !== undefined && { secret_id: secretId } });
    const answer = await this.#send({ method: "POST", endpoint: `auth/${mount}/login`, payload });
    const token = mapOrEmpty(answer === true ? null : answer.get("auth")).get("client_token");
    if (typeof token !== "string") throw new VaultError("VaultAuthError", "The sign-in gave no token");
    const tokens = TOKENS.get(this.#signal) ?? new Map<string, string>();
    TOKENS.set(this.#signal, tokens.set(this.#key(), token));
    return token;
  }

  async #send({ method, endpoint, payload, headers = [] }: VaultRequest, token?: string): Promise<ValueMap | true> {
    const { url, namespace, verify } = this.#settings;
    try {
      return answerOf(
        await httpRequest({
          url: `${url}/v1/${endpointPath(endpoint)}`,
          method,
          headers: new Map([
            ["X-Vault-Request", "true"],
            ...token === undefined ? [] : [["X-Vault-Token", token] as const],
            ...namespace === undefined ? [] : [["X-Vault-Namespace", namespace] as const],
            ...payload === undefined ? [] : [["Content-Type", "application/json"] as const],
            ...headers,
          ]),
          ...payload !== undefined && { body: dumpJson(payload) },
          verify: verify !== false,
          ca: vaultAuthorities(this.#settings),
          timeoutMs: WAIT_MS,
          signal: this.#signal,
        }),
      );
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      throw new VaultError("ConnectionError", `${new URL(url).host}: ${error.message}`);
    }
  }
}

/**
 * A path of Vault as a part of a URL; a question mark is what follows the path.
 * @throws {InvocationError} If a step of it leads to another path.
 */
function endpointPath(endpoint: string): string {
  const steps = endpoint.replace(/^\/+/, "").split("/");
  if (steps.some((step) => step === "." || step === "..")) throw new InvocationError(`Invalid path: ${endpoint}`);
  return steps.map(quoteUrlPart).join("/");
}

function answerOf({ status, reason, body }: HttpResponse): ValueMap | true {
  const text = new TextDecoder().decode(body);
  if (status === 204 || (status < 300 && text.trim() === "")) return true;
  const answer = jsonOf(text);
  if (status < 300) return mapOrEmpty(answer);
  const errors = listOrEmpty(mapOrEmpty(answer).get("errors")).map(str).join(", ");
  throw new VaultError(
    KINDS[status] ?? "HTTPError",
    errors === "" && KINDS[status] === undefined ? `${status} ${reason}` : errors,
  );
}

function jsonOf(text: string): Value {
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return null;
  }
}
