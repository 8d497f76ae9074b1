/**
 * `chroot.*` and `docker.*` with the executables of `SALT_DIST`: functions and states in a root directory, and in a
 * container, that have only busybox and the libraries of C.
 * @module
 */

import { assert, assertEquals, assertMatch } from "#tests/support/assert.ts";
import { DIST } from "#tests/support/fleet/ssh_daemon.ts";
import { UNSHARE_MOUNTS, whyNoMountNamespace } from "#tests/support/mount_namespace.ts";
import { run } from "#tests/support/processes.ts";
import { writeMasterlessTree } from "#tests/support/files/masterless_tree.ts";
import { noEngine, startDockerEngine, type TestEngine } from "#tests/support/servers/docker_engine.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";
import { which } from "#lib/programs/which.ts";

/** The programs that an executable needs to unpack itself, those of the tests, and what mounts look at. */
const APPLETS = "sh ls id mkdir mv rm tail gzip tar cat echo sleep hostname env ps test grep true false".split(" ");

/** Makes `$1`, the root directory: busybox `$2`, the libraries of the program `$3`, and the links that follow. */
const MAKE_ROOT = `
root=$1 busybox=$2 deno=$3
shift 3
mkdir -p "$root/bin" "$root/dev" "$root/proc" "$root/sys" "$root/root" "$root/tmp" "$root/etc"
cp -L "$busybox" "$root/bin/busybox"
for name in "$@"; do ln -s busybox "$root/bin/$name"; done
{ ldd "$deno"; ldd "$busybox" || true; } 2>/dev/null | grep -o '/[^ ]*' | sort -u | while read -r library; do
  case $library in *.so*) ;; *) continue ;; esac
  mkdir -p "$root\${library%/*}"
  cp -L "$library" "$root$library"
done
echo 'root:x:0:0::/root:/bin/sh' >"$root/etc/passwd"
printf 'ID=debian\\nNAME="Inner Linux"\\nPRETTY_NAME="Inner Linux 7"\\nVERSION_ID=7\\n' >"$root/etc/os-release"
`;

const TREE_FILES = {
  "states/top.sls": "base: {'*': [inner]}",
  "states/inner.sls": `
made:
  file.managed:
    - name: /made.txt
    - source: salt://text.jinja
    - template: jinja
`,
  "states/text.jinja": "{{ pillar['word'] }} {{ grains['role'] }} {{ salt['own.where']() }}",
  "states/failing.sls": "broken: {test.fail_without_changes: []}",
  "states/_modules/own.js": "export function where() { return 'by own'; }\n",
  "pillar/top.sls": "base: {'*': [words]}",
  "pillar/words.sls": "word: outer",
};

/** What a command has shown. */
interface Called {
  readonly returned: unknown;
  readonly code: number;
  /** What is in the root directory afterwards. */
  readonly left: readonly string[];
}

/** Runs a command that must succeed. */
async function must(words: readonly string[]): Promise<void> {
  const { code, out, err } = await run(words);
  if (code !== 0) throw new Error(`${words[0]} failed: ${out}${err}`);
}

/** Writes a tree, the configuration of a minion without a master, and the root directory `root` of a place. */
async function prepare(directory: string, options: Readonly<Record<string, unknown>>): Promise<void> {
  writeMasterlessTree(directory, TREE_FILES, options);
  const busybox = which("busybox") ?? "/bin/busybox";
  await must(["sh", "-ec", MAKE_ROOT, "sh", `${directory}/root`, busybox, Deno.execPath(), ...APPLETS]);
}

/** Calls a function by `salt-call --local` of the executables, in a mount namespace of its own. */
async function saltCall(directory: string, ...words: readonly string[]): Promise<Called> {
  const command = [`${DIST}/salt-call`, "-c", `${directory}/conf`, "--local", "--out=json", "-l", "quiet", ...words];
  const { out, err, code } = await run([...UNSHARE_MOUNTS, ...command]);
  try {
    const left = [...Deno.readDirSync(`${directory}/root`)].map(({ name }) => name).sort();
    return { returned: JSON.parse(out).local, code, left };
  } catch (error) {
    throw new Error(`${out}\n${err}`, { cause: error });
  }
}

type States = Record<string, { readonly result: boolean; readonly comment: string }>;

/** The result and the comment of the one state. */
function onlyState({ returned }: Called): readonly [boolean | null, string] {
  const [state] = Object.values(returned as States);
  return [state.result, state.comment];
}

/** A test that needs executables, and what `needs` says. */
function packedTest(name: string, needs: string | undefined, act: (directory: string) => Promise<void>): void {
  const missing = DIST === undefined ? "SALT_DIST names no packed executables" : needs;
  Deno.test({
    name: missing === undefined ? name : `${name} (${missing})`,
    ignore: missing !== undefined,
    fn: () => withTemporaryDirectory(act),
  });
}

