/**
 * `salt-api`: the routes of Salt's rest_cherrypy over HTTP, beside a running master.
 * Source: Salt 3008.3 `salt/netapi/rest_cherrypy/app.py`; docs/api.md.
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { ApiListener } from "./api_listener.ts";
import { apiRoutes } from "./routes.ts";
import { CONNECTION_BOUNDS } from "#lib/api/http/connection_guard.ts";
import { type ApiSettings, isLoopback, usesTls } from "#lib/api/endpoints/api_settings.ts";
import { errorAnswer, VALUE_TYPES, valueAnswer, valueType } from "#lib/api/http/answer.ts";
import { EventFeed } from "#lib/api/endpoints/event_feed.ts";
import { type ClientOrigin, clientOrigin, plainAddress } from "#lib/api/http/client_origin.ts";
import { checkHost, checkSameSite, corsHeaders } from "./browser_guard.ts";
import { CertificateWatch } from "./certificate_watch.ts";
import { ApiTokens } from "#lib/api/endpoints/api_tokens.ts";
import { EndWatches } from "#lib/api/endpoints/end_watches.ts";
import { LivingTokens } from "#lib/api/endpoints/living_tokens.ts";
import { IdempotencyKeys } from "#lib/api/endpoints/idempotency.ts";
import { JobIndex } from "#lib/api/endpoints/job_index.ts";
import { openJobStore } from "#lib/stores/open_store.ts";
import { changeNotes } from "#lib/config/master_paths.ts";
import { AuditLog, auditPath } from "#lib/auth/audit_log.ts";
import { FunctionCatalogue } from "#lib/api/calls/function_catalogue.ts";
import { describeError, messageOf, NoMasterError, PreflightError } from "#lib/errors.ts";
import { ApiError, noMaster } from "#lib/api/http/api_error.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { HttpAnswer, type IncomingRequest, type RequestConnection } from "#lib/api/http/exchange.ts";
import { LoginAttempts } from "#lib/api/endpoints/login_attempts.ts";
import { type MatchedPath, matchRoute, type PathRoute } from "#lib/api/http/route_table.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { prefers } from "#lib/api/http/accept.ts";
import { BODY_TYPES, JSON_TYPES, NO_BODY, readRequestBody } from "#lib/api/http/request_body.ts";
import { OidcLogIns } from "#lib/api/endpoints/oidc_log_ins.ts";
import { oidcSettings } from "#lib/auth/oidc_settings.ts";
import { Plans } from "#lib/api/endpoints/plans.ts";
import { RequestSpans } from "#lib/api/endpoints/request_spans.ts";
import { RequestCounts } from "#lib/api/endpoints/request_counts.ts";
import { sessionCookie } from "#lib/api/http/cookies.ts";
import { Sessions } from "#lib/api/endpoints/sessions.ts";
import { fileAnswer, staticPath } from "./static_files.ts";
import { tlsPaths } from "./tls_files.ts";
import { TimeBudget } from "#lib/os/time_budget.ts";
import { Tokens } from "#lib/auth/tokens.ts";
import type { ApiEndpoint, ApiParts, ApiRequest, BodyEndpoint, Methods } from "#lib/api/endpoints/endpoint.ts";

/** Time for a body to arrive, in milliseconds. */
const BODY_MS = 60_000;
/** Bytes of all headers of a request. */
const MAX_HEADER_BYTES = 16 << 10;
/** Requests of one address at a time. */
const MAX_REQUESTS_OF_ADDRESS = 500;

/** The methods that counts tell apart. */
const METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"];

/** A request before its route is known. */
interface Incoming {
  readonly request: IncomingRequest;
  readonly connection: RequestConnection;
  readonly client: ClientOrigin;
  /** The path as it was sent: not decoded, nothing of it resolved. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Where it leads; `undefined`: nowhere, or to a file. */
  readonly route: MatchedPath<Methods> | undefined;
}

/** A running API. */
export class ApiServer {
  readonly #parts: ApiParts;
  readonly #routes: readonly PathRoute<Methods>[];
  readonly #stop: AbortController;
  readonly #spans: RequestSpans;
  readonly #hostname = Deno.hostname();
  readonly #requestsOf = new Map<string, number>();
  readonly #certificate: CertificateWatch | undefined;
  #listener: ApiListener | undefined;

