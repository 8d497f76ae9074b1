/**
 * The commands of states that count as read-only.
 * @module
 */

import { assertEquals } from "#tests/support/assert.ts";
import { isReadOnly } from "#lib/states/control/read_only_commands.ts";

const LOOKS = [
  "dpkg-query --showformat x -W",
  "/usr/bin/dpkg -S /bin/sh",
  "apt-cache -q policy nginx",
  "apt-get -q update",
  "apt-get --just-print dist-upgrade",
  "rpm -qa --queryformat x",
  "rpm --root /r -q bash",
  "dnf --quiet list installed",
  "zypper --non-interactive refresh",
  "pacman -Q",
  "apk info -v",
  "git -c http.sslVerify=false rev-parse HEAD",
  "git ls-remote --heads origin",
  "git config --global --get-all user.name",
  "git fetch origin",
  "git symbolic-ref HEAD",
  "/usr/bin/systemctl is-active nginx.service",
  "systemctl -p ActiveState show nginx",
  "getent passwd web",
  "crontab -u web -l",
  "/venv/bin/python -m pip freeze --all",
];

const WORKS = [
  "dpkg -i a.deb",
  "apt-get -q -y -o DPkg::Options::=--force-confold install update",
  "rpm -i a.rpm",
  "dnf -y install list",
  "pacman -S info",
  "git -C /status merge origin/main",
  "git clone --origin status https://example.org/x",
  "git config user.name --get",
  "git symbolic-ref HEAD refs/heads/x",
  "systemctl restart status",
  "systemd-run --scope systemctl restart nginx",
  "useradd web",
  "crontab -u web /tmp/new",
  "/venv/bin/python -m pip install list",
  "sh -c dpkg-query",
  "list",
];

for (const [commands, expected] of [[LOOKS, true], [WORKS, false]] as const) {
  for (const words of commands) {
    Deno.test(`"${words}" ${expected ? "only looks" : "works"}`, () => {
      assertEquals(isReadOnly(words.split(" ")), expected);
    });
  }
}
