/**
 * Serves the repositories of a directory over https with basic authentication, by `git http-backend`. At each request
 * it records the arguments of all running git processes: git waits for the answer at that moment. Source:
 * git-http-backend(1), RFC 3875.
 * @module
 */

import type { TestCertificate } from "#tests/support/certificate.ts";

/** A server for one user, on a free port. */
export class GitServer implements AsyncDisposable {
  /** The arguments of every git process that ran during a request. */
  readonly seen = new Set<string>();
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  /** @param password The user's password, which may be changed. */
  constructor(readonly root: string, { cert, key }: TestCertificate, readonly user: string, public password: string) {
    const options = { hostname: "127.0.0.1", port: 0, cert, key, onListen: () => {} };
    this.#server = Deno.serve(options, (request) => this.#answer(request));
  }

  get host(): string {
    return `localhost:${this.#server.addr.port}`;
  }

  async #answer(request: Request): Promise<Response> {
    for (const line of runningGit()) this.seen.add(line);
    const body = new Uint8Array(await request.arrayBuffer());
    const pair = new TextEncoder().encode(`${this.user}:${this.password}`).toBase64();
    if (request.headers.get("authorization") !== `Basic ${pair}`) {
      return new Response("", { status: 401, headers: { "www-authenticate": 'Basic realm="test"' } });
    }
    return await this.#backend(request, body);
  }

  async #backend(request: Request, body: Uint8Array<ArrayBuffer>): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    const child = new Deno.Command("git", {
      args: ["http-backend"],
      env: {
        GIT_PROJECT_ROOT: this.root,
        GIT_HTTP_EXPORT_ALL: "1",
        REQUEST_METHOD: request.method,
        PATH_INFO: pathname,
        QUERY_STRING: search.slice(1),
        CONTENT_TYPE: request.headers.get("content-type") ?? "",
        CONTENT_LENGTH: String(body.length),
        HTTP_CONTENT_ENCODING: request.headers.get("content-encoding") ?? "",
        GIT_PROTOCOL: request.headers.get("git-protocol") ?? "",
        REMOTE_USER: this.user,
      },
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    const writer = child.stdin.getWriter();
    const written = writer.write(body).then(() => writer.close());
    const { stdout } = await child.output();
    await written;
    const latin = new TextDecoder("latin1").decode(stdout);
    const end = latin.indexOf("\r\n\r\n");
    const headers = new Headers();
    for (const line of latin.slice(0, end).split("\r\n")) {
      const colon = line.indexOf(":");
      headers.set(line.slice(0, colon), line.slice(colon + 1).trim());
    }
    const status = Number(headers.get("status")?.slice(0, 3) ?? 200);
    headers.delete("status");
    return new Response(stdout.slice(end + 4), { status, headers });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#server.shutdown();
  }
}

/** The arguments of all git processes that run now on this host. */
function runningGit(): string[] {
  return [...Deno.readDirSync("/proc")].flatMap(({ name }) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const line = Deno.readTextFileSync(`/proc/${name}/cmdline`).replaceAll("\0", " ").trim();
      return /(?:^|\/)git[ -]/.test(line) ? [line] : [];
    } catch {
      return [];
    }
  });
}
