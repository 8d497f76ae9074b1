/**
 * Functions on unusual hosts and masters: other programs, other environments, another network. The programs, the
 * environment and the network belong to the test.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { HostFiles } from "#lib/programs/files.ts";
import { findFullName, systemResolver } from "#lib/host/network/host_names.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { refuseLinks } from "#modules/execution/ssh/files.ts";
import { assert, assertEquals, assertThrows } from "#tests/support/assert.ts";
import { answeringContext, resultOrError, testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { RecordedPrograms } from "#tests/support/calls/recorded_program.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const minion = (answers: Readonly<Record<string, Value>> = {}, grains: ValueMap = new Map()) =>
  answeringContext(answers, { grains });

Deno.test("environ.setenv with clear_all empties or removes all other variables", async () => {
  const { env } = Deno;
  const own = { toObject: env.toObject, set: env.set, delete: env.delete };
  const now = new Map<string, string>();
  env.toObject = () => Object.fromEntries(now);
  env.set = (key, value) => void now.set(key, value);
  env.delete = (key) => void now.delete(key);
  try {
    for (const [key, value] of [["A", "1"], ["B", "2"]]) now.set(key, value);
    const context = testContext();
    const set = await resultOrError(context, "environ.setenv", [map({ B: "3" })], { clear_all: true });
    assertEquals([set, [...now]], [map({ A: "", B: "3" }), [["A", ""], ["B", "3"]]]);
    const unset = await resultOrError(context, "environ.setenv", [map({ B: "4" })], {
      clear_all: true,
      false_unsets: true,
    });
    assertEquals([unset, [...now]], [map({ A: null, B: "4" }), [["B", "4"]]]);
  } finally {
    Object.assign(env, own);
  }
});

Deno.test("network.get_fqdn and fqdns return the host names of the hosts file and the resolver", async () => {
  const context = minion();
  const known = { files: new HostFiles(), resolver: await systemResolver() };
  assertEquals(await resultOrError(context, "network.get_fqdn"), await findFullName(Deno.hostname(), known));
  const result = await resultOrError(context, "network.fqdns");
  assert(isMap(result) && Array.isArray(result.get("fqdns")));
  const names = result.get("fqdns") as Value[];
  assertEquals(names, [...new Set(names)].toSorted());
  assertEquals(names.filter((name) => typeof name !== "string" || /^[\d.]+$|:/.test(name)), []);
});

Deno.test("network.traceroute shows nothing of a route that takes too long", async () => {
  using programs = new RecordedPrograms();
  programs.answer("traceroute");
  const dropped = { stdout: 0, stderr: 0 };
  const none = new Uint8Array();
  const runChild = () => Promise.resolve({ pid: 1, retcode: -9, stdout: none, stderr: none, timedOut: true, dropped });
  assertEquals(await resultOrError(testContext({ runChild }), "network.traceroute", ["example.com"]), []);
});

Deno.test("ps.proc_info shows a process's I/O class, as ionice reports it", async () => {
  using programs = new RecordedPrograms();
  const ioClass = async (stdout: string) => {
    programs.answer("ionice", [{ args: "*", stdout }]);
    const info = await resultOrError(minion(), "ps.proc_info", [Deno.pid], { attrs: ["ionice"] });
    return isMap(info) ? info.get("ionice") : info;
  };
  assertEquals(await ioClass("best-effort: prio 4\n"), [2, 4]);
  assertEquals(await ioClass("idle\n"), [3, 0]);
  assertEquals(await ioClass("ionice: failed\n"), null);
});

Deno.test("file.find logs the standard error of a command", async () => {
  await withTemporaryDirectory(async (root) => {
    Deno.writeTextFileSync(`${root}/a`, "");
    const context = minion();
    assertEquals(
      await resultOrError(context, "file.find", [root], { type: "f", exec: "sh -c 'echo {}; echo no >&2'" }),
      [
        `sh -c 'echo ${root}/a; echo no >&2':\n${root}/a\n\n`,
      ],
    );
    assertEquals(context.logged.filter((line) => line.includes("Error running command")).length, 1);
  });
});

Deno.test("the name of a file is one word of the command of file.find, whatever it contains", async () => {
  await withTemporaryDirectory(async (root) => {
    const names = [
      "a b",
      "x; touch trapped",
      "q'u\"o",
      "$&",
      "--flag",
      "$(touch trapped)",
      "back\\slash",
      "two\nlines",
    ];
    for (const name of names) Deno.writeTextFileSync(`${root}/${name}`, "");
    const context = minion();
    const run = async (exec: string) => {
      const results = await resultOrError(context, "file.find", [root], { type: "f", exec });
      assert(Array.isArray(results), str(results));
      return results.map(str);
    };
    for (const exec of ["printf <%s> {}", "printf <%s> '{}'", 'printf <%s> "{}"']) {
      const expected = names.map((name) => `${exec.replaceAll("{}", () => `${root}/${name}`)}:\n<${root}/${name}>\n`);
      assertEquals((await run(exec)).toSorted(), expected.toSorted());
    }
    assertEquals(context.logged.filter((line) => line.includes("Exception while executing command")), []);
    // A word with more than harmless characters may be a command for a shell.
    const refused = await run(`sh -c 'cd ${root}; echo {}'`);
    const plain = `${root}/--flag`;
    const expected = names.map((name) => `${root}/${name}`)
      .map((path) => path === plain ? `sh -c 'cd ${root}; echo ${plain}':\n${plain}\n\n` : `${path}: Failed`);
    assertEquals(refused.toSorted(), expected.toSorted());
    assertEquals(
      context.logged.filter((line) => line.includes("cannot be put safely into this command")).length,
      names.length - 1,
    );
    assertEquals(Array.from(Deno.readDirSync(root), ({ name }) => name).toSorted(), names.toSorted());
  });
});

Deno.test("file.statvfs shows the data of statfs for a file system", async () => {
  const result = await resultOrError(minion(), "file.statvfs", ["/"]);
  assert(isMap(result));
  const { stdout } = new Deno.Command("stat", { args: ["-f", "-c", "%l %S %b %c", "/"] }).outputSync();
  const [namemax, frsize, blocks, files] = new TextDecoder().decode(stdout).trim().split(" ").map(Number);
  const shown = ["f_namemax", "f_frsize", "f_blocks", "f_files"].map((name) => result.get(name));
  assertEquals(shown, [namemax, frsize, blocks, files]);
  assertEquals([...result.keys()], [
    ...[
      "f_bavail",
      "f_bfree",
      "f_blocks",
      "f_bsize",
      "f_favail",
      "f_ffree",
      "f_files",
      "f_flag",
      "f_frsize",
      "f_namemax",
    ],
  ]);
});

Deno.test("status.diskusage shows a path without statistics as empty, and leaves out a missing path", async () => {
  const context = minion();
  const result = await resultOrError(context, "status.diskusage", ["/etc/passwd/x", "/nonexistent-path"]);
  assertEquals(result, map({ "/etc/passwd/x": { available: null, total: null } }));
  assert(context.logged[0].startsWith("warning: Cannot get stats from '/etc/passwd/x': "));
});

Deno.test("file.get_source_sum rejects a file of hashes with an invalid signature", async () => {
  await withTemporaryDirectory(async (root) => {
    Deno.writeTextFileSync(`${root}/SUMS`, `${"a".repeat(64)}  x.txt\n`);
    Deno.writeTextFileSync(`${root}/SUMS.asc`, "");
    const sourceSum = async (res: boolean) => {
      const context = minion({ "gpg.verify": map({ res, message: "no such key" }), "cp.cache_file": `${root}/SUMS` });
      const sum = await resultOrError(context, "file.get_source_sum", ["x.txt", "https://example.com/x.txt"], {
        source_hash: `file://${root}/SUMS`,
        source_hash_sig: `${root}/SUMS.asc`,
      });
      return isMap(sum) ? sum.get("hsum") : sum;
    };
    assertEquals(await sourceSum(true), "a".repeat(64));
    assertEquals(await sourceSum(false), "The file's signature could not be verified: no such key");
  });
});

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

Deno.test("root does not write a user's files through a link of the user", {
  ignore: Deno.build.os !== "linux" || Deno.uid() !== 0,
}, async () => {
  await withTemporaryDirectory((home) => {
    const user = { name: "fred", uid: 54321, gid: 54321, home, shell: "/bin/sh", gecos: "", passwd: "x" };
    Deno.mkdirSync(`${home}/real`);
    Deno.symlinkSync(`${home}/real`, `${home}/.ssh`);
    Deno.chownSync(home, user.uid, user.gid);
    assertThrows(() => refuseLinks(`${home}/.ssh/known_hosts`, user), Error, "is a symbolic link of a user's");
    refuseLinks(`${home}/real/known_hosts`, user);
    return Promise.resolve();
  });
});

Deno.test("state.event requires the bus of the minion or of the master", async () => {
  const context = testContext({ opts: testOpts() });
  assertEquals(await resultOrError(context, "state.event", ["*"], { count: 0 }), null);
  assertEquals(
    await resultOrError(context, "state.event", ["*"], { node: "other" }),
    "node must be master or minion, not other",
  );
});

Deno.test("saltutil.sync_beacons makes the minion reload its beacons", async () => {
  await withTemporaryDirectory(async (root) => {
    Deno.mkdirSync(`${root}/files/_beacons`, { recursive: true });
    Deno.writeTextFileSync(`${root}/files/_beacons/mine.py`, "");
    const file_roots = new Map([["base", [`${root}/files`]]]);
    const opts = testOpts({ root_dir: root, file_client: "local", file_roots, extension_modules: `${root}/ext` });
    const context = testContext({ opts });
    assertEquals(await resultOrError(context, "saltutil.sync_beacons", [], { saltenv: "base" }), ["beacons.mine"]);
    assertEquals(context.fired, [{ tag: "beacons_refresh", data: new Map() }]);
  });
});

Deno.test("cp.get_url without a destination returns text, or bytes if the content is not text", async () => {
  await withTemporaryDirectory(async (root) => {
    Deno.writeTextFileSync(`${root}/text`, "caf\u00e9\n");
    Deno.writeFileSync(`${root}/bytes`, Uint8Array.of(0xff, 0));
    const context = testContext({
      opts: testOpts({ root_dir: root, file_client: "local", file_roots: new Map([["base", [root]]]) }),
    });
    assertEquals(await resultOrError(context, "cp.get_url", ["salt://text", null]), "caf\u00e9\n");
    assertEquals(await resultOrError(context, "cp.get_url", ["salt://bytes", null]), Uint8Array.of(0xff, 0));
    assertEquals(await resultOrError(context, "cp.get_url", ["salt://none", null]), false);
  });
});

Deno.test("cp.cache_file fetches a file from the web once in a job", async () => {
  await withTemporaryDirectory(async (root) => {
    let requestCount = 0;
    await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => {
      requestCount++;
      return new Response("text\n");
    });
    const url = `http://127.0.0.1:${server.addr.port}/a.txt`;
    const context = testContext({
      opts: testOpts({ root_dir: root, file_client: "local", cachedir: `${root}/cache` }),
    });
    const first = await resultOrError(context, "cp.cache_file", [url]);
    assert(typeof first === "string" && Deno.readTextFileSync(first) === "text\n", String(first));
    const before = requestCount;
    assertEquals(await resultOrError(context, "cp.cache_file", [url]), first);
    assertEquals(requestCount, before);
    Deno.removeSync(first);
    assertEquals(await resultOrError(context, "cp.cache_file", [url]), first);
    assert(requestCount > before);
  });
});
