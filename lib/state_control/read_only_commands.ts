/**
 * Commands that only look at the host, or renew what a package manager knows: what states of packages, repositories, services and
 * accounts run before and after the program that does their work. A command that is not known here counts as work.
 * @module
 */

/** Words that may follow options and begin what only looks. */
function verbs(words: string): RegExp {
  return RegExp(`^(-\\S+ )*(${words.replaceAll(" ", "|")})( |$)`);
}

/** Options, by their beginning, that make any call one that only looks. */
function options(words: string): RegExp {
  return RegExp(`^(-\\S+ )*(${words.replaceAll(" ", "|")})`);
}

const DNF = verbs("check-update clean grouplist info list makecache provides repolist repoquery search");
const PIP = [verbs("freeze index list search show"), options("--version")];

/** By program, what its words are where it only looks, without the options that have their own value. */
const PROGRAMS: Readonly<Record<string, RegExp | readonly RegExp[]>> = {
  apk: verbs("info list policy search update version"),
  "apt-cache": /^/,
  "apt-config": /^/,
  "apt-get": [verbs("update"), options("--just-print --assume-no")],
  crontab: options("-l"),
  dnf: DNF,
  dnf5: DNF,
  dpkg: options("--compare-versions --get-selections --print- -I -L -S -l -s"),
  "dpkg-query": /^/,
  getent: /^/,
  git: [
    verbs("cat-file describe diff fetch for-each-ref log ls-remote merge-base rev-list rev-parse status version"),
    /^(-\S+ )*(config (-\S+ )*--(get|list)|symbolic-ref (-\S+ )*\S+$)/,
    options("--version"),
  ],
  id: /^/,
  pacman: options("-Q -Si -Ss"),
  pip: PIP,
  pip3: PIP,
  rpm: options("-q --query -V --eval"),
  systemctl: [
    verbs("cat is-active is-enabled is-failed list-dependencies list-unit-files list-units show status"),
    options("--version"),
  ],
  tdnf: DNF,
  yum: DNF,
  zypper: verbs("if info list-updates locks lr lu ref refresh repos se search"),
};

/** Options before the verb whose value is its own word. */
const VALUED = new Set(["-C", "-c", "-o", "-p", "-t", "-u", "--output", "--property", "--releasever", "--root"]);

/** Whether a command, given as its words, only looks. */
export function isReadOnly(words: readonly string[]): boolean {
  // `python -m pip list`
  const [path = "", ...rest] = words[1] === "-m" ? words.slice(2) : words;
  const program = path.slice(path.lastIndexOf("/") + 1);
  const looks = Object.hasOwn(PROGRAMS, program) ? [PROGRAMS[program]].flat() : [];
  if (looks.length === 0) return false;
  const said = withoutValued(rest).join(" ");
  return looks.some((look) => look.test(said));
}

function withoutValued(words: readonly string[]): string[] {
  const kept: string[] = [];
  let at = 0;
  for (; words[at]?.startsWith("-"); at++) {
    if (VALUED.has(words[at])) at++;
    else kept.push(words[at]);
  }
  return [...kept, ...words.slice(at)];
}
