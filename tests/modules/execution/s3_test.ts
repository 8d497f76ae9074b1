/**
 * The module `s3`: what it sends is what Python Salt sends at the same time, and its results are Python Salt's, from a
 * server that checks the signatures with code of its own.
 * @module
 */

import { createHash, createHmac } from "node:crypto";
import { askS3 } from "#lib/host/aws/s3.ts";
import { CommandError, InvocationError, messageOf } from "#lib/errors.ts";
import { awsCredentials, instanceRegion } from "#lib/host/aws/credentials.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, str, toValue, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { resultOrError, testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

interface Step {
  readonly fun: string;
  readonly args: readonly unknown[];
  readonly kwargs: Readonly<Record<string, unknown>>;
  readonly answer: {
    readonly status: number;
    readonly body: string;
    readonly headers: Readonly<Record<string, string>>;
  };
  readonly sent: {
    readonly method: "GET" | "PUT" | "HEAD" | "DELETE";
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  };
  readonly result?: unknown;
  readonly raises?: string;
  readonly saved?: string;
  readonly ours?: unknown;
}

interface Corpus {
  readonly now: string;
  readonly opts: Readonly<Record<string, unknown>>;
  readonly steps: readonly Step[];
}

const { now, opts, steps }: Corpus = JSON.parse(
  Deno.readTextFileSync(new URL("../../corpus/s3.json", import.meta.url)),
);
const KEY = str(toValue(opts["s3.key"])), KEY_ID = str(toValue(opts["s3.keyid"]));

/** Whether a request has the signature of its key. */
function isSigned(request: Request, path: string, body: Uint8Array): boolean {
  const [, scope, names, signature] = /^AWS4-HMAC-SHA256 Credential=[^/]+\/(\S+), SignedHeaders=(\S+), Signature=(\S+)$/
    .exec(request.headers.get("authorization") ?? "") ?? [];
  if (scope === undefined) return false;
  const hash = createHash("sha256").update(body).digest("hex");
  if (request.headers.get("x-amz-content-sha256") !== hash) return false;
  const lines = names.split(";").map((name) => `${name}:${request.headers.get(name) ?? ""}\n`).join("");
  const canonical = `${request.method}\n${path}\n\n${lines}\n${names}\n${hash}`;
  const digest = createHash("sha256").update(canonical).digest("hex");
  const toSign = `AWS4-HMAC-SHA256\n${request.headers.get("x-amz-date")}\n${scope}\n${digest}`;
  const key = scope.split("/").reduce<string | Uint8Array>(
    (above, part) => createHmac("sha256", above).update(part).digest(),
    `AWS4${KEY}`,
  );
  return createHmac("sha256", key).update(toSign).digest("hex") === signature;
}

/** A service that gives the answer of the current step to a request that is signed, and takes instances' questions. */
function startService(answer: () => Step["answer"]) {
  const bodies: Uint8Array[] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    const path = new URL(request.url).pathname;
    const body = new Uint8Array(await request.arrayBuffer());
    if (path === "/latest/api/token") return new Response("the-token");
    if (path.startsWith("/latest/meta-data/")) {
      if (request.headers.get("x-aws-ec2-metadata-token") !== "the-token") return new Response("", { status: 401 });
      if (path.endsWith("/placement/region")) return new Response("eu-north-1");
      if (path.endsWith("/security-credentials/")) return new Response("a-role");
      return Response.json({ AccessKeyId: KEY_ID, SecretAccessKey: KEY, Token: "session", Expiration: "2030-01-01" });
    }
    if (!isSigned(request, path, body)) return new Response("SignatureDoesNotMatch", { status: 403 });
    bodies.push(body);
    const { status, body: text, headers } = answer();
    return new Response(status === 204 || request.method === "HEAD" ? null : text, { status, headers });
  });
  return { port: server.addr.port, bodies, [Symbol.asyncDispose]: () => server.shutdown() };
}

/** Values with bytes as text, as the corpus has them. */
function plain(value: Value): Value {
  return value instanceof Uint8Array ? new TextDecoder().decode(value) : value;
}

/** The headers that the corpus names: a real server sends more. */
function chosenHeaders(given: Value, wanted: Value): Value {
  const headers = isMap(given) ? given.get("headers") : undefined;
  const names = isMap(wanted) ? wanted.get("headers") : undefined;
  if (!isMap(headers) || !isMap(names)) return given;
  const lower = new Map([...names.keys()].map((name) => [str(name).toLowerCase(), name]));
  const chosen = [...headers].filter(([name]) => lower.has(str(name).toLowerCase()));
  return map({ headers: new Map(chosen.map(([name, one]) => [lower.get(str(name).toLowerCase()) ?? name, one])) });
}

