"""The cases of `git`: read by make_state_runs.py. Commits have fixed authors and dates, so their names are the same in every run."""
TWICE = ("test", "run")
REMOTE = """
git init -q -b main origin.git; cd origin.git
echo one > f; git add f; git commit -qm one; git tag light; git tag -a -m annotated heavy
git branch other; git checkout -q other; echo o > o; git add o; git commit -qm other; git checkout -q main
echo two >> f; git commit -qam two
"""
CLONE = REMOTE + "\ncd ..; git clone -q origin.git t"
AHEAD = "cd origin.git; echo three >> f; git commit -qam three"
SEE = """
for d in t t.git; do
  if test -e $d/.git || test -e $d/refs; then
    git -C $d rev-parse -q --verify HEAD || true; git -C $d symbolic-ref -q HEAD || echo detached
    git -C $d for-each-ref --format='%(refname) %(objectname:short) %(upstream)'; git -C $d remote -v | sed "s,$PWD,,"; git -C $d config core.bare
    test -e $d/refs || git -C $d status --short
  fi
done
"""


def git(fun, name=f"{R}/origin.git", *, setup=REMOTE, steps=("test", "run", "run"), tree=None, drop=(), **args):
    case(f"git.{fun}", {"name": name, **args}, setup=setup, steps=steps, observe=SEE, tree=tree, drop=["dir", *drop], hide=["t", "t.git", "origin.git", "sub.git", ".gitconfig"])


T = {"target": f"{R}/t"}
# cloning
for more in [{}, dict(rev="main"), dict(rev="other"), dict(rev="light"), dict(rev="heavy"), dict(rev="nosuch"), dict(branch="mine"), dict(rev="main", branch="mine"), dict(rev="other", branch="mine"), dict(rev="light", branch="mine"), dict(remote="up"), dict(depth=1), dict(depth=1, rev="main"), dict(submodules=True), dict(rev=5)]:
    git("latest", **T, **more)
git("latest", target=f"{R}/t.git", bare=True), git("latest", target=f"{R}/t.git", mirror=True), git("latest", target=f"{R}/t.git", bare=True, rev="main", steps=TWICE), git("latest", name=f"{R}/nothing.git", **T, steps=TWICE), git("latest", target="rel", steps=TWICE), git("latest", target="", steps=TWICE), git("latest", **T, rev="", steps=TWICE), git("latest", **T, remote="", steps=TWICE)
git("latest", **T, force_reset="maybe", steps=TWICE), git("latest", **T, identity=5, steps=TWICE), git("latest", **T, identity="rel", steps=TWICE), git("latest", **T, https_user="u", https_pass="p", steps=TWICE), git("latest", target=f"{R}/file", tree={"file": "x"}, steps=TWICE)
git("latest", **T, tree={"t": {"dir": {}}}), git("latest", **T, tree={"t": {"dir": {"x": "y"}}}, steps=TWICE), git("latest", **T, tree={"t": {"dir": {"x": "y"}}}, force_clone=True), git("latest", setup="git init -q -b main origin.git", **T), git("latest", setup="git init -q -b main origin.git", **T, rev="main", steps=TWICE)
# existing repositories: the remote is ahead
for more in [{}, dict(rev="main"), dict(update_head=False), dict(rev="main", update_head=False), dict(branch="mine"), dict(rev="main", branch="mine"), dict(fetch_tags=False), dict(rev="other"), dict(rev="other", force_reset=True), dict(rev="other", branch="other"), dict(rev="heavy"), dict(rev="heavy", force_reset=True), dict(rev="light", branch="mine"), dict(rev="nosuch"), dict(remote="up"), dict(remote="up", update_head=False)]:
    # In test mode Salt fails for a new remote.
    git("latest", setup=CLONE, **T, steps=(AHEAD, *(() if "remote" in more else ("test",)), "run", "run"), **more)
