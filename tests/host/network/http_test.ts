/**
 * http.query against a server of this process; the results are those that Python Salt 3008.3 gave for the same
 * requests.
 * @module
 */

import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { CommandError, messageOf } from "#lib/errors.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
import { testContext } from "#tests/support/calls/job_context.ts";
import { run } from "#tests/support/processes.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const AGENT = "Salt/3008.3 http.query()";

/** A server that answers with the request; the first part of the path is the status. */
function echo(): { readonly url: string; close(): Promise<void> } {
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, async (request) => {
    const { pathname, search } = new URL(request.url);
    const status = Number(pathname.split("/")[1]);
    const headers = new Headers({ "Content-Type": "application/json" });
    if (status === 302) headers.set("Location", "/200");
    const { method } = request;
    const received = { method, path: pathname + search, body: await request.text(), headers: [...request.headers] };
    return new Response(JSON.stringify(received), { status, headers });
  });
  return { url: `http://127.0.0.1:${server.addr.port}`, close: () => server.shutdown() };
}

async function query(url: string, kwargs: Record<string, Value> = {}): Promise<ValueMap> {
  const result = await testContext().call("http.query", [url], map(kwargs));
  assert(isMap(result));
  return result;
}

/** The requests of the server. */
function receivedRequest(
  result: ValueMap,
): { method: string; path: string; body: string; headers: Record<string, string> } {
  const { headers, ...rest } = JSON.parse(str(result.get("body") ?? ""));
  return { ...rest, headers: Object.fromEntries(headers) };
}

Deno.test("http.query sends the given request and returns the requested parts", async () => {
  const server = echo();
  try {
    const plain = await query(`${server.url}/200`);
    assertEquals([...plain.keys()], ["body"]);
    const first = receivedRequest(plain);
    assertEquals([first.method, first.headers["user-agent"], first.headers.connection], ["GET", AGENT, "close"]);
    const all = await query(`${server.url}/200`, { status: true, headers: true, text: true, decode: true });
    assertEquals([...all.keys()], ["body", "status", "headers", "dict", "text"]);
    const dict = all.get("dict");
    assertEquals(isMap(dict) && dict.get("method"), "GET");
    const posted = receivedRequest(await query(`${server.url}/200`, { method: "POST", data: map({ a: "b c" }) }));
    assertEquals([posted.body, posted.headers["content-type"]], ["a=b+c", "application/x-www-form-urlencoded"]);
    assertEquals(
      receivedRequest(await query(`${server.url}/200`, { params: map({ a: "1", b: "x y" }) })).path,
      "/200?a=1&b=x+y",
    );
    const signed = receivedRequest(await query(`${server.url}/200`, { username: "u", password: "p" }));
    assertEquals(signed.headers.authorization, "Basic dTpw");
    const headed = receivedRequest(
      await query(`${server.url}/200`, { header_dict: map({ "X-A": "1" }), header_list: ["X-B: 2"] }),
    );
    assertEquals([headed.headers["x-a"], headed.headers["x-b"]], ["1", "2"]);
    assertEquals((await query(`${server.url}/302`, { status: true })).get("status"), 200);
    assertEquals(receivedRequest(await query(`${server.url}/302`, { method: "POST", data: "x" })).method, "GET");
    const form = receivedRequest(
      await query(`${server.url}/200`, { method: "POST", formdata: true, formdata_fieldname: "f", data: "text" }),
    );
    assert(/form-data; name="f"\r\n\r\ntext\r\n--/.test(form.body), form.body);
  } finally {
    await server.close();
  }
});

Deno.test("http.query keeps a session, in the file that Salt writes, and sends it to no other host", async () => {
  const directory = Deno.makeTempDirSync({ prefix: "http_" });
  const file = `${directory}/cookies.session.p`;
  const seen: (string | null)[] = [];
  const serve = (setCookie: string | undefined, place?: string) =>
    Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, (request) => {
      seen.push(request.headers.get("Cookie"));
      const headers = new Headers();
      if (place !== undefined) headers.set("Location", place);
      if (setCookie !== undefined) headers.set("Set-Cookie", setCookie);
      return new Response("", { status: place === undefined ? 200 : 302, headers });
    });
  const other = serve(undefined);
  const server = serve("sid=abc; Path=/");
  const elsewhere = serve(undefined, `http://127.0.0.1:${other.addr.port}/`);
  const out = `${directory}/headers`;
  Deno.writeTextFileSync(out, "");
  try {
    for (const { addr } of [server, server, elsewhere]) {
      const wish = { persist_session: true, session_cookie_jar: file, headers_out: out };
      await query(`http://127.0.0.1:${addr.port}/`, wish);
    }
    assertEquals(seen, [null, "sid=abc; Path=/", "sid=abc; Path=/", null]);
    // The file that Python Salt 3008.3 wrote for the same answer.
    const bytes = Deno.readFileSync(file);
    assertEquals(
      bytes,
      Uint8Array.from([...hex("81a6436f6f6b6965af"), ...new TextEncoder().encode("sid=abc; Path=/")]),
    );
    assertEquals((Deno.statSync(file).mode ?? 0) & 0o777, 0o600);
    assert(/^Content-Length: 0$/m.test(Deno.readTextFileSync(out)), Deno.readTextFileSync(out));
  } finally {
    for (const one of [other, server, elsewhere]) await one.shutdown();
    Deno.removeSync(directory, { recursive: true });
  }
});

