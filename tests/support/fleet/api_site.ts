/**
 * A salt-api in this process, beside the master of a fleet, with users of `external_auth`.
 * @module
 */

import { apiSettings } from "#lib/api/endpoints/api_settings.ts";
import { ApiServer } from "#lib/api/server/api_server.ts";
import { createLogger, levelName } from "#lib/runtime/log.ts";
import { TimeBudget } from "#lib/os/time_budget.ts";
import { toValue } from "#lib/values/value.ts";
import type { Fleet } from "./fleet.ts";

/** The password of every user. */
export const API_PASSWORD = "Tr0ub4dor&3";

/** The clients that are enabled. */
const CLIENTS = [
  "local",
  "local_async",
  "local_batch",
  "local_subset",
  "runner",
  "runner_async",
  "ssh",
  "wheel",
  "wheel_async",
];

/**
 * The options of a master with these users.
 * @param directory Where the file with their passwords is written.
 * @param rules The rules of each user.
 */
export function apiMasterOptions(
  directory: string,
  rules: Readonly<Record<string, readonly unknown[]>>,
): Record<string, unknown> {
  const file = `${directory}/api_users`;
  Deno.writeTextFileSync(file, Object.keys(rules).map((name) => `${name}:${API_PASSWORD}\n`).join(""));
  return { external_auth: { file: { "^filename": file, ...rules } }, netapi_enable_clients: CLIENTS };
}

/** A running API. */
export class ApiSite implements AsyncDisposable {
  readonly server: ApiServer;
  /** The lines of its log. */
  readonly logs: string[];

  protected constructor(server: ApiServer, logs: string[]) {
    this.server = server;
    this.logs = logs;
  }

  /** Starts it with these options of `rest_cherrypy`. */
  static async start(
    { masterOpts }: Pick<Fleet, "masterOpts">,
    section: Readonly<Record<string, unknown>> = {},
  ): Promise<ApiSite> {
    const { settings } = apiSettings(toValue({ port: 0, host: "127.0.0.1", ...section }));
    const logs: string[] = [];
    const write = ({ level, message }: { readonly level: number; readonly message: string }) =>
      void logs.push(`[${levelName(level)}] ${message}`);
    const log = createLogger([{ level: 0, write, close: () => {} }]);
    return new this(await ApiServer.start(masterOpts, { settings, log }), logs);
  }

  /** The address of a path. */
  url(path: string): string {
    return `http://127.0.0.1:${this.server.port}${path}`;
  }

  /** Posts JSON; the answer's status and parsed body. */
  async post(
    path: string,
    body: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ readonly status: number; readonly body: Record<string, unknown>; readonly headers: Headers }> {
    const response = await fetch(this.url(path), {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  }

  /** Sends a request without a body, or with one of JSON; the answer's status and parsed body. */
  async ask(
    method: string,
    path: string,
    { token, body, headers = {} }: {
      readonly token?: string;
      readonly body?: unknown;
      readonly headers?: Readonly<Record<string, string>>;
    } = {},
  ): Promise<{ readonly status: number; readonly body: Record<string, unknown>; readonly headers: Headers }> {
    const response = await fetch(this.url(path), {
      method,
      headers: {
        ...token !== undefined && { "X-Auth-Token": token },
        ...body !== undefined && { "Content-Type": "application/json" },
        ...headers,
      },
      ...body !== undefined && { body: JSON.stringify(body) },
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  }

  /** Logs in; the id of the new session. */
  async logIn(username: string): Promise<string> {
    const { status, body, headers } = await this.post("/login", { username, password: API_PASSWORD, eauth: "file" });
    const token = headers.get("x-auth-token");
    if (status !== 200 || token === null) throw new Error(`log-in of ${username}: ${status} ${JSON.stringify(body)}`);
    return token;
  }

  /** Ends it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.close(new TimeBudget(5_000));
  }
}
