import { assert, assertEquals, assertMatch, assertStringIncludes } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const ROOT = decodeURIComponent(new URL("../..", import.meta.url).pathname).replace(/\/$/, "");

interface Result {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function run(command: string, args: readonly string[]): Promise<Result> {
  const result = await new Deno.Command(command, { args: [...args], env: { NO_COLOR: "1" }, stdin: "null" }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code: result.code, out: text(result.stdout), err: text(result.stderr) };
}

function demo(...args: string[]): Promise<Result> {
  return run(Deno.execPath(), ["run", "--allow-all", "--quiet", `${ROOT}/scripts/fleet/demo.ts`, ...args]);
}

/** Processes whose command line names `directory`. */
async function processesOf(directory: string): Promise<string[]> {
  const { out } = await run("ps", ["-A", "-o", "pid=,args="]);
  return out.split("\n").filter((line) => line.includes(directory));
}

Deno.test("the demo shows a fleet's first commands; with --keep it can be used and stopped", async () => {
  await withTemporaryDirectory(async (directory) => {
    const root = `${directory}/fleet`;
    const { code, out, err } = await demo("--root", root, "--keep");
    try {
      assertEquals({ code, err }, { code: 0, err: "" }, out);
      for (
        const [command, answer] of [
          ["salt-key", /Unaccepted Keys:\ndb1\nweb1\n/],
          ["salt-key -A -y", /Key for minion web1 accepted\./],
          ["salt '*' test.ping", /web1:\n {4}True\n/],
          ["salt 'web*' cmd.run 'uname -sr'", new RegExp(`web1:\n {4}${Deno.build.os}`, "i")],
          ["salt-run jobs.list_jobs", /- uname -sr\n/],
        ] as const
      ) {
        assertMatch(out.split(`$ ${command}\n`)[1].split("\n$ ")[0], answer);
      }

      const again = await demo("--root", root);
      assertEquals(again.code, 1);
      assertStringIncludes(again.err, `a fleet is running below ${root}; stop it with ${root}/bin/stop`);

      assertEquals(
        (await run(`${root}/bin/salt`, ["--out=json", "--static", "*", "test.echo", "x"])).out.match(/"x"/g),
        [
          '"x"',
          '"x"',
        ],
      );
      assertMatch((await run(`${root}/bin/salt-call`, ["--local", "test.ping"])).out, /^local:\n {4}True\n$/);
    } finally {
      await run(`${root}/bin/stop`, []);
    }
    assertEquals(await processesOf(directory), []);
  });
});

Deno.test("the demo with the console says where it is and who may log in, and Ctrl-C stops all of it", async () => {
  await withTemporaryDirectory(async (directory) => {
    const root = `${directory}/fleet`;
    const args = ["run", "--allow-all", "--quiet", `${ROOT}/scripts/fleet/demo.ts`, "--console", "--root", root];
    const process = new Deno.Command(Deno.execPath(), { args, stdin: "null", stdout: "piped", stderr: "piped" })
      .spawn();
    const errors = new Response(process.stderr).text();
    let out = "";
    const reader = process.stdout.pipeThrough(new TextDecoderStream()).getReader();
    const readUntil = async (words: string) => {
      while (!out.includes(words)) {
        const { done, value } = await reader.read();
        if (done) throw new Error(`the demo has ended: ${out} ${await errors}`);
        out += value;
      }
    };
    try {
      await readUntil("Ctrl-C stops all of it.");
      const address = /http:\S+/.exec(out)?.[0] ?? "";
      const page = await fetch(address);
      assertStringIncludes(await page.text(), "<title>");
      const password = /password {2}(\S+)/.exec(out)?.[1];
      const answer = await fetch(new URL("../login", address), {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ username: "admin", password, eauth: "file" }),
      });
      assertEquals(answer.status, 200, await answer.text());
      const { out: states } = await run(`${root}/bin/salt`, ["--out=json", "--static", "*", "state.apply", "motd"]);
      assertEquals(states.match(/"result": true/g)?.length, 3, states);
    } finally {
      process.kill("SIGINT");
      await readUntil("Stopping.");
      await reader.cancel();
    }
    const { code } = await process.status;
    assertEquals([code, await errors], [0, ""]);
    assertEquals(await processesOf(directory), []);
  });
});

Deno.test("a demo that fails names the failed service, shows its log and leaves nothing running", async () => {
  await withTemporaryDirectory(async (directory) => {
    const program = (text: string) => `#!/bin/sh\n${text}\n`;
    const deno = `exec '${Deno.execPath()}' run --allow-all --quiet`;
    await Deno.mkdir(`${directory}/dist`);
    const write = (name: string, text: string) =>
      Deno.writeTextFile(`${directory}/dist/${name}`, text, { mode: 0o755 });
    await write("salt-master", program(`${deno} '${ROOT}/master.ts' "$@"`));
    await write("salt-minion", program("echo 'no minion today' >&2; exit 1"));
    const root = `${directory}/fleet`;
    const { code, out, err } = await demo("--root", root, "--dist", `${directory}/dist`);
    assertEquals(code, 1);
    assertStringIncludes(out, "A master and the minions web1 and db1");
    assertMatch(err, /^\ndemo: (web1|db1) does not start: no minion today\n/);
    assertStringIncludes(err, `The end of ${root}/master/var/log/salt/master:`);
    assertEquals(await processesOf(directory), []);
  });
});

Deno.test("the demo does not remove files that it did not make", async () => {
  await withTemporaryDirectory(async (directory) => {
    await Deno.writeTextFile(`${directory}/precious`, "");
    const { code, err } = await demo("--root", directory);
    assertEquals({ code, err }, { code: 1, err: `demo: ${directory} holds precious, which no demo put there\n` });
    assert((await Deno.stat(`${directory}/precious`)).isFile);
  });
});

Deno.test("the demo explains its options, and rejects others", async () => {
  const help = await demo("--help");
  assertEquals(help.code, 0);
  for (const option of ["--keep", "--dist", "--root"]) assertStringIncludes(help.out, option);
  assertEquals((await demo("--kep")).code, 64);
});
