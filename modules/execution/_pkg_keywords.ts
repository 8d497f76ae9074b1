/**
 * The keywords of the functions of `pkg` beyond their parameters, of all package managers: one that looks like a
 * misspelt one of them is refused. Source: Salt 3008.3, `salt/modules/{aptpkg,yumpkg,zypperpkg,pacmanpkg,apkpkg}.py`.
 * @module
 */

/** What functions of `pkg` read from their `**kwargs`. */
export const PACKAGE_KEYWORDS: readonly string[] = [
  ...[
    "version",
    "refresh",
    "fromrepo",
    "repo",
    "saltenv",
    "env",
    "normalize",
    "split_arch",
    "cache_valid_time",
    "timeout",
  ],
  ...[
    "force_yes",
    "force_conf_new",
    "install_recommends",
    "only_upgrade",
    "skip_verify",
    "allow_downgrades",
    "reinstall",
  ],
  ...["download_only", "downloadonly", "show_installed", "versions_as_list", "use_context", "removed", "purge_desired"],
  ...["attr", "arch", "pkgs", "sources", "root", "includes", "resolve_capabilities", "no_recommends", "cleandeps"],
  ...[
    "enablerepo",
    "disablerepo",
    "disableexcludes",
    "branch",
    "setopt",
    "options",
    "sysupgrade",
    "hold",
    "update_holds",
  ],
];

/** The same of functions that change packages: `test` has no effect on them. */
export const CHANGE_KEYWORDS: readonly string[] = [...PACKAGE_KEYWORDS, "test"];
