/**
 * Returners that send or append: files, syslog, web services, mail, each against a real receiver.
 * @module
 */

import { RETURNERS } from "#modules/returners/_built_in.ts";
import { loadFamily } from "#lib/plugins/loader.ts";
import { invoke } from "#lib/plugins/call.ts";
import type { ReturnerContext } from "#lib/plugins/returner.ts";
import { map, type Value } from "#lib/values/value.ts";
import { CommandError, InvocationError, UnstorableError } from "#lib/errors.ts";
import { HttpError } from "#lib/host/network/http_request.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { returnerContext } from "#tests/support/calls/returner_context.ts";
import { withReplaced } from "#tests/support/replaced.ts";

const RETURN = map({
  jid: "20261128010203000001",
  id: "web1",
  fun: "test.echo",
  fun_args: ["ä"],
  return: "ä\r\nBcc: everybody@example.com",
  retcode: 0,
  success: true,
});

const LINE =
  '{"jid": "20261128010203000001", "id": "web1", "fun": "test.echo", "fun_args": ["ä"], "return": "ä\\r\\nBcc: everybody@example.com", "retcode": 0, "success": true}';

async function call(name: string, options: Readonly<Record<string, unknown>>, ...args: Value[]): Promise<Value> {
  const found = await loadFamily<ReturnerContext>(RETURNERS).get(name);
  assert(found !== undefined, name);
  return await invoke(found, { name, args, kwargs: new Map(), context: returnerContext(options) });
}

Deno.test("rawfile_json appends a line for each return and event, in a file for its user alone", async () => {
  const directory = Deno.makeTempDirSync();
  try {
    const path = `${directory}/events`;
    const options = { "rawfile_json.filename": path };
    await call("rawfile_json.returner", options, RETURN);
    await call("rawfile_json.event_return", options, [
      map({ tag: "a/b", data: { n: 1 } }),
      map({ tag: "c", data: {} }),
    ]);
    const events = '{"tag": "a/b", "data": {"n": 1}}\n{"tag": "c", "data": {}}\n';
    assertEquals(Deno.readTextFileSync(path), `${LINE}\n${events}`);
    assertEquals((Deno.statSync(path).mode ?? 0) & 0o777, 0o600);
    const missing = { "rawfile_json.filename": `${directory}/none/events` };
    await assertRejects(() => call("rawfile_json.returner", missing, RETURN), Deno.errors.NotFound);
    // Lines of several processes do not mix.
    const long = map({ text: "x".repeat(1 << 20) });
    await Promise.all(
      [1, 2, 3].map(() => call("rawfile_json.returner", { "rawfile_json.filename": `${path}2` }, long)),
    );
    assertEquals(Deno.readTextFileSync(`${path}2`).trim().split("\n").map((line) => line.length), [
      1048588,
      1048588,
      1048588,
    ]);
  } finally {
    Deno.removeSync(directory, { recursive: true });
  }
});

Deno.test("the options of a returner: its map before single options, another configuration, those of the job", async () => {
  const directory = Deno.makeTempDirSync();
  try {
    const place = (name: string) => `${directory}/${name}`;
    const written = () => [...Deno.readDirSync(directory)].map(({ name }) => name).sort();
    const options = {
      "rawfile_json.filename": place("single"),
      "rawfile_json": { filename: place("map") },
      "other.rawfile_json.filename": place("other"),
    };
    const empty = { ...options, "rawfile_json": { filename: "" } };
    const withField = (name: string, value: unknown) => new Map([...RETURN, ...map({ [name]: value })]);
    await call("rawfile_json.returner", options, RETURN);
    assertEquals(written(), ["map"]);
    await call("rawfile_json.returner", empty, RETURN);
    await call("rawfile_json.returner", options, withField("ret_config", "other"));
    await call("rawfile_json.returner", options, withField("ret_kwargs", { filename: place("kwargs") }));
    assertEquals(written(), ["kwargs", "map", "other", "single"]);
  } finally {
    Deno.removeSync(directory, { recursive: true });
  }
});

