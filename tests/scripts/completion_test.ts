/** Shell completion in real shells: bash, and zsh and fish if they are installed. */

import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { COMMANDS } from "#scripts/reference/commands.ts";
import { completionScript, OPTION_VALUES } from "#scripts/reference/completion.ts";

const JIDS = ["20250523101112123456", "20240523101112123456"];
/** A minion id that an attacker chooses so that an operator's shell runs it. */
const EVIL = "we$(touch pwned)";

/** A line up to the cursor, and the offered words. */
const CASES: readonly (readonly [line: string, words: readonly string[]])[] = [
  ["salt we", ["web1", "web2"]],
  ["salt db1", ["db1", "db1.example.com"]],
  ["salt db1.", ["db1.example.com"]],
  ["salt dbx", []],
  ["salt .", []],
  ["salt 'we", ["web1", "web2"]],
  ["salt -L web1,d", ["web1,db1", "web1,db1.example.com"]],
  ["salt -L web1,web", ["web1,web2"]],
  ["salt --out=js", ["json"]],
  ["salt --out js", ["json"]],
  ["salt -l deb", ["debug"]],
  ["salt --summ", ["--summary"]],
  ["salt web1 test.pin", ["test.ping"]],
  ["salt web1 test.ping,test.pin", ["test.ping,test.ping"]],
  ["salt -t 5 web1 cmd.run 'ls -l' cw", ["cwd="]],
  ["salt web1 cmd.run cwd=/tmp cw", []],
  ["salt web1 saltutil.find_job 2025", [JIDS[0]]],
  ["salt-key -a n", ["new1"]],
  ["salt-key -d w", ["web1", "web2"]],
  ["salt-key --list=rej", ["rej", "rejected"]],
  ["salt-key --accept-", ["--accept-all"]],
  ["salt-run jobs.lookup_jid 20", JIDS],
  ["salt-run manage.statu", ["manage.status"]],
  ["salt-call --local cmd.run cw", ["cwd="]],
  ["salt-master --daem", ["--daemon"]],
  ["salt -c /nonexistent we", []],
  ["salt-call disks.", ["disks.label", "disks.true", "disks.usage"]],
  ["salt web1 racks.", ["racks.where"]],
  ["salt web1 shelves.", ["shelves.list", "shelves.where"]],
  ["salt web1 test.ping,racks.wh", ["test.ping,racks.where"]],
  ["salt-run racks.", []],
  ["salt web1 state.apply mo", ["mods=", "motd", "motds."]],
  ["salt web1 state.show_sls apache", ["apache", "apache."]],
  ["salt web1 state.sls apache.", ["apache.mod", "apache.vhosts."]],
  ["salt web1 state.sls apache.vhosts.", ["apache.vhosts.main"]],
  ["salt web1 state.apply motd,apache.m", ["motd,apache.mod"]],
  ["salt web1 state.apply mods=mot", ["motd", "motds."]],
  ["salt-call state.apply loc", ["local_only"]],
  ["salt web1 state.apply to", []],
  ["salt web1 state.apply ../", []],
  ["salt web1 state.apply ev", []],
  ["salt web1 state.apply motd mot", []],
  ["salt web1 test.ping mot", []],
];

/** Bash offers modules before their functions. */
const BASH_CASES: typeof CASES = [
  ...CASES,
  ["salt-call disk", ["disk.", "disks."]],
];

const OWN = `
export const virtual = { name: "disks" };
export const label = { run: () => 1 };
export function usage() {}
export function true_() {}
export function _mine() {}
  export function notAtTheTop() {}
`;

const SHELVES = `
def __virtual__(): return True
def list_(): return []
def where(name): return name
def _mine(): pass
class Other:
    def inside(self): pass
`;

/** The directories of a master, and the completion scripts. */
class Place implements AsyncDisposable {
  readonly root = Deno.makeTempDirSync({ prefix: "completion_" });
  readonly env = {
    SALT_CONFIG_DIR: `${this.root}/etc/salt`,
    HOME: this.root,
    PATH: Deno.env.get("PATH") ?? "",
    TERM: "dumb",
  };

