import { isMap, map, str, type Value } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { mapOf } from "#tests/support/calls/host_calls.ts";
import { answeringContext, resultOrError, testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

testRecordedCases("execution", "file");

const minion = (answers: Readonly<Record<string, Value>> = {}, options: Readonly<Record<string, Value>> = {}) =>
  answeringContext(answers, { opts: testOpts(options) });

Deno.test("file.manage_file replaces a link that is not followed only if there is something to put in its place", async () => {
  await withTemporaryDirectory(async (root) => {
    Deno.symlinkSync("nowhere", `${root}/link`);
    // Salt fails: it asks the file server for the file None.
    const args = [`${root}/link`, null, new Map(), null, new Map(), null, null, null, null, "base", ""];
    const returned = await resultOrError(minion(), "file.manage_file", args, { follow_symlinks: false });
    assert(isMap(returned), str(returned));
    assertEquals([returned.get("result"), returned.get("comment")], [false, "Source file 'None' not found"]);
    assertEquals(Deno.readLinkSync(`${root}/link`), "nowhere");
  });
});

Deno.test("file.check_managed_changes keeps the mode that it is given of a source from the web", async () => {
  await withTemporaryDirectory(async (root) => {
    await using server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      () => new Response("text\n"),
    );
    const context = testContext({
      opts: testOpts({ root_dir: root, file_client: "local", cachedir: `${root}/cache` }),
    });
    Deno.writeTextFileSync(`${root}/f`, "text\n", { mode: 0o644 });
    const source = `http://127.0.0.1:${server.addr.port}/f`;
    const given = { source, skip_verify: true, keep_mode: true, user: null, group: null };
    const rest = {
      source_hash: "",
      source_hash_name: null,
      template: null,
      context: null,
      defaults: null,
      attrs: null,
    };
    const check = (mode: string) =>
      resultOrError(context, "file.check_managed_changes", [`${root}/f`], { ...given, ...rest, mode, saltenv: "base" });
    assertEquals(await check("0644"), new Map());
    assertEquals(await check("0600"), map({ mode: "0600" }));
  });
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

Deno.test("file.mknod_chrdev and mknod_blkdev make devices, and in test mode report what they would do", async () => {
  await withTemporaryDirectory(async (directory) => {
    for (const [name, field] of [["mknod_chrdev", "isCharDevice"], ["mknod_blkdev", "isBlockDevice"]] as const) {
      const path = `${directory}/${name}`;
      const result = await testContext({ opts: { ...testOpts(), test: true } }).call(`file.${name}`, [path, 1, 3]);
      assertEquals(isMap(result) && result.get("result"), null);
      const made = await testContext().call(`file.${name}`, [path, 1, 3], map({ mode: "0600" }));
      assertEquals(isMap(made) && made.get("result"), true, String(made));
      const stat = Deno.statSync(path);
      assertEquals([stat[field], stat.rdev, (stat.mode ?? 0) & 0o777], [true, 0x103, 0o600]);
    }
  });
});

const onLinux = { ignore: Deno.build.os !== "linux" };

Deno.test("file.open_files lists the processes that have a file open", onLinux, async () => {
  const path = await Deno.makeTempFile({ prefix: "this_host_" });
  try {
    using _open = Deno.openSync(path);
    assertEquals((await mapOf("file.open_files")).get(path), [Deno.pid]);
    const ours = (await mapOf("file.open_files", [true])).get(Deno.pid);
    assert(Array.isArray(ours) && ours.includes(path));
  } finally {
    await Deno.remove(path);
  }
});

Deno.test("file names the file or backup that it cannot remove, restore, copy or back up", async () => {
  await withTemporaryDirectory(async (root) => {
    const context = minion({}, { cachedir: `${root}/cache` });
    const path = `${root}/a`;
    Deno.writeTextFileSync(path, "a\n");
    Deno.mkdirSync(`${root}/a.bak`);
    const result = await resultOrError(context, "file.replace", [path], { pattern: "a", repl: "b" });
    assertEquals(
      result,
      `Unable to move the temp file '${path}' to the backup file '${path}.bak'. Exception: Is a directory`,
    );
    assertEquals(Deno.readTextFileSync(path), "a\n");
    Deno.writeFileSync(`${root}/latin`, new TextEncoder().encode("a caf? here\n").with(5, 0xe9));
    const diff = await resultOrError(context, "file.replace", [`${root}/latin`], {
      pattern: "a ",
      repl: "b ",
      backup: false,
    });
    assertEquals(diff, "--- \n+++ \n@@ -1 +1 @@\n-a caf\u00e9 here\n+b caf\u00e9 here\n");
    assertEquals(
      await resultOrError(context, "file.remove", ["/proc/self/environ"]),
      "Could not remove '/proc/self/environ': [Errno 1] Operation not permitted: '/proc/self/environ'",
    );
    const zip = await resultOrError(context, "archive.zip", [`${root}/none/a.zip`, path]);
    assert(typeof zip === "string" && zip.startsWith("Exception encountered creating zipfile: "), String(zip));
    const problems = await resultOrError(context, "file.get_diff", ["http://127.0.0.1:1/x", `${root}/none`]);
    assert(
      typeof problems === "string" && problems.startsWith("Failed to cache one or more files: "),
      String(problems),
    );
  });
});

Deno.test("file.line with backup keeps the file as it was, but not in test mode", async () => {
  await withTemporaryDirectory(async (root) => {
    const path = `${root}/file`;
    Deno.writeTextFileSync(path, "a\n");
    const line = (test: boolean) =>
      resultOrError(minion({}, { test }), "file.line", [path], {
        content: "b",
        mode: "replace",
        match: "a",
        backup: true,
      });
    const copies = () => [...Deno.readDirSync(root)].map(({ name }) => name).filter((name) => name !== "file");
    await line(true);
    assertEquals([Deno.readTextFileSync(path), copies()], ["a\n", []]);
    await line(false);
    const [copy, ...more] = copies();
    assertEquals([Deno.readTextFileSync(path), more.length], ["b\n", 0]);
    assert(/^file\.\d{4}(-\d\d){5}$/.test(copy), copy);
    assertEquals(Deno.readTextFileSync(`${root}/${copy}`), "a\n");
  });
});

Deno.test("file.replace in an encoding that the file has not leaves it as it is", async () => {
  await withTemporaryDirectory(async (root) => {
    Deno.writeFileSync(`${root}/file`, Uint8Array.of(0x61, 0xff));
    const answer = await resultOrError(minion(), "file.replace", [`${root}/file`, "a", "b"], { encoding: "utf-8" });
    assertEquals(answer, `Cannot read ${root}/file: it is not valid utf-8`);
    assertEquals(Deno.readFileSync(`${root}/file`), Uint8Array.of(0x61, 0xff));
  });
});
