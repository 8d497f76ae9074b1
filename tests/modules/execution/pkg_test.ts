import { messageOf } from "#lib/errors.ts";
import { invoke } from "#lib/plugins/call.ts";
import { map, repr, type Value } from "#lib/values/value.ts";
import { info_installed } from "#modules/execution/_rpm_queries.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { testContext } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { RecordedPrograms } from "#tests/support/calls/recorded_program.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

testRecordedCases("execution", "pkg");

Deno.test("pkg.list_downloaded finds the files of apt below a directory", async () => {
  await withTemporaryDirectory(async (root) => {
    const archives = `${root}/var/cache/apt/archives`;
    Deno.mkdirSync(`${archives}/partial`, { recursive: true });
    const path = `${archives}/hello_2.10-3_amd64.deb`;
    for (const name of [path, `${archives}/lock`]) Deno.writeTextFileSync(name, "12345");
    const stdout = new TextEncoder().encode(" Package: hello\n Version: 2.10-3\n Architecture: amd64\n");
    const given = testContext({
      grains: map({ os_family: "Debian", os: "Debian", osarch: "amd64" }),
      runChild: () =>
        Promise.resolve({
          pid: 1,
          retcode: 0,
          stdout,
          stderr: new Uint8Array(),
          timedOut: false,
          dropped: { stdout: 0, stderr: 0 },
        }),
    });
    const { list_downloaded } = await import("#modules/execution/aptpkg/queries.ts");
    const packages = await list_downloaded.run({ root: `${root}/` }, given, { args: [], kwargs: new Map() });
    const seconds = Math.floor((Deno.statSync(path).ctime?.getTime() ?? 0) / 1000);
    const creation_date_time = new Date(seconds * 1000).toISOString().slice(0, 19);
    assertEquals(
      packages,
      map({ hello: { "2.10-3": { path, size: 5, creation_date_time_t: seconds, creation_date_time } } }),
    );
  });
});

Deno.test("pkg.mod_repo gets the key of a personal archive from Launchpad, and sends no password to a public one", async () => {
  const urls: string[] = [];
  const own = globalThis.fetch;
  globalThis.fetch = (input) => {
    urls.push(String(input));
    return Promise.resolve(Response.json({ private: false, signing_key_fingerprint: "ABCD1234" }));
  };
  using programs = new RecordedPrograms();
  programs.answer("apt-key");
  const words: string[][] = [];
  const none = new Uint8Array(), dropped = { stdout: 0, stderr: 0 };
  const context = testContext({
    grains: map({ os_family: "Debian", os: "Ubuntu", oscodename: "noble", osarch: "amd64" }),
    call: () => Promise.resolve(false),
    // Every program fails, so nothing of the host's is changed.
    runChild: ({ argv }) => {
      words.push([...argv]);
      return Promise.resolve({ pid: 1, retcode: 2, stdout: none, stderr: none, timedOut: false, dropped });
    },
  });
  try {
    const { mod_repo } = await import("#modules/execution/aptpkg/repositories.ts");
    const change = async (more: Readonly<Record<string, Value>>, repo = "ppa:me/tools") => {
      try {
        const given = { repo, saltenv: "base", aptkey: true };
        return await mod_repo.run(given, context, { args: [], kwargs: map(more) });
      } catch (error) {
        return messageOf(error);
      }
    };
    assertEquals(
      await change({ ppa_auth: "me:secret" }),
      "PPA is not private but auth credentials passed: ppa:me/tools",
    );
    assertEquals(await change({}), "Error: key retrieval failed: ");
    const place = "https://example.com/key.asc";
    assertEquals(
      await change({ key_url: place }, "deb http://example.com/apt noble main"),
      `Error: file not found: ${place}`,
    );
    assertEquals(urls, Array(2).fill("https://launchpad.net/api/1.0/~me/+archive/tools"));
    const wanted = words.at(-1)?.join(" ") ?? "";
    assert(wanted.includes("--keyserver keyserver.ubuntu.com") && wanted.endsWith("--recv-keys ABCD1234"), wanted);
  } finally {
    globalThis.fetch = own;
  }
});

Deno.test("pkg.info_installed of rpm has all versions of a package, the newest first", async () => {
  using programs = new RecordedPrograms();
  const one = (version: string) =>
    `name: kernel\nversion: ${version}\nsource_rpm: kernel.src.rpm\nedition: ${version}-1\ndescription:\nIt.\n-----\n`;
  programs.answer("rpm", [{ args: "-q kernel *", stdout: `${one("5.9")}${one("5.14")}` }]);
  const context = testContext();
  const info = async (all_versions: boolean) =>
    repr(await invoke(info_installed, { name: "x", args: ["kernel"], kwargs: map({ all_versions }), context }) ?? null);
  const shown = (version: string, edition = `, 'edition': '${version}-1'`) =>
    `{'version': '${version}', 'source': 'kernel.src.rpm'${edition}, 'description': 'It.'}`;
  assertEquals(await info(true), `{'kernel': [${shown("5.14")}, ${shown("5.9")}]}`);
  assertEquals(await info(false), `{'kernel': ${shown("5.14", "")}}`);
});
