/**
 * What plugins in Python import, and what is said of those that do not load: `sys.list_problems`, `bridge.check`.
 * @module
 */

import { unbound } from "#lib/python_bridge/loader/unbound.ts";
import { isMap, map, str } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { run } from "#tests/support/processes.ts";
import { type PluginFiles, PythonPool, pythonWith } from "./python_pool.ts";

/** The ways in which fleets' plugins import parts of Salt, their libraries and each other; each has `f`. */
const PATTERNS: PluginFiles = {
  "modules/im_exceptions.py":
    "from __future__ import absolute_import, print_function, unicode_literals\nfrom salt.exceptions import CommandExecutionError, SaltInvocationError\nimport salt.exceptions\ndef f(): return issubclass(CommandExecutionError, salt.exceptions.SaltException)\n",
  "modules/im_flat.py":
    "import salt.utils\nfrom salt.utils import which, fopen, clean_kwargs\n@salt.utils.memoize\ndef _cached(): return which('sh') is not None\ndef f(): return _cached() and salt.utils.is_linux()\n",
  "modules/im_six.py":
    "import salt.ext.six as six\nfrom salt.ext.six.moves import range, zip\nfrom salt.ext.six.moves.urllib.parse import urlparse\nfrom salt.ext.six import string_types, iteritems\ndef f(): return isinstance('', string_types) and urlparse('http://a/b').path == '/b' and len(list(iteritems({1: 2}))) == 1\n",
  "modules/im_odict.py":
    "from salt.utils.odict import OrderedDict\nimport salt.utils.dictupdate as dictupdate\nimport salt.utils.data, salt.utils.files, salt.utils.json, salt.utils.path, salt.utils.platform, salt.utils.stringutils\ndef f(): return dictupdate.update({'a': {'b': 1}}, OrderedDict([('a', {'c': 2})])) == {'a': {'b': 1, 'c': 2}}\n",
  "modules/im_oset.py":
    "from salt.utils.oset import OrderedSet\ndef f():\n    a = OrderedSet([3, 1, 3])\n    return repr(a | [2]) == 'OrderedSet([3, 1, 2])' and a.add(1) == 1 and a[0] == 3 and a == [1, 3]\n",
  "modules/im_guard.py":
    "try:\n    import no_such_library\n    HAS = True\nexcept ImportError:\n    HAS = False\ndef __virtual__():\n    return 'im_guard' if not HAS else (False, 'there')\ndef f(): return not HAS\n",
  "modules/im_loader.py":
    "import salt.client, salt.loader, salt.config, salt.minion, salt.version, salt.log, salt.utils.event, salt.utils.args, salt.utils.decorators as decorators, salt.utils.versions, salt.utils.network\nimport logging\nlog = logging.getLogger(__name__)\ndef f(): return salt.loader.minion_mods(__opts__)['test.echo'](True)\n",
  "modules/im_builtin.py":
    "from salt.modules.cmdmod import _run_quiet\nfrom salt.modules.test import echo as _echo\nimport salt.modules.cmdmod\nimport salt.states.file\n__func_alias__ = {'f_': 'f'}\ndef f_(): return _echo(True)\n",
  "modules/im_neighbour.py":
    "import im_odict\nfrom im_part import VALUE\nimport im_shared\nfrom .im_part import VALUE as SAME\ndef f(): return VALUE == SAME and im_shared.shared() == 'shared'\n",
  "modules/im_part.py": "VALUE = 5\n",
  "modules/im_package/__init__.py":
    "from . import inner\nfrom .inner import tells\ndef f(): return tells() and inner.tells()\n",
  "modules/im_package/inner.py": "def tells(): return True\n",
  "utils/im_shared.py": "def shared(): return 'shared'\n",
};

const BROKEN: PluginFiles = {
  "modules/bad_syntax.py": "def f():\n    pass\nprint 'x'\n",
  "modules/bad_import.py": "import os\nimport no_such_library\n",
  "modules/bad_real.py": "import salt.cloud\ndef f(): pass\n",
  "modules/bad_virtual.py": "def __virtual__():\n    return (False, 'needs the moon')\n",
  "states/bad_state.py": "x = 1\ny = x / 0\n",
  "grains/bad_grain.py": "\n\nraise ValueError('went wrong')\n",
  "beacons/bad_beacon.py": "__salt__\n",
};