  static async make(): Promise<Place> {
    const place = new Place();
    const pki = `${place.root}/etc/salt/pki/master`;
    for (const state of ["minions", "minions_pre", "minions_rejected", "minions_denied"]) {
      Deno.mkdirSync(`${pki}/${state}`, { recursive: true });
    }
    for (const id of ["web1", "web2", "db1", "db1.example.com", EVIL]) {
      Deno.writeTextFileSync(`${pki}/minions/${id}`, "");
    }
    Deno.writeTextFileSync(`${pki}/minions_pre/new1`, "");
    Deno.mkdirSync(`${place.root}/etc/salt/master.d`);
    Deno.writeTextFileSync(`${place.root}/etc/salt/master`, `#root_dir: /x\nroot_dir: /y\n`);
    Deno.writeTextFileSync(`${place.root}/etc/salt/master.d/a.conf`, `root_dir: "${place.root}/"  # here\n`);
    for (const [i, jid] of JIDS.entries()) {
      const job = `${place.root}/var/cache/salt/master/jobs/0${i}/f`;
      Deno.mkdirSync(job, { recursive: true });
      Deno.writeTextFileSync(`${job}/jid`, jid);
      for (const path of [job, job.slice(0, -2)]) Deno.utimeSync(path, 0, 1_700_000_000 - i);
    }
    const own: readonly (readonly [path: string, text: string])[] = [
      ["var/cache/salt/minion/extmods/modules/disks.ts", OWN],
      ["srv/salt/_modules/racks.js", "export async function where() {}\n"],
      ["srv/salt/_modules/shelves.py", SHELVES],
      ["srv/salt/_modules/notes.txt", "export function nothing() {}\n"],
      ...["top", "motd", "motds/one", "apache/init", "apache/mod", "apache/vhosts/main", EVIL, "ev;il/x"]
        .map((name) => [`srv/salt/${name}.sls`, ""] as const),
      ["local/local_only.sls", ""],
    ];
    for (const [path, text] of own) {
      Deno.mkdirSync(`${place.root}/${path.slice(0, path.lastIndexOf("/"))}`, { recursive: true });
      Deno.writeTextFileSync(`${place.root}/${path}`, text);
    }
    Deno.writeTextFileSync(
      `${place.root}/etc/salt/minion`,
      `root_dir: ${place.root}\nfile_roots:\n  base:\n    - ${place.root}/local\n`,
    );
    Deno.writeTextFileSync(
      `${place.root}/etc/salt/master.d/roots.conf`,
      `file_roots:\n  base:\n    - "${place.root}/srv/salt/"  # here\n    - /nowhere\nother:\n  - /also\n`,
    );
    Deno.mkdirSync(`${place.root}/zsh`);
    for (const [shell, file] of [["bash", "salt.bash"], ["fish", "salt.fish"], ["zsh", "zsh/_salt"]] as const) {
      Deno.writeTextFileSync(`${place.root}/${file}`, await completionScript(shell));
    }
    return place;
  }

  /**
   * Runs `command` with `stdin`.
   * @returns Its output.
   */
  async run(command: string, args: readonly string[], stdin = ""): Promise<string> {
    const child = new Deno.Command(command, {
      args: [...args],
      env: this.env,
      clearEnv: true,
      cwd: this.root,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
      signal: AbortSignal.timeout(60_000),
    }).spawn();
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(stdin));
    await writer.close();
    const { stdout, stderr } = await child.output();
    return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.root, { recursive: true });
  }
}

/** Whether a shell is installed: zsh and fish are optional. */
function isInstalled(shell: string): boolean {
  return (Deno.env.get("PATH") ?? "").split(":").some((directory) => {
    try {
      return Deno.statSync(`${directory}/${shell}`).isFile;
    } catch {
      return false;
    }
  });
}

/** Calls the completion function as bash does: with the text after the last "=" or ":". */
const ASK_BASH = `
while IFS= read -r COMP_LINE; do
  COMP_POINT=\${#COMP_LINE}
  word=\${COMP_LINE##* }
  word=\${word##*[=:]}
  _salt "\${COMP_LINE%% *}" "\${word#\\'}" ""
  echo "\${COMPREPLY[*]}"
done
`;

