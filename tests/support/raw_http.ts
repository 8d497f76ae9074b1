/**
 * An HTTP/1.1 client that sends exactly what it is told: no header of its own but `Host` and `Connection`, and the path
 * as it is.
 * @module
 */

/** A request. */
export interface RawRequest {
  readonly port: number;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The path of the authority's certificate, for TLS. */
  readonly authority?: string;
}

/** An answer. */
export interface RawResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
}

/** Sends a request and reads the answer to its end. */
export async function sendRaw({ port, method, path, headers, body, authority }: RawRequest): Promise<RawResponse> {
  using connection = authority === undefined
    ? await Deno.connect({ hostname: "127.0.0.1", port })
    : await Deno.connectTls({ hostname: "localhost", port, caCerts: [Deno.readTextFileSync(authority)] });
  const bytes = new TextEncoder().encode(body ?? "");
  const all = { Host: `127.0.0.1:${port}`, Connection: "close", ...headers };
  const length = body === undefined ? {} : { "Content-Length": String(bytes.length) };
  const lines = Object.entries({ ...length, ...all }).map(([name, value]) => `${name}: ${value}\r\n`);
  const writer = connection.writable.getWriter();
  await writer.write(new TextEncoder().encode(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`));
  if (bytes.length > 0) await writer.write(bytes);
  const answer = new Uint8Array(await new Response(connection.readable).arrayBuffer());
  return parseAnswer(answer);
}

function parseAnswer(answer: Uint8Array): RawResponse {
  const text = new TextDecoder("latin1").decode(answer);
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) throw new Error(`no answer: ${text}`);
  const [first, ...lines] = text.slice(0, end).split("\r\n");
  const headers = new Headers(lines.map((line): [string, string] => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  }));
  const rest = answer.subarray(end + 4);
  const bytes = headers.get("transfer-encoding") === "chunked" ? joinChunks(rest) : rest;
  return { status: Number(first.split(" ")[1]), headers, bytes };
}

function joinChunks(bytes: Uint8Array): Uint8Array {
  const parts: number[] = [];
  const text = new TextDecoder("latin1").decode(bytes);
  for (let at = 0; at < bytes.length;) {
    const end = text.indexOf("\r\n", at);
    const size = Number.parseInt(text.slice(at, end), 16);
    if (!(size > 0)) break;
    parts.push(...bytes.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
  return Uint8Array.from(parts);
}
