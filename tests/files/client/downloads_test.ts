import { currentUmask } from "#lib/os/umask.ts";
import { assertEquals, assertMatch, assertRejects } from "#tests/support/assert.ts";
import { hashHex } from "#lib/crypto/hash.ts";
import { openFileClient } from "#lib/files/client/client.ts";
import { CommandError } from "#lib/errors.ts";
import { callFunction } from "#lib/plugins/execution.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { lexistsOrThrow } from "#lib/os/file_kind.ts";
import { testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { eventually } from "#tests/support/eventually.ts";
import { filesBelow } from "#tests/support/tree.ts";

/** A web server, and a file client without a file server. */
async function scene(
  answer: (request: Request) => Response | Promise<Response>,
  signal: AbortSignal = new AbortController().signal,
) {
  const root = await Deno.makeTempDir({ prefix: "downloads_" });
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, answer);
  const client = openFileClient({
    cachedir: root,
    hashType: "sha256",
    id: "web1",
    request: () => Promise.reject(new Error("no file server here")),
    signal,
    log: () => {},
  });
  const { port } = server.addr;
  return {
    root,
    client,
    host: `127.0.0.1:${port}`,
    cached: `${root}/extrn_files/base/127.0.0.1${port}`,
    tree: () => [...filesBelow(root)].map((path) => path.slice(root.length)).sort(),
    [Symbol.asyncDispose]: async () => {
      await server.shutdown();
      await Deno.remove(root, { recursive: true });
    },
  };
}

Deno.test("a file of a web server is cached under its host and query; user and password are sent in a header", async () => {
  const requests: (string | null)[] = [];
  await using s = await scene((request) => {
    requests.push(new URL(request.url).pathname, request.headers.get("authorization"));
    return new Response("text");
  });
  const copy = await s.client.cacheFile(`http://u%40x:p@${s.host}/a/b.txt?v=1`, "base");
  assertEquals([copy, Deno.readTextFileSync(copy ?? "")], [`${s.cached}/a/b.txt-v=1`, "text"]);
  assertEquals(requests.splice(0), ["/a/b.txt", `Basic ${btoa("u@x:p")}`]);
  // A % that begins no character belongs to the password.
  await s.client.contents(`http://u:5%-off%E4%21@${s.host}/`, "base");
  assertEquals(requests, ["/", `Basic ${btoa("u:5%-off%E4%21")}`]);
  assertEquals(await s.client.getUrl(`http://${s.host}/a/b.txt`, `${s.root}/d/`, "base"), undefined);
  const into = await s.client.getUrl(`http://${s.host}/a/b.txt`, `${s.root}/d/`, "base", { makedirs: true });
  assertEquals([into, Deno.readTextFileSync(`${s.root}/d/b.txt`)], [`${s.root}/d/b.txt`, "text"]);
});

Deno.test("a copy with the requested digest or the server's current ETag is not fetched again", async () => {
  let [sent, tag] = [0, '"one"'];
  await using s = await scene((request) => {
    if (request.headers.get("if-none-match") === tag) return new Response(null, { status: 304 });
    sent++;
    return new Response(`text ${tag}`, { headers: { etag: tag } });
  });
  const url = `http://${s.host}/f`;
  const sourceHash = `sha256=${hashHex('text "one"', "sha256")}`;
  for (let i = 0; i < 2; i++) await s.client.cacheFile(url, "base", { sourceHash });
  assertEquals(sent, 1);
  for (let i = 0; i < 3; i++) await s.client.cacheFile(url, "base", { useEtag: true });
  assertEquals([sent, s.tree().map((path) => path.slice(path.lastIndexOf("/")))], [2, ["/f", "/f.etag"]]);
  tag = '"two"';
  await s.client.cacheFile(url, "base", { useEtag: true });
  assertEquals([sent, Deno.readTextFileSync(`${s.cached}/f`)], [3, 'text "two"']);
  assertEquals(modeOf(`${s.cached}/f.etag`), 0o644);
});

Deno.test("a refused or interrupted download is an error with a message, and the old copy is kept", async () => {
  let broken = false;
  await using s = await scene((request) => {
    if (request.url.endsWith("/nope")) return new Response("no", { status: 404 });
    if (!broken) return new Response("old");
    const pieces = ["new", undefined].values();
    return new Response(
      new ReadableStream({
        pull(controller) {
          const piece = pieces.next().value;
          if (piece === undefined) controller.error(new Error("the server breaks off"));
          else controller.enqueue(new TextEncoder().encode(piece));
        },
      }),
    );
  });
  await assertRejects(
    () => s.client.cacheFile(`http://${s.host}/nope`, "base"),
    CommandError,
    "Error: HTTP 404: Not Found reading /nope",
  );
  const copy = await s.client.cacheFile(`http://${s.host}/f`, "base") ?? "";
  broken = true;
  const error = await assertRejects(() => s.client.cacheFile(`http://u:secret@${s.host}/f`, "base"), CommandError);
  assertMatch(error.message, /^Error reading http:\/\/<redacted>@127\.0\.0\.1:\d+\/f: /);
  assertEquals([Deno.readTextFileSync(copy), s.tree().length], ["old", 1]);
  await assertRejects(() => s.client.cacheFile("ftp://h/x", "base"), CommandError, "ftp:// is not supported here");
  await assertRejects(
    () => s.client.cacheFile("https://h/x", "base", { verifySsl: false }),
    CommandError,
    "verify_ssl=False",
  );
  assertEquals([
    await s.client.exists(`http://${s.host}/f`, "base"),
    await s.client.exists(`http://${s.host}/nope`, "base"),
  ], [true, false]);
});

