"""Files."""

import codecs
import contextlib
import fcntl
import os
import re
import shutil
import stat
import subprocess
import tempfile
import urllib.parse

TEMPFILE_PREFIX = "__salt.tmp."
HASHES = {"sha512": 128, "sha384": 96, "sha256": 64, "sha224": 56, "sha1": 40, "md5": 32}
HASHES_REVMAP = {length: name for name, length in HASHES.items()}
LOCAL_PROTOS = ("", "file")
REMOTE_PROTOS = ("http", "https", "ftp", "swift", "s3")
VALID_PROTOS = ("salt", "file") + REMOTE_PROTOS


def fopen(*args, **kwargs):
    """Opens a file; text is UTF-8 unless the caller says otherwise."""
    mode = args[1] if len(args) > 1 else kwargs.get("mode", "r")
    if isinstance(args[0] if args else kwargs.get("file"), int):
        raise TypeError("only a path can be opened, not a number")
    if "b" not in mode and len(args) < 4:
        kwargs.setdefault("encoding", "utf-8")
    return open(*args, **kwargs)


@contextlib.contextmanager
def flopen(*args, **kwargs):
    """Opens a file and locks it."""
    with fopen(*args, **kwargs) as file:
        fcntl.flock(file.fileno(), fcntl.LOCK_SH)
        try:
            yield file
        finally:
            fcntl.flock(file.fileno(), fcntl.LOCK_UN)


@contextlib.contextmanager
def fpopen(*args, **kwargs):
    """Opens a file and sets its owner and mode: `uid`, `gid`, `mode`."""
    uid, gid = kwargs.pop("uid", -1), kwargs.pop("gid", -1)
    mode = kwargs.pop("mode", None)
    with fopen(*args, **kwargs) as file:
        os.chown(args[0], uid, gid)
        if mode is not None:
            os.chmod(args[0], mode)
        yield file


def is_fcntl_available(check_sunos=False):
    return True


def mkstemp(*args, **kwargs):
    """The path of a new file."""
    kwargs.setdefault("prefix", TEMPFILE_PREFIX)
    close = kwargs.pop("close_fd", True)
    descriptor, path = tempfile.mkstemp(*args, **kwargs)
    if not close:
        return descriptor, path
    os.close(descriptor)
    return path


def guess_archive_type(name):
    for ending in ("tar", "tar.gz", "tar.bz2", "tar.xz", "rar", "zip"):
        if name.lower().endswith("." + ending):
            return ending
    return None


def recursive_copy(source, dest):
    for root, _directories, names in os.walk(source):
        target = os.path.join(dest, os.path.relpath(root, source))
        os.makedirs(target, exist_ok=True)
        for name in names:
            shutil.copy2(os.path.join(root, name), os.path.join(target, name))


def copyfile(source, dest, backup_mode="", cachedir=""):
    """Replaces a file by another one, and keeps its owner and mode."""
    if not os.path.isfile(source):
        raise OSError("[Errno 2] No such file or directory: %s" % source)
    directory = os.path.dirname(dest)
    if not os.path.isdir(directory):
        raise OSError("[Errno 2] No such file or directory: %s" % directory)
    temporary = mkstemp(prefix=os.path.basename(dest), dir=directory)
    shutil.copyfile(source, temporary)
    if os.path.exists(dest):
        old = os.stat(dest)
        os.chown(temporary, old.st_uid, old.st_gid)
        os.chmod(temporary, stat.S_IMODE(old.st_mode))
    os.replace(temporary, dest)


def rename(src, dst):
    os.replace(src, dst)


def get_umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


@contextlib.contextmanager
def set_umask(mask):
    if mask is None:
        yield
        return
    old = os.umask(mask)
    try:
        yield
    finally:
        os.umask(old)


@contextlib.contextmanager
def wait_lock(path, lock_fn=None, timeout=5, sleep=0.1, time_start=None):
    """Holds a lock file while the block runs."""
    import time

    import salt.exceptions

    lock = lock_fn or os.path.join(os.path.dirname(path), ".%s.w" % os.path.basename(path))
    end = (time_start or time.time()) + timeout
    while True:
        try:
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            break
        except FileExistsError:
            if time.time() > end:
                raise salt.exceptions.FileLockError("Timeout of %ss waiting for %s" % (timeout, lock)) from None
            time.sleep(sleep)
    try:
        yield
    finally:
        os.unlink(lock)


