/** @module */
import { apiSettings } from "#lib/api/endpoints/api_settings.ts";
import { oidcSettings } from "#lib/auth/oidc_settings.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { loadYamlMapping } from "#lib/yaml/load.ts";
import { shlexSplit } from "#lib/text/shlex.ts";
import { withTables } from "#scripts/reference/api_page.ts";
import { API_PASSWORD, apiMasterOptions, ApiSite } from "#tests/support/fleet/api_site.ts";
import { fleetTest } from "#tests/support/fleet/fleet.ts";

const PAGE = Deno.readTextFileSync(new URL("../../docs/api.md", import.meta.url));
const directory = Deno.makeTempDirSync({ prefix: "api_page_" });
globalThis.addEventListener("unload", () => Deno.removeSync(directory, { recursive: true }));

Deno.test("docs/api.md has the routes and options that salt-api has", () => {
  const plain = (text: string) => text.replace(/ +/g, " ").replace(/-{3,}/g, "---");
  assertEquals(plain(withTables(PAGE)), plain(PAGE), "stale: run deno run -A scripts/reference/api_page.ts");
});

Deno.test("the configuration of docs/api.md can be served", () => {
  const block = /```yaml\n([^]*?)```/.exec(PAGE)?.[1] ?? "";
  const { settings, warnings } = apiSettings(loadYamlMapping(block, "api.conf").value.get("rest_cherrypy") ?? null);
  assertEquals([settings.port, settings.host, warnings], [8000, "127.0.0.1", []]);
});

Deno.test("the provider of docs/api.md is one", () => {
  const block = [...PAGE.matchAll(/```yaml\n([^]*?)```/g)].map(([, text]) => text).find((text) =>
    text.includes("^issuer")
  );
  const { value } = loadYamlMapping(block ?? "", "oidc.conf");
  assertEquals(
    oidcSettings({ external_auth: mapOrEmpty(value.get("external_auth")) })?.userClaim,
    "preferred_username",
  );
});

const master = apiMasterOptions(directory, { alice: ["test.*", "@runner", "@wheel"] });

fleetTest("the first requests of docs/api.md work", { master, minions: ["m1"] }, async (fleet) => {
  await using site = await ApiSite.start(fleet);
  const commands = [...PAGE.matchAll(/^curl (.*)$/gm)].map(([line]) => line);
  assertEquals(commands.length, 4);
  let token = "";
  const outputs: string[] = [];
  for (const command of commands) {
    const line = command.replace("TOKEN", token).replace("password=secret", `'password=${API_PASSWORD}'`)
      .replace("eauth=pam", "eauth=file");
    const { url, init } = asFetch(line);
    const response = await fetch(url.replace("http://127.0.0.1:8000", site.url("").replace(/\/$/, "")), init);
    if (url.endsWith("/events")) {
      await fleet.salt("m1", "test.ping");
      const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      while (text.split("\n").length < 5) text += (await reader.read()).value ?? "";
      outputs.push(text);
      await reader.cancel();
    } else outputs.push(await response.text());
    token = /"token": "([0-9a-f]{40})"/.exec(outputs.at(-1) ?? "")?.[1] ?? token;
  }
  assert(outputs[0].startsWith('{"return": "Welcome"'), outputs[0]);
  assert(outputs[1].includes('"user": "alice"'), outputs[1]);
  assertEquals(outputs[2], '{"return": [{"m1": true}]}');
  assert(/^retry: 400\nid: .*\ntag: /.test(outputs[3]), outputs[3]);
});

/** What a command line of curl asks for: its options -d, -H, -s and -N. */
function asFetch(line: string): { readonly url: string; readonly init: RequestInit } {
  const [, ...words] = shlexSplit(line);
  const headers = new Headers();
  const fields = new URLSearchParams();
  let url = "";
  for (let i = 0; i < words.length; i++) {
    if (words[i] === "-d") {
      const field = words[++i], at = field.indexOf("=");
      fields.append(field.slice(0, at), field.slice(at + 1));
    } else if (words[i] === "-H") {
      const [name, value] = words[++i].split(": ");
      headers.set(name, value);
    } else if (!words[i].startsWith("-")) url = words[i];
    else assert(/^-[sN]+$/.test(words[i]), words[i]);
  }
  return { url, init: fields.size === 0 ? { headers } : { method: "POST", headers, body: fields } };
}