# local commits, local changes
LOCAL = CLONE + "\ncd t; echo l > l; git add l; git commit -qm local"
DIRTY = CLONE + "\necho dirty >> t/f"
for more in [{}, dict(force_reset=True), dict(force_reset="remote-changes"), dict(rev="main", branch="mine"), dict(rev="main", branch="mine", force_checkout=True), dict(rev="other")]:
    git("latest", setup=LOCAL, **T, steps=(AHEAD, "test", "run", "run"), **more), git("latest", setup=DIRTY, **T, **more)
for more in [dict(rev="main"), dict(rev="main", force_reset=True), dict(update_head=False)]:
    git("latest", setup=LOCAL, **T, **more), git("latest", setup=DIRTY, **T, steps=(AHEAD, "test", "run"), **more)
# branches, tags, tracking
git("latest", setup=CLONE + "\ncd t; git checkout -q -b feature", **T), git("latest", setup=CLONE + "\ncd t; git checkout -q -b feature", **T, rev="main"), git("latest", setup=CLONE + "\ncd t; git checkout -q -b feature", **T, rev="main", branch="main"), git("latest", setup=CLONE + "\ncd t; git checkout -q -b feature", **T, rev="main", branch="main", steps=(AHEAD, "test", "run", "run"))
git("latest", setup=CLONE + "\ncd t; git checkout -q light", **T), git("latest", setup=CLONE + "\ncd t; git checkout -q light", **T, rev="main"), git("latest", setup=CLONE + "\ncd t; git branch --unset-upstream", **T, rev="main"), git("latest", setup=CLONE + "\ncd t; git branch -q -u origin/other", **T, rev="main"), git("latest", setup=CLONE, **T, rev="light", force_reset=True)
git("latest", setup=CLONE, **T, rev="light", steps=("cd origin.git; git tag -f light > /dev/null", "test", "run", "run")), git("latest", setup=CLONE, **T, rev="light", force_reset=True, steps=("cd origin.git; git tag -f light > /dev/null", "test", "run", "run"))
git("latest", setup=CLONE, **T, steps=("cd origin.git; git tag new", "test", "run", "run")), git("latest", setup=CLONE, **T, steps=("cd origin.git; git tag -d light > /dev/null", "test", "run", "run")), git("latest", setup=CLONE, **T, sync_tags=False, steps=("cd origin.git; git tag -d light > /dev/null", "test", "run"))
git("latest", setup=CLONE, **T, rev="main", steps=("cd origin.git; git commit -q --amend -m changed", "test", "run", "run")), git("latest", setup=CLONE, **T, rev="main", force_reset=True, force_fetch=True, steps=("cd origin.git; git commit -q --amend -m changed", "test", "run", "run"))
git("latest", setup=CLONE + "\nmv origin.git moved.git; git init -q -b main origin.git", **T, steps=TWICE), git("latest", setup=CLONE + "\ncp -r origin.git second.git", name=f"{R}/second.git", **T), git("latest", setup=CLONE + "\ncp -r origin.git second.git; cd second.git; echo s >> f; git commit -qam second", name=f"{R}/second.git", **T)
git("latest", setup=CLONE + "\ncp -r origin.git second.git; cd second.git; echo s >> f; git commit -qam second", name=f"{R}/second.git", **T, update_head=False), git("latest", setup=CLONE + "\ncd t; git remote rm origin", **T, steps=("run", "run"))
git("latest", setup=REMOTE + "\ncd ..; git clone -q --bare origin.git t.git", target=f"{R}/t.git", bare=True, steps=(AHEAD, "run", "run")), git("latest", setup=REMOTE + "\ncd ..; git clone -q --mirror origin.git t.git", target=f"{R}/t.git", mirror=True, steps=(AHEAD, "run", "run"))
git("latest", setup=REMOTE + "\ncd ..; git init -q -b main t", **T, steps=("run", "run")), git("latest", setup=CLONE + "\ncd t; git worktree add -q ../w light", target=f"{R}/w")

