/* A disk with faults, for LD_PRELOAD: see disk_trouble.py.

   The first byte of the file named by DISK_FAULT_FILE says what is wrong at the moment:
   f  no room: writes fail with ENOSPC
   r  read-only: writes fail with EROFS
   s  syncs fail with EIO, and what was written since the last one is lost, as on a disk that has
      dropped the pages it could not write
   Anything else: nothing. It concerns files with ".db" in their names alone. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef ssize_t (*pwrite_type)(int, const void *, size_t, off64_t);
typedef int (*sync_type)(int);

struct undo {
    int fd;
    off64_t offset, size_before;
    size_t length;
    char *old;
    struct undo *next;
};

static struct undo *last;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static char fault(void) {
    const char *name = getenv("DISK_FAULT_FILE");
    char found = 0;
    int fd = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        if (read(fd, &found, 1) != 1) found = 0;
        close(fd);
    }
    return found;
}

static int concerned(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return strstr(path, ".db") != NULL;
}

static void note(int fd, size_t length, off64_t offset) {
    struct stat64 found;
    struct undo *made = malloc(sizeof *made);
    made->fd = fd, made->offset = offset;
    made->size_before = fstat64(fd, &found) ? 0 : found.st_size;
    made->old = malloc(length);
    ssize_t got = pread64(fd, made->old, length, offset);
    made->length = got > 0 ? (size_t)got : 0;
    made->next = last, last = made;
}

static void settle(int fd, int lost) {
    pwrite_type really = (pwrite_type)dlsym(RTLD_NEXT, "pwrite64");
    for (struct undo **place = &last; *place;) {
        struct undo *each = *place;
        if (each->fd != fd) {
            place = &each->next;
            continue;
        }
        if (lost) {
            if (really(fd, each->old, each->length, each->offset) < 0) abort();
            if (ftruncate64(fd, each->size_before) < 0) abort();
        }
        *place = each->next;
        free(each->old);
        free(each);
    }
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t offset) {
    pwrite_type really = (pwrite_type)dlsym(RTLD_NEXT, "pwrite64");
    if (!concerned(fd)) return really(fd, bytes, length, offset);
    char now = fault();
    if (now == 'f' || now == 'r') {
        errno = now == 'f' ? ENOSPC : EROFS;
        return -1;
    }
    pthread_mutex_lock(&lock);
    note(fd, length, offset);
    ssize_t written = really(fd, bytes, length, offset);
    pthread_mutex_unlock(&lock);
    return written;
}

static int synced(int fd, const char *name) {
    sync_type really = (sync_type)dlsym(RTLD_NEXT, name);
    if (!concerned(fd)) return really(fd);
    int fails = fault() == 's';
    pthread_mutex_lock(&lock);
    settle(fd, fails);
    pthread_mutex_unlock(&lock);
    if (!fails) return really(fd);
    errno = EIO;
    return -1;
}

int fsync(int fd) { return synced(fd, "fsync"); }

int fdatasync(int fd) { return synced(fd, "fdatasync"); }
