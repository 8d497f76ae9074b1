/**
 * A client of a REST API, the same for both sides: jobs one after another, pages by several connections, open streams
 * of events. Writes figures as JSON.
 *
 * Arguments: the address, users with commas, their password; then `post COUNT`, `get SECONDS CONNECTIONS`, or
 * `streams COUNT EVENTS PID`, where PID is the API's process.
 * @module
 */

import { treeMemory } from "#tests/bench/harness/process_figures.ts";
import { median } from "#tests/bench/harness/statistics.ts";

const [url, userList, password, mode, ...numbers] = Deno.args;
const [first, second, third] = numbers.map(Number);
const users = userList.split(",");
const { hostname, port } = new URL(url);
const decoder = new TextDecoder("latin1"), encoder = new TextEncoder();

/** A connection that is used for one request after another: fetch would cost more than what is measured. */
class Connection {
  readonly #connection: Deno.TcpConn;
  readonly #buffer = new Uint8Array(65_536);
  #rest = "";

  private constructor(connection: Deno.TcpConn) {
    this.#connection = connection;
  }

  static async open(): Promise<Connection> {
    return new Connection(await Deno.connect({ hostname, port: Number(port) }));
  }

  /** Sends a request; its answer, with a body of known length. */
  async ask(request: Uint8Array): Promise<{ readonly status: number; readonly body: string }> {
    await this.write(request);
    const head = await this.until("\r\n\r\n");
    const length = Number(/^content-length: (\d+)/im.exec(head)?.[1]);
    if (Number.isNaN(length)) throw new Error(`an answer without a length: ${head}`);
    while (this.#rest.length < length) await this.#read();
    const body = this.#rest.slice(0, length);
    this.#rest = this.#rest.slice(length);
    return { status: Number(head.slice(9, 12)), body };
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let from = 0; from < bytes.length;) from += await this.#connection.write(bytes.subarray(from));
  }

  /** What comes up to these characters, and with them. */
  async until(end: string): Promise<string> {
    let at = this.#rest.indexOf(end);
    while (at < 0) {
      const from = Math.max(0, this.#rest.length - end.length);
      await this.#read();
      at = this.#rest.indexOf(end, from);
    }
    const text = this.#rest.slice(0, at + end.length);
    this.#rest = this.#rest.slice(at + end.length);
    return text;
  }

  async #read(): Promise<void> {
    const read = await this.#connection.read(this.#buffer);
    if (read === null) throw new Error("the API has closed the connection");
    this.#rest += decoder.decode(this.#buffer.subarray(0, read));
  }

  close(): void {
    this.#connection.close();
  }
}

function requestOf(method: string, path: string, { token, body }: { token?: string; body?: unknown } = {}): Uint8Array {
  const text = body === undefined ? "" : JSON.stringify(body);
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `Host: ${hostname}:${port}`,
    "Accept: application/json",
    ...token === undefined ? [] : [`X-Auth-Token: ${token}`],
    ...body === undefined ? [] : ["Content-Type: application/json", `Content-Length: ${text.length}`],
  ];
  return encoder.encode(`${lines.join("\r\n")}\r\n\r\n${text}`);
}

async function logIn(username: string): Promise<string> {
  const connection = await Connection.open();
  const answer = await connection.ask(requestOf("POST", "/login", { body: { username, password, eauth: "file" } }));
  connection.close();
  if (answer.status !== 200) throw new Error(`log-in: ${answer.status} ${answer.body}`);
  return JSON.parse(answer.body).return[0].token;
}

async function post(count: number): Promise<Record<string, number>> {
  const token = await logIn(users[0]), connection = await Connection.open(), times: number[] = [];
  const request = requestOf("POST", "/", { token, body: [{ client: "local", tgt: "*", fun: "test.ping" }] });
  for (let n = 0; n < count; n++) {
    const started = performance.now();
    const { status, body } = await connection.ask(request);
    times.push(performance.now() - started);
    if (status !== 200 || !body.includes(": true")) throw new Error(`${status} ${body}`);
  }
  connection.close();
  return { p50: median(times) };
}

async function get(seconds: number, connections: number): Promise<Record<string, number>> {
  const started = performance.now(), request = requestOf("GET", "/");
  let answers = 0;
  await Promise.all(Array.from({ length: connections }, async () => {
    const connection = await Connection.open();
    while (performance.now() - started < seconds * 1000) {
      const { status, body } = await connection.ask(request);
      if (status !== 200) throw new Error(`${status} ${body}`);
      answers++;
    }
    connection.close();
  }));
  return { perSecond: answers / (performance.now() - started) * 1000 };
}

/** Time until an event must be in all streams, in milliseconds. */
const EVENT_MS = 10_000;
/** Time between two events, and after the opening of the streams, in milliseconds. */
const PAUSE_MS = 100, SETTLE_MS = 3_000;

async function streams(count: number, events: number, pid: number): Promise<Record<string, number>> {
  const tokens: string[] = [], open: Connection[] = [];
  for (const user of users) tokens.push(await logIn(user));
  for (let n = 0; n < count; n++) {
    const connection = await Connection.open();
    await connection.write(requestOf("GET", "/events", { token: tokens[n % tokens.length] }));
    const head = await connection.until("\r\n\r\n");
    if (!head.startsWith("HTTP/1.1 200")) throw new Error(`stream ${n}: ${head}`);
    open.push(connection);
  }
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const hook = await Connection.open(), times: number[] = [];
  for (let n = 0; n < events; n++) {
    const started = performance.now();
    const seen = open.map(async (connection) => {
      await connection.until(`tag: salt/netapi/hook/bench${n}\n`);
      times.push(performance.now() - started);
    });
    const { status, body } = await hook.ask(requestOf("POST", `/hook/bench${n}`, { token: tokens[0], body: { n } }));
    if (status !== 200) throw new Error(`${status} ${body}`);
    let timer: ReturnType<typeof setTimeout> | undefined;
    await Promise.race([Promise.all(seen), new Promise((resolve) => timer = setTimeout(resolve, EVENT_MS))]);
    clearTimeout(timer);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  const { pssKb } = treeMemory(pid);
  times.sort((a, b) => a - b);
  return { seen: times.length, p50: median(times), p99: times[Math.ceil(times.length * .99) - 1], pssKb };
}

const figures = mode === "post"
  ? await post(first)
  : mode === "get"
  ? await get(first, second)
  : await streams(first, second, third);
Deno.stdout.writeSync(encoder.encode(JSON.stringify(figures)));
Deno.exit(0);
