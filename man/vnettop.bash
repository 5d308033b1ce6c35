# Made from the program's tables by `make man`: do not edit.
_vnettop() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
    case $before in
    --view) COMPREPLY=($(compgen -W 'overview paths vms threads pmds ports cpus pins findings sources ' -- "$word")); return ;;
    --table) COMPREPLY=($(compgen -W 'vms threads paths ports pmds rxqs datapaths processes mempools cpus host findings sources marks counters ' -- "$word")); return ;;
    --output | -o | --config) COMPREPLY=($(compgen -f -- "$word")); return ;;
    esac
    COMPREPLY=($(compgen -W 'snapshot record diagnose sources --interval --frames --for --batch --output --label --table --filter --sort --columns --view --paths --netns --connect --ovs-rundir --dpdk-rundir --only --no --theme --ascii --no-mouse --config --csv --json --help --version ' -- "$word"))
}
complete -F _vnettop vnettop
