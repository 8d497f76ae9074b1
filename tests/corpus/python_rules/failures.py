"""Rules 15 and 17: what a job shows for an exception, and what is printed."""

file("_modules/br.py", '''
import logging
import os
import sys
import subprocess
import salt.exceptions
from salt.exceptions import (
    AuthenticationError, CommandExecutionError, CommandNotFoundError, MinionError, SaltException, SaltInvocationError,
    SaltReqTimeoutError, SaltRenderError, TimeoutError, FileserverConfigError,
)
log = logging.getLogger(__name__)
class Own(Exception):
    pass
class OwnCommand(CommandExecutionError):
    pass
class OwnInvocation(SaltInvocationError):
    pass
class Empty(Exception):
    def __str__(self):
        return ""
def command():
    raise CommandExecutionError("went wrong")
def command_empty():
    raise CommandExecutionError("")
def command_none():
    raise CommandExecutionError()
def command_list():
    raise CommandExecutionError(["a", "b"])
def command_own():
    raise OwnCommand("of its own")
def info():
    raise CommandExecutionError("went wrong", info={"a": 1, "b": [1, 2]})
def info_text():
    raise CommandExecutionError("went wrong", info="more text")
def info_changes():
    raise CommandExecutionError("went wrong", info={"changes": {"a": 1}, "errors": ["x"]})
def info_list():
    raise CommandExecutionError("went wrong.", info=["one", "two"])
def invocation():
    raise SaltInvocationError("went wrong")
def invocation_own():
    """Documented."""
    raise OwnInvocation("of its own")
def missing():
    raise CommandNotFoundError("went wrong")
def deep():
    """Help."""
    return int([])
def type_error():
    raise TypeError("of mine")
def type_empty():
    raise TypeError()
def value():
    raise ValueError("went wrong")
def key():
    return {}["absent"]
def zero():
    return 1 / 0
def lines():
    raise ValueError("one\\ntwo")
def empty():
    raise Empty()
def own():
    raise Own("a", 2)
def chained():
    try:
        {}["a"]
    except KeyError as error:
        raise ValueError("from a key") from error
def during():
    try:
        {}["a"]
    except KeyError:
        raise ValueError("while handling")
def hidden():
    try:
        {}["a"]
    except KeyError:
        raise ValueError("alone") from None
def minion_error():
    raise MinionError("went wrong")
def salt_exception():
    raise SaltException("went wrong")
def timeout():
    raise TimeoutError("went wrong")
def request_timeout():
    raise SaltReqTimeoutError("went wrong")
def render():
    raise SaltRenderError("went wrong", 3, "a\\nb\\nc\\nd")
def authentication():
    raise AuthenticationError("went wrong")
def os_error():
    open("/nowhere/at/all")
def process():
    subprocess.run(["sh", "-c", "exit 3"], check=True)
def assertion():
    assert 1 == 2, "not equal"
def unicode():
    raise ValueError("\\u00e4\\u2603")
def import_error():
    import no_such_library
def attribute():
    return None.absent
def name_error():
    return absent
def stop():
    raise StopIteration("x")
def recursion():
    return recursion()
def generator():
    yield 1
    raise ValueError("in a generator")
def outer():
    return _helper(3)
def _helper(n):
    if n == 0:
        raise ValueError("at the bottom")
    return _helper(n - 1)
def of_another():
    return __salt__["br_other.fails"]()
def of_builtin():
    return __salt__["file.remove"]("relative")
def printed():
    print("printed words")
    sys.stderr.write("on standard error\\n")
    os.write(1, b"raw\\n")
    return "done"
def logged():
    log.trace("traced")
    log.debug("debugged")
    log.info("informed")
    log.warning("warned %s", 1)
    log.garbage("x")
    log.quiet("x")
    return log.name
''')
file("_modules/br_other.py", '''
from salt.exceptions import CommandExecutionError
def fails():
    """Help of the other."""
    raise CommandExecutionError("of another")
def kind():
    return int([])
''')
for name in (
    "command command_empty command_none command_list command_own info info_text info_changes info_list invocation "
    "invocation_own missing deep type_error type_empty value key zero lines empty own chained during hidden minion_error "
    "salt_exception timeout request_timeout render authentication os_error process assertion unicode import_error attribute "
    "name_error stop generator outer of_another of_builtin printed logged"
).split():
    call(f"br.{name}")
call("br_other.kind")