Deno.test("plugins load with each way of importing that fleets have", async () => {
  await using pool = new PythonPool(PATTERNS);
  for (const path of Object.keys(PATTERNS).filter((one) => PATTERNS[one].includes("def f"))) {
    const name = path.split("/")[1].replace(".py", "");
    assertEquals([name, await pool.run(`${name}.f`)], [name, true]);
  }
  assertEquals(await pool.run("sys.list_problems"), map({}));
});

Deno.test("sys.list_problems says why a plugin does not load, with file and line", async () => {
  await using pool = new PythonPool({ ...BROKEN, "modules/good.py": "def f(): return 1\n" });
  const found = await pool.run("sys.list_problems");
  assert(isMap(found));
  const problems = Object.fromEntries([...found].map(([name, why]) => [str(name), str(why)]));
  const at = (path: string) => `${pool.root}/ext/${path}`;
  assertEquals(Object.keys(problems).sort(), Object.keys(BROKEN).map((path) => path.replace(".py", "")).sort());
  assertStringIncludes(problems["modules/bad_syntax"], `${at("modules/bad_syntax.py")}:3: SyntaxError: `);
  const expected = {
    "modules/bad_import": `${at("modules/bad_import.py")}:2: ModuleNotFoundError: No module named 'no_such_library'`,
    "modules/bad_virtual": `${at("modules/bad_virtual.py")}: __virtual__ returned False: needs the moon`,
    "states/bad_state": `${at("states/bad_state.py")}:2: ZeroDivisionError: division by zero`,
    "grains/bad_grain": `${at("grains/bad_grain.py")}:3: ValueError: went wrong`,
    "beacons/bad_beacon": `${at("beacons/bad_beacon.py")}:1: NameError: name '__salt__' is not defined`,
  };
  for (const [name, why] of Object.entries(expected)) assertEquals(problems[name], why);
  assertStringIncludes(problems["modules/bad_real"], "ModuleNotFoundError: salt.cloud is not part of the bridge");
});

Deno.test("bridge.check says what each plugin needs, and runs none", async () => {
  await using pool = new PythonPool({
    "modules/works.py": `import os\nopen("ran", "w")\ndef f():\n    import no_such_library\n`,
    "modules/moved.py": "import salt.utils\nimport salt.ext.six\ndef f(): return salt.utils.which('sh')\n",
    "modules/bad_old.py": "def f():\n    try:\n        pass\n    except ValueError, e:\n        pass\n",
    "modules/bad_needs.py": "import no_such_library\nimport urllib2\nfrom salt.utils.vt import Terminal\n",
    "modules/guarded.py": "try:\n    import no_such_library\nexcept ImportError:\n    pass\n",
  });
  const outcome = await pool.job("bridge.check");
  const found = outcome.get("return");
  assert(isMap(found ?? null) && isMap(found));
  const says = (name: string) => found.get(`${pool.root}/ext/modules/${name}.py`);
  assertEquals(says("works"), ["works", "needs no_such_library: a function fails without it (line 4)"]);
  assertEquals(says("guarded"), ["works", "needs no_such_library: the file can do without (line 2)"]);
  assertEquals(says("moved"), [
    "works",
    "salt.utils.which works here, and is salt.utils.path.which elsewhere (line 3)",
    "salt.ext.six works here, and not in Python Salt since 3006 (line 2)",
  ]);
  assertEquals(says("bad_needs"), [
    "does not load",
    "needs no_such_library (line 1)",
    "Python 2: urllib2 is urllib.request (line 2)",
    "needs the real salt: salt.utils.vt (line 3)",
  ]);
  const old = says("bad_old");
  assert(Array.isArray(old));
  assertStringIncludes(str(old[1]), "Python 2: line 4: ");
  assertEquals(outcome.get("retcode"), 1);
  assertEquals((await pool.job("bridge.check", `${pool.root}/ext/modules/works.py`)).get("retcode"), 0);
  assertStringIncludes(str(await pool.run("bridge.check", "relative.py")), "relative.py is no absolute path");
});

