/** The program `salt-api`: what it says when it cannot serve, and how it starts and ends. */

import { API_PASSWORD, apiMasterOptions } from "#tests/support/fleet/api_site.ts";
import { assert, assertEquals, assertMatch } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { fleetTest } from "#tests/support/fleet/fleet.ts";
import { freePort } from "#scripts/fleet/free_port.ts";
import { makeCertificate } from "#tests/support/certificate.ts";
import { run, Service } from "#tests/support/processes.ts";
import { dumpJson } from "#lib/values/json.ts";
import { toValue } from "#lib/values/value.ts";

const directory = Deno.makeTempDirSync({ prefix: "salt_api_" });
globalThis.addEventListener("unload", () => Deno.removeSync(directory, { recursive: true }));

const ENTRY = new URL("../../../salt.ts", import.meta.url).pathname;
const CONFIG = new URL("../../../deno.json", import.meta.url).pathname;

function words(configDir: string, ...more: readonly string[]): string[] {
  const deno = [Deno.execPath(), "run", "--allow-all", "--quiet", "--config", CONFIG, ENTRY];
  return [...deno, "--as", "salt-api", "-c", configDir, ...more];
}

/** A configuration directory with these options of `rest_cherrypy`. */
function configured(name: string, section: Readonly<Record<string, unknown>> | undefined): string {
  const root = `${directory}/${name}`;
  Deno.mkdirSync(`${root}/etc`, { recursive: true });
  const options = { root_dir: root, ...section !== undefined && { rest_cherrypy: section } };
  Deno.writeTextFileSync(`${root}/etc/master`, dumpJson(toValue(options)));
  return `${root}/etc`;
}

Deno.test("salt-api ends with a sentence that says what is wrong, and 1", async () => {
  const cases: [name: string, section: Record<string, unknown> | undefined, text: RegExp][] = [
    ["none", undefined, /^salt-api: There is nothing to serve: .* no section rest_cherrypy\n$/],
    ["no_port", { host: "127.0.0.1" }, /rest_cherrypy: port is required\n$/],
    ["bad_port", { port: "http" }, /rest_cherrypy: port must be an integer, not 'http' \(str\)\n$/],
    ["clear", { port: 8000 }, /passwords would be sent in clear text to 0\.0\.0\.0\. Set ssl_crt and ssl_key, /],
    ["half", { port: 8000, ssl_crt: "/none" }, /ssl_crt and ssl_key are needed together\n$/],
    [
      "no_file",
      { port: 8000, ssl_crt: "/none", ssl_key: "/none" },
      /rest_cherrypy: ssl_crt: No such file or directory/,
    ],
  ];
  for (const [name, section, text] of cases) {
    const { code, err } = await run(words(configured(name, section)));
    assertEquals(code, 1, err);
    assertMatch(err, text);
  }
});

Deno.test("--make-certificate shows its options, and says in a line why it makes none", async () => {
  const help = await run(words(configured("help", undefined), "--make-certificate", "--help"));
  assertEquals(help.code, 0, help.err);
  assertMatch(help.out, /^Usage: salt-api .*--make-certificate/s);
  const configDir = configured("taken", undefined);
  const pki = `${directory}/taken/etc/salt/pki/master`;
  Deno.mkdirSync(pki, { recursive: true });
  Deno.writeTextFileSync(`${pki}/api`, "");
  const { code, out, err } = await run(words(configDir, "--make-certificate"));
  assertEquals([code, out], [1, ""]);
  assertMatch(err, /^salt-api: .*\/taken\/.*\n$/);
});

Deno.test("--make-certificate makes an authority and a certificate, which renewals keep and a client accepts", async () => {
  const configDir = configured("made", undefined);
  const first = await run(words(configDir, "--make-certificate"));
  assertEquals([first.code, first.err], [0, ""]);
  assertMatch(first.out, /^A certificate for localhost, .*127\.0\.0\.1, ::1.* is made\./);
  const pki = /ssl_crt: (.*)\/api\.crt/.exec(first.out)?.[1] ?? "";
  assertEquals(["ca.key", "api.key"].map((name) => (Deno.statSync(`${pki}/${name}`).mode ?? 0) & 0o777), [
    0o600,
    0o600,
  ]);
  const authority = Deno.readTextFileSync(`${pki}/ca.crt`), before = Deno.readTextFileSync(`${pki}/api.crt`);
  assertEquals((await run(words(configDir, "--make-certificate"))).code, 0);
  assertEquals(Deno.readTextFileSync(`${pki}/ca.crt`), authority);
  const cert = Deno.readTextFileSync(`${pki}/api.crt`);
  assert(cert !== before);
  await using server = Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    cert,
    key: Deno.readTextFileSync(`${pki}/api.key`),
    onListen: () => {},
  }, () => new Response("trusted"));
  using client = Deno.createHttpClient({ caCerts: [authority] });
  for (const host of ["localhost", "127.0.0.1"]) {
    assertEquals(await (await fetch(`https://${host}:${server.addr.port}/`, { client })).text(), "trusted");
  }
});

const master = apiMasterOptions(directory, { alice: [".*", "@runner", "@wheel"] });
const certificate = makeCertificate(directory);
Deno.writeTextFileSync(`${directory}/api.crt`, certificate.cert);
Deno.writeTextFileSync(`${directory}/api.key`, certificate.key);
const port = freePort();
const rest_cherrypy = {
  port,
  ssl_crt: `${directory}/api.crt`,
  ssl_key: `${directory}/api.key`,
  prot: 1,
};

fleetTest("salt-api serves a running master over TLS, warns of a misspelt option, and ends at SIGTERM", {
  master: { ...master, rest_cherrypy },
  minions: ["m1"],
}, async (fleet) => {
  const log = `${directory}/own.log`;
  const options = ["-l", "info", "--log-file", log, "--log-file-level", "info"];
  const api = Service.start("salt-api", words(fleet.configDir, ...options), `${directory}/output`);
  try {
    using client = Deno.createHttpClient({ caCerts: [Deno.readTextFileSync(certificate.authority)] });
    const post = async (path: string, body: unknown, token = "") => {
      const headers = { "Content-Type": "application/json", "X-Auth-Token": token };
      const init = { method: "POST", client, headers, body: JSON.stringify(body) };
      const response = await fetch(`https://localhost:${port}${path}`, init);
      return await response.json();
    };
    const credentials = { username: "alice", password: API_PASSWORD, eauth: "file" };
    const login = await eventually(() => post("/login", credentials), { what: "a log-in" });
    const { token } = login.return[0];
    assertEquals(await post("/", { client: "local", tgt: "*", fun: "test.ping" }, token), { return: [{ m1: true }] });
    const asked = fetch(`http://127.0.0.1:${port}/`).then((response) => response.ok);
    assert(!await asked.catch(() => false));
    // What each thread does, into the log.
    Deno.kill(api.pid, "SIGUSR1");
    await eventually(() => /main: \d+ requests are open/.test(api.written), { what: "what it does" });
  } finally {
    await api.stop();
  }
  assertEquals(api.exitCode, 0);
  assertMatch(api.written, /\[WARNING \] rest_cherrypy: there is no option prot; did you mean port\?/);
  assertMatch(api.written, /\[INFO {4}\] 127\.0\.0\.1 POST \/login: 200/);
  assertMatch(Deno.readTextFileSync(log), /127\.0\.0\.1 POST \/login: 200/);
  assert(!api.written.includes("legacy"), api.written);
  Deno.listen({ hostname: "127.0.0.1", port }).close();
});
