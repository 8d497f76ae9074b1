/**
 * Requests to a salt-api of Python's, and its answers, against ours: tests/corpus/api_requests.json, recorded with
 * 3008.3. Where Salt answers 500 to a mistake of the caller, any 4xx is right.
 */

import { assert, assertEquals } from "#tests/support/assert.ts";
import { apiSettings } from "#lib/api/endpoints/api_settings.ts";
import { ApiServer } from "#lib/api/server/api_server.ts";
import { apiRoutes } from "#lib/api/server/routes.ts";
import { matchRoute, type PathRoute } from "#lib/api/http/route_table.ts";
import type { Methods } from "#lib/api/endpoints/endpoint.ts";
import { OpenApiCheck } from "#tests/support/openapi_check.ts";
import { openApiDocument, openApiPath } from "#lib/api/server/openapi.ts";
import { createLogger } from "#lib/runtime/log.ts";
import { eventually } from "#tests/support/eventually.ts";
import { type RawResponse, sendRaw } from "#tests/support/raw_http.ts";
import { type Fleet, startFleet } from "#tests/support/fleet/fleet.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import type { KeyStore } from "#lib/keys/store.ts";
import { makeCertificate } from "#tests/support/certificate.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { PrivateKey } from "#lib/crypto/rsa.ts";
import { sleep } from "#lib/os/sleep.ts";
import { TimeBudget } from "#lib/os/time_budget.ts";
import { dumpJson } from "#lib/values/json.ts";
import { Float, isMap, map, str, toValue, typeName, type Value } from "#lib/values/value.ts";

/** One recorded request: the fields are explained in tests/corpus/README.md. */
interface Recorded {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly at?: string;
  readonly as?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly yaml?: unknown;
  readonly form?: readonly (readonly [string, string])[];
  readonly text?: unknown;
  readonly raw?: string;
  readonly repeat?: readonly [string, number];
  readonly see?: readonly string[];
  readonly look?: readonly string[];
  readonly save?: Readonly<Record<string, string>>;
  readonly after?: number;
  readonly again?: boolean;
  readonly better?: readonly number[];
  readonly must?: readonly number[];
  readonly answer: RecordedAnswer;
}

interface RecordedAnswer {
  readonly status: number;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly says?: string;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly empty?: boolean;
}

interface Corpus {
  readonly servers: Readonly<Record<string, readonly [Record<string, unknown>, Record<string, unknown>]>>;
  readonly master: Readonly<Record<string, unknown>>;
  readonly requests: readonly Recorded[];
}

const CORPUS: Corpus = JSON.parse(Deno.readTextFileSync(new URL("../../corpus/api_requests.json", import.meta.url)));
const USERS = ["alice", "ops", "runr", "whl", "star", "nobody"];
const PASSWORD = "Tr0ub4dor&3";

/** The site of the recording: a fleet, its users, and a salt-api for each set of options. */
class Site implements AsyncDisposable {
  readonly fleet: Fleet;
  readonly #routes = new Map<string, PathRoute<Methods>[]>();
  readonly #checks = new Map<string, OpenApiCheck>();
  readonly #servers = new Map<string, ApiServer>();
  readonly #authority: string;
  readonly saved = new Map<string, string>();

  private constructor(fleet: Fleet, authority: string) {
    this.fleet = fleet;
    this.#authority = authority;
  }