Deno.test({
  name: "http.query follows no link of another user to the session of root",
  ignore: Deno.uid() !== 0,
}, async () => {
  await withTemporaryDirectory(async (root) => {
    const shared = `${root}/shared`, secret = `${root}/secret`, jar = `${shared}/jar`;
    Deno.chmodSync(root, 0o755);
    Deno.mkdirSync(shared);
    Deno.chmodSync(shared, 0o1777);
    const seen: (string | null)[] = [];
    const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, (request) => {
      seen.push(request.headers.get("Cookie"));
      return new Response("", { headers: { "Set-Cookie": "sid=new" } });
    });
    try {
      const ask = (file: string) =>
        query(`http://127.0.0.1:${server.addr.port}/`, { persist_session: true, session_cookie_jar: file });
      await ask(secret);
      const before = Deno.readFileSync(secret);
      Deno.symlinkSync(secret, jar);
      assertEquals((await run(["chown", "-h", "65534", jar])).code, 0);
      await assertRejects(() => ask(jar), CommandError);
      assertEquals(seen, [null]);
      assertEquals(Deno.readFileSync(secret), before);
    } finally {
      await server.shutdown();
    }
  });
});

function hex(text: string): number[] {
  return (text.match(/../g) ?? []).map((byte) => parseInt(byte, 16));
}

Deno.test("http.query reports failures as Salt does, and refuses unbuilt arguments by name", async () => {
  const server = echo();
  try {
    const missing = await query(`${server.url}/404`);
    assertEquals([missing.get("status"), missing.get("error"), missing.has("body")], [
      404,
      "HTTP 404: Not Found",
      true,
    ]);
    const taken = await query(`${server.url}/404`, { status: true, raise_error: false });
    assertEquals([taken.get("status"), taken.has("error")], [404, false]);
    assertEquals([...await query("http://127.0.0.1:1/", { status: true })], [
      ["status", 0],
      ["error", "[Errno 111] Connection refused"],
    ]);
    assertEquals((await query("file:///etc/passwd")).get("error"), "Unsupported url: file:///etc/passwd");
    const odd = await query(`${server.url}/200`, { decode: true, decode_type: "nope" });
    assertEquals(
      odd.get("error"),
      "Invalid decode_type specified. Valid decode types are: ('json', 'xml', 'yaml', 'plain')",
    );
    for (
      const [name, value] of [["stream", true], ["cookies", true], ["methd", "GET"]] as const
    ) {
      const message = await query(`${server.url}/200`, { [name]: value }).then(() => "", (error) => String(error));
      assert(message.includes(`'${name}'`), message);
    }
    const waited = await testContext().call(
      "http.wait_for_successful_query",
      [`${server.url}/500`],
      map({ wait_for: 0 }),
    );
    assertEquals(isMap(waited) && waited.get("error"), "HTTP 500: Internal Server Error");
    const file = Deno.makeTempFileSync();
    Deno.writeTextFileSync(`${file}.more`, "MORE");
    await testContext().call("http.update_ca_bundle", [file, `${server.url}/200`, `${file}.more`]);
    assert(/^\{.*\}\n\nMORE$/s.test(Deno.readTextFileSync(file)));
    for (const one of [file, `${file}.more`]) Deno.removeSync(one);
  } finally {
    await server.close();
  }
});

Deno.test("http.query renders the files of data and headers, and converts XML to maps", async () => {
  const server = echo();
  const directory = Deno.makeTempDirSync({ prefix: "http_" });
  try {
    Deno.writeTextFileSync(`${directory}/data`, "hello {{ who }}");
    Deno.writeTextFileSync(`${directory}/headers`, "X-Who: {{ who }}\nX-More: 1");
    const sent = receivedRequest(
      await query(`${server.url}/200`, {
        method: "POST",
        data_file: `${directory}/data`,
        data_render: true,
        data_renderer: "jinja",
        header_file: `${directory}/headers`,
        header_render: true,
        header_renderer: "jinja",
        template_dict: map({ who: "world" }),
      }),
    );
    assertEquals([sent.body, sent.headers["x-who"], sent.headers["x-more"]], ["hello world", "world", "1"]);
    const plain = receivedRequest(await query(`${server.url}/200`, { method: "POST", data_file: `${directory}/data` }));
    assertEquals(plain.body, "hello {{ who }}");
  } finally {
    Deno.removeSync(directory, { recursive: true });
    await server.close();
  }
});