Deno.test("local prints returns and events as Python shows them", async () => {
  const printed: string[] = [];
  const by = (bytes: Uint8Array) => {
    printed.push(new TextDecoder().decode(bytes));
    return bytes.length;
  };
  await withReplaced(Deno.stdout, { name: "writeSync", by }, async () => {
    await call("local.returner", {}, map({ id: "web1", return: [1, "ä", null, true] }));
    await call("local.event_return", {}, [map({ tag: "a/b", data: {} })]);
  });
  assertEquals(printed, [
    "{'id': 'web1', 'return': [1, 'ä', None, True]}\n",
    "[{'tag': 'a/b', 'data': {}}]\n",
  ]);
});

Deno.test("webhook posts JSON, signed with the secret; an answer that is no success is a failure", async () => {
  const requests: { body: string; headers: Headers }[] = [];
  let status = 200;
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    requests.push({ body: await request.text(), headers: request.headers });
    return new Response("", { status });
  });
  const options = {
    "webhook.url": `http://127.0.0.1:${server.addr.port}/salt`,
    "webhook.secret": "k",
    "webhook.headers": { "X-Own": "1" },
  };
  await call("webhook.returner", options, RETURN);
  const { body, headers } = requests[0];
  assertEquals(body, LINE);
  const key = await crypto.subtle.importKey(
    "raw",
    new TextEncoder().encode("k"),
    { name: "HMAC", hash: "SHA-256" },
    false,
    [
      "sign",
    ],
  );
  const digest = new Uint8Array(await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(body)));
  assertEquals(headers.get("X-Salt-Signature"), `sha256=${digest.toHex()}`);
  assertEquals([headers.get("X-Own"), headers.get("Content-Type")], ["1", "application/json"]);
  await call("webhook.event_return", options, [map({ tag: "a", data: {} })]);
  assertEquals(requests[1].body, '{"events": [{"tag": "a", "data": {}}]}');
  status = 503;
  await assertRejects(() => call("webhook.returner", options, RETURN), HttpError, "The web service answered 503");
  status = 413;
  await assertRejects(() => call("webhook.returner", options, RETURN), UnstorableError, "The web service answered 413");
  await assertRejects(
    () => call("webhook.returner", { ...options, "webhook.ca_bundle": "/none.pem" }, RETURN),
    CommandError,
    "webhook.ca_bundle: there is no file /none.pem",
  );
  assertEquals(requests.length, 4);
});

/** A mail server that takes one mail; what it was sent, line by line. */
async function takeMail(listener: Deno.TcpListener): Promise<string[]> {
  using connection = await listener.accept();
  const lines: string[] = [];
  const say = (text: string) => connection.write(new TextEncoder().encode(`${text}\r\n`));
  await say("220 test");
  let buffered = "", isData = false;
  const chunk = new Uint8Array(4096);
  for (;;) {
    const read = await connection.read(chunk);
    if (read === null) return lines;
    buffered += new TextDecoder().decode(chunk.subarray(0, read));
    for (let end = buffered.indexOf("\r\n"); end >= 0; end = buffered.indexOf("\r\n")) {
      const line = buffered.slice(0, end);
      buffered = buffered.slice(end + 2);
      lines.push(line);
      if (isData && line !== ".") continue;
      isData = line === "DATA";
      await say(isData ? "354 go on" : line.startsWith("QUIT") ? "221 bye" : "250 ok");
      if (line.startsWith("QUIT")) return lines;
    }
  }
}