# present
git("present", name=f"{R}/t.git"), git("present", name=f"{R}/t", bare=False), git("present", name=f"{R}/t", bare=False, tree={"t": {"dir": {}}}), git("present", name=f"{R}/t", bare=False, tree={"t": {"dir": {"x": "y"}}}, steps=TWICE), git("present", name=f"{R}/t", bare=False, force=True, tree={"t": {"dir": {"x": "y"}}}), git("present", name=f"{R}/t.git", force=True, tree={"t.git": {"dir": {"x": "y"}}})
git("present", name=f"{R}/t", bare=False, shared="group"), git("present", name=f"{R}/t", bare=False, separate_git_dir=f"{R}/sep"), git("present", name=f"{R}/t", bare=False, template=f"{R}/tmpl", tree={"tmpl": {"dir": {"extra": "e"}}}), git("present", name=f"{R}/t", bare=False, setup=CLONE), git("present", name=f"{R}/t", setup=CLONE, steps=TWICE)

# cloned
for more in [{}, dict(branch="other"), dict(branch="main"), dict(branch="nosuch"), dict(branch=""), dict(branch=5)]:
    git("cloned", **T, **more), git("cloned", setup=CLONE, **T, **more)
git("cloned", target="rel", steps=TWICE), git("cloned", target=None, steps=TWICE), git("cloned", name=f"{R}/nothing", **T, steps=TWICE), git("cloned", **T, tree={"t": {"dir": {"x": "y"}}}, steps=TWICE)

# detached
for more in [dict(rev="main"), dict(rev="heavy"), dict(rev="nosuch"), dict(rev="main", remote="up"), dict(rev="main", hard_reset=True), dict(rev="main", fetch_remote=False), dict(rev="other", force_checkout=True), dict(rev="main", submodules=True)]:
    git("detached", setup=CLONE, **T, steps=(AHEAD, "test", "run", "run"), **more)
git("detached", **T, rev="", steps=TWICE), git("detached", target="", rev="main", steps=TWICE), git("detached", target="rel", rev="main", steps=TWICE), git("detached", **T, rev="main", identity="rel", steps=TWICE), git("detached", **T, rev="main", tree={"t": {"dir": {"x": "y"}}}, steps=TWICE), git("detached", **T, rev="main", force_clone=True, tree={"t": {"dir": {"x": "y"}}}), git("detached", target=f"{R}/file", rev="main", tree={"file": "x"}, steps=TWICE)

git("detached", **T, rev="main"), git("detached", **T, rev="light")

# configuration
C = {"setup": CLONE, "repo": f"{R}/t"}
MULTI = CLONE + "\ncd t; git config foo.bar 1; git config --add foo.bar 2; git config foo.baz x"
git("config_set", name="user.email", value="a@b.c", **C), git("config_set", name="foo.num", value=5, **C), git("config_set", name="foo.multi", multivar=["a", "b"], **C), git("config_set", name="foo.multi", multivar="a,b", **C), git("config_set", name="foo.multi", multivar=[1, 2], **C), git("config_set", name="foo.bar", value="3", setup=MULTI, repo=f"{R}/t"), git("config_set", name="foo.bar", multivar=["1", "2"], setup=MULTI, repo=f"{R}/t")
git("config_set", name="foo", value="x", **C, steps=TWICE), git("config_set", name="a.b", value="x", multivar=["y"], **C, steps=TWICE), git("config_set", name="a.b", value="x", steps=TWICE)
for name, more in [("foo.bar", {}), ("foo.bar", dict(all=True)), ("foo.bar", dict(value_regex="1")), ("foo.bar", dict(value_regex="[12]")), ("foo.bar", dict(value_regex="[12]", all=True)), ("foo.none", {}), ("foo.baz", dict(value_regex="nomatch"))]:
    # Salt reads the values of a key that was removed.
    if not more.get("all"):
        git("config_unset", name=name, setup=MULTI, repo=f"{R}/t", **more)
git("config_unset", name="a.b", steps=TWICE)