/** The results of `salt.utils.xmlutil.to_dict` of Salt 3008.3 for the children of documents. */
const XML: readonly (readonly [string, Value])[] = [
  ["<r><a>1</a><b/><c><d>x</d><d>y</d><d><e>z</e></d></c><a>2</a></r>", [
    map({ a: "1" }),
    map({ b: null }),
    map({ d: ["x", { d: "y" }, { e: "z" }] }),
    map({ a: "2" }),
  ]],
  ['<r xmlns:s="http://x"><s:a q="1"><s:b> t </s:b></s:a></r>', [map({ b: " t " })]],
  ["<r/>", []],
];

Deno.test("http.query with decode_type xml returns what Python Salt returns", async () => {
  for (const [xml, expected] of XML) {
    const server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen: () => {} },
      () => new Response(xml, { headers: { "Content-Type": "text/xml" } }),
    );
    try {
      const result = await query(`http://127.0.0.1:${server.addr.port}/`, { decode: true });
      assertEquals(result.get("dict"), expected);
    } finally {
      await server.shutdown();
    }
  }
});

/** A server that answers with these bodies one after the other; a number is a status without a body. */
function saying(...answers: readonly (string | number)[]) {
  const left = [...answers];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, () => {
    const [next = 500] = left.splice(0, 1);
    return typeof next === "number" ? new Response(null, { status: next }) : new Response(next);
  });
  return { url: `http://127.0.0.1:${server.addr.port}/`, [Symbol.asyncDispose]: () => server.shutdown() };
}

const errorOf = (url: string, kwargs: Record<string, Value>) => query(url, kwargs).then(() => "none", messageOf);

Deno.test("http.query refuses bodies of another form than it is told, and forms without a field", async () => {
  await using server = saying("nothing of it", "<a><b></a>", "x");
  assert((await errorOf(server.url, { decode: true, decode_type: "json" })) !== "none");
  assert((await errorOf(server.url, { decode: true, decode_type: "xml" })) !== "none");
  assertEquals(
    await errorOf(server.url, { method: "POST", formdata: true, data: "x" }),
    "formdata_fieldname is required when formdata=True",
  );
});

Deno.test("http.query reads YAML, writes what it is told to, and asks nothing in a test without its own URL", () =>
  withTemporaryDirectory(async (root) => {
    await using server = saying("a: [1, 2]\n", "a: 1\n");
    const files = { text_out: `${root}/text`, decode_out: `${root}/decoded` };
    const answer = await query(server.url, { decode: true, decode_type: "yaml", ...files });
    assertEquals(answer.get("dict"), map({ a: [1, 2] }));
    for (const path of Object.values(files)) assertEquals(Deno.readTextFileSync(path), "a: [1, 2]\n");
    assertEquals(await query("http://127.0.0.1:1/", { test: true }), new Map());
    const tried = await query("http://127.0.0.1:1/", { test: true, test_url: server.url });
    assertEquals(tried.get("body"), "a: 1\n");
  }));

Deno.test("http.wait_for_successful_query asks again until the answer is no error, or its time is over", async () => {
  await using server = saying(503, 503, "there", 503);
  const wait = (given: Record<string, Value>) =>
    testContext().call("http.wait_for_successful_query", [server.url], map(given));
  assertEquals(await wait({ wait_for: 30, request_interval: 0.01 }), map({ body: "there" }));
  const failed = await wait({ wait_for: -1 });
  assert(isMap(failed) && str(failed.get("error") ?? "").includes("503"), str(failed));
});

Deno.test("http.update_ca_bundle writes a bundle with files behind it, and says what it could not have", () =>
  withTemporaryDirectory(async (root) => {
    await using server = saying("bundle\n", 404);
    const target = `${root}/bundle.pem`;
    Deno.writeTextFileSync(`${root}/own.pem`, "own\n");
    const context = testContext();
    const update = () =>
      context.call(
        "http.update_ca_bundle",
        [],
        // The kernel's file is there, and nobody can read its beginning.
        map({ target, source: server.url, merge_files: [`${root}/own.pem`, `${root}/none.pem`, "/proc/self/mem"] }),
      );
    assertEquals(await update(), null);
    assertEquals(Deno.readTextFileSync(target), "bundle\n\n\nown\n");
    assertEquals(context.logged.length, 1);
    assert(context.logged[0].startsWith("error: Reading from /proc/self/mem caused the following error: "));
    await assertRejects(update, CommandError, `${server.url}: `);
    assertEquals(Deno.readTextFileSync(target), "bundle\n\n\nown\n");
  }));