Deno.test("smtp sends a mail whose subject a return cannot split into headers", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const options = {
    smtp: {
      from: "salt@example.com",
      to: "one@example.com, two@example.com",
      host: "127.0.0.1",
      port: listener.addr.port,
      subject: "{{ id }} ran {{ fun }}",
      fields: "jid,return,none",
    },
  };
  const [lines] = await Promise.all([takeMail(listener), call("smtp.returner", options, RETURN)]);
  for (const line of ["MAIL FROM:<salt@example.com>", "RCPT TO:<one@example.com>", "RCPT TO:<two@example.com>"]) {
    assert(lines.some((sent) => sent.startsWith(line)), `${line} in ${lines.join("\n")}`);
  }
  const subject = lines.filter((line) => line.startsWith("Subject:"));
  assertEquals(subject.length, 1);
  assertEquals(lines.filter((line) => /^bcc:/i.test(line)).length, 1, "only in the text of the mail");
  assert(lines.findIndex((line) => /^bcc:/i.test(line)) > lines.indexOf(""), lines.join("\n"));
  assertStringIncludes(lines.join("\n"), "function: test.echo");
  await assertRejects(
    () => call("smtp.returner", { smtp: { ...options.smtp, gpgowner: "root" } }, RETURN),
    Error,
    "smtp.gpgowner is not built",
  );
  await assertRejects(() => call("smtp.returner", {}, RETURN), Error, 'The option "smtp.from" is missing');
  const template = Deno.makeTempFileSync();
  try {
    Deno.writeTextFileSync(template, "only {{ fun }} of {{ id }}");
    const own = { smtp: { ...options.smtp, template } };
    const [mail] = await Promise.all([takeMail(listener), call("smtp.returner", own, RETURN)]);
    assertStringIncludes(mail.join("\n"), "\n\nonly test.echo of web1");
  } finally {
    Deno.removeSync(template);
  }
  await assertRejects(
    () => call("smtp.returner", { smtp: { ...options.smtp, template } }, RETURN),
    InvocationError,
    `smtp.template: there is no file ${template}`,
  );
  // An event without the fields of the template is never a mail; the server has nothing to do with it.
  const { port: _closed, ...away } = options.smtp;
  await assertRejects(
    () => call("smtp.event_return", { smtp: { ...away, port: 1 } }, [map({ tag: "a", data: { act: "accept" } })]),
    UnstorableError,
  );
});

Deno.test("smtp: no field of an event chooses a server, a file or a template", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  using trap = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const secret = Deno.makeTempFileSync();
  try {
    Deno.writeTextFileSync(secret, "the master's key");
    const smtp = { from: "a@example.com", to: "b@example.com", host: "127.0.0.1", port: listener.addr.port };
    const ret_kwargs = { port: trap.addr.port, to: "c@example.com", template: secret };
    const event = map({ tag: "own/x", data: new Map([...RETURN, ...map({ ret_kwargs, ret_config: "other" })]) });
    const lines = await Promise.race([
      takeMail(trap),
      Promise.all([takeMail(listener), call("smtp.event_return", { smtp }, [event])]).then(([sent]) => sent),
    ]);
    assert(lines.some((line) => line.startsWith("RCPT TO:<b@example.com>")), lines.join("\n"));
    assertEquals(lines.join("\n").includes("the master's key"), false);
  } finally {
    Deno.removeSync(secret);
  }
});

/** A program that prints what one datagram to a Unix socket holds. */
const RECEIVER = `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind(sys.argv[1]); s.settimeout(60)
print("ready", flush=True); print(s.recv(65536).decode(), end="", flush=True)
`;

const python = ["/usr/bin/python3", "/usr/local/bin/python3"].find((path) => {
  try {
    return Deno.statSync(path).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
});

Deno.test({
  name: `syslog sends a line with priority and tag${python === undefined ? " (skipped: there is no python3)" : ""}`,
  ignore: python === undefined,
  async fn() {
    const directory = Deno.makeTempDirSync();
    try {
      const socket = `${directory}/log`;
      const child = new Deno.Command(python ?? "", { args: ["-c", RECEIVER, socket], stdout: "piped" }).spawn();
      const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
      assertEquals((await reader.read()).value?.trim(), "ready");
      const options = {
        syslog: { socket, level: "LOG_ERR", facility: "LOG_LOCAL3", tag: "own", options: ["LOG_PID"] },
      };
      await call("syslog.returner", options, RETURN);
      let text = "";
      for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value;
      await child.status;
      const [, priority, rest] = text.trim().match(/^<(\d+)>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d (.*)$/) ?? [];
      assertEquals([priority, rest], [String(19 * 8 + 3), `own[${Deno.pid}]: ${LINE}`]);
      for (
        const [name, value] of [["level", "LOG_X"], ["facility", "LOG_X"], ["options", ["X"]], ["tag", "x".repeat(33)]]
      ) {
        await assertRejects(
          () => call("syslog.returner", { syslog: { ...options.syslog, [String(name)]: value } }, RETURN),
          Error,
          `syslog.${name}`,
        );
      }
    } finally {
      Deno.removeSync(directory, { recursive: true });
    }
  },
});
