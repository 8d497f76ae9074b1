/**
 * docs/moving.md: its command finds the required changes of a tree, and the log names options without effect.
 * @module
 */

import { DENO_RUN } from "#lib/runtime/self_command.ts";
import { assertEquals, assertMatch, assertStringIncludes } from "#tests/support/assert.ts";

const PAGE = Deno.readTextFileSync(new URL("../../docs/moving.md", import.meta.url));
const MINION = new URL("../../minion.ts", import.meta.url).pathname;

/** Runs the page's command with a minion and a tree below `root`. */
async function lint(root: string): Promise<{ code: number; out: string; err: string }> {
  const [line] = /^salt-call .*state\.lint$/m.exec(PAGE) ?? [];
  const [, ...words] = (line ?? "").replaceAll("/srv/", `${root}/srv/`).split(" ");
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [...DENO_RUN, MINION, "--as", "salt-call", "-c", `${root}/etc`, ...words],
    env: { NO_COLOR: "1" },
  }).output();
  return { code, out: new TextDecoder().decode(stdout), err: new TextDecoder().decode(stderr) };
}

async function withTree(files: Readonly<Record<string, string>>, test: (root: string) => Promise<void>): Promise<void> {
  const root = await Deno.makeTempDir({ prefix: "moving_" });
  try {
    for (const [path, text] of Object.entries(files)) {
      await Deno.mkdir(`${root}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
      await Deno.writeTextFile(`${root}/${path}`, text.replaceAll("{root}", root));
    }
    await test(root);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

const MINION_FILE = "id: web1\nroot_dir: {root}\n";
const TOPS = {
  "srv/salt/top.sls": "base:\n  '*':\n    - motd\n",
  "srv/pillar/top.sls": "base:\n  '*':\n    - motd\n",
  "srv/pillar/motd.sls": "motd: hello\n",
};

Deno.test("a tree of Salt without mistakes passes", async () => {
  const motd = "/etc/motd:\n  file.managed:\n    - contents: {{ pillar['motd'] }}\n";
  await withTree({ ...TOPS, "etc/minion": MINION_FILE, "srv/salt/motd.sls": motd }, async (root) => {
    const { code, out, err } = await lint(root);
    assertEquals([code, err], [0, ""], out);
  });
});

Deno.test("each row of the table of required changes is reported as an error, and so is an option without effect", async () => {
  const files = {
    ...TOPS,
    "etc/minion": `${MINION_FILE}source_interface_name: eth0\n`,
    "srv/salt/motd.sls": "/etc/motd:\n  file.managed:\n    - usr: root\n",
    "srv/salt/old.sls": "#!wempy\na: test.nop\n",
    "srv/salt/missing.sls": "x:\n  no_such_module.present: []\n",
  };
  await withTree(files, async (root) => {
    const { code, out, err } = await lint(root);
    assertEquals(code, 1);
    for (
      const text of ["There is no renderer wempy here", "Did you mean user?", "no_such_module"]
    ) {
      assertStringIncludes(out, text);
    }
    const [, message] = /^\[WARNING \] \/etc\/salt\/minion: (.*)$/m.exec(PAGE) ?? [];
    assertMatch(err, new RegExp(`minion: ${message}\n`));
  });
});
