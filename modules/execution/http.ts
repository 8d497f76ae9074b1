/**
 * Execution module `http`: requests to web services.
 * Source: the functions of Salt 3008.3 `salt/modules/http.py` and `salt/utils/http.py`, with its backend tornado.
 * @module
 */

import { inDirectoryOf } from "#lib/os/held_path.ts";
import { readForChange, writeWithUmask } from "#lib/os/new_files.ts";
import { CommandError, InvocationError, messageOf } from "#lib/errors.ts";
import { HttpError, httpRequest, type HttpResponse } from "#lib/host/network/http_request.ts";
import { xmlValue } from "#lib/host/network/xml_value.ts";
import { readTextFileIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { exists, isFile } from "#lib/os/file_kind.ts";
import { sleep } from "#lib/os/sleep.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { asList, listOrEmpty } from "#lib/values/shape.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import { isMap, map, str, toNumber, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { SALT_VERSION } from "#lib/version.ts";

/** Keywords that are taken. */
const TAKEN = [
  ...[
    "method",
    "params",
    "data",
    "data_file",
    "header_dict",
    "header_list",
    "header_file",
    "username",
    "password",
    "auth",
  ],
  ...["decode", "decode_type", "status", "headers", "text", "test", "test_url", "ca_bundle", "verify_ssl", "cert"],
  ...["text_out", "decode_out", "agent", "raise_error", "decode_body", "formdata", "formdata_fieldname"],
  ...["formdata_filename", "hide_fields", "opts"],
  ...["persist_session", "session_cookie_jar", "headers_out"],
  ...["data_render", "data_renderer", "header_render", "header_renderer", "template_dict"],
];
/** Keywords that change nothing here: there is one backend, and a URL has its port. */
const WITHOUT_EFFECT = ["backend", "node", "port", "cookie_format", "request_interval"];
/** Keywords that are not built, and why. */
const REFUSED: Readonly<Record<string, string>> = {
  cookies:
    "Salt's backend writes the jar of cookies and never sends what is in it; persist_session=True keeps a session",
  cookie_jar: "there are no jars of cookies; persist_session=True keeps a session",
  stream: "it is for a Python program that calls",
  streaming_callback: "it is for a Python program that calls",
  header_callback: "it is for a Python program that calls",
  handle: "it is for a Python program that calls",
};

/** @throws {InvocationError} For a keyword that would be without effect. */
function checkKeywords(kwargs: ValueMap): void {
  for (const [key, value] of kwargs) {
    const name = str(key);
    if (name in REFUSED && truthy(value)) {
      throw new InvocationError(`http.query: '${name}' is not built: ${REFUSED[name]}`);
    }
    if (![...TAKEN, ...WITHOUT_EFFECT, ...Object.keys(REFUSED)].includes(name) && !name.startsWith("__")) {
      throw new InvocationError(`http.query takes no argument '${name}'`);
    }
  }
}

/** `key=value` pairs as a browser sends them. */
function encodeForm(pairs: Value): string {
  if (!isMap(pairs)) return str(pairs);
  return new URLSearchParams([...pairs].map(([key, value]) => [str(key), str(value)])).toString();
}

/** What a file holds, rendered if the caller says so: `data_render`, `data_renderer`, or the same of headers. */
async function fileContents(what: "data" | "header", kwargs: ValueMap, context: JobContext): Promise<Value> {
  const path = str(kwargs.get(`${what}_file`) ?? "");
  if (!truthy(kwargs.get(`${what}_render`))) return Deno.readTextFileSync(path);
  const variables = kwargs.get("template_dict");
  const renderer = kwargs.get(`${what}_renderer`);
  return await context.call(
    "slsutil.renderer",
    [path],
    new Map<Value, Value>([
      ...isMap(variables) ? variables : [],
      ["default_renderer", truthy(renderer) ? renderer ?? null : context.opts.renderer],
    ]),
  );
}

async function headersOf(kwargs: ValueMap, context: JobContext): Promise<Map<string, string>> {
  const headers = new Map<string, string>();
  const listed = kwargs.get("header_list") ?? null;
  const file = truthy(kwargs.get("header_file")) ? await fileContents("header", kwargs, context) : null;
  if (isMap(file)) { for (const [name, value] of file) headers.set(str(name), str(value)); }
  const lines = typeof file === "string" ? file.split("\n") : listOrEmpty(listed).map(str);
  const given = kwargs.get("header_dict") ?? null;
  if (isMap(given)) { for (const [name, value] of given) headers.set(str(name), str(value)); }
  for (const line of lines) {
    const [name, value] = line.split(":");
    if (value !== undefined) headers.set(name.trim(), value.trim());
  }
  headers.set("User-agent", str(kwargs.get("agent") ?? `Salt/${SALT_VERSION} http.query()`));
  return headers;
}

/** What is sent, with the header that says what it is. */
async function bodyOf(
  kwargs: ValueMap,
  headers: Map<string, string>,
  context: JobContext,
): Promise<string | Uint8Array | undefined> {
  const hasFile = truthy(kwargs.get("data_file"));
  const data = hasFile ? await fileContents("data", kwargs, context) : kwargs.get("data") ?? null;
  if (data === null) return undefined;
  const hasType = [...headers.keys()].some((name) => name.toLowerCase() === "content-type");
  if (truthy(kwargs.get("formdata") ?? null)) {
    const field = kwargs.get("formdata_fieldname") ?? null;
    if (!truthy(field)) throw new InvocationError("formdata_fieldname is required when formdata=True");
    const boundary = `salt${crypto.randomUUID().replaceAll("-", "")}`;
    headers.set("Content-Type", `multipart/form-data; boundary=${boundary}`);
    const quoteName = (value: Value) => str(value).replace(/["\r\n]/g, (one) => encodeURIComponent(one));
    const filename = kwargs.get("formdata_filename") ?? null;
    const name = `name="${quoteName(field)}"${filename === null ? "" : `; filename="${quoteName(filename)}"`}`;
    return `--${boundary}\r\nContent-Disposition: form-data; ${name}\r\n\r\n${str(data)}\r\n--${boundary}--\r\n`;
  }
  if (!hasType) headers.set("Content-Type", "application/x-www-form-urlencoded");
  return data instanceof Uint8Array ? data : encodeForm(data);
}

function certificate(given: Value): { cert?: string; key?: string } {
  if (given === null) return {};
  const [cert, key = cert] = Array.isArray(given) ? given.map(str) : [str(given)];
  return isFile(cert) && isFile(key) ? { cert: Deno.readTextFileSync(cert), key: Deno.readTextFileSync(key) } : {};
}

/** Where authorities are looked for, in Salt's order. */
const BUNDLES = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/pki/tls/certs/ca-bundle.trust.crt",
  "/etc/ssl/certs/ca-bundle.crt",
  "/var/lib/ca-certificates/ca-bundle.pem",
  "/etc/ssl/cert.pem",
];

async function bundle(context: JobContext): Promise<string | undefined> {
  const set = await context.call("config.get", ["ca_bundle"]);
  return [...typeof set === "string" && set !== "" ? [set] : [], ...BUNDLES].find(isFile);
}

function decodedBody(bytes: Uint8Array, kwargs: ValueMap): Value {
  const decode = kwargs.get("decode_body") ?? true;
  return truthy(decode) ? new TextDecoder().decode(bytes) : bytes;
}

const DECODES = ["json", "xml", "yaml", "plain"];

function decodedJson(body: string): Value {
  try {
    return parseJson(body);
  } catch (error) {
    throw new CommandError(messageOf(error));
  }
}

function decodedXml(body: string): Value {
  try {
    return xmlValue(body);
  } catch (error) {
    throw new CommandError(messageOf(error));
  }
}

/** The file that keeps a session: a map of MessagePack with the header `Cookie`, as Salt's. */
function sessionFile(kwargs: ValueMap, context: JobContext): string | undefined {
  if (kwargs.get("persist_session") !== true) return undefined;
  return str(kwargs.get("session_cookie_jar") ?? `${context.opts.cachedir}/cookies.session.p`);
}

/** Sends what the session of the last request was given. */
function resumeSession(path: string, headers: Map<string, string>): void {
  // Another user's link could lead to the session of root.
  const stored = exists(path) ? readForChange(path) : new Uint8Array();
  const cookies = stored.length === 0 ? "" : decode(stored, "disk");
  if (isMap(cookies)) { for (const [name, value] of cookies) headers.set(str(name), str(value)); }
}

/** Keeps what a response sets; as in Salt, one that sets nothing changes nothing. */
function keepSession(path: string, response: HttpResponse): void {
  const cookies = response.headers.get("Set-Cookie");
  const content = cookies === undefined ? "" : new Map<Value, Value>([["Cookie", cookies]]);
  inDirectoryOf(path, (directory, name) => {
    const held = directory.at(name);
    // Whoever reads it has the session.
    if (cookies !== undefined || !isFile(held)) writeFileAtomic(held, encode(content, "disk"), { mode: 0o600 });
  });
}

/** Adds what the caller asked for to what is returned. */
function responseMap(response: HttpResponse, kwargs: ValueMap): ValueMap {
  const wants = (name: string) => kwargs.get(name) === true;
  const body = decodedBody(response.body, kwargs);
  const answer: ValueMap = map({ body });
  const out = kwargs.get("text_out") ?? null;
  if (out !== null) writeWithUmask(str(out), str(body));
  const headersOut = kwargs.get("headers_out") ?? null;
  // As in Salt, only over a file that is there.
  if (headersOut !== null && isFile(str(headersOut))) {
    const lines = [...response.headers].map(([name, value]) => `${name}: ${value}\n`);
    writeWithUmask(str(headersOut), lines.join(""));
  }
  if (wants("status")) answer.set("status", response.status);
  if (wants("headers")) answer.set("headers", new Map(response.headers));
  let asText = wants("text");
  if (wants("decode")) {
    const content = response.headers.get("Content-Type") ?? "application/json";
    const given = str(kwargs.get("decode_type") ?? "auto");
    const type = given === "auto" ? ["xml", "json", "yaml"].find((one) => content.includes(one)) ?? "plain" : given;
    if (!DECODES.includes(type)) {
      return answer.set("error", `Invalid decode_type specified. Valid decode types are: ('${DECODES.join("', '")}')`);
    }
    if (type === "xml") answer.set("dict", decodedXml(str(body)));
    if (type === "json") answer.set("dict", decodedJson(str(body)));
    if (type === "yaml") answer.set("dict", loadYaml(str(body)));
    asText ||= type === "plain";
    const decodeOut = kwargs.get("decode_out") ?? null;
    if (decodeOut !== null) writeWithUmask(str(decodeOut), str(body));
  }
  return asText ? answer.set("text", body) : answer;
}

async function ask(url: string, kwargs: ValueMap, context: JobContext): Promise<ValueMap> {
  checkKeywords(kwargs);
  const wants = (name: string, otherwise: boolean) => {
    const given = kwargs.get(name) ?? null;
    return given === null ? otherwise : truthy(given);
  };
  if (wants("test", false) && !kwargs.has("test_url")) return new Map();
  const params = kwargs.get("params") ?? null;
  const place = str(wants("test", false) ? kwargs.get("test_url") ?? url : url);
  const query = params === null ? "" : `${place.includes("?") ? "&" : "?"}${encodeForm(params)}`;
  const headers = await headersOf(kwargs, context);
  const session = sessionFile(kwargs, context);
  if (session !== undefined) resumeSession(session, headers);
  const auth = kwargs.get("auth") ?? null;
  const [user, password] = Array.isArray(auth)
    ? auth
    : [kwargs.get("username") ?? null, kwargs.get("password") ?? null];
  const ca = kwargs.get("ca_bundle") ?? await bundle(context) ?? null;
  const timeout = toNumber(await context.call("config.get", ["http_request_timeout"])) ?? 3600;
  try {
    const response = await httpRequest({
      url: place + query,
      method: str(kwargs.get("method") ?? "GET"),
      headers,
      body: await bodyOf(kwargs, headers, context),
      ...truthy(user) && truthy(password) && { auth: `${str(user)}:${str(password)}` },
      verify: wants("verify_ssl", true),
      ...ca !== null && { ca: readTextFileIfExists(str(ca)) },
      ...certificate(kwargs.get("cert") ?? null),
      timeoutMs: timeout * 1000,
      signal: context.signal,
    });
    if (response.status < 400 || !wants("raise_error", true)) {
      if (session !== undefined) keepSession(session, response);
      const answer = responseMap(response, kwargs);
      return wants("test", false) ? answer.set("test", true) : answer;
    }
    const error = `HTTP ${response.status}: ${response.reason}`;
    return map({ status: response.status, error, body: decodedBody(response.body, kwargs) });
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    return map({ ...wants("status", false) && { status: 0 }, error: error.message });
  }
}

const QUERY_DOC =
  "method, params, data (a text or a map), data_file; header_dict, header_list, header_file; data_render and header_render=True\n" +
  "render the files by data_renderer and header_renderer with template_dict; username and password; cert, ca_bundle,\n" +
  "verify_ssl=False; status, headers and text=True add those to the result; decode=True adds `dict`, what JSON, XML or YAML mean; text_out, decode_out and headers_out write to files;\n" +
  "persist_session=True keeps the session's cookies in session_cookie_jar (<cachedir>/cookies.session.p) and sends them the next time; raise_error=False takes a failure for an answer.";

export const query: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Send a request, and return a map with its \`body\`, or an \`error\`. Keywords: ${QUERY_DOC}`,
    "http.query http://somelink.com/",
    `http.query http://somelink.com/ method=POST params='{"key1": "val1", "key2": "val2"}'`,
    "http.query http://somelink.com/ method=POST data='<xml>somecontent</xml>'",
  ),
  permissions: "all",
  params: { url: p.str() },
  varKwargs: "kwargs",
  run: ({ url }, context, { kwargs }) => ask(url, kwargs, context),
});