Deno.test("s3: results are Python Salt's, from a server that checks signatures", () =>
  withTemporaryDirectory(async (root) => {
    let step = steps[0];
    await using service = startService(() => step.answer);
    Deno.writeFileSync(`${root}/up`, new TextEncoder().encode("up\x00load\n"));
    const options = { ...opts, "s3.service_url": `127.0.0.1:${service.port}` };
    for (const [i, one] of steps.entries()) {
      step = one;
      const within = (value: unknown): Value => parseJson(JSON.stringify(value).replaceAll("{dir}", () => root));
      const settings = Object.fromEntries(Object.entries(options).map(([key, value]) => [key, toValue(value)]));
      const context = testContext({ opts: testOpts({ root_dir: root, ...settings }) });
      const wanted = "ours" in step
        ? within(step.ours)
        : step.raises === undefined
        ? within(step.result ?? null)
        : map({ raises: within(step.raises.replace(/^\w+: /, "")) });
      let given: Value;
      try {
        given = plain(await context.call(step.fun, listOrEmpty(within(step.args)), mapOrEmpty(within(step.kwargs))));
      } catch (error) {
        given = map({ raises: messageOf(error) });
      }
      assertEquals(chosenHeaders(given, wanted), wanted, `${i}: ${step.fun} ${JSON.stringify(step.args)}`);
      if (step.saved !== undefined) assertEquals(Deno.readTextFileSync(`${root}/down`), step.saved);
      if (step.sent.body !== "") assertEquals(service.bodies.at(-1)?.toBase64(), step.sent.body);
    }
    // A wrong key is refused, and a path cannot leave its bucket.
    const context = testContext({
      opts: testOpts({ root_dir: root, "s3.service_url": `127.0.0.1:${service.port}`, "s3.https_enable": false }),
    });
    const more = { key: "wrong", keyid: KEY_ID, location: "eu-west-1", path_style: true };
    assertStringIncludes(str(await resultOrError(context, "s3.get", ["box"], more)), "SignatureDoesNotMatch");
    assertStringIncludes(str(await resultOrError(context, "s3.get", ["box", "../x"], more)), "Invalid path");
    assertStringIncludes(str(await resultOrError(context, "s3.get", ["box"], { ...more, role_arn: "a" })), "role_arn");
  }));

Deno.test("s3: signatures are those of Python Salt at the same time", async () => {
  const credentials = { keyId: KEY_ID, key: KEY };
  for (const { sent, kwargs } of steps.filter(({ sent }) => !sent.url.includes("/None"))) {
    // The request goes nowhere: it is stopped, and its headers are read from a server that is asked in its place.
    const url = new URL(sent.url);
    const [, bucket = "", ...path] = decodeURIComponent(url.pathname).split("/");
    const seen = Promise.withResolvers<Headers>();
    const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, (request) => {
      seen.resolve(request.headers);
      return new Response("");
    });
    await using _closing = { [Symbol.asyncDispose]: () => server.shutdown() };
    assert(server.addr.port > 0);
    const kms = Object.entries(sent.headers).filter(([name]) => name.startsWith("x-amz-server"));
    const { signedHeaders, sha256Hex } = await import("#lib/host/aws/signature.ts");
    const body = Uint8Array.fromBase64(sent.body);
    const request = {
      method: sent.method,
      host: url.host,
      path: url.pathname,
      headers: new Map(kms),
      payloadHash: await sha256Hex(body),
      region: str(toValue(kwargs.location ?? "eu-west-1")),
      service: "s3",
    };
    assertEquals(Object.fromEntries(await signedHeaders(request, credentials, new Date(now))), sent.headers);
    // The path that is asked for is the one that was signed there.
    const place = {
      credentials,
      serviceUrl: `127.0.0.1:${server.addr.port}`,
      region: request.region,
      verify: true,
      pathStyle: true,
      https: false,
    };
    const asked = { method: sent.method, bucket, path: path.join("/"), body };
    await askS3(place, asked, new AbortController().signal);
    assertStringIncludes((await seen.promise).get("authorization") ?? "", KEY_ID);
  }
});

Deno.test("s3: without a key it is that of the instance's role", () =>
  withTemporaryDirectory(async (root) => {
    await using service = startService(() => ({ status: 200, body: "", headers: {} }));
    const before = Deno.env.get("AWS_EC2_METADATA_SERVICE_ENDPOINT");
    Deno.env.set("AWS_EC2_METADATA_SERVICE_ENDPOINT", `http://127.0.0.1:${service.port}`);
    try {
      const place = { "s3.service_url": `127.0.0.1:${service.port}`, "s3.https_enable": false, "s3.path_style": true };
      const context = testContext({ opts: testOpts({ root_dir: root, ...place }) });
      assertEquals(await context.call("s3.delete", ["box", "f"]), null);
      Deno.env.set("AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://127.0.0.1:1");
      await assertRejects(() => context.call("s3.delete", ["box", "f"]), Error, "No key is configured");
    } finally {
      if (before === undefined) Deno.env.delete("AWS_EC2_METADATA_SERVICE_ENDPOINT");
      else Deno.env.set("AWS_EC2_METADATA_SERVICE_ENDPOINT", before);
    }
  }));