  static async start(): Promise<Site> {
    const root = Deno.makeTempDirSync({ prefix: "api_" });
    Deno.writeTextFileSync(`${root}/users.txt`, USERS.map((name) => `${name}:${PASSWORD}\n`).join(""));
    Deno.mkdirSync(`${root}/www/sub`, { recursive: true });
    const page = "<!doctype html>\n<title>page</title>\n";
    const files = {
      "index.html": page,
      "a.txt": "a text of 19 bytes\n",
      "sub/x.json": "{}\n",
      "s.css": "p {}\n",
      "m.js": "",
      "../secret.txt": "secret\n",
    };
    for (const [name, text] of Object.entries(files)) Deno.writeTextFileSync(`${root}/www/${name}`, text);
    const certificate = makeCertificate(root);
    Deno.writeTextFileSync(`${root}/api.crt`, certificate.cert);
    Deno.writeTextFileSync(`${root}/api.key`, certificate.key);
    const fill = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll("<root>", root));
    const fleet = await startFleet({ master: fill(CORPUS.master) });
    const site = new Site(fleet, certificate.authority);
    const srv = `${fleet.root}/srv`;
    Deno.mkdirSync(srv);
    const sls = "loud:\n  test.succeed_with_changes: []\nquiet:\n  test.nop: []\n";
    Deno.writeTextFileSync(`${srv}/one.sls`, sls);
    await fleet.untilServing(["m1", "m2"], async () => {
      await fleet.startMinion("m1", { grains: { role: "web" } });
      await fleet.startMinion("m2", { grains: { role: "db" } });
    });
    for (const id of ["new1", "new2", "new3"]) {
      fleet.keys.put(id, "pending", (await PrivateKey.generate(2048)).publicKey.pem);
    }
    for (const [name, [section, others]] of Object.entries(CORPUS.servers)) {
      const own = fill({ port: 0, host: "127.0.0.1", disable_ssl: true, ...section });
      const { settings } = apiSettings(toValue(own));
      const opts = { ...fleet.masterOpts, ...others };
      site.#routes.set(name, apiRoutes(settings));
      site.#servers.set(name, await ApiServer.start(opts, { settings, log: createLogger([]) }));
    }
    return site;
  }

  /** The table of a server, and its document. */
  documented(at: string): { readonly routes: PathRoute<Methods>[]; readonly check: OpenApiCheck } {
    const routes = this.#routes.get(at);
    assert(routes !== undefined);
    const check = this.#checks.get(at) ?? new OpenApiCheck(JSON.parse(JSON.stringify(openApiDocument(routes))));
    this.#checks.set(at, check);
    return { routes, check };
  }

  async send(recorded: Recorded): Promise<RawResponse> {
    const server = this.#servers.get(recorded.at ?? "main");
    assert(server !== undefined);
    const fill = (text: string) => text.replace(/\{([\w:]+)\}/g, (all, name) => this.saved.get(name) ?? all);
    const { body, type } = bodyOf(recorded);
    const headers: Record<string, string> = {
      ...recorded.as !== undefined && { "X-Auth-Token": this.saved.get(`token:${recorded.as}`) ?? "" },
      ...type !== undefined && { "Content-Type": type },
    };
    for (const [name, value] of Object.entries(recorded.headers ?? {})) headers[name] = fill(value);
    return await sendRaw({
      port: server.port,
      method: recorded.method,
      path: fill(recorded.path),
      headers,
      ...body !== undefined && { body: fill(body) },
      ...recorded.at === "tls" && { authority: this.#authority },
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers.values()) await server.close(new TimeBudget(5_000));
    await this.fleet[Symbol.asyncDispose]();
  }
}

function bodyOf({ json, yaml, form, text, raw, repeat }: Recorded): { readonly body?: string; readonly type?: string } {
  if (json !== undefined) return { body: JSON.stringify(json), type: "application/json" };
  if (yaml !== undefined) return { body: JSON.stringify(yaml), type: "application/x-yaml" };
  if (form !== undefined) {
    const body = new URLSearchParams(form.map(([name, value]): [string, string] => [name, value])).toString();
    return { body, type: "application/x-www-form-urlencoded" };
  }
  if (text !== undefined) return { body: JSON.stringify(text), type: "text/plain" };
  if (repeat !== undefined) return { body: repeat[0].repeat(repeat[1]) };
  return raw === undefined ? {} : { body: raw };
}

/** What differs between the answer and the recorded one; empty: nothing. */
function differences(recorded: Recorded, { status, headers, bytes }: RawResponse): string[] {
  const { answer } = recorded;
  const problems: string[] = [];
  const text = new TextDecoder().decode(bytes);
  const right = recorded.must ?? [answer.status, ...recorded.better ?? []];
  const isRight = right.includes(status) || (answer.status === 500 && status >= 400 && status < 500);
  if (!isRight) problems.push(`status ${status}, not ${right.join(" or ")}: ${text.slice(0, 300)}`);
  if (!isRight || status !== answer.status) return problems;
  const type = headers.get("content-type")?.split(";")[0];
  if (answer.type !== undefined && answer.status < 400 && type !== answer.type) {
    problems.push(`type ${type}, not ${answer.type}`);
  }
  if (answer.says !== undefined) {
    const said = type === "application/json" ? JSON.parse(text).error.message : text;
    if (!said.includes(answer.says)) problems.push(`says ${said}, not ${answer.says}`);
  }
  for (const [name, value] of Object.entries(answer.headers ?? {})) {
    const own = headers.get(name) ?? "";
    if (
      typeof value === "string" && !["the token of the body", "not kept by others"].includes(value) && own !== value
    ) {
      problems.push(`${name}: ${own}, not ${value}`);
    }
    if (Array.isArray(value) && value.some((word) => !own.includes(word))) problems.push(`${name}: ${own}`);
    if (value === "not kept by others" && !own.includes("private")) problems.push(`${name}: ${own}`);
  }
  if (answer.empty && bytes.length > 0) problems.push("there is a body");
  if (answer.type === "application/x-tar" || answer.body === undefined || recorded.see?.length === 0) return problems;
  const value: Value = type === "application/json"
    ? parseJson(text)
    : type === "application/x-yaml"
    ? loadYaml(text)
    : text;
  for (const [what, wanted] of Object.entries(answer.body)) {
    const own = dumpJson(canonical(seen(what, value)));
    const salts = dumpJson(canonical(toValue(wanted)));
    if (own !== salts) problems.push(`${what}: ${own.slice(0, 400)}, not ${salts.slice(0, 400)}`);
  }
  return problems;
}

/** The part of `value` that an entry of `see` names. */
function seen(what: string, value: Value): Value {
  const [, how, path] = /^(keys|len|type|shape|sorted|text:\d+|has:[^:]*):(.*)$/s.exec(what) ?? [null, "", what];
  let part: Value | undefined = value;
  for (const name of path === "" ? [] : path.split("/")) {
    if (isMap(part)) part = name === "*" ? [...part.values()][0] : part.get(name);
    else if (Array.isArray(part)) part = part[Number(name)];
    else part = undefined;
  }
  if (part === undefined) return "<absent>";
  if (how === "keys" && isMap(part)) return [...part.keys()].filter((key) => !LEFT_OUT.includes(key)).map(str).sort();
  if (how === "len") return isMap(part) ? part.size : Array.isArray(part) ? part.length : str(part).length;
  if (how === "type") return isMap(part) ? "map" : typeof part === "string" ? "text" : typeName(part);
  if (how === "sorted" && Array.isArray(part)) return part.filter((item) => !LEFT_OUT.includes(item)).map(str).sort();
  if (how.startsWith("text:")) return str(part).slice(0, Number(how.slice(5)));
  if (how.startsWith("has:")) {
    const own = part;
    const names = how.slice(4).split(",");
    const holds = (name: string) => isMap(own) ? own.get(name) : Array.isArray(own) ? own.includes(name) : undefined;
    if (!isMap(own) && !names.every((name) => holds(name))) return "<absent>";
    if (isMap(own) && !names.every((name) => own.has(name))) return "<absent>";
    return map(Object.fromEntries(names.map((name) => [name, holds(name)])));
  }
  return part;
}

/** What a minion that requests of another recording made left in answers here and there. */
const LEFT_OUT: readonly Value[] = ["made", "Minion offline"];

/** What requests of another recording changed, by the request after which they did. */
const CHANGES: Readonly<Record<string, (keys: KeyStore) => unknown>> = {
  "wheel: key.list_all": (keys) => keys.move("new2", "pending", "rejected"),
  "wheel: key.delete_dict": (keys) => keys.remove("new1"),
};

/** With sorted keys, without that minion, and with placeholders for what differs from run to run. */
function canonical(value: Value): Value {
  if (Array.isArray(value)) return value.filter((item) => !LEFT_OUT.includes(item)).map(canonical);
  if (isMap(value)) {
    const entries = [...value].filter(([key]) => !LEFT_OUT.includes(key)).map((
      [key, item],
    ): [Value, Value] => [str(key), canonical(item)]);
    return new Map(entries.sort(([a], [b]) => str(a) < str(b) ? -1 : 1));
  }
  // A time in seconds of this decade, as log-ins give it. Of a thousand, one is a whole number.
  const seconds = value instanceof Float ? value.value : value;
  if (typeof seconds === "number" && seconds > 1.7e9 && seconds < 2.1e9) return "<time>";
  if (typeof value !== "string") return value;
  return value.replace(/\b20\d{18}\b/g, "<jid>").replace(/^[0-9a-f]{40,64}$/, "<token>")
    .replace(/^([0-9a-f]{2}:){15,}[0-9a-f]{2}$/, "<fingerprint>");
}

/** The value that `path` leads to in a JSON answer, as text. */
function valueAt(path: string, { bytes }: RawResponse): string {
  return str(seen(path, parseJson(new TextDecoder().decode(bytes))));
}

/** What of the answer the OpenAPI document of its server does not say. */
function undocumented(recorded: Recorded, { status, headers, bytes }: RawResponse, site: Site): string[] {
  const { routes, check } = site.documented(recorded.at ?? "main");
  const path = recorded.path.split("?")[0];
  const route = matchRoute(routes, path.replaceAll(/[{}]/g, ""));
  const method = recorded.method === "HEAD" ? "GET" : recorded.method;
  const type = headers.get("content-type")?.split(";")[0] ?? "";
  // Files, and answers of paths and methods that are not there, are in no table.
  if (route === undefined || !Object.hasOwn(route.target, method)) {
    return status >= 400 ? [] : notInTable(recorded, type);
  }
  if (type === "text/html" && status < 400) return [];
  const found = routes.find(({ target }) => target === route.target);
  const text = new TextDecoder().decode(bytes);
  const body = type === "application/json"
    ? JSON.parse(text || "null")
    : type === "application/x-yaml"
    ? JSON.parse(dumpJson(loadYaml(text)))
    : text;
  return check.problems({ method: recorded.method, path: openApiPath(found?.path ?? ""), status, type, body });
}

function notInTable({ method, path }: Recorded, type: string): string[] {
  const isFile = method === "OPTIONS" || !["application/json", "application/x-yaml"].includes(type) ||
    path.startsWith("/static/");
  return isFile ? [] : [`${method} ${path} answers, and is in no table`];
}

Deno.test("recorded requests have the recorded answers, which are as /openapi.json says", async () => {
  await using site = await Site.start();
  for (const user of USERS) {
    const json = { username: user, password: PASSWORD, eauth: "file" };
    const common = { name: `log in: ${user}`, method: "POST", answer: { status: 200 }, json };
    site.saved.set(`token:${user}`, valueAt("return/0/token", await site.send({ ...common, path: "/login" })));
    site.saved.set(`eauth:${user}`, valueAt("0/token", await site.send({ ...common, path: "/token" })));
  }
  const problems: string[] = [];
  for (const recorded of CORPUS.requests) {
    if (recorded.after !== undefined) await sleep(recorded.after * 1000);
    let found: string[] = [];
    const ask = async () => {
      const response = await site.send(recorded);
      found = [...differences(recorded, response), ...undocumented(recorded, response, site)];
      for (const [name, path] of Object.entries(recorded.save ?? {})) site.saved.set(name, valueAt(path, response));
      return found.length === 0;
    };
    if (!recorded.again) await ask();
    else await eventually(ask, { what: recorded.name, withinMs: 20_000, everyMs: 500 }).catch(() => {});
    CHANGES[recorded.name]?.(site.fleet.keys);
    problems.push(...found.map((problem) => `${recorded.name}: ${problem}`));
  }
  assertEquals(problems, []);
});