def safe_walk(top, topdown=True, onerror=None, followlinks=True, _seen=None):
    """`os.walk` that does not run in circles."""
    seen = set()
    for root, directories, names in os.walk(top, topdown, onerror, followlinks):
        real = os.path.realpath(root)
        if real in seen:
            directories[:] = []
            continue
        seen.add(real)
        yield root, directories, names


def safe_rm(tgt):
    try:
        os.remove(tgt)
    except OSError:
        pass


def remove(path):
    try:
        os.remove(path)
    except FileNotFoundError:
        pass


def rm_rf(path):
    if os.path.islink(path) or not os.path.isdir(path):
        os.remove(path)
    else:
        shutil.rmtree(path)


def is_empty(filename):
    try:
        return os.stat(filename).st_size == 0
    except OSError:
        return False


def safe_filename_leaf(file_basename):
    return urllib.parse.quote(re.sub(r'[\\:/*?"<>|]', lambda found: urllib.parse.quote(found.group(0), safe=""), file_basename), safe=" ()[]{}!#$%&'+,-.;=@^_`~")


def safe_filepath(file_path_name, dir_sep=None):
    separator = dir_sep or os.sep
    return separator.join(safe_filename_leaf(part) for part in file_path_name.rsplit(separator))


def is_text(fp_, blocksize=512):
    """Whether the beginning of a file is text."""
    try:
        with open(fp_, "rb") as file:
            block = file.read(blocksize)
    except TypeError:
        block = fp_.read(blocksize)
        fp_.seek(0)
    if b"\x00" in block:
        return False
    if not block:
        return True
    try:
        codecs.getincrementaldecoder("utf-8")().decode(block)
        return True
    except UnicodeDecodeError:
        others = sum(byte not in b"\n\r\t\f\b" and not 32 <= byte < 127 for byte in block)
        return others / len(block) <= 0.30


def is_binary(path):
    if not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as file:
            import salt.utils.stringutils

            return salt.utils.stringutils.is_binary(file.read(2048).decode("utf-8"))
    except UnicodeDecodeError:
        return True
    except OSError:
        return False


def list_files(directory):
    found = {directory}
    for root, directories, names in safe_walk(directory):
        found.update(os.path.join(root, name) for name in directories + names)
    return list(found)


def st_mode_to_octal(mode):
    try:
        return oct(mode)[-4:]
    except (TypeError, IndexError):
        return ""


def normalize_mode(mode):
    if mode is None:
        return None
    text = str(mode).replace("0o", "0").strip('"').strip("'").lstrip("0")
    return text.zfill(4) if text else "0"


def human_size_to_bytes(human_size):
    found = re.match(r"^(\d+)([bkmgtpezy])?$", str(human_size).strip(), re.I)
    if not found:
        return 0
    return int(found.group(1)) << (10 * max("bkmgtpezy".find((found.group(2) or "b").lower()), 0))


def backup_minion(path, bkroot):
    import time

    name = "%s_%s" % (os.path.basename(path), time.strftime("%a_%b_%d_%H:%M:%S_%Y"))
    target = os.path.join(bkroot, os.path.dirname(path).lstrip("/"), name)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    shutil.copyfile(path, target)


def case_insensitive_filesystem(path=None):
    return False


def process_read_exception(exc, path, ignore=None):
    import errno

    import salt.exceptions

    ignored = [ignore] if isinstance(ignore, int) else ignore or []
    if exc.errno in ignored:
        return
    reasons = {errno.ENOENT: "No such file or directory", errno.EACCES: "Permission denied reading from"}
    text = "%s %s" % (reasons.get(exc.errno, "Error %d encountered reading from" % exc.errno), path)
    raise salt.exceptions.CommandExecutionError(text)


def get_encoding(path):
    done = subprocess.run(["file", "--brief", "--mime-encoding", path], stdout=subprocess.PIPE, check=False)
    return done.stdout.decode().strip() or "utf-8"