  private constructor(
    parts: ApiParts,
    { stop, certificate }: { readonly stop: AbortController; readonly certificate: CertificateWatch | undefined },
  ) {
    this.#parts = parts;
    this.#certificate = certificate;
    this.#stop = stop;
    this.#routes = apiRoutes(parts.settings);
    this.#spans = new RequestSpans(parts.opts, parts.log);
  }

  /**
   * Starts to serve.
   * @throws {PreflightError} If it cannot listen, or a certificate cannot be read.
   * @throws {ConfigError} If `external_auth` has a wrong provider.
   */
  static async start(
    opts: MasterOpts,
    { settings, log }: { readonly settings: ApiSettings; readonly log: Logger },
  ): Promise<ApiServer> {
    const provider = oidcSettings(opts);
    const stop = new AbortController();
    const tls = tlsPaths(settings);
    const certificate = tls === undefined ? undefined : CertificateWatch.start(opts, { tls, log });
    const ends = new EndWatches();
    const sessions = new Sessions({
      directory: `${opts.cachedir}/api_sessions`,
      idleMs: settings.session_idle_hours * 3_600_000,
      ends,
      log,
    });
    const feed = new EventFeed(opts, log);
    const store = openJobStore(opts, { log: log.warning });
    const tokens = new Tokens({
      directory: opts.token_dir,
      hashType: opts.hash_type,
      log: log.error,
      notes: changeNotes(opts),
    });
    const parts: ApiParts = {
      opts,
      settings,
      log,
      sessions,
      ends,
      apiTokens: new ApiTokens({ directory: `${opts.cachedir}/api_tokens`, ends, log }),
      tokens,
      livingTokens: new LivingTokens((token) => tokens.get(token)),
      audit: new AuditLog(auditPath(opts.cachedir)),
      feed,
      store,
      jobs: new JobIndex({ store, feed, log }),
      idempotency: new IdempotencyKeys({ directory: `${opts.cachedir}/api_idempotency`, log }),
      plans: new Plans(),
      oidc: provider === undefined ? undefined : new OidcLogIns(provider),
      attempts: new LoginAttempts(),
      counts: new RequestCounts({ byRoute: settings.collect_stats }),
      functions: new FunctionCatalogue(opts, log),
      certificateEndsMs: () => certificate?.endsMs,
      signal: stop.signal,
    };
    const api = new ApiServer(parts, { stop, certificate });
    try {
      await api.#listen();
    } catch (error) {
      certificate?.close();
      throw error;
    }
    return api;
  }