Deno.test("a described function gets the arguments that its caller gave, and no defaults", () => {
  const params = {
    a: { type: "any" },
    b: { type: "any", default: "<object>" },
    c: { type: "any", default: null },
  } as const;
  const given = (bound: Record<string, unknown>, args: string[] = []) =>
    unbound(params, bound, { args, kwargs: map({ x: 1 }) });
  assertEquals(given({ a: 1, b: "<object>", c: null }), { args: [], kwargs: map({ a: 1, x: 1 }) });
  assertEquals(given({ a: 1, b: 2, c: null }), { args: [], kwargs: map({ a: 1, b: 2, x: 1 }) });
  assertEquals(given({ a: 1, b: 2, c: 3 }, ["d"]), { args: [1, 2, 3, "d"], kwargs: map({ x: 1 }) });
});

/** Writes a package that pip installs without an index: a module with one constant. */
const MAKE_WHEEL = `
import sys, zipfile
path, version = sys.argv[1:]
info = "br_library-%s.dist-info" % version
files = {
    "br_library.py": "VERSION = %r\\n" % version,
    info + "/METADATA": "Metadata-Version: 2.1\\nName: br-library\\nVersion: %s\\n" % version,
    info + "/WHEEL": "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
}
files[info + "/RECORD"] = "".join("%s,,\\n" % name for name in [*files, info + "/RECORD"])
with zipfile.ZipFile(path, "w") as archive:
    for name, text in files.items():
        archive.writestr(name, text)
`;

const venv = pythonWith("ensurepip, venv");

Deno.test({
  name: `the libraries of _requirements.txt are installed when modules are synced, and follow the file${
    venv === undefined ? " (ignored: there is no python3 with venv here)" : ""
  }`,
  ignore: venv === undefined,
  fn: async () => {
    await using pool = new PythonPool({}, {
      options: { file_client: "local", python_requirements: true },
      configure: (root) => {
        Deno.mkdirSync(`${root}/srv/_modules`, { recursive: true });
        Deno.writeTextFileSync(`${root}/srv/_modules/br.py`, "import br_library\ndef f(): return br_library.VERSION\n");
        return { file_roots: map({ base: [`${root}/srv`] }) };
      },
    });
    const require = async (...versions: readonly string[]) => {
      const paths: string[] = [];
      for (const version of versions) {
        const path = `${pool.root}/br_library-${version}-py3-none-any.whl`;
        const made = await run(["python3", "-c", MAKE_WHEEL, path, version]);
        assertEquals(made.code, 0, made.err);
        paths.push(path);
      }
      Deno.writeTextFileSync(`${pool.root}/srv/_requirements.txt`, `${paths.join("\n")}\n`);
    };
    const sync = async () => {
      const outcome = await pool.job(
        "saltutil.sync_modules",
        map({ saltenv: "base", refresh: false, __kwarg__: true }),
      );
      assertEquals(outcome.get("retcode"), 0, str(outcome.get("return") ?? null));
      pool.pool.reload();
    };
    const made = () => [...Deno.readDirSync(`${pool.root}/cache/python_requirements`)].filter((one) => one.isDirectory);

    await sync();
    assertEquals(str(await pool.run("br.f")), "'br' __virtual__ returned False: No module named 'br_library'");
    await require("1.0");
    await sync();
    assertEquals(await pool.run("br.f"), "1.0");
    const [first] = made();
    await sync();
    assertEquals(made().map(({ name }) => name), [first.name], "the same file installs nothing");

    await require("2.0");
    await sync();
    assertEquals(await pool.run("br.f"), "2.0");
    Deno.writeTextFileSync(`${pool.root}/srv/_requirements.txt`, `${pool.root}/nothing-1.0-py3-none-any.whl\n`);
    await sync();
    assertEquals(await pool.run("br.f"), "2.0", "what fails leaves what is there");
    assertStringIncludes(pool.lines.join("\n"), "The libraries of salt://_requirements.txt cannot be installed: ");
    Deno.removeSync(`${pool.root}/srv/_requirements.txt`);
    await sync();
    assertEquals(str(await pool.run("br.f")), "'br' __virtual__ returned False: No module named 'br_library'");
  },
});
