/**
 * `salt-cp` on a real master and minion.
 * @module
 */

import { parseJson } from "#lib/values/json_read.ts";
import { runSaltCp } from "#lib/commands/programs/salt_cp.ts";
import { gunzip, gzip } from "#lib/values/gzip.ts";
import { listSources, readPieces } from "#lib/commands/programs/salt_cp_files.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows } from "#tests/support/assert.ts";
import { type Fleet, fleetTest, type Run } from "#tests/support/fleet/fleet.ts";
import { run as runFunction, testContext } from "#tests/support/calls/job_context.ts";
import { failedText, IMPATIENT } from "#tests/support/fleet/salt_texts.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

async function saltCp(fleet: Fleet, ...argv: string[]): Promise<Run> {
  let out = "", err = "";
  const code = await runSaltCp(["-c", fleet.configDir, "--out=json", ...argv], {
    write: (text) => void (out += text),
    writeError: (text) => void (err += text),
    isTerminal: false,
    isErrorTerminal: false,
    readStdin: () => Promise.resolve(""),
    signal: new AbortController().signal,
  });
  return { code, out, err };
}

function shown({ out }: Run): Value {
  return parseJson(out);
}

/** A directory with some files, and an empty one to send them to. */
function withDirectories(fleet: Fleet): { from: string; to: string } {
  const from = `${fleet.root}/from`, to = `${fleet.root}/to`;
  for (const directory of [`${from}/tree/sub`, `${from}/tree/empty`, to]) {
    Deno.mkdirSync(directory, { recursive: true });
  }
  Deno.writeTextFileSync(`${from}/one.conf`, "one = 1\nä €\n");
  Deno.writeTextFileSync(`${from}/two.conf`, "two\n");
  Deno.writeFileSync(`${from}/binary`, Uint8Array.from({ length: 250_000 }, (_, i) => (i * i) % 251));
  Deno.writeTextFileSync(`${from}/tree/script`, "#!/bin/sh\n", { mode: 0o750 });
  Deno.chmodSync(`${from}/tree/script`, 0o750);
  Deno.writeTextFileSync(`${from}/tree/sub/nothing`, "");
  return { from, to };
}

fleetTest(
  "salt-cp copies text files into a directory, or to a name of their own",
  { minions: ["web1"] },
  async (fleet) => {
    const { from, to } = withDirectories(fleet);
    const both = await saltCp(fleet, "web1", `${from}/one.conf`, `${from}/two.conf`, to);
    assertEquals([both.code, both.err], [0, ""]);
    assertEquals(shown(both), map({ web1: { [`${to}/one.conf`]: true, [`${to}/two.conf`]: true } }));
    assertEquals(Deno.readTextFileSync(`${to}/one.conf`), "one = 1\nä €\n");
    const named = await saltCp(fleet, "-L", "web1", `${from}/two.conf`, `${to}/a=b`);
    assertEquals(shown(named), map({ web1: { [`${to}/a=b`]: true } }));
    assertEquals(Deno.readTextFileSync(`${to}/a=b`), "two\n");
    const nowhere = await saltCp(fleet, "web1", `${from}/two.conf`, `${to}/no/such/place`);
    assertEquals([nowhere.code, shown(nowhere), nowhere.err], [
      1,
      map({ web1: "Destination unavailable" }),
      failedText("1 (web1)"),
    ]);
  },
);

fleetTest("salt-cp --chunked copies large files, binary ones, directories, modes and what is empty", {
  minions: ["web1"],
  master: { salt_cp_chunk_size: 40_000 },
}, async (fleet) => {
  const { from, to } = withDirectories(fleet);
  for (const words of [["-C"], ["-C", "-n"]]) {
    const target = `${to}/${words.length}`;
    const { code, out, err } = await saltCp(fleet, ...words, "web1", `${from}/tree`, `${from}/binary`, target);
    assertEquals([code, err], [0, ""], out);
    const paths = ["binary", "tree/empty", "tree/script", "tree/sub/nothing"].map((path) => `${target}/${path}`);
    const results = parseJson(out);
    assertEquals(results, map({ web1: Object.fromEntries([2, 3, 0, 1].map((i) => [paths[i], true])) }));
    assertEquals(Deno.readFileSync(paths[0]), Deno.readFileSync(`${from}/binary`));
    assertEquals([...Deno.readDirSync(paths[1])], []);
    assertEquals((Deno.statSync(paths[2]).mode ?? 0) & 0o7777, 0o750);
    assertEquals(Deno.statSync(paths[3]).size, 0);
  }
  // A second copy replaces the files and does not append.
  const again = await saltCp(fleet, "-C", "web1", `${from}/binary`, `${to}/1/binary`);
  assertEquals([again.code, Deno.statSync(`${to}/1/binary`).size], [0, 250_000]);
  Deno.writeTextFileSync(`${to}/file`, "");
  const blocked = await saltCp(fleet, "-C", "web1", `${from}/binary`, `${to}/file/below`);
  assertEquals(blocked.code, 1);
  assertStringIncludes(blocked.out, "os error");
});