  async #listen(): Promise<void> {
    const { settings, log } = this.#parts;
    const { host, port } = settings;
    try {
      this.#listener = await ApiListener.start({
        host,
        port,
        tls: tlsPaths(settings),
        bounds: CONNECTION_BOUNDS,
        unbound: (address) => isLoopback(address) || settings.trusted_proxies.includes(address),
        log,
        handle: (request, connection) => this.#serve(request, connection),
        failed: (error) => this.#unexpected(error, null),
      });
    } catch (error) {
      if (error instanceof PreflightError) throw error;
      throw new PreflightError(`rest_cherrypy: cannot listen on port ${port} of ${host}: ${messageOf(error)}`);
    }
  }

  /** The port that it listens on. */
  get port(): number {
    return this.#listener?.port ?? 0;
  }

  /** Rejects with the error that ended it, if it ends by itself. */
  get closed(): Promise<void> {
    return this.#listener?.closed ?? Promise.resolve();
  }

  /** What it does now, one line. */
  describeThreads(): Promise<string[]> {
    return Promise.resolve([`main: ${this.#parts.counts.open} requests are open`]);
  }

  /** Ends streams, and lets running requests finish within `budget`. */
  async close(budget: TimeBudget): Promise<void> {
    this.#stop.abort();
    this.#certificate?.close();
    this.#parts.feed.close();
    const listener = this.#listener;
    if (listener !== undefined) await budget.allows(listener.close());
    await this.#spans.close();
  }

  async #serve(request: IncomingRequest, connection: RequestConnection): Promise<HttpAnswer> {
    const { counts, log, settings } = this.#parts;
    const { remoteAddr } = connection;
    const peer = { address: plainAddress(remoteAddr.hostname), isSecure: usesTls(settings) };
    const client = clientOrigin(request.headers, peer, settings.trusted_proxies);
    const { address } = client;
    const ended = counts.begin();
    const open = (this.#requestsOf.get(address) ?? 0) + 1;
    this.#requestsOf.set(address, open);
    let answer: HttpAnswer;
    const target = splitTarget(request.url);
    const route = matchRoute(this.#routes, withoutPrefix(target.path, settings.root_prefix) ?? "");
    const incoming = { request, connection, client, ...target, route };
    try {
      if (open > MAX_REQUESTS_OF_ADDRESS) {
        throw new ApiError(429, "Too many requests at a time", { "Retry-After": "1" });
      }
      answer = await this.#answer(incoming);
    } catch (error) {
      answer = this.#problem(error, request.headers.get("accept"));
    } finally {
      const left = (this.#requestsOf.get(address) ?? 1) - 1;
      if (left > 0) this.#requestsOf.set(address, left);
      else this.#requestsOf.delete(address);
    }
    const isSocket = answer.status === 101;
    if (isSocket) this.#listener?.upgraded(remoteAddr);
    for (const [name, value] of isSocket ? [] : Object.entries(corsHeaders(request, settings))) {
      answer.headers.set(name, value);
    }
    const method = METHODS.includes(request.method) ? request.method : "other";
    ended({ route: route?.path ?? "", method, status: answer.status });
    log.info(() => `${address} ${request.method} ${incoming.path}: ${answer.status}`);
    return answer;
  }

  #problem(cause: unknown, accept: string | null): HttpAnswer {
    const error = cause instanceof NoMasterError ? noMaster() : cause;
    if (!(error instanceof ApiError)) return this.#unexpected(error, accept);
    return errorAnswer(error, { accept, request: crypto.randomUUID() });
  }

  #unexpected(error: unknown, accept: string | null): HttpAnswer {
    const request = crypto.randomUUID();
    this.#parts.log.error(`Request ${request}: ${describeError(error)}`);
    return errorAnswer(new ApiError(500, "An unexpected error occurred"), { accept, request });
  }

  async #answer(incoming: Incoming): Promise<HttpAnswer> {
    const { request, client } = incoming;
    const { settings } = this.#parts;
    if (settings.authorized_ips.length > 0 && !settings.authorized_ips.includes(client.address)) {
      throw new ApiError(403, "Bad IP");
    }
    checkHost(client, settings, this.#hostname);
    const headerBytes = [...request.headers].reduce((sum, [name, value]) => sum + name.length + value.length, 0);
    if (headerBytes > MAX_HEADER_BYTES) throw new ApiError(431, "The headers are too long");
    const path = withoutPrefix(incoming.path, settings.root_prefix);
    if (path === undefined) throw new ApiError(404, `The path '${incoming.path}' was not found.`);
    const file = await this.#file({ ...incoming, path });
    if (file !== undefined) return file;
    const { route } = incoming;
    if (route === undefined) throw new ApiError(404, `The path '${incoming.path}' was not found.`);
    const endpoint = endpointOf(route.target, request.method);
    if (endpoint === undefined) return methodAnswer(route.target, request.method);
    return await this.#call(endpoint, incoming, route.params);
  }

  async #call(
    endpoint: ApiEndpoint | BodyEndpoint,
    incoming: Incoming,
    params: Readonly<Record<string, string>>,
  ): Promise<HttpAnswer> {
    const { request, connection, client, path, query } = incoming;
    const { settings, signal } = this.#parts;
    checkQuery(endpoint, query, path);
    const { session, held } = this.#sessionOf(incoming, endpoint);
    const type = endpoint.isRaw ? "application/json" : valueType(request.headers.get("accept"), endpoint.onlyJson);
    const body = !("body" in endpoint) || endpoint.body === null ? NO_BODY : await readRequestBody(request, {
      maxBytes: settings.max_request_body_size,
      timeoutMs: BODY_MS,
      types: endpoint.onlyJson ? JSON_TYPES : BODY_TYPES,
    });
    let gone: AbortSignal | undefined;
    const call: ApiRequest = {
      ...{ request, connection, client, params, query, body, session, held, type },
      // Made when it is asked for: few endpoints need it.
      get signal() {
        return gone ??= AbortSignal.any([request.signal, signal]);
      },
    };
    const reply = await this.#spans.around(call, {
      route: incoming.route?.path ?? "",
      isTraced: endpoint.needs !== undefined || "body" in endpoint,
      handle: (traced) => endpoint.handle(traced, this.#parts),
    });
    return reply instanceof HttpAnswer ? reply : valueAnswer(reply.value, type, reply);
  }

  /**
   * The session of the request, by its header or else its cookie, and the token of Salt's if the endpoint needs one.
   * @throws {ApiError} 401 if the endpoint needs one and there is none; 403 if another site sent the request.
   */
  #sessionOf({ request, client }: Incoming, endpoint: ApiEndpoint): Pick<ApiRequest, "session" | "held"> {
    const { sessions, apiTokens, tokens } = this.#parts;
    const header = request.headers.get("x-auth-token") || undefined;
    const cookie = sessionCookie(request.headers.get("cookie"));
    const session = sessions.use(header ?? cookie) ?? apiTokens.use(header, client.address);
    if (endpoint.needs === undefined) return { session, held: undefined };
    // Its token may have been removed by the master, or by a log-out everywhere.
    const held = tokens.get(session?.token) ?? (endpoint.needs === "token" ? tokens.get(header) : undefined);
    if (held !== undefined) {
      if (session !== undefined && header === undefined) checkSameSite(request, client);
      return { session, held };
    }
    const isKnownOnce = header !== undefined || cookie !== undefined;
    throw new ApiError(401, isKnownOnce ? "Authentication error occurred." : "No authentication credentials given");
  }

  /** The file that a path names, or the page for a browser; `undefined`: none. */
  async #file({ request, path }: Incoming): Promise<HttpAnswer | undefined> {
    const { settings } = this.#parts;
    const policy = settings.content_security_policy ?? "";
    const isReading = request.method === "GET" || request.method === "HEAD";
    if (settings.static !== null) {
      const match = matchRoute([{ path: `${settings.static_path}/*name`, target: settings.static }], path);
      if (match !== undefined && match.params.name !== "") {
        if (!isReading) return methodAnswer({ GET: undefined }, request.method);
        return await fileAnswer(staticPath(match.target, match.params.name), request, { policy });
      }
    }
    if (settings.app === null || !isReading || /^\/console(?:\/|$)/.test(path)) return undefined;
    const isApp = matchRoute([{ path: `${settings.app_path}/*rest`, target: settings.app }], path) !== undefined;
    if (!isApp && !prefers(request.headers.get("accept"), "text/html", VALUE_TYPES)) return undefined;
    // A page that a browser keeps when it is left keeps its stream of events too: with six, it asks nothing more.
    return await fileAnswer(settings.app, request, { policy, headers: { "Cache-Control": "no-store" } });
  }
}