Deno.test("s3.get says that what is no XML is a file, and gets it with local_file and return_bin", () =>
  withTemporaryDirectory(async (root) => {
    await using service = startService(() => ({ status: 200, body: "<no xml", headers: {} }));
    const place = { "s3.service_url": `127.0.0.1:${service.port}`, "s3.https_enable": false, "s3.path_style": true };
    const context = testContext({ opts: testOpts({ root_dir: root, "s3.key": KEY, "s3.keyid": KEY_ID, ...place }) });
    const get = (kwargs: Readonly<Record<string, unknown>>) => resultOrError(context, "s3.get", ["box", "f"], kwargs);
    assertEquals(await get({}), "f is a file: local_file or return_bin gets it");
    assertEquals(await get({ return_bin: true }), new TextEncoder().encode("<no xml"));
    assertEquals(await get({ local_file: `${root}/f` }), `Saved to local file: ${root}/f`);
    assertEquals(Deno.readTextFileSync(`${root}/f`), "<no xml");
  }));

Deno.test("s3: a host and a bucket that are none are refused, and a service that is not there is named", async () => {
  const place = {
    credentials: { keyId: KEY_ID, key: KEY },
    serviceUrl: "127.0.0.1:1",
    region: "eu-west-1",
    verify: true,
    pathStyle: true,
    https: false,
  };
  const asked = (more: object, bucket = "box") => () =>
    askS3({ ...place, ...more }, { method: "GET", bucket, path: "f" }, new AbortController().signal);
  for (const serviceUrl of ["host/path", "me@host", "host:x", ""]) {
    await assertRejects(asked({ serviceUrl }), InvocationError, `Invalid service_url: ${serviceUrl}`);
  }
  for (const bucket of ["other.host/", "a@b", "a b"]) {
    await assertRejects(asked({ pathStyle: false }, bucket), InvocationError, `Invalid bucket: ${bucket}`);
  }
  await assertRejects(asked({}), CommandError, "127.0.0.1:1 does not answer: ");
  // The bucket is a part of the host's name. No server has a name below an address.
  await assertRejects(asked({ pathStyle: false }), CommandError, "box.127.0.0.1:1 does not answer: ");
});

/** Runs `act` on an instance whose service of metadata gives these answers by path. */
async function onInstance(answers: Readonly<Record<string, string>>, act: () => Promise<void>): Promise<void> {
  const before = Deno.env.get("AWS_EC2_METADATA_SERVICE_ENDPOINT");
  await using server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, (request) => {
    if (request.method === "PUT") return new Response("token");
    const path = new URL(request.url).pathname.slice("/latest/meta-data/".length);
    return Object.hasOwn(answers, path) ? new Response(answers[path]) : new Response("Not Found", { status: 404 });
  });
  Deno.env.set("AWS_EC2_METADATA_SERVICE_ENDPOINT", `http://127.0.0.1:${server.addr.port}/`);
  try {
    await act();
  } finally {
    if (before === undefined) Deno.env.delete("AWS_EC2_METADATA_SERVICE_ENDPOINT");
    else Deno.env.set("AWS_EC2_METADATA_SERVICE_ENDPOINT", before);
  }
}

Deno.test("the service of an instance may have no role, and need not know the region", () =>
  onInstance({}, async () => {
    const { signal } = new AbortController();
    await assertRejects(
      () => awsCredentials("", "", signal),
      CommandError,
      "The service of instance metadata answers 404 to meta-data/iam/security-credentials/",
    );
    assertEquals(await instanceRegion(signal), undefined);
  }));

Deno.test("an answer about the role of an instance that has no key is told, without what else it has", async () => {
  const roles = "iam/security-credentials/", { signal } = new AbortController();
  const answers: readonly (readonly [string, string])[] = [
    [
      '{"AccessKeyId": "A", "SecretAccessKey": hidden}',
      "its answer is no JSON: Expecting value: line 1 column 41 (char 40)",
    ],
    ['{"Code": "Failed", "Message": "no trust"}', "Failed: no trust"],
    ['{"AccessKeyId": "A"}', "no reason given"],
    ["[]", "no reason given"],
  ];
  for (const [answer, reason] of answers) {
    await onInstance({ [roles]: "web\n", [`${roles}web`]: answer }, async () => {
      const error = await assertRejects(() => awsCredentials("", "", signal), CommandError);
      assertEquals(error.message, `The service of instance metadata has no key of role 'web': ${reason}`);
    });
  }
  const key = '{"AccessKeyId": "A", "SecretAccessKey": "B", "Token": "C"}';
  await onInstance({ [roles]: "web", [`${roles}web`]: key }, async () => {
    assertEquals(await awsCredentials("", "", signal), { keyId: "A", key: "B", token: "C" });
  });
});
