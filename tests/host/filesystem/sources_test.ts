/**
 * The sources of a managed file, and the messages if a source is not available.
 * @module
 */

import { CommandError, InvocationError } from "#lib/errors.ts";
import { chooseSource, findManaged, type ManagedRequest, sourcePath } from "#lib/host/filesystem/sources.ts";
import { readSourceHash } from "#lib/host/filesystem/checksums.ts";
import type { SourceFiles } from "#lib/host/filesystem/source_files.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";

const SHA_OF_TEXT = "982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1"; // sha256 of "text"

const NO_FILES: SourceFiles = {
  cacheFile: () => Promise.resolve(undefined),
  cachedFile: () => Promise.resolve(undefined),
  hashFile: () => Promise.resolve(undefined),
  statFile: () => Promise.resolve({}),
  exists: () => Promise.resolve(false),
};

const URL_WITH_PASSWORD = "https://me:secret@host/f";

async function withCopy(run: (copy: string) => Promise<void>): Promise<void> {
  const copy = Deno.makeTempFileSync({ prefix: "copy_" });
  try {
    Deno.writeTextFileSync(copy, "text");
    await run(copy);
  } finally {
    Deno.removeSync(copy);
  }
}

function request(source: string, files: Partial<SourceFiles>, more: Partial<ManagedRequest> = {}): ManagedRequest {
  return {
    name: "/etc/f",
    source,
    sourceHash: null,
    sourceHashName: null,
    template: null,
    skipVerify: false,
    saltenv: "base",
    files: { ...NO_FILES, ...files },
    ...more,
  };
}

Deno.test("the problem of a source is reported without the password in its URL", () =>
  withCopy(async (copy) => {
    const refuse = () => Promise.reject(new CommandError("refused"));
    const found = () => Promise.resolve({ hashType: "sha256", hsum: SHA_OF_TEXT });
    const cases: readonly (readonly [ManagedRequest, sfn: string, problem: string])[] = [
      [
        request(URL_WITH_PASSWORD, { cacheFile: refuse }, { skipVerify: true }),
        "",
        "Failed to cache https://<redacted>@host/f: refused",
      ],
      [request(URL_WITH_PASSWORD, {}, { skipVerify: true }), "", "Source file 'https://<redacted>@host/f' not found"],
      [
        request(URL_WITH_PASSWORD, { cacheFile: () => Promise.resolve("/none/at/all") }, { skipVerify: true }),
        "/none/at/all",
        "Source file 'https://<redacted>@host/f' not found",
      ],
      [
        request(URL_WITH_PASSWORD, {}),
        "",
        "Unable to verify upstream hash of source file https://<redacted>@host/f, please set source_hash or set skip_verify to True",
      ],
      [
        request("https://host/f", {}, { sourceHash: "https://me:secret@host/f.sha" }),
        "",
        "Unable to manage file: Source hash file https://<redacted>@host/f.sha not found",
      ],
      [
        request(copy, {}, { template: "jinja", skipVerify: true }),
        copy,
        "Specified template format jinja is not supported",
      ],
      [
        request("salt://f", { hashFile: found, cacheFile: () => Promise.resolve(copy) }, {
          template: "jinja",
          render: () => Promise.reject(new CommandError("it does not render")),
        }),
        copy,
        "it does not render",
      ],
    ];
    for (const [managedRequest, sfn, problem] of cases) {
      assertEquals(await findManaged(managedRequest), { sfn, sum: undefined, problem }, problem);
    }
    await assertRejects(
      () =>
        findManaged(
          request("https://host/f", { cacheFile: () => Promise.reject(new TypeError("odd")) }, { skipVerify: true }),
        ),
      TypeError,
      "odd",
    );
  }));

Deno.test("an existing copy is used without a request to the server if nothing is verified", () =>
  withCopy(async (copy) => {
    const files = {
      cachedFile: () => Promise.resolve(copy),
      cacheFile: () => Promise.reject(new Error("no fetching")),
    };
    const expected = { sfn: copy, sum: { hash_type: "sha256", hsum: SHA_OF_TEXT }, problem: "" };
    assertEquals(await findManaged(request("https://host/f", files, { skipVerify: true })), expected);
  }));

Deno.test("a local path must be absolute, and a hash must be a text", async () => {
  const place = { saltenv: "base", files: NO_FILES };
  await assertRejects(() => sourcePath("etc/f", place), CommandError, "Path 'etc/f' is not absolute");
  assertEquals(await sourcePath("file:///etc/f/", place), "/etc/f");
  const fetch = () => Promise.reject(new Error("no fetching"));
  const names = { fileName: "/etc/f", source: "/srv/f", sourceHashName: null };
  await assertRejects(() => readSourceHash(null, names, fetch), CommandError, "Source hash None format is invalid");
});

Deno.test("a source of a list that is a path is absolute: a name of the current directory is no source", async () => {
  const choose = (source: string) => chooseSource([source], null, { saltenv: "base", files: NO_FILES });
  const path = `${Deno.cwd()}/deno.json`;
  assertEquals((await choose(path)).source, path);
  await assertRejects(() => choose("deno.json"), CommandError, "none of the specified sources were found");
});

Deno.test("a template is not its own source", () =>
  withCopy(async (copy) => {
    const own = request(copy, {}, { name: copy, template: "jinja" });
    await assertRejects(() => findManaged(own), InvocationError, "Source file cannot be the same as destination");
  }));
