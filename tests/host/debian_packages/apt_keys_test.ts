import { CommandError } from "#lib/errors.ts";
import { addKey, personalArchive } from "#lib/host/debian_packages/apt_keys.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";
import { testContext } from "#tests/support/calls/job_context.ts";

Deno.test("a key that the file server does not have is not added", async () => {
  const key = { path: "salt://x.gpg", text: null, keyserver: null, keyid: null, saltenv: "base", keyfile: null };
  const keydir = Deno.makeTempDirSync({ prefix: "keys_" });
  try {
    const calls: unknown[] = [];
    const context = testContext({
      call: (name, args) => {
        calls.push([name, args]);
        return Promise.resolve(calls.length === 1 ? "" : `${keydir}/x.gpg`);
      },
    });
    const place = { aptkey: false, keydir: `${keydir}/ring` };
    await assertRejects(
      () => addKey(key, place, context),
      CommandError,
      "Unable to get cached copy of file: salt://x.gpg",
    );
    assertEquals(calls, [["cp.cache_file", ["salt://x.gpg"]]]);
    Deno.writeTextFileSync(`${keydir}/x.gpg`, "binary");
    assertEquals(await addKey(key, place, context), true);
    assertEquals(Deno.readTextFileSync(`${keydir}/ring/x.gpg`), "binary");
  } finally {
    Deno.removeSync(keydir, { recursive: true });
  }
});

Deno.test("the data of an archive are those of Launchpad's answer, and a refusal is an error", async () => {
  const { fetch } = globalThis;
  const urls: string[] = [];
  const answers = [
    Response.json({ signing_key_fingerprint: "AB12" }),
    Response.json("no map"),
    new Response("", { status: 404, statusText: "Not Found" }),
    new Response("<html>"),
  ];
  globalThis.fetch = (url) => {
    urls.push(String(url));
    return Promise.resolve(answers.shift() ?? Response.error());
  };
  try {
    assertEquals(await personalArchive("o wner", "ppa"), new Map([["signing_key_fingerprint", "AB12"]]));
    assertEquals(await personalArchive("owner", "ppa"), new Map());
    await assertRejects(
      () => personalArchive("owner", "ppa"),
      CommandError,
      "Launchpad does not know about owner/ppa: 404 Not Found",
    );
    await assertRejects(
      () => personalArchive("owner", "ppa"),
      CommandError,
      "Launchpad does not know about owner/ppa: ",
    );
    assertEquals(urls[0], "https://launchpad.net/api/1.0/~o%20wner/+archive/ppa");
  } finally {
    globalThis.fetch = fetch;
  }
});
