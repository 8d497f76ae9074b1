# Cases of make_file_calls.py: rare arguments, and what the system refuses.
c("file.psed", f"{R}/a.txt", "ONE", "1", flags="gI", tree=T)
c("file.lchown", f"{R}/l", "nosuch", "nogroup", tree={"l": {"link": "x"}}), c("file.lchown", f"{R}/l", "root", "nosuch", tree={"l": {"link": "x"}}), c("file.lchown", f"{R}/l", "nosuch", "nosuch", tree={"l": {"link": "x"}})
c("file.mknod", f"{R}/p", "p", mode="8"), c("file.mknod", f"{R}/p", "p", mode="0600"), c("file.mknod", f"{R}/a.txt", "p", tree=T)
c("file.get_diff", f"{R}/d", f"{R}/a.txt", tree={**T, "d": {"dir": {}}}), c("file.get_diff", f"{R}/a.txt", f"{R}/d", tree={**T, "d": {"dir": {}}})
c("archive.list", f"{R}/x.bin", "tar", options="no_such_program -d", tree={"x.bin": "x"})

# Managed files.
LINKED = {**G, "l": {"link": "old"}, "none.sha": "nothing of use\n"}
c("file.get_managed", f"{R}/old", None, f"{R}/new", f"{R}/none.sha", None, None, None, None, None, "base", None, None, tree=LINKED), c("file.get_managed", f"{R}/old", None, f"{R}/new", f"file://{R}/missing.sha", None, None, None, None, None, "base", None, None, tree=LINKED)
c("file.get_managed", f"{R}/old", None, f"{R}/new", "salt://missing.sha", None, None, None, None, None, "base", None, None, tree=LINKED), c("file.get_source_sum", f"{R}/new", f"{R}/new", tree=LINKED), c("file.get_source_sum", f"{R}/new", source_hash=None, tree=LINKED)
c("file.check_file_meta", f"{R}/old", None, None, {"hash_type": "sha256", "hsum": s_new}, None, None, None, None, "base", tree=G), c("file.check_file_meta", f"{R}/old", "", "", {"hash_type": "sha256", "hsum": s_new}, None, None, None, None, "base", tree=G)
for follow in [True, False]:
    for contents in ["a\nb\nc\n", "other\n", None] if follow else ["other\n"]:  # Salt fails by a bug for a link that has the contents
        c("file.manage_file", f"{R}/l", None, {}, None, {}, None, None, None, None, "base", "", contents=contents, follow_symlinks=follow, tree=LINKED)
    c("file.manage_file", f"{R}/l", f"{R}/new", {}, f"{R}/new", {"hash_type": "sha256", "hsum": s_new}, None, None, None, None, "base", "", follow_symlinks=follow, tree=LINKED)
    c("file.manage_file", f"{R}/l", f"{R}/new", {}, None, {}, None, None, None, None, "base", "", follow_symlinks=follow, tree=LINKED)
c("file.manage_file", f"{R}/fresh", f"{R}/new", {}, "http://127.0.0.1:1/new", S, "root", "root", "0604", None, "base", "", keep_mode=True, tree=G)
c("file.manage_file", f"{R}/fresh", "", {}, "relative/new", {}, "root", "root", "0644", None, "base", "", tree=G), c("file.manage_file", f"{R}/fresh", "", {}, "salt://missing", {}, "root", "root", "0644", None, "base", "", tree=G)
c("file.manage_file", f"{R}/fresh", "", {}, "http://127.0.0.1:1/new", S, "root", "root", "0644", None, "base", "", tree=G), c("file.manage_file", f"{R}/old", "", {}, "http://127.0.0.1:1/new", S, "root", "root", "0644", None, "base", "", tree=G)
