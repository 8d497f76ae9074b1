#compdef salt salt-key salt-run salt-call salt-cp salt-ssh salt-master salt-minion
# Zsh completion of these commands. Made by scripts/reference/completion.ts of the option tables. It reads directories of the
# master and starts no Salt.

# @TABLES@

# Sets $pki and $cache to the directories of the master's configuration.
_salt_master() {
  local config=${opt_args[--config-dir]:-${opt_args[-c]:-${SALT_CONFIG_DIR:-/etc/salt}}} root= key value
  pki=/etc/salt/pki/master cache=/var/cache/salt/master
  config=${~config}
  local -a files=($config/master(N) $config/master.d/*.conf(N))
  if (( $#files )); then
    while read -r key value; do
      case $key in
        root_dir) root=$value ;;
        pki_dir) pki=$value ;;
        cachedir) cache=$value ;;
      esac
    done < <(sed -nE '@SED@' $files 2>/dev/null)
  fi
  [[ $pki == $root/* ]] || pki=$root/${pki#/}
  [[ $cache == $root/* ]] || cache=$root/${cache#/}
}

_salt_ids() {
  local pki cache directory
  local -a ids
  _salt_master
  for directory; do ids+=($pki/$directory/*(NoN:t)); done
  local -a listed=(${(s:,:)PREFIX%,*})
  [[ $PREFIX == *,* ]] && ids=(${ids:|listed})
  compset -P '*,'
  compadd -a ids
}

_salt_jids() {
  local pki cache directory jid
  local -a jids
  _salt_master
  for directory in $cache/jobs/*(/Nom[1,40]); do jids+=($directory/*(/N)); done
  local -a newest=()
  for directory in ${^jids}(/Nom[1,20]); do
    jid=
    IFS= read -r jid 2>/dev/null <$directory/jid
    [[ $jid == <->(|_<->) ]] && newest+=($jid)
  done
  compadd -V jids -a newest
}

# Adds to $described the functions of own modules that lie on this host: what its minion has synced, and what the master's file
# server offers. Names are read from the texts of the files; nothing of them is run.
_salt_own_functions() {
  local config=${opt_args[--config-dir]:-${opt_args[-c]:-${SALT_CONFIG_DIR:-/etc/salt}}} root= key value line module name
  local cache=/var/cache/salt/minion extmods=
  config=${~config}
  local -a minion=($config/minion(N) $config/minion.d/*.conf(N)) master=($config/master(N) $config/master.d/*.conf(N)) directories files
  if (( $#minion )); then
    while read -r key value; do
      case $key in
        root_dir) root=$value ;;
        cachedir) cache=$value ;;
        extension_modules) extmods=$value ;;
      esac
    done < <(sed -nE '@SED@' $minion 2>/dev/null)
  fi
  [[ $cache == $root/* ]] || cache=$root/${cache#/}
  directories=(${extmods:-$cache/extmods}/modules)
  (( $#master )) && directories+=(${(f)"$(sed -nE '@ROOTS@' $master 2>/dev/null)"})
  [[ -n $root ]] || directories+=(/srv/salt/_modules)
  for value in $directories; do files+=($value/*.(ts|js|py)(N.)); done
  (( $#files )) || return
  for line in ${(f)"$(grep -HoE '@EXPORTS@' -- $files 2>/dev/null)"}; do
    name=${line##* } module=${${line%%:*}:t:r}
    [[ $name == (virtual|_*) ]] || described+=("$module.${name%_}:a function of an own module")
  done
}

_salt_functions() {
  local -a described
  _salt_$1_described
  [[ $1 == execution ]] && _salt_own_functions
  compset -P '*,'
  _describe -t functions function described
}

# The SLS names of the file roots of this host; after a comma, the next of several. One level at a time: a directory is offered with
# a dot.
_salt_sls() {
  local config=${opt_args[--config-dir]:-${opt_args[-c]:-${SALT_CONFIG_DIR:-/etc/salt}}} last=${PREFIX##*,} within= root directory entry
  local -a files roots names directories
  config=${~config}
  [[ $last == (.*|*..*|*[^A-Za-z0-9._-]*) ]] && return
  [[ $last == *.* ]] && within=${last%.*}.
  files=($config/master(N) $config/master.d/*.conf(N))
  [[ $service == salt-call ]] && files+=($config/minion(N) $config/minion.d/*.conf(N))
  (( $#files )) && roots=(${(f)"$(sed -nE '@ROOTS@' $files 2>/dev/null)"})
  for root in $roots /srv/salt/_modules; do
    directory=${root%/_modules}/${within//.//}
    for entry in $directory*.sls(N:t:r); do
      [[ $entry == (init|*[^A-Za-z0-9_-]*) || $within$entry == top ]] || names+=($within$entry)
    done
    for entry in $directory*(N-/:t); do
      [[ $entry == *[^A-Za-z0-9_-]* ]] && continue
      [[ -f $directory$entry/init.sls ]] && names+=($within$entry)
      [[ $entry == _* ]] || directories+=($within$entry.)
    done
  done
  compset -P '*,'
  compadd -a names
  compadd -S '' -a directories
}

# Parameters of the function of the family $1 that stands before; $2 is its place among the words.
_salt_arguments() {
  local family=$1 REPLY= parameter
  local -a parameters names
  _salt_$1_parameters "${${line[$2]}##*,}"
  parameters=(${=REPLY})
  if [[ $PREFIX == jid=* ]]; then
    compset -P 'jid='
    _salt_jids
    return
  fi
  if [[ $PREFIX == mods=* && -n ${parameters[(r)mods]} ]]; then
    compset -P 'mods='
    _salt_sls
    return
  fi
  local index=$(( $#line - $2 ))
  [[ ${parameters[index]-} == jid ]] && _salt_jids
  [[ ${parameters[index]-} == mods ]] && _salt_sls
  for parameter in ${parameters[index,-1]}; do
    (( ${words[(I)$parameter=*]} )) || names+=($parameter=)
  done
  compadd -S '' -a names
}

_salt() {
  local curcontext=$curcontext state
  local -a line specs
  typeset -A opt_args
  _salt_specs_${service//-/_}
  _arguments -s -S : $specs
}

_salt "$@"
