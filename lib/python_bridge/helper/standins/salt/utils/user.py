"""Users and groups of this host."""

import grp
import os
import pwd


def get_user():
    return pwd.getpwuid(os.geteuid()).pw_name


def get_uid(user=None):
    if user is None:
        return os.geteuid()
    try:
        return pwd.getpwnam(user).pw_uid
    except KeyError:
        return None


def get_specific_user():
    user = get_user()
    sudo = os.environ.get("SUDO_USER")
    return "sudo_%s" % sudo if user == "root" and sudo else user


def chugid(runas, group=None):
    account = pwd.getpwnam(runas)
    gid = grp.getgrnam(group).gr_gid if group else account.pw_gid
    if os.getuid() == account.pw_uid and os.getgid() == gid:
        return
    os.setgroups(get_gid_list(runas))
    os.setgid(gid)
    os.setuid(account.pw_uid)


def chugid_and_umask(runas, umask, group=None):
    if runas:
        chugid(runas, group)
    if umask is not None:
        os.umask(umask)


def get_default_group(user):
    return grp.getgrgid(pwd.getpwnam(user).pw_gid).gr_name


def get_group_dict(user=None, include_default=True):
    if user is None:
        return {one.gr_name: one.gr_gid for one in grp.getgrall()}
    default = pwd.getpwnam(user).pw_gid
    gids = set(os.getgrouplist(user, default))
    if not include_default:
        gids.discard(default)
    return {grp.getgrgid(gid).gr_name: gid for gid in gids}


def get_group_list(user, include_default=True):
    return sorted(get_group_dict(user, include_default))


def get_gid_list(user, include_default=True):
    return sorted(get_group_dict(user, include_default).values())


def get_gid(group=None):
    if group is None:
        return os.getegid()
    try:
        return grp.getgrnam(group).gr_gid
    except KeyError:
        return None
