# SPDX-License-Identifier: MIT
#
# Runs a script under a Debian kernel that has what the host's lacks (openvswitch, vhost-net, netem, dummy, SCHEDSTATS): a VM
# by TCG on the host's own files. Sourced by test scripts after lib.sh. It must not know what the script tests.
#
# shellcheck shell=bash

. "$LAB_DIR/initrd.sh"

# The script sees the host's files (changes are lost), an empty /run, its own /proc, /sys and devices, and LAB=/run/vm, a
# folder shared with the caller as $KERNEL_VM. Prints what it printed, fails as it failed.
kernel_vm_run() { # SECONDS SCRIPT [VARIABLE...]: SCRIPT is a file; the variables are handed on to it
    local seconds=$1 script=$2 version initrd name
    shift 2
    need_command qemu-system-x86_64
    version=$(kernel_version amd64)
    initrd=$(initrd_build "$version" "$LAB_DIR/kernel-vm-init" virtio_pci 9pnet_virtio 9p overlay virtio_net)
    KERNEL_VM=$(mktemp -d "$LAB/kernel-vm.XXXXXX")
    for name in "$@"; do printf 'export %s=%q\n' "$name" "${!name}"; done | cat - "$script" >"$KERNEL_VM/script"
    timeout "$seconds" qemu-system-x86_64 -accel tcg,thread=multi -cpu max -smp 2 -m 1024 -nodefaults -display none -no-reboot \
        -kernel "/boot/vmlinuz-$version" -initrd "$initrd" -append 'console=ttyS0 quiet panic=-1' \
        -serial "file:$KERNEL_VM/console" \
        -fsdev local,id=h,path=/,security_model=none,readonly=on,multidevs=remap -device virtio-9p-pci,fsdev=h,mount_tag=host \
        -fsdev local,id=v,path="$KERNEL_VM",security_model=none -device virtio-9p-pci,fsdev=v,mount_tag=vm </dev/null ||
        fail "the kernel VM did not end in $seconds s: $(tail -n 3 "$KERNEL_VM/console" | tr -d '\r' | tr '\n' ' ')"
    [ -s "$KERNEL_VM/status" ] || fail "the kernel VM broke down: $(tail -n 3 "$KERNEL_VM/console" | tr -d '\r' | tr '\n' ' ')"
    cat "$KERNEL_VM/stderr" >&2
    cat "$KERNEL_VM/stdout"
    return "$(cat "$KERNEL_VM/status")"
}
