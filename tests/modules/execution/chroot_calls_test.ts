/**
 * Functions and states in another root directory: one of its own mount namespace, which has this host's programs and
 * another release file.
 */

import { assertEquals, assertMatch, assertRejects } from "#tests/support/assert.ts";
import { UNSHARE_MOUNTS, whyNoMountNamespace } from "#tests/support/mount_namespace.ts";
import { run } from "#tests/support/processes.ts";
import { writeMasterlessTree } from "#tests/support/files/masterless_tree.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";
import { testContext } from "#tests/support/calls/job_context.ts";
import { TREE_CONFIG } from "#tests/support/tree_config.ts";
import { dirName } from "#lib/os/paths.ts";
import { invoke } from "#lib/plugins/call.ts";
import { DENO_RUN } from "#lib/runtime/self_command.ts";
import { call as callFunction } from "#modules/execution/chroot/calling.ts";

const missing = whyNoMountNamespace();
const TREE = dirName(TREE_CONFIG);
/** The directories of this host that the other root has, if there are some. */
const SHARED = ["/usr", "/opt", TREE, dirName(Deno.realPathSync(Deno.execPath()))];

/** Makes the root `$1`, with the configuration directory beside it, and runs the rest of the words. */
const SCRIPT = `
root=$1; shift
mount --make-rprivate /
mkdir -p "$root"
mount -t tmpfs none "$root"
mkdir "$root/dev" "$root/proc" "$root/sys" "$root/root" "$root/tmp" "$root/etc"
for link in /bin /sbin /lib /lib64; do cp -a "$link" "$root$link"; done
cp /etc/passwd /etc/group /etc/nsswitch.conf /etc/ld.so.cache "$root/etc/"
printf 'ID=debian\\nNAME="Inner Linux"\\nPRETTY_NAME="Inner Linux 7"\\nVERSION_ID=7\\n' >"$root/etc/os-release"
${
  SHARED.map((directory) =>
    `if [ -d '${directory}' ]; then mkdir -p "$root${directory}"; mount --bind '${directory}' "$root${directory}"; fi`
  ).join("\n")
}
status=0
"$@" || status=$?
for file in made.txt etc/motd; do if [ -f "$root/$file" ]; then echo "FILE $file $(cat "$root/$file")"; fi; done
echo "LEFT $(ls -A "$root" | grep salt || true) $(grep -c " $root/[dps][ery][vos]" /proc/self/mounts || true)"
exit $status
`;

interface Called {
  /** What the function has returned. */
  readonly returned: unknown;
  readonly code: number;
  /** Lines about the root behind it. */
  readonly after: readonly string[];
}

/** Calls a function of `chroot` by `salt-call --local`. */
async function call(directory: string, fun: string, ...args: readonly string[]): Promise<Called> {
  const words = [Deno.execPath(), ...DENO_RUN, "--config", TREE_CONFIG, `${TREE}/minion.ts`, "--as", "salt-call"];
  const { out, err, code } = await run([
    ...UNSHARE_MOUNTS,
    ...["sh", "-ec", SCRIPT, "sh", `${directory}/root`],
    ...[...words, "-c", `${directory}/conf`, "--local", "--out=json", "-l", "quiet", `chroot.${fun}`],
    ...[`${directory}/root`, ...args],
  ]);
  const lines = out.trimEnd().split("\n");
  const at = lines.findIndex((line) => /^(FILE|LEFT) /.test(line));
  try {
    return { returned: JSON.parse(lines.slice(0, at).join("\n")).local, code, after: lines.slice(at) };
  } catch (error) {
    throw new Error(`${out}\n${err}`, { cause: error });
  }
}

/** Nothing of the executable and no mount is left. */
const CLEAN = "LEFT  0";

const TREE_FILES = {
  "states/top.sls": "base: {'*': [inner]}",
  "states/inner.sls": `
made:
  file.managed:
    - name: /made.txt
    - source: salt://text.jinja
    - template: jinja
`,
  "states/text.jinja": "{{ pillar['word'] }} {{ grains['os'] }} {{ grains['role'] }} {{ grains['id'] }}",
  "states/failing.sls": "broken: {test.fail_without_changes: []}",
  "pillar/top.sls": "base: {'*': [words]}",
  "pillar/words.sls": "word: outer",
};

