"""The options of gitfs and minionfs, one after the other, for make_file_server.py: the cases of file_server_options.json, and remotes that are
rejected."""

LISTS = ["_file_list", "_dir_list", "_file_list_emptydirs", "_symlink_list"]
REMOTE = "file://{root}/repo"


def listed(envs):
    return [{"cmd": cmd, "saltenv": env} for env in envs for cmd in LISTS]


# Other values of the options, for fewer paths, without files that only ours serves: see docs/differences.md. The commit of master, and its
# abbreviation, are always the same for this repository.
COMMIT = "{commit}"
FEW = ["f.txt", "d.txt", "top.sls", "web/init.sls", "mnt/f.txt", "g/d.txt", "a/b/f.txt", "v.txt", "l"]


def git_options(name, remotes, envs=("base", "dev", "prod"), **opts):
    loads = [{"cmd": "_file_envs"}]
    for env in envs:
        loads += [{"cmd": "_file_find", "path": path, "saltenv": env} for path in FEW]
        loads += [{"cmd": "_file_hash", "path": FEW[0], "saltenv": env}, *listed([env])]
    return {"name": f"gitfs options, {name}", "opts": {"fileserver_backend": ["gitfs"], "gitfs_remotes": remotes, **opts}, "loads": loads}


def prod(**options):
    return [{"prod": [{key: value} for key, value in options.items()]}]


