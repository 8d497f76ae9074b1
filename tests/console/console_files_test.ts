/** The files of the console over HTTP: the policy, compression, what is not served. */

import { assert, assertEquals, assertMatch } from "#tests/support/assert.ts";
import { apiMasterOptions, ApiSite } from "#tests/support/fleet/api_site.ts";
import { fleetTest } from "#tests/support/fleet/fleet.ts";

const directory = Deno.makeTempDirSync({ prefix: "console_" });
globalThis.addEventListener("unload", () => Deno.removeSync(directory, { recursive: true }));
const users = apiMasterOptions(directory, { alice: [".*", "@runner", "@wheel"] });

fleetTest("the console's files are served as they are, packed, under a strict policy", {
  master: { ...users, salt_console: true },
}, async (fleet) => {
  await using site = await ApiSite.start(fleet);
  const page = await fetch(site.url("/console/"));
  assertEquals(page.status, 200);
  assertEquals(page.headers.get("content-type"), "text/html;charset=utf-8");
  const policy = page.headers.get("content-security-policy") ?? "";
  assertMatch(policy, /default-src 'none'; script-src 'self'; style-src 'self';/);
  assertMatch(policy, /frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'$/);
  assert(!policy.includes("unsafe"), policy);
  assertEquals(page.headers.get("x-content-type-options"), "nosniff");
  const html = await page.text();
  assert(!/<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=/.test(html), "something inline");

  const plain = await fetch(site.url("/console/main.js"), { headers: { "Accept-Encoding": "identity" } });
  const text = await plain.text();
  assertEquals(text, Deno.readTextFileSync(new URL("../../lib/console/browser/main.js", import.meta.url)));
  const packed = await fetch(site.url("/console/main.js"), { headers: { "Accept-Encoding": "gzip" } });
  assertEquals(await packed.text(), text);
  const etag = plain.headers.get("etag") ?? "";
  const same = await fetch(site.url("/console/main.js"), { headers: { "If-None-Match": etag } });
  assertEquals([same.status, await same.text()], [304, ""]);

  const bare = await fetch(site.url("/console"), { redirect: "manual" });
  assertEquals([bare.status, bare.headers.get("location")], [308, "console/"]);
  await bare.body?.cancel();
  for (
    const path of ["deno.json", "vendor/preact.d.mts", "vendor/preact.LICENSE", "..%2fconsole_files.ts", "none.js"]
  ) {
    const answer = await fetch(site.url(`/console/${path}`));
    assertEquals(answer.status, 404, path);
    await answer.body?.cancel();
  }
});

fleetTest("who is signed in: nobody hears more than how to log in", {
  master: { ...users, salt_console: true },
}, async (fleet) => {
  await using site = await ApiSite.start(fleet);
  const ask = async (headers: Record<string, string>) =>
    await (await fetch(site.url("/console/session.json"), { headers })).json();
  assertEquals(await ask({}), { eauth: ["file"] });
  const token = await site.logIn("alice");
  const { expires, ...rest } = await ask({ Cookie: `session_id=${token}` });
  assertEquals(rest, { eauth: ["file"], user: "alice", master: "fleet_master", perms: [".*", "@runner", "@wheel"] });
  assert(expires > Date.now() / 1000);
});

fleetTest("without salt_console there is no console", { master: users }, async (fleet) => {
  await using site = await ApiSite.start(fleet);
  for (const path of ["", "main.js", "session.json"]) {
    const answer = await fetch(site.url(`/console/${path}`));
    assertEquals(answer.status, 404);
    await answer.body?.cancel();
  }
});
