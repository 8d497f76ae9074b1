/**
 * Read-only commands, which only read the host's state or update a package manager's data: states of packages,
 * repositories, services and accounts run them before and after the program that does their work. An unknown command
 * counts as work.
 * @module
 */

import { baseName } from "#lib/os/paths.ts";

/** Matches read-only verbs, which may follow options. */
function verbs(words: string): RegExp {
  return RegExp(`^(-\\S+ )*(${words.replaceAll(" ", "|")})( |$)`);
}

/** Matches options, by their beginning, that make a call read-only. */
function options(words: string): RegExp {
  return RegExp(`^(-\\S+ )*(${words.replaceAll(" ", "|")})`);
}

const DNF = verbs("check-update clean grouplist info list makecache provides repolist repoquery search");
const PIP = [verbs("freeze index list search show"), options("--version")];

/** The arguments of read-only calls, by program, without options that have a value. */
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

/** Options before the verb whose value is a separate word. */
const VALUED = new Set(["-C", "-c", "-o", "-p", "-t", "-u", "--output", "--property", "--releasever", "--root"]);

/** Whether a command, given as its words, is read-only. */
export function isReadOnly(words: readonly string[]): boolean {
  // `python -m pip list`
  const [path = "", ...rest] = words[1] === "-m" ? words.slice(2) : words;
  const program = baseName(path);
  const looks = Object.hasOwn(PROGRAMS, program) ? [PROGRAMS[program]].flat() : [];
  if (looks.length === 0) return false;
  const line = withoutValued(rest).join(" ");
  return looks.some((look) => look.test(line));
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
