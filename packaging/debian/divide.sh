#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# divide.sh HOME: divides the files installed in debian/tmp/HOME among the three packages.
set -eu
home=$1
from=debian/tmp/$home
link() {  # link PACKAGE NAME TARGET: makes /usr/bin/NAME a link to TARGET in the home
    mkdir -p "debian/$1/usr/bin"
    ln -s "/$home/bin/$3" "debian/$1/usr/bin/$2"
}
move() {  # move PACKAGE PATH...: moves these paths into the package
    package=$1
    shift
    for path; do
        mkdir -p "debian/$package/$home/$(dirname "$path")"
        cp -a "$from/$path" "debian/$package/$home/$path"
        rm -rf "${from:?}/$path"
    done
}
cp -a "$from" debian/whole  # a copy, to find files that are left over
# Headers and the commands that compile.
move heddle-dev include lib/pkgconfig lib/libmpi_abi.so lib/libmpifort_abi.so
for command in mpicc mpicxx mpifort mpic++ mpiCC mpif77 mpif90; do
    move heddle-dev "bin/$command"
    link heddle-dev "$command.heddle" "$command"
done
[ ! -d "$from/share/heddle/fortran" ] || move heddle-dev share/heddle/fortran
for modules in "$from"/lib/heddle/fortran; do
    [ ! -d "$modules" ] || move heddle-dev "${modules#"$from"/}"
done
# Commands and their manual. Pages of functions stay in the home, since those of other MPIs have their names.
move heddle bin/mpiexec bin/mpirun bin/heddle
link heddle mpiexec.heddle mpiexec
link heddle mpirun.heddle mpiexec
link heddle heddle heddle
for page in "$from"/share/man/man1/heddle*.1 "$from"/share/man/man7/*.7; do
    [ -e "$page" ] || continue
    section=$(basename "$(dirname "$page")")
    mkdir -p "debian/heddle/usr/share/man/$section"
    cp "$page" "debian/heddle/usr/share/man/$section/"
    rm "$page"
done
for command in mpiexec mpirun; do
    page=$from/share/man/man1/$command.1
    [ ! -e "$page" ] || { mkdir -p debian/heddle/usr/share/man/man1; mv "$page" "debian/heddle/usr/share/man/man1/$command.heddle.1"; }
done
for command in mpicc mpicxx mpifort mpic++ mpiCC mpif77 mpif90; do
    page=$from/share/man/man1/$command.1
    [ ! -e "$page" ] || {
        mkdir -p debian/heddle-dev/usr/share/man/man1
        mv "$page" "debian/heddle-dev/usr/share/man/man1/$command.heddle.1"
    }
done
[ ! -d "$from/share/man/man3" ] || move heddle-dev share/man/man3
# Documents lie where Debian has them. Debian's packages contain the licence once.
doc=$from/share/doc/heddle
mkdir -p debian/heddle/usr/share/doc/heddle debian/heddle-dev/usr/share/doc/heddle-dev
mv "$doc/examples" debian/heddle-dev/usr/share/doc/heddle-dev/
rm "$doc/LICENSE" "$doc/CHANGELOG.md"
cp CHANGELOG.md debian/heddle/usr/share/doc/heddle/NEWS.md
mv "$doc"/* debian/heddle/usr/share/doc/heddle/
rm -r "$doc"
# The rest of lib is the library; the rest of share belongs to the commands.
move libheddle lib
find "$from" -type d -empty -delete
[ ! -d "$from/share" ] || move heddle share
for prefix in heddle heddle-fortran; do
    page=debian/heddle-dev/$home/lib/pkgconfig/$prefix.pc
    mkdir -p "debian/heddle-dev/usr/lib/$DEB_HOST_MULTIARCH/pkgconfig"
    sed "s|^prefix=.*|prefix=/$home|" "$page" >"debian/heddle-dev/usr/lib/$DEB_HOST_MULTIARCH/pkgconfig/$prefix.pc"
done
# Every file must be in a package.
(cd debian/whole && find . -type f -o -type l) | while read -r file; do
    found=
    for package in libheddle heddle heddle-dev; do
        [ ! -e "debian/$package/$home/$file" ] && [ ! -L "debian/$package/$home/$file" ] || found=yes
    done
    case $file in ./share/man/man[17]/* | ./share/doc/*) found=yes ;; esac
    [ -n "$found" ] || { echo "divide.sh: $file is in no package" >&2; exit 1; }
done
rm -rf debian/whole