Deno.test("contents without a file are text if the server declares it, else bytes; redirections are followed", async () => {
  await using s = await scene((request) => {
    const path = new URL(request.url).pathname;
    if (path === "/there") return new Response("ä", { headers: { "content-type": "text/plain" } });
    if (path === "/moved") return Response.redirect(new URL("/there", request.url), 302);
    return new Response(new Uint8Array([0, 255]), { headers: { "content-type": "application/octet-stream" } });
  });
  assertEquals(await s.client.contents(`http://${s.host}/moved`, "base"), "ä");
  assertEquals(await s.client.contents(`http://${s.host}/bytes`, "base"), new Uint8Array([0, 255]));
  assertEquals(s.tree(), []);
});

Deno.test("a job fetches a file of a web server once, and the next job again", async () => {
  let sent = 0;
  await using s = await scene(() => new Response(`text ${++sent}`));
  const url = `http://${s.host}/f`;
  const opts = testOpts({ root_dir: s.root });
  const job = () => {
    const context = testContext({ opts });
    return { ...context, outside: { ...context.outside } };
  };
  const ask = async (job: JobContext) => await Deno.readTextFile(String(await callIn(job)));
  const callIn = (job: JobContext) => callFunction("cp.cache_file", { args: [url], kwargs: new Map(), context: job });
  const [first, second] = [job(), job()];
  assertEquals([await ask(first), await ask(first)], ["text 1", "text 1"]);
  assertEquals(await ask(second), "text 2");
  await Deno.remove(String(await callIn(first)));
  assertEquals(await ask(first), "text 3", "a copy that is gone");
});

Deno.test("an answer without a body is an empty file", async () => {
  await using s = await scene(() => new Response(null, { status: 204 }));
  const copy = await s.client.cacheFile(`http://${s.host}/f`, "base") ?? "";
  assertEquals(Deno.readTextFileSync(copy), "");
});

Deno.test("what is no URL, no server and no end of a page is an error; a server that is not there has no files", async () => {
  const piece = new Uint8Array(1 << 20);
  await using s = await scene((request) => {
    let left = request.url.endsWith("/breaks") ? 1 : request.url.endsWith("/largest") ? 100 : Infinity;
    return new Response(
      new ReadableStream({
        pull(controller) {
          if (left-- > 0) controller.enqueue(piece);
          else if (request.url.endsWith("/largest")) controller.close();
          else controller.error(new Error("the server breaks off"));
        },
      }),
    );
  });
  const contents = (url: string) => s.client.contents(url, "base");
  await assertRejects(
    () => contents(`http://${s.host}/endless`),
    CommandError,
    `is larger than ${100 * 2 ** 20} bytes`,
  );
  assertEquals((await contents(`http://${s.host}/largest`))?.length, 100 * 2 ** 20);
  await assertRejects(() => contents(`http://${s.host}/breaks`), CommandError, `Error reading http://${s.host}/breaks`);
  await assertRejects(() => contents("http://[x/"), CommandError, "Cannot fetch 'http://[x/': it is no URL");
  for (const dest of ["", `${s.root}/`, `${s.root}/f`]) {
    const getting = () => s.client.getUrl("http://u:p@[x/", dest, "base", { makedirs: true });
    await assertRejects(getting, CommandError, "Cannot fetch 'http://<redacted>@[x/': it is no URL");
  }
  await assertRejects(() => contents("http://127.0.0.1:1/f"), CommandError, "Error reading http://127.0.0.1:1/f");
  assertEquals(await s.client.exists("http://127.0.0.1:1/f", "base"), false);
});

Deno.test("a download ends with its job", async () => {
  const job = new AbortController();
  await using s = await scene(() => {
    job.abort(new Error("the job is ended"));
    return new Response("too late");
  }, job.signal);
  await assertRejects(() => s.client.contents(`http://${s.host}/f`, "base"), Error, "the job is ended");
});

Deno.test("a download is readable only for its user until it is complete, and is not written into what somebody planted", async () => {
  const { promise: gate, resolve: finish } = Promise.withResolvers<void>();
  await using s = await scene(() =>
    new Response(
      new ReadableStream({
        async start(controller) {
          controller.enqueue(new TextEncoder().encode("half "));
          await gate;
          controller.enqueue(new TextEncoder().encode("whole"));
          controller.close();
        },
      }),
    )
  );
  const dest = `${s.root}/d/f`;
  Deno.mkdirSync(`${s.root}/d`);
  const atStart = currentUmask(), umask = Deno.umask(0);
  try {
    using _end = { [Symbol.dispose]: finish };
    const done = s.client.getUrl(`http://${s.host}/f`, dest, "base");
    const part = await eventually(() => [...filesBelow(`${s.root}/d`)][0], { what: "the temporary file" });
    await eventually(() => Deno.readTextFileSync(part) === "half ", { what: "its first half" });
    assertEquals([modeOf(part), lexistsOrThrow(dest)], [0o600, false]);
    finish();
    await done;
    assertEquals([Deno.readTextFileSync(dest), modeOf(dest)], ["half whole", 0o666 & ~atStart]);
  } finally {
    Deno.umask(umask);
  }
  const { randomUUID } = crypto;
  const name = crypto.randomUUID();
  Deno.writeTextFileSync(`${s.root}/planted`, "old");
  Deno.symlinkSync(`${s.root}/planted`, `${s.root}/d/.f.${name}.part`);
  crypto.randomUUID = () => name;
  try {
    await assertRejects(() => s.client.getUrl(`http://${s.host}/f`, dest, "base"), CommandError);
  } finally {
    crypto.randomUUID = randomUUID;
  }
  assertEquals([Deno.readTextFileSync(`${s.root}/planted`), Deno.readTextFileSync(dest)], ["old", "half whole"]);
});

const modeOf = (path: string) => (Deno.statSync(path).mode ?? 0) & 0o7777;
