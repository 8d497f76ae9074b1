/**
 * A master's plugins in Python give with our `salt-run` what they give with Python's: runners, outputters, drivers of
 * sdb, sources of pillar, on the same directories.
 * @module
 */

import { run } from "#tests/support/processes.ts";
import { assertEquals, assertMatch } from "#tests/support/assert.ts";
import { PYTHON_SALTS } from "./python_salt.ts";
import { OURS, type Salt, testWithPython } from "./salts.ts";

const RUNNER = `
def fn(a, b=2, **kwargs):
    "Tells."
    return [a, b, sorted(k for k in kwargs if not k.startswith("__pub_")), __opts__["id"], __opts__["__role"]]
def cross(): return __salt__["own.fn"](1)
def absent():
    try:
        return __salt__["no.such"]
    except KeyError as error:
        return str(error)
def fails(): raise ValueError("went wrong")
def together():
    names = sorted(name for name in __salt__ if name.startswith("own."))
    known = ["own.fn" in __salt__, "no.such" in __salt__, "__grains__" in globals(), "__pillar__" in globals()]
    return [fn(1, c=3), cross(), absent(), names, known, {"a": [1, None, True], 2: "b"}, __name__]
`;

const PILLAR = `
def ext_pillar(minion_id, pillar, *args, **kwargs):
    known = ["no.such" in __salt__, "__pillar__" in globals(), __grains__.get("kernel")]
    ids = [minion_id, __opts__["id"], __opts__["__role"], __name__]
    return {"own": [ids, sorted(pillar), list(args), kwargs, __salt__["test.echo"]("x"), known]}
`;

const FILES: Readonly<Record<string, string>> = {
  "runners/own.py": RUNNER,
  "output/shown.py":
    "def output(data, **kwargs):\n    return 'own %s %s %s %s\\n' % (data, sorted(kwargs), __opts__['id'], __name__)\n",
  "sdb/kept.py":
    "def get(key, profile=None): return [key, profile['prefix'], __opts__['id'], __salt__['test.echo']('x'), __name__]\n",
  "runners/refused.py": "def __virtual__(): return (False, 'needs the moon')\ndef f(): pass\n",
  "pillar/own.py": PILLAR,
  "pillar/keys.py": "def ext_pillar(minion_id, pillar, a, b=1): return {'keys': [a, b, sorted(pillar)]}\n",
  "pillar/fails.py": "def ext_pillar(minion_id, pillar, one): raise ValueError('went wrong')\n",
  "pillar/refused.py": "def __virtual__(): return (False, 'needs the moon')\ndef ext_pillar(*a): pass\n",
};

/** The parsed output of a call. */
async function shown(salt: Salt, configDir: string, ...words: string[]): Promise<unknown> {
  const { out, err } = await run([...salt.command("salt-run"), "-c", configDir, "--out=json", ...words]);
  try {
    return JSON.parse(out);
  } catch {
    throw new Error(`${salt.name}: ${out}\n${err}`);
  }
}

await testWithPython(
  PYTHON_SALTS[2],
  "runners, outputters, drivers of sdb and sources of pillar in Python give what they give {}",
  async (python) => {
    const root = Deno.makeTempDirSync({ prefix: "plugins_" });
    try {
      for (const directory of ["cache/proc", "cache/jobs", "pki", "run"]) {
        Deno.mkdirSync(`${root}/${directory}`, { recursive: true });
      }
      for (const [path, text] of Object.entries(FILES)) {
        Deno.mkdirSync(`${root}/ext/${path.slice(0, path.lastIndexOf("/"))}`, { recursive: true });
        Deno.writeTextFileSync(`${root}/ext/${path}`, text);
      }
      const options = {
        id: "m1",
        root_dir: root,
        extension_modules: `${root}/ext`,
        pki_dir: "pki",
        cachedir: "cache",
        sock_dir: "run",
        log_file: `${root}/log`,
        pillar_roots: { base: [`${root}/no_pillar`] },
        stored: { driver: "kept", prefix: "p_" },
        ext_pillar: [{ own: ["a", 2] }, { keys: { a: 5 } }, { fails: 1 }, { refused: 1 }],
      };
      Deno.writeTextFileSync(`${root}/master`, JSON.stringify(options));
      for (
        const words of [["own.together"], ["own.fn"], ["refused.f"], ["pillar.show_pillar", "m1"], [
          "sdb.get",
          "sdb://stored/k",
        ]]
      ) {
        assertEquals(await shown(OURS, root, ...words), await shown(python, root, ...words), words.join(" "));
      }
      const [ours, theirs] = await Promise.all(
        [OURS, python].map(async (salt) =>
          (await run([...salt.command("salt-run"), "-c", root, "--out=shown", "own.absent"])).out
        ),
      );
      assertEquals(ours, theirs);
      for (const salt of [OURS, python]) {
        const failed = String(await shown(salt, root, "own.fails"));
        assertMatch(failed, /^Exception occurred in runner own\.fails: Traceback [^]*own\.py", line 11, in fails\n/);
        assertMatch(failed, /\nValueError: went wrong\n$/);
      }
    } finally {
      Deno.removeSync(root, { recursive: true });
    }
  },
);