fleetTest("salt-cp says what it cannot send, whom it cannot reach, and what is missing on its command line", {
  minions: ["web1", "away"],
  master: IMPATIENT,
}, async (fleet) => {
  const { from, to } = withDirectories(fleet);
  await fleet.stopMinion("away");
  for (const words of [[], ["-C"]]) {
    const { code, out } = await saltCp(fleet, ...words, "*", `${from}/two.conf`, `${to}/two.conf`);
    const silent = "Minion did not return. [Not connected]";
    const path = `${to}/two.conf`;
    assertEquals(code, 1);
    assertEquals(
      parseJson(out),
      map({ web1: { [path]: true }, away: words.length === 0 ? silent : { [path]: silent } }),
    );
  }
  Deno.mkdirSync(`${fleet.masterOpts.pki_dir}/minions_pre`, { recursive: true });
  Deno.writeTextFileSync(`${fleet.masterOpts.pki_dir}/minions_pre/stranger`, "a key that waits");
  const ends: [words: string[], code: number, err: string][] = [
    [["stranger", `${from}/two.conf`, to], 2, "Not accepted yet, and so not asked: stranger."],
    [["web1", "x"], 64, "Insufficient arguments"],
    [["-L", "-E", "web1", "x", "y"], 64, "mutually exclusive"],
    [["-G", "os", "x", "y"], 64, 'os has no ":" between a key and a value'],
    [["-N", "nowhere", "x", "y"], 64, "Node group nowhere is not in the configuration"],
    [["web1", `${from}/none`, to], 42, `${from}/none does not exist`],
    [["-C", "web1", `${from}/none`, to], 42, `${from}/none does not exist`],
    [["web1", `${from}/tree`, to], 1, "--chunked"],
    [["web1", `${from}/binary`, to], 1, "is no text"],
    [["-C", "web1", "/dev/null", to], 42, "neither a file nor a directory"],
    [["nobody", `${from}/two.conf`, to], 2, "No return received"],
  ];
  for (const [words, code, err] of ends) {
    const run = await saltCp(fleet, ...words);
    assertEquals(run.code, code, `${words}: ${run.err}`);
    assertStringIncludes(run.err, err);
  }
});

Deno.test("the destination depends on the number of files, and on a slash at the end", () =>
  withTemporaryDirectory((root) => {
    Deno.mkdirSync(`${root}/d/e`, { recursive: true });
    Deno.writeTextFileSync(`${root}/d/f`, "", { mode: 0o600 });
    Deno.writeTextFileSync(`${root}/g`, "", { mode: 0o600 });
    const dests = (sources: string[], dest: string) => {
      const { files, emptyDirectories } = listSources(sources.map((path) => `${root}/${path}`), dest);
      return [files.map((file) => file.dest), emptyDirectories];
    };
    assertEquals(dests(["g"], "/x"), [["/x"], []]);
    assertEquals(dests(["g"], "/x/"), [["/x/g"], []]);
    assertEquals(dests(["g", "d/f"], "/x"), [["/x/g", "/x/f"], []]);
    assertEquals(dests(["d"], "/x"), [["/x/d/f"], ["/x/d/e"]]);
    assertEquals(dests(["d/e"], "/"), [[], ["/e"]]);
    Deno.symlinkSync(`${root}/d`, `${root}/d/e/back`);
    assertThrows(() => dests(["d"], "/x"), Error, "is a link to a directory that it is in");
  }));

Deno.test("chunks have the requested size, and an empty file has one chunk", async () => {
  const path = Deno.makeTempFileSync();
  try {
    for (const [size, pieces] of [[0, [0]], [5, [5]], [10, [10]], [25, [10, 10, 5]]] as const) {
      Deno.writeFileSync(path, new Uint8Array(size));
      const lengths: number[] = [];
      for await (const piece of readPieces(Deno.openSync(path), 10)) lengths.push(piece.length);
      assertEquals<unknown>(lengths, pieces);
    }
  } finally {
    Deno.removeSync(path);
  }
});

Deno.test("gunzip restores gzipped data and refuses other data", async () => {
  const bytes = new TextEncoder().encode("abc".repeat(1000));
  const packed = await gzip(bytes);
  assert(packed.length < 100);
  assertEquals(await gunzip(packed), bytes);
  await assertRejects(() => gunzip(bytes));
});

Deno.test("cp.recv_chunked of invalid data fails with a return code", () =>
  withTemporaryDirectory(async (directory) => {
    for (const chunk of ["no base64!", "AAAA"]) {
      const outcome = await runFunction("cp.recv_chunked", [`${directory}/x`, chunk], testContext());
      assertEquals([outcome.retcode, typeof outcome.return], [1, "string"]);
    }
    assertEquals((await runFunction("cp.recv_chunked", [`${directory}/made/here`, null])).return, true);
    assert(Deno.statSync(`${directory}/made/here`).isDirectory);
    Deno.writeTextFileSync(`${directory}/file`, "");
    assertEquals(
      (await runFunction("cp.recv_chunked", [`${directory}/file`, null])).return,
      "Path exists and is a file",
    );
  }));