const noChroot = whyNoMountNamespace() ?? (which("busybox") === undefined ? "there is no busybox" : undefined);

packedTest("a packed executable runs functions and states in a bare root directory", noChroot, async (directory) => {
  await prepare(directory, {});
  const chroot = (fun: string, ...args: string[]) => saltCall(directory, `chroot.${fun}`, `${directory}/root`, ...args);
  const grains = await chroot("call", "grains.item", "osfullname", "id", "role");
  assertEquals([grains.returned, grains.code], [{ osfullname: "Inner Linux", id: "web1", role: "inner-web" }, 0]);
  const clean = grains.left;
  assertEquals(clean.filter((name) => name.startsWith(".")), []);
  const made = () => Deno.readTextFileSync(`${directory}/root/made.txt`);
  const withFile = [...clean, "made.txt"].sort();

  const applied = await chroot("apply", "inner");
  assertEquals(
    [onlyState(applied)[0], applied.code, made()],
    [true, 0, "outer inner-web by own"],
    onlyState(applied)[1],
  );
  const tested = await chroot("sls", "inner", "test=True", "pillar={word: given}");
  assertEquals([onlyState(tested)[0], made()], [null, "outer inner-web by own"]);
  await chroot("sls", "inner", "pillar={word: given}");
  assertEquals(made(), "given inner-web by own");
  assertEquals([onlyState(await chroot("highstate"))[0], made()], [true, "outer inner-web by own"]);
  const failing = await chroot("sls", "failing");
  assertEquals([onlyState(failing)[0], failing.code === 0, failing.left], [false, false, withFile]);
  const exits = await chroot("call", "cmd.run_all", "echo inside; exit 3");
  assertEquals([(exits.returned as { stdout: string }).stdout, exits.code === 0], ["inside", false]);
  const unknown = await chroot("call", "test.nosuch");
  assertMatch(String(unknown.returned), /'test\.nosuch' is not available/);
  assertEquals(unknown.left, withFile);

  // A library that it needs is not there.
  await must(["find", `${directory}/root`, "-name", "libgcc_s.so*", "-delete"]);
  const bare = await chroot("call", "test.ping");
  const said = bare.returned as { result: boolean; comment: { stderr: string } };
  assertEquals([said.result, bare.code === 0, bare.left], [false, false, withFile]);
  assertMatch(said.comment.stderr, /^salt-minion-[0-9a-f]{32}: Deno does not run from \/\.salt_/);
});

/** The words of `docker` that import the root directory as the image `base:1`, and start the container `box` of it. */
async function startBox(directory: string): Promise<void> {
  await must(["tar", "-c", "-C", `${directory}/root`, "-f", `${directory}/image.tar`, "."]);
  const ran = await saltCall(directory, "docker.import", `${directory}/image.tar`, "base", "1");
  assertEquals(ran.code, 0, JSON.stringify(ran.returned));
  await saltCall(directory, "docker.run_container", "base:1", "name=box", "bg=True", "cmd=sleep 600");
}

packedTest("a packed executable runs functions and states in a bare container", noEngine(), async (directory) => {
  await using server: TestEngine = await startDockerEngine();
  await prepare(directory, { "docker.url": server.url, "docker.update_mine": false });
  await startBox(directory);
  const docker = (fun: string, ...args: string[]) => saltCall(directory, `docker.${fun}`, "box", ...args);
  const inside = async (line: string) => String((await docker("run", line)).returned);

  const host = await inside("hostname");
  const grains = await docker("call", "grains.item", "osfullname", "id", "role", "nodename");
  const known = { osfullname: "Inner Linux", id: "web1", role: "inner-web", nodename: host };
  assertEquals([grains.returned, grains.code], [known, 0]);
  const applied = await docker("apply", "inner");
  assertEquals([onlyState(applied)[0], applied.code], [true, 0], onlyState(applied)[1]);
  assertEquals(await inside("cat /made.txt"), "outer inner-web by own");
  const tested = await docker("sls", "inner", "test=True", "pillar={word: given}");
  assertEquals([onlyState(tested)[0], await inside("cat /made.txt")], [null, "outer inner-web by own"]);
  await docker("highstate", "pillar={word: high}");
  assertEquals(await inside("cat /made.txt"), "high inner-web by own");
  const failing = await docker("sls", "failing");
  assertEquals([onlyState(failing)[0], failing.code === 0], [false, false]);
  assertEquals((await docker("call", "cmd.run", "echo inside")).returned, "inside");
  assertMatch(String((await docker("call", "test.nosuch")).returned), /'test\.nosuch' is not available/);
  assert(!(await inside("ls -a / /tmp")).includes(".salt"), await inside("ls -a / /tmp"));
});
