"""The package `salt.utils`: its modules when they are first used, and the flat names that it had until 2018."""

import importlib
import logging
import sys

#: Where each flat name is now: `module` of the same name, or `module:name`.
_MOVED = {
    "files": "fopen flopen fpopen safe_rm rm_rf is_empty safe_walk is_fcntl_available is_bin_file:is_binary"
    " is_text_file:is_text list_files mkstemp recursive_copy st_mode_to_octal normalize_mode human_size_to_bytes"
    " backup_minion set_umask safe_filename_leaf safe_filepath",
    "path": "which which_bin path_join:join check_or_die sanitize_win_path_string:sanitize_win_path",
    "platform": "is_windows is_linux is_darwin is_sunos is_smartos is_smartos_globalzone is_smartos_zone is_freebsd"
    " is_netbsd is_openbsd is_aix is_proxy",
    "stringutils": "to_bytes to_str to_unicode str_to_num:to_num is_quoted dequote is_hex is_bin_str:is_binary"
    " rand_string:random contains_whitespace human_to_bytes build_whitespace_split_regex"
    " build_whitepace_splited_regex:build_whitespace_split_regex expr_match check_whitelist_blacklist"
    " check_include_exclude print_cli get_context to_none",
    "data": "compare_dicts compare_lists decode_dict decode_list exactly_n exactly_one filter_by traverse_dict"
    " traverse_dict_and_list subdict_match substr_in_list is_dictlist repack_dictlist is_list is_iter"
    " sorted_ignorecase is_true mysql_to_dict simple_types_filter",
    "args": "clean_kwargs invalid_kwargs arg_lookup argspec_report test_mode shlex_split format_call",
    "versions": "warn_until kwargs_warn_until version_cmp compare_versions:compare",
    "functools": "namespaced_function alias_function",
    "hashutils": "get_hash",
    "user": "get_user get_uid get_specific_user chugid chugid_and_umask get_default_group get_group_list"
    " get_group_dict get_gid_list get_gid",
    "network": "is_ipv4 is_ipv6 ip_bracket refresh_dns dns_check gen_mac mac_str_to_bytes get_fqhostname isportopen"
    " host_to_ips ip_to_host",
    "dateutils": "date_cast date_format:strftime total_seconds",
    "process": "daemonize daemonize_if appendproctitle",
    "decorators": "memoize",
    "dictdiffer": "dict_differ:diff",
    "xmlutil": "to_dict",
    "itertools": "fnmatch_multiple",
    "jid": "gen_jid jid_dir",
    "zeromq": "ip_bracket zmq_version:version",
}

_FLAT = {}
for _module, _names in _MOVED.items():
    for _one in _names.split():
        _old, _, _new = _one.partition(":")
        _FLAT.setdefault(_old, (_module, _new or _old))

_warned = set()


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    moved = _FLAT.get(name)
    if moved is None:
        try:
            return importlib.import_module("salt.utils." + name)
        except ImportError as error:
            raise AttributeError("module 'salt.utils' has no attribute %r" % name) from error
    caller = sys._getframe(1).f_globals.get("__file__")
    if caller not in _warned:
        _warned.add(caller)
        logging.getLogger("salt.utils").warning("%s: salt.utils.%s is salt.utils.%s.%s now", caller, name, *moved)
    return getattr(importlib.import_module("salt.utils." + moved[0]), moved[1])