Deno.test("bash offers options, values, ids, jobs, functions and their parameters", async () => {
  await using place = await Place.make();
  const out = await place.run(
    "bash",
    ["-c", `. ./salt.bash\n${ASK_BASH}`],
    BASH_CASES.map(([line]) => `${line}\n`).join(""),
  );
  const offered = out.split("\n");
  // Readline sorts them.
  BASH_CASES.forEach(([line, words], i) =>
    assertEquals(offered[i].split(" ").filter((word) => word !== "").toSorted(), words.toSorted(), line)
  );
  assert(![...Deno.readDirSync(place.root)].some(({ name }) => name === "pwned"));
});

Deno.test("bash completes on a terminal, and never offers an id that the shell would run", async () => {
  await using place = await Place.make();
  const typed = [
    ". ./salt.bash; PS1='$ '",
    "echo salt-key --accept-\t done",
    'salt-key() { echo "<$*>"; }',
    "salt-key --accept-\t",
    "salt-key -d we\t",
    "exit",
  ];
  const out = await place.run("script", [
    "-qec",
    "bash --norc -i",
    "/dev/null",
  ], typed.join("\n") + "\n");
  assertStringIncludes(out, "<--accept-all>");
  assertStringIncludes(out, "<-d web>");
  assert(![...Deno.readDirSync(place.root)].some(({ name }) => name === "pwned"), out);
});

Deno.test({
  name: "fish offers the same",
  ignore: !isInstalled("fish"),
  async fn() {
    await using place = await Place.make();
    const script = ". ./salt.fish; while read -l line; complete -C $line; echo END; end";
    const out = await place.run("fish", ["-c", script], CASES.map(([line]) => `${line}\n`).join(""));
    const offered = out.split("END\n").map((part) =>
      part.split("\n").filter((row) => row !== "").map((row) => row.split("\t")[0])
    );
    CASES.forEach(([line, words], i) => {
      // Fish also offers words that contain the letters.
      const begun = line.replace(/.*[ '=]/, "");
      const own = offered[i].map((word) => word.replace(/^(?:--\w+=|mods=(?=.))/, ""))
        .filter((word) => !word.includes("pwned") && word.startsWith(begun));
      assertEquals(own.toSorted(), words.toSorted(), line);
    });
  },
});

/**
 * Types the lines of standard input into a zsh on a terminal, each followed by a tab and by Ctrl-X, which prints the
 * line and clears it.
 */
const ASK_ZSH = String.raw`
zmodload zsh/zpty
zpty shell 'PS1="%%" zsh -f -i'
zpty -w shell 'show() { print -r -- "[""$BUFFER""]"; BUFFER=; }; zle -N show; bindkey "^X" show'
zpty -w shell 'fpath=($PWD/zsh $fpath); autoload -U compinit; compinit -u -D; print re""ady'
zpty -r shell out '*ready*'
while IFS= read -r line; do
  zpty -w -n shell "$line"$'\t\x18'
  out=
  zpty -r shell out '*\[*\]*'
  print -r -- "$out"
done
zpty -d shell
`;

Deno.test({
  name: "zsh completes the same on a terminal",
  ignore: !isInstalled("zsh"),
  async fn() {
    await using place = await Place.make();
    const cases = CASES.filter(([line, words]) => words.length === 1 && !line.includes("'") && !line.endsWith("web"));
    const out = await place.run("zsh", ["-f", "-c", ASK_ZSH], cases.map(([line]) => `${line}\n`).join(""));
    const lines = [...out.matchAll(/\[(salt[^\]]*)\]/g)].map(([, line]) => line.trimEnd());
    assertEquals(lines, cases.map(([line, [word]]) => line.replace(/[^ =]*$/, word)));
  },
});

Deno.test("every option of every command is in every completion, and every option with completed values exists", async () => {
  const flags = COMMANDS.flatMap(({ options }) => Object.values(options).flatMap(({ flags }) => flags));
  for (const shell of ["bash", "zsh", "fish"] as const) {
    const script = await completionScript(shell);
    for (const flag of flags) {
      const written = shell !== "fish" ? flag : flag.startsWith("--") ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`;
      assert(script.includes(written), `${shell} does not know ${flag}`);
    }
    assert(!/@[A-Z]+@/.test(script), `${shell}: a part of the template was left`);
  }
  const names = new Set(COMMANDS.flatMap(({ options }) => Object.keys(options)));
  assertEquals(Object.keys(OPTION_VALUES).filter((name) => !names.has(name)), []);
});