export const wait_for_successful_query: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Send a request again, request_interval seconds apart, until it succeeds, for wait_for seconds at most. Keywords are those of\n" +
      "http.query.",
    "http.wait_for_successful_query http://somelink.com/ wait_for=160 request_interval=1",
  ),
  permissions: "all",
  params: { url: p.str(), wait_for: p.float(300) },
  varKwargs: "kwargs",
  async run({ url, wait_for }, context, { kwargs }) {
    const end = performance.now() + wait_for * 1000;
    // Salt asks again at once without one.
    const interval = toNumber(kwargs.get("request_interval") ?? null) ?? 0.1;
    for (;;) {
      const result = await ask(url, kwargs, context);
      if (!result.has("error") || performance.now() > end) return result;
      await sleep(interval * 1000, context.signal);
    }
  },
});

/** Where Salt takes the bundle from. */
const BUNDLE_URL = "http://curl.haxx.se/ca/cacert.pem";

export const update_ca_bundle: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Update the bundle of certificate authorities from source or the option ca_bundle_url, and append merge_files. Use an https source: the\n" +
      "default is not encrypted.",
    "http.update_ca_bundle",
    "http.update_ca_bundle target=/path/to/cacerts.pem",
    "http.update_ca_bundle source=https://example.com/cacerts.pem",
    "http.update_ca_bundle merge_files=/path/to/mycert.pem",
  ),
  permissions: "all",
  params: { target: p.str(null), source: p.str(null), merge_files: p.any(null) },
  async run({ target, source, merge_files }, context) {
    const path = target ?? await bundle(context);
    if (path === undefined) {
      context.log("error", "Unable to detect location to write CA bundle to");
      return null;
    }
    const option = await context.call("config.get", ["ca_bundle_url"]);
    const url = source ?? (typeof option === "string" && option !== "" ? option : BUNDLE_URL);
    const answer = await ask(url, map({ text: true }), context);
    if (!answer.has("text")) throw new CommandError(`${url}: ${str(answer.get("error") ?? "no answer")}`);
    const merged = (merge_files === null ? [] : asList(merge_files)).map(str);
    const more = merged.flatMap((file) => {
      try {
        return isFile(file) ? [`\n${Deno.readTextFileSync(file)}`] : [];
      } catch (error) {
        context.log("error", `Reading from ${file} caused the following error: ${messageOf(error)}`);
        return [];
      }
    });
    const contents = str(answer.get("text") ?? "") + (more.length === 0 ? "" : `\n${more.join("")}`);
    writeWithUmask(path, contents);
    return null;
  },
});