async function withTree(act: (directory: string) => Promise<void>): Promise<void> {
  await withTemporaryDirectory(async (directory) => {
    writeMasterlessTree(directory, TREE_FILES);
    await act(directory);
  });
}

function chrootTest(name: string, act: (directory: string) => Promise<void>): void {
  Deno.test({
    name: missing === undefined ? name : `${name} (${missing})`,
    ignore: missing !== undefined,
    fn: () => withTree(act),
  });
}

chrootTest("chroot.call runs functions in the other root, with its grains, and leaves nothing", async (directory) => {
  assertEquals(await call(directory, "call", "grains.item", "osfullname", "id", "role"), {
    returned: { osfullname: "Inner Linux", id: "web1", role: "inner-web" },
    code: 0,
    after: [CLEAN],
  });
  const written = await call(directory, "call", "file.write", "/made.txt", "args=[a b]");
  assertEquals([written.code, written.after], [0, ["FILE made.txt a b", CLEAN]]);
});

chrootTest("what fails in the other root has its text and its return code", async (directory) => {
  const retcode = await call(directory, "call", "cmd.run_all", "exit 3");
  assertEquals([(retcode.returned as { retcode: number }).retcode, retcode.code === 0], [3, false]);
  const unknown = await call(directory, "call", "test.nosuch");
  assertMatch(String(unknown.returned), /'test.nosuch' is not available/);
  assertEquals(unknown.after, [CLEAN]);
  const flushed = await call(directory, "call", "mine.flush");
  assertMatch(String(flushed.returned), /_mine_flush needs a master/);
});

type States = Record<string, { result: boolean; comment: string; changes: unknown }>;

chrootTest("chroot.apply runs states there, with the pillar and the files of this minion", async (directory) => {
  const named = await call(directory, "apply", "inner");
  const [state] = Object.values(named.returned as States);
  assertEquals([state.result, named.code], [true, 0], state.comment);
  assertEquals(named.after, ["FILE made.txt outer Inner inner-web web1", CLEAN]);
  const tested = await call(directory, "sls", "inner", "test=True", "pillar={word: given}");
  assertEquals([Object.values(tested.returned as States)[0].result, tested.after], [null, [CLEAN]]);
  const high = await call(directory, "apply", "pillar={word: given}");
  assertMatch(high.after[0], /^FILE made.txt given /);
  const failing = await call(directory, "sls", "failing");
  assertEquals([Object.values(failing.returned as States)[0].result, failing.code === 0], [false, false]);
  const absent = await call(directory, "sls", "nosuch");
  assertMatch(JSON.stringify(absent.returned), /nosuch/);
  assertEquals(absent.code === 0, false);
});

Deno.test("a directory that is no environment, and no function, are refused", async () => {
  await withTemporaryDirectory(async (root) => {
    const context = testContext();
    await assertRejects(() => context.call("chroot.call", [root, "test.ping"]), Error, "Chroot environment not found");
    await assertRejects(() => context.call("chroot.call", [root, ""]), Error, "Missing function parameter");
  });
});

chrootTest("a root without a shell says what failed", async (directory) => {
  const bare = `${directory}/bare`;
  for (const name of ["dev", "proc", "sys"]) Deno.mkdirSync(`${bare}/${name}`, { recursive: true });
  const context = testContext();
  const job = testContext({
    call: (name, args, kwargs) => name.startsWith("mount.") ? Promise.resolve(true) : context.call(name, args, kwargs),
  });
  const said = await invoke(callFunction, {
    name: "chroot.call",
    args: [bare, "test.ping"],
    kwargs: new Map(),
    context: job,
  });
  assertMatch(JSON.stringify([...(said as Map<string, unknown>)]), /\["result",false\],\["retcode",127\]/);
  assertEquals([...Deno.readDirSync(bare)].map(({ name }) => name).sort(), ["dev", "proc", "sys"]);
});
