/**
 * Requests to the engine of Docker, by HTTP over its Unix socket or over TCP.
 * Source: docs.docker.com, "Docker Engine API v1.41".
 * @module
 */

import { CommandError, InvocationError, JsonError, messageOf } from "#lib/errors.ts";
import { clearTimeout, setTimeout } from "#lib/os/timers.ts";
import { quoteUrlPart } from "#lib/text/url_parts.ts";
import { dumpJson } from "#lib/values/json.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { isMap, str, type Value } from "#lib/values/value.ts";
import { type EnginePlace } from "./engine_place.ts";
import { type AttachedConnection, openAttached } from "./attached_connection.ts";

/** Seconds for an answer, unless a request says otherwise: Salt's `client_timeout`. */
export const CLIENT_TIMEOUT_S = 60;

/** What the engine refuses. */
export class DockerError extends CommandError {
  override name = "DockerError";
  /** @param explanation The engine's own words. */
  constructor(readonly status: number, readonly explanation: string) {
    super(`Error ${status}: ${explanation}`);
  }
}

/** What is asked of the engine, and how long. */
export interface EngineRequest {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** From {@linkcode enginePath}. */
  readonly path: string;
  /** What follows the path; None and `undefined` are left out. */
  readonly query?: Readonly<Record<string, Value | undefined>>;
  /** The body, as JSON. */
  readonly json?: Value;
  /** The body, as it is. */
  readonly body?: ReadableStream<Uint8Array>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Seconds until the answer begins, and until it is whole if it is no stream; `null`: without end. */
  readonly timeoutS?: number | null;
}

/** A path of the engine's interface: the words as they are, the names quoted. */
export function enginePath(...steps: readonly [string, ...string[]]): string {
  for (const step of steps) {
    if (step === "") throw new CommandError("Resource ID was not provided");
    // A server takes these for other paths even if they are quoted.
    if (step.split("/").some((part) => part === "." || part === "..")) {
      throw new InvocationError(`Invalid name: ${JSON.stringify(step)}`);
    }
  }
  return steps.map((step) => `/${quoteUrlPart(step)}`).join("");
}

/** One engine, for one job. */
export class DockerEngine {
  readonly #place: EnginePlace;
  readonly #signal: AbortSignal;
  readonly #timeoutS: number;

  constructor(place: EnginePlace, signal: AbortSignal, timeoutS: number = CLIENT_TIMEOUT_S) {
    this.#place = place;
    this.#signal = signal;
    this.#timeoutS = timeoutS;
  }

  /** The seconds that requests wait for. */
  get timeoutS(): number {
    return this.#timeoutS;
  }

  /**
   * Sends a request.
   * @returns The answer's JSON; its text if it is none; None if it is empty.
   * @throws {DockerError} If the engine refuses it.
   * @throws {CommandError} If it does not answer.
   */
  async ask(request: EngineRequest): Promise<Value> {
    const text = new TextDecoder().decode(await this.bytes(request));
    if (text.trim() === "") return null;
    return jsonOr(text, text);
  }

  /** Like {@linkcode ask}, but for the answer's bytes. */
  async bytes(request: EngineRequest): Promise<Uint8Array> {
    return await this.#send(request, async (response) => new Uint8Array(await response.arrayBuffer()));
  }

  /**
   * Sends a request whose answer is read piece by piece: the time limit ends when it begins.
   * @param use Reads it, all or not.
   */
  async stream<T>(
    request: EngineRequest,
    use: (body: AsyncIterable<Uint8Array>, headers: Headers) => Promise<T>,
  ): Promise<T> {
    return await this.#send(request, async (response, begun) => {
      begun();
      return await use(response.body ?? new Blob().stream(), response.headers);
    });
  }

  /** Starts what was made to be attached to; its input and its output are the connection. */
  async attach(path: string, json: Value): Promise<AttachedConnection> {
    const answer = await openAttached(this.#place, this.#versioned(path), dumpJson(json), this.#signal);
    if (!("status" in answer)) return answer;
    throw refusal(answer.status, answer.text);
  }

  /** The whole address of a request: its path is of quoted steps, what follows is quoted here. */
  #address({ path, query = {} }: EngineRequest): string {
    const given = Object.entries(query).flatMap(([key, value]): [string, string][] =>
      value === null || value === undefined ? [] : [[key, str(value)]]
    );
    const search = given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
    return `${this.#place.origin}${this.#versioned(path)}${search}`;
  }

  #versioned(path: string): string {
    const { version } = this.#place;
    return `${version === undefined ? "" : `/v${version}`}${path}`;
  }

  async #send<T>(request: EngineRequest, use: (response: Response, begun: () => void) => Promise<T>): Promise<T> {
    const { method, json, body, headers = {} } = request;
    const timeoutS = request.timeoutS === undefined ? this.#timeoutS : request.timeoutS;
    const late = new AbortController();
    const timer = timeoutS === null ? undefined : setTimeout(() => late.abort(), timeoutS * 1000);
    const begun = () => timer === undefined ? undefined : clearTimeout(timer);
    const { socket } = this.#place;
    using client = Deno.createHttpClient(
      socket === undefined ? {} : { proxy: { transport: "unix", path: socket } },
    );
    try {
      const response = await fetch(this.#address(request), {
        client,
        method,
        redirect: "manual",
        headers: { ...json !== undefined && { "Content-Type": "application/json" }, ...headers },
        body: json === undefined ? body : dumpJson(json),
        signal: AbortSignal.any([this.#signal, late.signal]),
      });
      if (response.status >= 300 && response.status !== 304) throw refusal(response.status, await response.text());
      return await use(response, begun);
    } catch (error) {
      throw this.#failure(error, late.signal.aborted ? timeoutS : null);
    } finally {
      begun();
    }
  }

  #failure(error: unknown, waitedS: number | null): unknown {
    if (error instanceof CommandError || this.#signal.aborted) return error;
    if (waitedS !== null) {
      return new CommandError(`Docker's engine did not answer in ${waitedS} seconds`, { cause: error });
    }
    // What a caller does with the answer may fail too.
    if (!(error instanceof TypeError)) return error;
    const { socket, shown } = this.#place;
    const reason = error.cause instanceof Error ? error.cause : error;
    const text = socket !== undefined && /not found|os error 2\b/i.test(messageOf(reason))
      ? "there is no such socket; is Docker running?"
      : messageOf(reason);
    return new CommandError(`Docker's engine at ${shown} does not answer: ${text}`, { cause: error });
  }
}

function refusal(status: number, text: string): DockerError {
  const answer = jsonOr(text, null);
  const message = isMap(answer) ? answer.get("message") : undefined;
  return new DockerError(status, typeof message === "string" ? message : text.trim());
}

function jsonOr(text: string, otherwise: Value): Value {
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return otherwise;
  }
}
