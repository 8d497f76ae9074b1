/**
 * Engine `webhook`: takes requests of other services, and fires an event for each.
 * Source: Salt 3008.3 `salt/engines/webhook.py`, its options, tags and data; docs.github.com, "Validating webhook
 * deliveries"; docs.gitlab.com, "Webhooks".
 * @module
 */

import { hmacHex } from "#lib/crypto/hmac.ts";
import { sameText } from "#lib/crypto/same_text.ts";
import { CommandError, messageOf } from "#lib/errors.ts";
import { clearTimeout, setTimeout } from "#lib/os/timers.ts";
import { engine, type EngineContext } from "#lib/plugins/engine.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { map, type Value } from "#lib/values/value.ts";

const TAG = "salt/engines/hook/";
/** Minimum length of a secret. */
const MIN_SECRET = 16;
/** Maximum length of the path of a request, and bytes of its body. */
const MAX_PATH = 256, MAX_BODY = 2 ** 20;
/** Requests at once. */
const MAX_REQUESTS = 64;
/** How long a body may take, in milliseconds. */
const BODY_MS = 10_000;
/** The least time between two warnings of refused requests, in milliseconds. */
const WARN_MS = 10_000;
/** Headers that may hold the secret itself: they do not go into events. */
const SECRET_HEADERS = ["authorization", "x-gitlab-token"];

/** A request that is not answered with an event. */
class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The receiver of requests. */
class Webhook {
  readonly #secret: string;
  readonly #context: EngineContext;
  #requests = 0;
  #warnedMs = -Infinity;
  #unwarned = 0;

  /** @param secret Empty: everybody may send. */
  constructor(secret: string, context: EngineContext) {
    this.#secret = secret;
    this.#context = context;
  }

  async take(request: Request): Promise<Response> {
    this.#requests++;
    try {
      await this.#fire(request);
      return new Response(null, { status: 200 });
    } catch (error) {
      if (error instanceof Refusal) {
        this.#warn(error.message);
        return new Response(`${error.message}\n`, { status: error.status });
      }
      this.#context.log.error(`A request could not be taken: ${messageOf(error)}`);
      return new Response("it could not be taken\n", { status: 500 });
    } finally {
      this.#requests--;
    }
  }

  async #fire(request: Request): Promise<void> {
    if (request.method !== "POST") throw new Refusal(405, "only POST is answered");
    if (this.#requests > MAX_REQUESTS) throw new Refusal(503, "too many requests at once");
    const tag = TAG + pathOf(request.url);
    const body = await readBody(request);
    if (!this.#isProven(request.headers, body)) throw new Refusal(401, "the secret is missing or wrong");
    const headers = map({});
    for (const [name, value] of request.headers) {
      if (!SECRET_HEADERS.includes(name)) headers.set(capitalize(name), value);
    }
    if (!await this.#context.fire(tag, map({ headers, body: textOf(body) }))) {
      throw new Refusal(503, "the event bus did not take it");
    }
  }

  /** Whether the request proves that its sender knows the secret: it has it, or an HMAC of the body with it. */
  #isProven(headers: Headers, body: Uint8Array): boolean {
    const secret = this.#secret;
    if (secret === "") return true;
    const signature = headers.get("x-hub-signature-256");
    if (signature !== null) {
      const key = new TextEncoder().encode(secret);
      return sameText(signature, `sha256=${hmacHex("sha256", { key, data: body })}`);
    }
    const given = headers.get("x-gitlab-token") ?? /^Bearer (.+)$/i.exec(headers.get("authorization") ?? "")?.[1];
    return given !== undefined && sameText(given, secret);
  }

  #warn(reason: string): void {
    const nowMs = performance.now();
    if (nowMs - this.#warnedMs < WARN_MS) return void this.#unwarned++;
    const more = this.#unwarned === 0 ? "" : ` (and ${this.#unwarned} before it)`;
    this.#context.log.warning(`A request is refused: ${reason}${more}`);
    this.#warnedMs = nowMs;
    this.#unwarned = 0;
  }
}

/** The part of the tag that the request names. */
function pathOf(url: string): string {
  let path: string;
  try {
    path = decodeURIComponent(new URL(url).pathname.slice(1));
  } catch {
    throw new Refusal(400, "the path is not valid");
  }
  if (path.length > MAX_PATH || /\p{Cc}/u.test(path)) throw new Refusal(400, "the path is not valid");
  return path;
}

/** Reads the body, which must not be too large nor take too long. */
async function readBody(request: Request): Promise<Uint8Array> {
  if (request.body === null) return new Uint8Array();
  const reader = request.body.getReader();
  let isLate = false;
  const late = setTimeout(() => {
    isLate = true;
    reader.cancel().catch(() => {}); // the client has gone
  }, BODY_MS);
  const pieces: Uint8Array[] = [];
  let length = 0;
  try {
    for (;;) {
      const { value, done } = await reader.read();
      // A cancelled reader tells the end: what has come is not the body.
      if (isLate) throw new Refusal(408, "the body took too long");
      if (done) break;
      length += value.length;
      if (length > MAX_BODY) {
        await reader.cancel().catch(() => {}); // the client has gone
        throw new Refusal(413, `the body has more than ${MAX_BODY} bytes`);
      }
      pieces.push(value);
    }
  } finally {
    clearTimeout(late);
  }
  return new Uint8Array(await new Blob(pieces.map((piece) => new Uint8Array(piece))).arrayBuffer());
}

/** The body as text; as bytes if it is none. */
function textOf(body: Uint8Array): Value {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return body;
  }
}

/** A header's name as Salt has it in events: `X-Github-Event`. */
function capitalize(name: string): string {
  return name.split("-").map((word) => word.slice(0, 1).toUpperCase() + word.slice(1).toLowerCase()).join("-");
}

/** The certificate and its key; `undefined` without TLS. */
function readCertificate(crt: string | null, key: string | null): { cert: string; key: string } | undefined {
  if (crt === null && key === null) return undefined;
  if (crt === null || key === null) throw new CommandError("ssl_crt and ssl_key need each other");
  return { cert: Deno.readTextFileSync(crt), key: Deno.readTextFileSync(key) };
}

export const start: ModuleFunction<EngineContext> = engine({
  doc: "Listens on `address` and `port`, with TLS if `ssl_crt` and `ssl_key` are set. A POST to /x becomes the event " +
    "salt/engines/hook/x with the data `headers` and `body`. The sender proves that it knows `secret`: by the header " +
    "Authorization: Bearer or X-Gitlab-Token, or by X-Hub-Signature-256. With `open` everybody may send.",
  params: {
    address: p.str(null),
    port: p.int(5000),
    ssl_crt: p.str(null),
    ssl_key: p.str(null),
    secret: p.str(""),
    open: p.bool(false),
  },
  permissions: { net: true, read: true },
  async run({ address, port, ssl_crt, ssl_key, secret, open }, context) {
    if (secret === "" && !open) {
      throw new CommandError("secret is not set: set it, or open: true, with which everybody who reaches it may send");
    }
    if (secret !== "" && secret.length < MIN_SECRET) {
      throw new CommandError(`secret is shorter than ${MIN_SECRET} characters`);
    }
    const webhook = new Webhook(secret, context);
    const { log, signal } = context;
    const server = Deno.serve({
      hostname: address ?? "0.0.0.0",
      port,
      signal,
      onListen: ({ hostname, port: bound }) => log.info(`Listening on ${hostname}:${bound}`),
      ...readCertificate(ssl_crt, ssl_key),
    }, (request) => webhook.take(request));
    await server.finished;
  },
});
