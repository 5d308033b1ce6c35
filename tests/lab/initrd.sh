# SPDX-License-Identifier: MIT
#
# Makes the small initrds of the lab's guests: static busybox, the kernel modules asked for with what they need, in order,
# and an /init script of this folder. Sourced by guests.sh and kernel_vm.sh. Results are kept in $CACHE until the kernel
# or a script changes. It must not know what the guest does.
#
# shellcheck shell=bash

kernel_version() { # FLAVOUR (cloud-amd64, amd64): of the newest such kernel in /boot, or the case is skipped
    local newest
    newest=$(find /boot -maxdepth 1 -name 'vmlinuz-*' | sed -n "s,^/boot/vmlinuz-\([0-9.]*-[0-9]*-$1\)\$,\1,p" | sort -V | tail -n 1)
    [ -n "$newest" ] || skip "no kernel /boot/vmlinuz-*-$1; install linux-image-$1"
    echo "$newest"
}

initrd_module_files() { # VERSION MODULE...: their files in loading order, each once
    local version=$1 module
    shift
    for module in "$@"; do
        modprobe --set-version "$version" --show-depends "$module" || skip "kernel $version has no module $module"
    done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }'
}

initrd_build() { # VERSION INIT MODULE...: prints the path of the image
    local version=$1 init=$2 root image file number=100
    shift 2
    need_command busybox cpio modprobe
    image=$CACHE/$(basename "$init")-$version-$(cat "$init" "$LAB_DIR/initrd.sh" | md5sum | cut -c 1-8).cpio
    if [ ! -s "$image" ]; then
        ldd "$(command -v busybox)" >/dev/null 2>&1 && skip "busybox is not static; install busybox-static"
        root=$(mktemp -d "$LAB/initrd.XXXXXX")
        mkdir -p "$root"/{bin,dev,proc,sys,mnt,modules} "$CACHE"
        cp "$(command -v busybox)" "$root/bin/busybox"
        cp "$init" "$root/init"
        chmod 755 "$root/init"
        initrd_module_files "$version" "$@" >"$LAB/modules"
        while read -r file; do
            number=$((number + 1))
            case $file in
            *.xz) xz -dc "$file" >"$root/modules/$number.ko" ;;
            *.zst) zstd -qdc "$file" >"$root/modules/$number.ko" ;;
            *) cp "$file" "$root/modules/$number.ko" ;;
            esac
        done <"$LAB/modules"
        (cd "$root" && find . | cpio --quiet -o -H newc) >"$image.$LAB_ID"
        mv "$image.$LAB_ID" "$image"
        rm -rf "$root"
    fi
    echo "$image"
}