/** @throws {ApiError} 404 for a name that the endpoint does not know, 400 for any at `/events`. */
function checkQuery({ query: names = {}, isRaw }: ApiEndpoint, query: URLSearchParams, path: string): void {
  if (names === "any") return;
  for (const name of query.keys()) {
    if (Object.hasOwn(names, name)) continue;
    throw new ApiError(isRaw ? 400 : 404, `The path '${path}' takes no query '${name}'.`);
  }
}

function endpointOf(methods: Methods, method: string): ApiEndpoint | BodyEndpoint | undefined {
  if (method === "HEAD") return methods.GET;
  return method === "GET" || method === "POST" || method === "PUT" || method === "DELETE" ? methods[method] : undefined;
}

/** The answer to a method that a path has not. */
function methodAnswer(methods: Readonly<Record<string, unknown>>, method: string): HttpAnswer {
  const names = Object.keys(methods);
  const allow = [...names, ...names.includes("GET") ? ["HEAD"] : [], ...method === "OPTIONS" ? ["OPTIONS"] : []].sort();
  const headers = { Allow: allow.join(", ") };
  if (method === "OPTIONS") return new HttpAnswer(null, { status: 204, headers });
  throw new ApiError(405, "Specified method is invalid for this resource.", headers);
}

/** The path and the query of a request's URL, as they were sent. */
function splitTarget(url: string): { readonly path: string; readonly query: URLSearchParams } {
  const target = /^[a-z]+:\/\/[^/?#]*([^#]*)/i.exec(url)?.[1] ?? "/";
  const [path, ...query] = target.split("?");
  return { path: path === "" ? "/" : path, query: new URLSearchParams(query.join("?")) };
}

/** The path below `root_prefix`; `undefined`: it is not below it. */
function withoutPrefix(path: string, prefix: string): string | undefined {
  const root = rstripChars(prefix, "/");
  if (root === "") return path;
  if (path === root) return "/";
  return path.startsWith(`${root}/`) ? path.slice(root.length) : undefined;
}