OPTION_WORLDS = [
    git_options("a directory deep inside", [{REMOTE: [{"root": "sub/deep"}]}]),
    git_options("a directory that is not there", [{REMOTE: [{"root": "none"}, {"mountpoint": "mnt"}]}]),
    git_options("a directory with two slashes", [{REMOTE: [{"root": "sub//deep"}]}]),
    git_options("slashes around a mount point", [{REMOTE: [{"mountpoint": "/mnt/"}]}]),
    git_options("a mount point of two steps", [{REMOTE: [{"mountpoint": "salt://a/b"}]}]),
    git_options("a mount point that is a number", [{REMOTE: [{"mountpoint": 5}]}]),
    git_options("an environment's directory", [{REMOTE: [{"saltenv": prod(ref="master", root="salt/")}]}]),
    git_options("an environment's directory where another holds for all", [{REMOTE: [{"root": "salt"}, {"saltenv": [{"dev": [{"root": ""}]}]}]}]),
    git_options("an environment's mount point and no ref", [{REMOTE: [{"saltenv": [{"dev": [{"mountpoint": "g"}]}]}]}]),
    git_options("an environment without a branch", [{REMOTE: [{"saltenv": prod(mountpoint="g")}]}]),
    git_options("environments of all and of one remote", [{REMOTE: [{"saltenv": prod(root="salt")}]}], gitfs_saltenv=prod(ref="master", mountpoint="mnt", root="sub")),
    git_options("an environment's ref of all and of one remote", [{REMOTE: [{"saltenv": prod(ref="dev")}]}], gitfs_saltenv=prod(ref="v1")),
    git_options("two environments of one branch", [{REMOTE: [{"saltenv": [{"prod": [{"ref": "dev"}]}, {"qa": [{"ref": "dev"}]}]}]}], ("base", "dev", "prod", "qa")),
    git_options("two environments of one branch, by both", [{REMOTE: [{"saltenv": prod(ref="dev")}]}], ("base", "dev", "prod", "qa"), gitfs_saltenv=[{"qa": [{"ref": "dev"}]}]),
    git_options("the branch of base mapped elsewhere", [{REMOTE: [{"saltenv": prod(ref="master")}]}], ("base", "master", "prod")),
    git_options("base mapped by the remote", [{REMOTE: [{"saltenv": [{"base": [{"ref": "dev"}]}]}]}], ("base", "dev", "master")),
    git_options("base mapped by the remote to nothing", [{REMOTE: [{"saltenv": [{"base": [{"ref": "none"}]}]}]}], ("base", "dev", "master")),
    git_options("base mapped for all", [REMOTE], ("base", "dev", "master"), gitfs_saltenv=[{"base": [{"ref": "dev"}]}]),
    git_options("base mapped for all, at a mount point", [REMOTE], ("base", "dev"), gitfs_saltenv=[{"base": [{"ref": "dev"}, {"mountpoint": "mnt"}]}]),
    git_options("base mapped by both", [{REMOTE: [{"saltenv": [{"base": [{"ref": "v1"}]}]}]}], ("base", "dev", "v1"), gitfs_saltenv=[{"base": [{"ref": "dev"}]}]),
    git_options("mapped to what is not there", [{REMOTE: [{"saltenv": prod(ref="none")}]}]),
    git_options("mapped to a tag", [{REMOTE: [{"saltenv": prod(ref="v1")}]}], ("base", "prod", "v1")),
    git_options("mapped to a commit", [{REMOTE: [{"saltenv": prod(ref=COMMIT)}]}], ("base", "prod", COMMIT)),
    git_options("a number for a ref", [{REMOTE: [{"saltenv": prod(ref=6)}]}], ("base", "prod", "6")),
    git_options("a commit as base", [{REMOTE: [{"base": COMMIT}]}], ("base", "master")),
    git_options("a short commit as base", [{REMOTE: [{"base": "{short}"}]}], ("base", "master")),
    git_options("a commit as base without commits", [{REMOTE: [{"base": COMMIT}, {"ref_types": ["branch"]}]}], ("base", "dev")),
    git_options("a commit as environment", [REMOTE], (COMMIT, "{short}", "0000", "abc")),
    git_options("a commit as environment without commits", [REMOTE], (COMMIT,), gitfs_ref_types=["branch", "tag"]),
    git_options("commits alone", [REMOTE], ("base", COMMIT, "dev"), gitfs_ref_types=["sha"]),
    git_options("kinds of refs as a text", [REMOTE], ("base", "dev", "v1"), gitfs_ref_types="Tag, branch"),
    git_options("kinds of refs of the remote", [{REMOTE: [{"ref_types": "tag"}]}], ("base", "v1"), gitfs_base="v1"),
    git_options("a base that is not there", [REMOTE], ("base", "dev", "master"), gitfs_base="none"),
    git_options("a base with a slash", [REMOTE], ("base", "feature/x"), gitfs_base="feature/x"),
    git_options("a fallback", [REMOTE], ("base", "dev", "qa", "abc"), gitfs_fallback="dev"),
    git_options("a fallback of the remote, at a mount point", [{REMOTE: [{"fallback": "dev"}, {"mountpoint": "g"}]}], ("base", "dev", "qa")),
    git_options("a fallback that is not there", [REMOTE], ("base", "qa"), gitfs_fallback="none"),
    git_options("a fallback and no base", [REMOTE], ("base", "qa"), gitfs_fallback="dev", gitfs_base="none"),
    git_options("a fallback that is a commit", [REMOTE], ("qa",), gitfs_fallback=COMMIT),
    git_options("a fallback with a black list", [REMOTE], ("qa", "dev"), gitfs_fallback="dev", gitfs_saltenv_blacklist=["qa"]),
    git_options("a fallback without mapping", [REMOTE], ("base", "qa", "dev"), gitfs_fallback="dev", gitfs_disable_saltenv_mapping=True),
    git_options("one of two remotes has a fallback", [{REMOTE: [{"name": "one"}, {"root": "salt"}]}, {REMOTE: [{"name": "two"}, {"fallback": "dev"}]}], ("base", "qa")),
    git_options("no mapping", [{REMOTE: [{"disable_saltenv_mapping": True}]}], ("base", "dev", "master", COMMIT)),
    git_options("no mapping, one environment named by the remote", [{REMOTE: [{"disable_saltenv_mapping": True}, {"saltenv": [{"dev": [{"ref": "dev"}]}]}]}], ("base", "dev", "v1")),
    git_options("all environments from one branch, mapped too", [{REMOTE: [{"all_saltenvs": "dev"}, {"saltenv": prod(ref="v1")}]}], ("base", "prod", "qa")),
    git_options("all environments from one branch beside another remote", [{REMOTE: [{"all_saltenvs": "dev"}, {"name": "one"}]}, {REMOTE: [{"name": "two"}]}], ("base", "v1", "qa")),
    git_options("all environments from what is not there", [{REMOTE: [{"all_saltenvs": "none"}]}], ("base", "dev")),
    git_options("a white list with commas", [{REMOTE: [{"saltenv_whitelist": "base, v*"}]}], ("base", "dev", "v1")),
    git_options("an empty white list", [{REMOTE: [{"saltenv_whitelist": ""}]}], ("base", "dev")),
    git_options("an expression as a white list", [REMOTE], ("base", "dev", "v1"), gitfs_saltenv_whitelist=["(base|v.)"]),
    git_options("a white list of one environment alone", [REMOTE], ("base", "dev"), gitfs_saltenv_whitelist=["dev"]),
    git_options("an empty black list of the remote", [{REMOTE: [{"saltenv_blacklist": []}]}], ("base", "dev"), gitfs_saltenv_blacklist=["dev"]),
    git_options("a black list with a mapped environment", [{REMOTE: [{"saltenv": prod(ref="dev")}]}], gitfs_saltenv_blacklist=["prod"]),
    git_options("a commit and a white list", [REMOTE], (COMMIT,), gitfs_saltenv_whitelist=["base"]),
    git_options("refspecs of branches alone", [REMOTE], ("base", "v1"), gitfs_refspecs=["+refs/heads/*:refs/remotes/origin/*"]),
    git_options("one branch fetched", [{REMOTE: [{"refspecs": ["+refs/heads/dev:refs/remotes/origin/dev"]}]}], ("base", "dev")),
    git_options("a branch fetched under another name", [{REMOTE: [{"refspecs": "+refs/heads/dev:refs/remotes/origin/prod"}]}]),
    git_options("no certificates checked, seldom", [{REMOTE: [{"ssl_verify": False}, {"update_interval": 3600}]}], ("base",)),
    git_options("a remote twice with two names, links", [{REMOTE: [{"name": "one"}, {"mountpoint": "x"}]}, {REMOTE: [{"name": "two"}, {"root": "salt"}, {"mountpoint": "x"}]}], ("base",)),
    git_options("a bad remote beside a good one", ["nonsense", REMOTE], ("base",)),
    git_options("a remote that is not there beside one that is", ["file://{root}/none", REMOTE], ("base",)),
]
OPTION_WORLDS += [
    {
        "name": f"minionfs options, {name}", "opts": {"fileserver_backend": ["minionfs"], "file_recv": True, **opts},
        "loads": [{"cmd": "_file_envs"}, *(load for env in ("base", "up") for path in ("m1/etc/fstab", "p/m1/etc/fstab", "a/b/m1/etc/fstab", "m2/y", "p/m2/y", "a/b/m2/y", "p/x/y") for load in (
            {"cmd": "_file_find", "path": path, "saltenv": env}, {"cmd": "_file_hash", "path": path, "saltenv": env})), *listed(["base", "up"]),
            *({"cmd": "_file_list", "saltenv": "base", "prefix": prefix} for prefix in ("m1/a", "/m1/etc/", "nope"))],
    }
    for name, opts in [
        ("a mount point of two steps", {"minionfs_mountpoint": "a/b"}), ("a URL as mount point", {"minionfs_mountpoint": "salt://p"}),
        ("a white list", {"minionfs_whitelist": ["m1"]}), ("an expression", {"minionfs_whitelist": ["m[12]"]}), ("a black list", {"minionfs_blacklist": ["m.$"]}), ("both lists", {"minionfs_whitelist": ["m*"], "minionfs_blacklist": ["m1"]}),
        ("lists as texts", {"minionfs_whitelist": "m1"}), ("an environment and a mount point", {"minionfs_env": "up", "minionfs_mountpoint": "p"}), ("an empty environment", {"minionfs_env": ""}),
        ("ignored files", {"file_ignore_glob": ["*/fstab"], "file_ignore_regex": ["a/b"]}),
    ]
]

# Remotes with which Salt's gitfs does not start.
REFUSED = [
    [{REMOTE: []}], [{REMOTE: None}], [{REMOTE: [{"rot": "salt"}]}], [{REMOTE: [{"root": "a"}, {"env": "x"}]}], [REMOTE, REMOTE], [{REMOTE: [{"name": "x"}]}, {"file://{root}/other": [{"name": "x"}]}],
    [{REMOTE: [{"ref_types": ["branch", "tree"]}]}],
]
