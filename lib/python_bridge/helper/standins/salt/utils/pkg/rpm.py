"""What modules of RPM packages share."""

import collections
import datetime
import platform

ARCHES_64 = ("x86_64", "athlon", "amd64", "ia32e", "ia64", "geode")
ARCHES_32 = ("i386", "i486", "i586", "i686")
ARCHES_PPC = ("ppc", "ppc64", "ppc64le", "ppc64iseries", "ppc64pseries")
ARCHES_S390 = ("s390", "s390x")
ARCHES_SPARC = ("sparc", "sparcv8", "sparcv9", "sparcv9v", "sparc64", "sparc64v")
ARCHES_ALPHA = ("alpha", "alphaev4", "alphaev45", "alphaev5", "alphaev56", "alphapca56", "alphaev6", "alphaev67",
                "alphaev68", "alphaev7")
ARCHES_ARM_32 = ("armv5tel", "armv5tejl", "armv6l", "armv6hl", "armv7l", "armv7hl", "armv7hnl")
ARCHES_ARM_64 = ("aarch64",)
ARCHES_SH = ("sh3", "sh4", "sh4a")
ARCHES = (
    ARCHES_64 + ARCHES_32 + ARCHES_PPC + ARCHES_S390 + ARCHES_ALPHA + ARCHES_ARM_32 + ARCHES_ARM_64 + ARCHES_SH
)
QUERYFORMAT = "%{NAME}_|-%{EPOCH}_|-%{VERSION}_|-%{RELEASE}_|-%{ARCH}_|-%{REPOID}_|-%{INSTALLTIME}"


def get_osarch():
    return platform.machine()


def check_32(arch, osarch=None):
    return all(name in ARCHES_32 for name in (osarch or get_osarch(), arch))


def pkginfo(name, version, arch, repoid, install_date=None, install_date_time_t=None):
    fields = collections.OrderedDict(
        name=name, version=version, arch=arch, repoid=repoid, install_date=install_date,
        install_date_time_t=install_date_time_t,
    )
    return collections.namedtuple("PkgInfo", list(fields))(**fields)


def resolve_name(name, arch, osarch=None):
    osarch = osarch or get_osarch()
    return name if check_32(arch, osarch) or arch in (osarch, "noarch") else "%s.%s" % (name, arch)


def parse_pkginfo(line, osarch=None):
    try:
        name, epoch, version, release, arch, repoid, time_t = line.split("_|-")
    except ValueError:
        return None
    if release:
        version += "-" + release
    if epoch not in ("(none)", "0"):
        version = "%s:%s" % (epoch, version)
    date = None
    if time_t not in ("(none)", "0"):
        date = datetime.datetime.fromtimestamp(int(time_t), datetime.timezone.utc).replace(tzinfo=None).isoformat() + "Z"
    return pkginfo(resolve_name(name, arch, osarch), version, arch, repoid, date, int(time_t) if date else None)


def combine_comments(comments):
    given = comments if isinstance(comments, list) else [comments]
    return "".join("%s%s\n" % ("" if line.startswith("#") else "# ", line.rstrip("\n")) for line in given)


def version_to_evr(verstring):
    if verstring in (None, ""):
        return "0", "", ""
    epoch, colon, rest = verstring.partition(":")
    if not colon:
        epoch, rest = "0", verstring
    version, _, release = rest.partition("-")
    return epoch, version, release
